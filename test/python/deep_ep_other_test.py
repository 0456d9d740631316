# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep in CUDA graphs, what it refuses, its names, its end."""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from typing import Any, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import (  # noqa: E402
    _buffers,
    buffer_of,
    case_of,
    mine,
    same,
    same_sum,
    near,
    dispatch,
    scaled,
    check_normal,
    expert_scaled,
    run_experts,
    check_low,
    refused,
)
from deep_ep_job import Job, Skipped  # noqa: E402
import deep_ep_reference as reference  # noqa: E402

import deep_ep  # noqa: E402
import warpshmem.deep_ep  # noqa: E402

# Graphs.


def captured(run: Any) -> Any:
    """Return the graph of run(), after a call outside."""
    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph


def test_graph_low(job: Job) -> None:
    """Halves, hooks and combines in a graph that is replayed with other tokens."""
    if not job.cuda:
        raise Skipped("no GPU")
    buffer, case = buffer_of(job), case_of(job, seed=40)
    given = mine(job, case)
    x, out = given.x.clone(), torch.empty_like(given.x)

    def run() -> None:
        rows, _, handle, _, receive = buffer.low_latency_dispatch(
            x, given.topk, case.tokens, case.n * case.local, use_fp8=False, return_recv_hook=True
        )
        receive()
        _, _, receive = buffer.low_latency_combine(
            run_experts(job, case, rows),
            given.topk,
            given.weights,
            handle,
            return_recv_hook=True,
            out=out,
        )
        receive()

    graph = captured(run)
    for factor in (1.0, 2.0, -0.5):
        x.copy_(given.x * factor)
        for _ in range(5):
            graph.replay()
        near(out, reference.low_sum(case, job.rank, expert_scaled) * factor)


def nodes(graph: Any) -> int:
    """Return how many nodes a graph has that keeps what was captured."""
    count = ctypes.c_size_t()
    asked = ctypes.CDLL("libcuda.so.1").cuGraphGetNodes
    assert asked(ctypes.c_void_p(graph.raw_cuda_graph()), None, ctypes.byref(count)) == 0
    return count.value


def test_graph_nodes(job: Job) -> None:
    """A call is one kernel, with a hook two; nothing else is in the graph."""
    if not job.cuda:
        raise Skipped("no GPU")
    if not hasattr(torch.cuda.CUDAGraph, "raw_cuda_graph"):
        raise Skipped("this torch does not give its graphs")
    buffer, case = buffer_of(job), case_of(job, seed=42, hidden=1024)
    given, experts = mine(job, case), case.n * case.local
    stats = torch.zeros(case.local, dtype=torch.int32, device=job.device)
    y = torch.zeros((case.local, 40 * job.n, 1024), dtype=torch.bfloat16, device=job.device)
    whole = torch.full((1,), 300.0, device=job.device)
    nvfp4 = {"use_fp8": False, "use_nvfp4": True, "x_global_scale": whole}
    for kinds in ({"use_fp8": False}, {}, {"round_scale": True, "use_ue8m0": True}, nvfp4):
        for hook in (False, True):

            def run() -> None:
                _, _, handle, _, receive = buffer.low_latency_dispatch(
                    given.x, given.topk, 40, experts, stats, return_recv_hook=hook, **kinds
                )
                receive() if hook else None
                _, _, receive = buffer.low_latency_combine(
                    y, given.topk, given.weights, handle, return_recv_hook=hook
                )
                receive() if hook else None

            run()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph(keep_graph=True)
            with torch.cuda.graph(graph):
                run()
            assert nodes(graph) == (4 if hook else 2), nodes(graph)


def test_graph_normal(job: Job) -> None:
    """num_worst_tokens, and a handle, in a graph."""
    if not job.cuda:
        raise Skipped("no GPU")
    buffer, case = buffer_of(job), case_of(job, seed=41)
    given, kept = mine(job, case), {}
    x = given.x.clone()

    def run() -> None:
        got = dispatch(buffer, given, case.n * case.local, x, num_worst_tokens=case.tokens * job.n)
        kept["again"] = buffer.dispatch(x, handle=got[4])[0]
        kept["out"] = buffer.combine(got[0] * scaled(job.rank), got[4])[0]

    graph = captured(run)
    for factor in (1.0, 2.0, -0.5):
        x.copy_(given.x * factor)
        graph.replay()
        same_sum(job, kept["out"], reference.normal_sum(case, job.rank, scaled) * factor)
        wanted = reference.normal_rows(case, job.rank).x * factor
        same(kept["again"][: wanted.shape[0]], wanted)


# What is refused, and what belongs to no call.


def test_refused(job: Job) -> None:
    buffer, case = buffer_of(job), case_of(job)
    given, experts = mine(job, case), case.n * case.local
    low = buffer.low_latency_dispatch
    refused(lambda: deep_ep.Buffer(), "group", "comm")
    refused(
        lambda: buffer.low_latency_combine(given.x, given.topk, given.weights, (1, 2)), "handle"
    )
    refused(
        lambda: buffer.low_latency_combine(given.x, given.topk, given.weights, (), use_logfmt=True),
        "use_logfmt",
    )
    refused(
        lambda: low(given.x, given.topk, 1, experts, use_fp8=False),
        "num_max_dispatch_tokens_per_rank",
    )
    refused(lambda: low(given.x.float(), given.topk, 99, experts, use_fp8=False), "x", "bfloat16")
    refused(
        lambda: low(given.x, given.topk, 99, experts, dispatch_wait_recv_cost_stats=given.x),
        "cost_stats",
    )
    refused(lambda: low(given.x, given.topk, 99, experts, use_ue8m0=True), "round_scale")
    refused(lambda: buffer.low_latency_update_mask_buffer(0), "enable_shrink=True")
    lent = buffer.get_local_buffer_tensor
    refused(lambda: lent(torch.int32, (1 << 19, 1)), "size", "262144 from offset 0")
    refused(lambda: lent(torch.int32, (-1,)), "size", "from 0 on")
    refused(lambda: lent(torch.int32, offset=(1 << 18) + 1), "offset", "num_nvl_bytes")
    refused(lambda: buffer.dispatch(given.x), "num_tokens_per_rank")
    refused(lambda: buffer.dispatch(given.x, expert_alignment=0), "expert_alignment is 0")
    refused(lambda: buffer.dispatch(given.x, num_worst_tokens=-1), "num_worst_tokens is -1")
    refused(lambda: low([1], given.topk, 99, experts), "x is list")
    refused(lambda: low(given.x, None, 99, experts), "topk_idx is NoneType")
    refused(lambda: buffer.dispatch(given.x, handle=(1,)), "handle")
    refused(lambda: deep_ep.Buffer.set_num_sms(3), "even")
    got = dispatch(buffer, given, experts)
    refused(lambda: buffer.dispatch(given.x.float(), handle=got[4]), "bfloat16")
    refused(
        lambda: buffer.combine(
            torch.zeros((1 + len(got[0]), case.hidden), dtype=torch.bfloat16, device=job.device),
            got[4],
        ),
        "x",
        "row for each",
    )


def test_other_groups(job: Job) -> None:
    """A group of fewer processes than warpshmem has PEs, while a Buffer of all is there."""
    groups = [torch.distributed.new_group([rank]) for rank in range(job.n)]
    buffer_of(job)
    alone = deep_ep.Buffer(groups[job.rank], explicitly_destroy=True)
    assert (alone.rank, alone.group_size) == (0, 1)
    alone.destroy()
    assert warpshmem.n_pes() == job.n


class Communicator:
    """What a Buffer takes of mpi4py's."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def Get_rank(self) -> int:
        return self.job.rank

    def Get_size(self) -> int:
        return self.job.n

    def bcast(self, value: object, root: int = 0) -> object:
        box = [value]
        torch.distributed.broadcast_object_list(box, src=root)
        return box[0]

    def allgather(self, value: object) -> List[object]:
        found: List[object] = [None] * self.job.n
        torch.distributed.all_gather_object(found, value)
        return found


def test_communicator(job: Job) -> None:
    """comm in the place of group; alone it starts warpshmem by bcast."""
    buffer = deep_ep.Buffer(comm=Communicator(job))
    assert (buffer.rank, buffer.group_size, buffer.group) == (job.rank, job.n, None)


def test_one_package(job: Job) -> None:
    """By both names it is one package, with one class each."""
    utils = importlib.import_module("deep_ep.utils")
    assert deep_ep is warpshmem.deep_ep and utils is deep_ep.utils
    assert sys.modules["deep_ep.utils"] is utils is sys.modules["warpshmem.deep_ep.utils"]
    assert importlib.import_module("deep_ep.utils.event").EventHandle is deep_ep.EventHandle
    assert deep_ep.__spec__.name == "warpshmem.deep_ep"
    refused(lambda: importlib.import_module("deep_ep.nothing"), "deep_ep.nothing")


def test_names(job: Job) -> None:
    assert deep_ep.Buffer.num_sms == 20 and deep_ep.topk_idx_t == torch.int64
    assert deep_ep.Buffer.is_sm90_compiled()
    config = deep_ep.Buffer.get_combine_config(job.n)
    assert (
        config.get_nvl_buffer_size_hint(7168 * 2, 8) > 0
        and config.get_rdma_buffer_size_hint(7168 * 2, 8) == 0
    )
    assert deep_ep.Buffer.get_low_latency_rdma_size_hint(128, 7168, 8, 256) > 1 << 20
    for name in deep_ep.__all__:
        assert hasattr(deep_ep, name)
    buffer = buffer_of(job)
    assert (buffer.rank, buffer.group_size, buffer.group) == (job.rank, job.n, job.group)
    assert buffer.num_nvl_bytes == 1 << 20 and buffer.low_latency_mode
    assert (buffer.get_comm_stream() is not None) == job.cuda


def test_utils(job: Job) -> None:
    """The modules of deep_ep.utils: numbers, rows of FP8 there and back, domains."""
    math, envs, semantic = (
        importlib.import_module("deep_ep.utils." + name) for name in ("math", "envs", "semantic")
    )
    assert (math.ceil_div(9, 4), math.align(9, 4), math.align(8, 4)) == (3, 12, 8)
    assert math.safe_div(1, 0) == 0 and semantic.value_or(None, 3) == 3
    x = mine(job, case_of(job, seed=60, hidden=512)).x
    assert math.calc_diff(x, x) < 1e-12 and math.calc_diff(x, -x) > 0.1
    assert math.count_bytes(x, None, (x, [x])) == 3 * x.numel() * 2
    assert envs.get_physical_domain_size is deep_ep.get_physical_domain_size
    envs.check_nvlink_connections(job.group)
    if not hasattr(torch, "float8_e4m3fn"):
        return
    codes, scales = math.per_token_cast_to_fp8(x)
    near(math.per_token_cast_back(codes, scales), x.cpu(), 0.07)
    powers = 2.0 ** scales.log2().ceil()
    packed = (powers.view(torch.int32) >> 23).to(torch.uint8).view(torch.int32)
    same(math.per_token_cast_back(codes, packed), math.per_token_cast_back(codes, powers).cpu())


def test_utils_suppress(job: Job) -> None:
    """What is written to descriptor 1 goes nowhere, and afterwards to where it went."""
    testing = importlib.import_module("deep_ep.utils.testing")
    testing.flush_l2_cache(job.cuda)
    kept = os.dup(1)
    read, write = os.pipe()
    os.dup2(write, 1)
    try:
        with testing.suppress_stdout_stderr():
            os.write(1, b"lost")
        with testing.empty_suppress():
            os.write(1, b"seen")
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(write)
    assert os.read(read, 100) == b"seen"
    os.close(read)


def test_local_buffer(job: Job) -> None:
    """The same memory each time, as any type, from an element on, in any shape; calls leave it."""
    buffer = deep_ep.Buffer(job.group, 1000, 4096, explicitly_destroy=True)
    lent = buffer.get_local_buffer_tensor
    words = lent(torch.int32)
    assert words.shape == (250,) and words.device.type == job.device.type
    words.copy_(torch.arange(250))
    assert lent(torch.float64).shape == (125,)
    same(lent(torch.int32, torch.Size((2, 5)), 40), torch.arange(40, 50).int().view(2, 5))
    assert lent(torch.bfloat16, (4, 512), use_rdma_buffer=True).shape == (4, 512)
    case = case_of(job, seed=99)
    dispatch(buffer, mine(job, case), case.n * case.local)
    same(words, torch.arange(250).int())
    buffer.destroy()


def test_destroy(job: Job) -> None:
    """Buffers end, and a new one begins."""
    while _buffers:
        _buffers.popitem()[1].destroy()
    check_normal(job, case_of(job, seed=50))
    check_low(job, case_of(job, seed=51))
    while _buffers:
        _buffers.popitem()[1].destroy()
