# SPDX-License-Identifier: BSD-3-Clause
"""What a low-latency dispatch and combine of deep_ep take, called from Python and replayed in a
CUDA graph.

deep_ep_pair.py [--pes N] [--tokens LIST] [--hidden N] [--experts N] [--topk N] [--bf16]
[--minutes N] [--name TEXT]

Starts N processes, PEs of one host; on a GPU where torch has one, else on the CPU. A line for each
number of tokens, at once: microseconds of a pair called from Python, of the host alone until both
calls have returned, of a pair in a graph (each the median of rounds, of the slowest PE), and the
kernels of a pair (nodes of the graph). On the CPU: of a pair, and beyond the same two calls of
the C interface. It runs with the deep_ep that PYTHONPATH and WARPSHMEM_LIBRARY_DIR lead to, an
older one too.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, List, Optional

ROUNDS, PAIRS, HOST_PAIRS = 7, 60, 12
SECONDS_A_SHAPE = 45


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pes", type=int, default=2)
    parser.add_argument("--tokens", default="1,128")
    parser.add_argument("--hidden", type=int, default=7168)
    parser.add_argument("--experts", type=int, default=256)
    parser.add_argument("--topk", type=int, default=8)
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--name", default="deep_ep")
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    return parser.parse_args()


class Pair:
    """Inputs of one shape, and the two calls."""

    def __init__(self, given: argparse.Namespace, buffer: Any, tokens: int, device: Any) -> None:
        import torch

        made = torch.Generator().manual_seed(given.rank * 1000 + tokens)
        self.given, self.buffer, self.tokens = given, buffer, tokens
        self.x = torch.randn((tokens, given.hidden), generator=made).bfloat16().to(device)
        chosen = torch.rand((tokens, given.experts), generator=made).topk(given.topk, 1)[1]
        self.topk = chosen.to(torch.int64).to(device)
        self.weights = torch.rand((tokens, given.topk), generator=made).to(device)
        self.out = torch.empty_like(self.x)
        rows = given.pes * tokens
        shape = (given.experts // given.pes, rows, given.hidden)
        self.y = torch.zeros(shape, dtype=torch.bfloat16, device=device)

    def dispatch(self) -> Any:
        given = self.given
        return self.buffer.low_latency_dispatch(
            self.x, self.topk, self.tokens, given.experts, use_fp8=not given.bf16
        )

    def __call__(self) -> None:
        handle = self.dispatch()[2]
        self.buffer.low_latency_combine(self.y, self.topk, self.weights, handle, out=self.out)


def rounds(call: Callable[[], Any], pairs: int, meet: Any, sync: Any, host: bool = False) -> float:
    """Return microseconds of a pair; host: until the calls have returned."""
    found = []
    for _ in range(ROUNDS):
        sync()
        meet()
        began = time.perf_counter()
        for _ in range(pairs):
            call()
        if not host:
            sync()
        found.append((time.perf_counter() - began) / pairs * 1e6)
        sync()
    return statistics.median(found)


def nodes(graph: Any) -> Optional[int]:
    """Return the nodes of a graph that keeps what was captured; None where torch cannot say."""
    try:
        count = ctypes.c_size_t()
        found = ctypes.CDLL("libcuda.so.1").cuGraphGetNodes(
            ctypes.c_void_p(graph.raw_cuda_graph()), None, ctypes.byref(count)
        )
        return count.value if found == 0 else None
    except (AttributeError, RuntimeError, OSError):
        return None


def profiled(pair: Pair, sync: Any) -> Optional[int]:
    """Return kernels and copies of a pair by torch's profiler; None where it sees none."""
    import torch

    try:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
            pair()
            sync()
        kind = torch.autograd.DeviceType.CUDA
        return sum(1 for event in seen.events() if event.device_type == kind) or None
    except Exception:  # another one profiles, or CUPTI is not there
        return None


def captured(pair: Pair) -> Any:
    import torch

    try:
        graph = torch.cuda.CUDAGraph(keep_graph=True)
    except TypeError:  # an older torch
        graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(2):
            pair()
    if hasattr(graph, "instantiate"):
        graph.instantiate()
    return graph


def on_gpu(given: argparse.Namespace, pair: Pair, group: Any, tell: Callable[..., None]) -> None:
    import torch
    import torch.distributed as dist

    def meet() -> None:
        dist.barrier(group)

    sync = torch.cuda.synchronize
    called = rounds(pair, PAIRS, meet, sync)
    host = rounds(pair, HOST_PAIRS, meet, sync, True)
    seen = profiled(pair, sync)
    meet()
    graph = captured(pair)
    for _ in range(3):
        graph.replay()
    replayed = rounds(graph.replay, PAIRS, meet, sync) / 2
    count = nodes(graph)
    tell(called, host, replayed, (count or 0) / 2, seen or 0)


def bare(pair: Pair) -> Optional[Callable[[], None]]:
    """Return the pair by the C interface, with structs that are filled once; None for an older
    deep_ep."""
    import torch
    from warpshmem import ep

    if not hasattr(ep, "CALL_VERSION"):
        return None
    place = [one for places in pair.buffer._low.places.values() for one in places][-1]
    rows, counts, handle, _, _ = pair.dispatch()
    scales = rows[1] if isinstance(rows, tuple) else None
    rows = rows[0] if isinstance(rows, tuple) else rows
    out, combine = torch.empty_like(pair.out), ep.Combine(version=ep.CALL_VERSION)
    pair.buffer.low_latency_combine(pair.y, pair.topk, pair.weights, handle, out=out)
    dispatch = ep.Dispatch(version=ep.CALL_VERSION, halves=ep.BOTH, tokens=pair.tokens)
    dispatch.x, dispatch.topk, dispatch.rows = (
        pair.x.data_ptr(),
        pair.topk.data_ptr(),
        rows.data_ptr(),
    )
    dispatch.columns = combine.columns = pair.given.topk
    dispatch.counts, dispatch.row_sources = counts.data_ptr(), handle[0].data_ptr()
    dispatch.ranges = handle[1].data_ptr()
    if scales is not None:
        dispatch.row_scales = scales.data_ptr()
        dispatch.scales_row_step, dispatch.scales_column_step = scales.stride()[1:]
    combine.halves, combine.y, combine.out = ep.BOTH, pair.y.data_ptr(), out.data_ptr()
    combine.weights = pair.weights.data_ptr()
    one = place.instance
    held = (rows, scales, counts, handle, out)  # what the structs point to

    def call(held: Any = held) -> None:
        one._dispatch(one._ep, dispatch)
        one._combine(one._ep, combine)

    return call


def on_cpu(given: argparse.Namespace, pair: Pair, group: Any, tell: Callable[..., None]) -> None:
    import torch.distributed as dist

    def meet() -> None:
        dist.barrier(group)

    def sync() -> None:
        pass

    call = bare(pair)
    pairs = 200
    both: List[List[float]] = [[], []]
    for _ in range(5):  # in turn, for the machine may do other things too
        both[0].append(rounds(pair, pairs, meet, sync))
        both[1].append(rounds(call, pairs, meet, sync) if call else 0.0)
    tell(min(both[0]), min(both[1]))


def run_rank(given: argparse.Namespace) -> int:
    import torch
    import torch.distributed as dist

    try:
        import warpshmem.deep_ep as deep_ep
    except ImportError:
        import deep_ep  # type: ignore[no-redef]

    torch.set_num_threads(1)
    cuda = torch.cuda.is_available()
    if cuda:
        torch.cuda.set_device(given.rank % torch.cuda.device_count())
    device = torch.device("cuda" if cuda else "cpu")
    store = dist.FileStore(given.store, given.pes)
    dist.init_process_group("gloo", store=store, rank=given.rank, world_size=given.pes)
    group = dist.group.WORLD
    for text in given.tokens.split(","):
        # A Buffer for each shape, so that its memory goes.
        buffer = deep_ep.Buffer(group, low_latency_mode=True, explicitly_destroy=True)
        pair = Pair(given, buffer, int(text), device)
        for _ in range(4):
            pair()

        def tell(*numbers: float) -> None:
            gathered: List[Any] = [None] * given.pes
            dist.all_gather_object(gathered, numbers)
            most = [max(column) for column in zip(*gathered)]
            if given.rank != 0:
                return
            head = "%s, %d PEs, %d tokens, %s:" % (
                given.name,
                given.pes,
                pair.tokens,
                "BF16" if given.bf16 else "FP8",
            )
            if cuda:
                line = "called %.1f us, of the host %.1f us, in a graph %.1f us"
                line += ", nodes a pair %g, profiled %g"
            else:
                line = "a pair %.1f us, by the C interface %.1f us"
            print(head, line % tuple(most), flush=True)

        (on_gpu if cuda else on_cpu)(given, pair, group, tell)
        if cuda:
            torch.cuda.synchronize()
        buffer.destroy()
        del pair
        if cuda:
            torch.cuda.empty_cache()
    import warpshmem

    warpshmem.finalize()
    return 0


def main() -> int:
    given = options()
    if given.rank is not None:
        return run_rank(given)
    folder = tempfile.mkdtemp()
    command = [sys.executable, "-u"] + sys.argv + ["--store", os.path.join(folder, "store")]
    ranks = [subprocess.Popen(command + ["--rank", str(rank)]) for rank in range(given.pes)]
    until, status = time.monotonic() + given.minutes * 60, 0
    while any(rank.poll() is None for rank in ranks):
        codes = [rank.poll() for rank in ranks]
        if any(codes) or time.monotonic() > until:
            status = next((code for code in codes if code), 124)
            time.sleep(1)
            for rank in ranks:
                rank.kill()
            break
        time.sleep(0.05)
    codes = [rank.wait() for rank in ranks]
    return status or next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main())
