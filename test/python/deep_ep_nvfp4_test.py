# SPDX-License-Identifier: BSD-3-Clause
"""Rows of NVFP4 and MXFP8: bit for bit against tables of their values, and their bytes on the way."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any, Callable, List, Tuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import buffer_of, case_of, expert_scaled, mine, refused  # noqa: E402
from deep_ep_common import run_experts, same  # noqa: E402
from deep_ep_job import Job, Skipped  # noqa: E402
import deep_ep_reference as reference  # noqa: E402

import deep_ep_nvfp4_reference as nvfp4  # noqa: E402

import deep_ep  # noqa: E402
from deep_ep import _nvfp4  # noqa: E402
from warpshmem import _lib, ep  # noqa: E402

E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
E4M3 = [float(value) for value in reference.e4m3_values()[:127]]
WHOLE = 350.0


def nearest(value: float, table: List[float]) -> int:
    """The number of the nearest value, of two the even one."""
    best = min(abs(value - one) for one in table)
    found = [number for number, one in enumerate(table) if abs(value - one) == best]
    return next((number for number in found if number % 2 == 0), found[0])


def single(value: float) -> float:
    return float(torch.tensor(value, dtype=torch.float32))


def packed(x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
    """Codes, a value each, and scales' codes of rows, one by one."""
    codes, scales = [], []
    for row in x.float().tolist():
        for at in range(0, len(row), 16):
            group = row[at : at + 16]
            largest = single(single(max(map(abs, group)) * WHOLE) / 6)
            scales.append(nearest(min(largest, 448.0), E4M3))
            scale = E4M3[scales[-1]]
            factor = single(WHOLE / scale) if scale else 0.0
            for value in group:
                sign = 8 if str(value).startswith("-") else 0
                codes.append(nearest(min(single(abs(value) * factor), 6.0), list(E2M1)) + sign)
    shape = x.shape[0], -1
    return torch.tensor(codes).view(shape).byte(), torch.tensor(scales).view(shape).byte()


def two(codes: torch.Tensor) -> torch.Tensor:
    return codes[:, ::2] + 16 * codes[:, 1::2]


def rows_of(seed: int, rows: int, hidden: int) -> torch.Tensor:
    """Groups of all magnitudes; zeros; values that are ties."""
    made = torch.Generator().manual_seed(seed)
    x = torch.randn((rows, hidden // 16, 16), generator=made)
    x *= 2.0 ** torch.randint(-20, 12, (rows, hidden // 16, 1), generator=made)
    x[0, 0] = 0
    x[0, 1, :8] = -0.0
    x[0, 2] = torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 6] * 2) * 448 / WHOLE
    return x.view(rows, hidden).bfloat16()


def test_nvfp4_reference(job: Job) -> None:
    """Each scale and code is the nearest, of a tie the even one."""
    x = rows_of(3, 6, 256)
    codes, scales = packed(x)
    found = nvfp4.pack(x, WHOLE)
    assert found.shape == (6, nvfp4.row_bytes(256)) == (6, 256 * 9 // 16)
    shown, by = nvfp4.parts(found, 256)
    same(shown.contiguous(), two(codes))
    same(by.contiguous(), scales)
    values = torch.tensor(E2M1 + tuple(-one for one in E2M1))[codes.long()]
    wanted = values * torch.tensor(E4M3)[scales.long()].repeat_interleave(16, 1) / WHOLE
    same(nvfp4.unpack(shown, by, WHOLE), wanted)
    every = torch.tensor(E4M3)
    same(nvfp4.scale_codes(every), torch.arange(127).byte())
    same(nvfp4.scales_from(torch.arange(127).byte()), every)
    if hasattr(torch, "float8_e4m3fn"):
        between = torch.cat([every, (every[1:] + every[:-1]) / 2, torch.rand(999) * 448])
        same(nvfp4.scale_codes(between), between.to(torch.float8_e4m3fn).view(torch.uint8))


def test_nvfp4_dispatch(job: Job) -> None:
    """Received rows are the sender's packed ones; combine brings BF16 back, with and without a
    hook."""
    case = case_of(job, seed=740, tokens=14)
    buffer, given = buffer_of(job), mine(job, case)
    most, experts = case.tokens, case.n * case.local
    dispatch = buffer.low_latency_dispatch
    scale = torch.full((1,), WHOLE, device=job.device)
    how = dict(use_fp8=False, use_nvfp4=True, x_global_scale=scale)
    if job.cuda and job.hosts > 1:
        refused(lambda: dispatch(given.x, given.topk, most, experts, **how), "use_nvfp4", "hosts")
        return
    for hook in (False, True, False, True):
        (codes, scales), counts, handle, _, receive = dispatch(
            given.x, given.topk, most, experts, return_recv_hook=hook, **how
        )
        receive() if hook else None
        assert codes.dtype == torch.uint8 and scales.dtype == _nvfp4.E4M3
        assert codes.shape == (case.local, case.n * most, case.hidden // 2)
        assert scales.shape == codes.shape[:2] + (case.hidden // 16,)
        codes, scales = codes.cpu(), scales.cpu().view(torch.uint8)
        for expert in range(case.local):
            wanted = reference.low_packed(case, job.rank, expert)
            count = int(counts[expert])
            assert count == len(wanted)
            whole = nvfp4.parts(nvfp4.pack(wanted, WHOLE), case.hidden)
            for found, right in zip((codes, scales), whole):
                same(found[expert, :count], right)
            if count and expert == hook == 0:
                sent, by = packed(wanted)
                same(codes[expert, :count], two(sent))
                same(scales[expert, :count], by)
        rows = torch.zeros(codes.shape[:2] + (case.hidden,))
        for expert in range(case.local):
            part = slice(0, int(counts[expert]))
            rows[expert, part] = nvfp4.unpack(codes[expert, part], scales[expert, part], WHOLE)
        y = run_experts(job, case, rows.to(job.device))
        out, _, receive = buffer.low_latency_combine(
            y, given.topk, given.weights, handle, return_recv_hook=hook
        )
        receive() if hook else None
        right = reference.low_sum(case, job.rank, expert_scaled)
        assert (out.float().cpu() - right).norm() <= 0.2 * right.norm()
    wrong = [("x_global_scale", bad) for bad in (None, 0, -1.0, torch.zeros(2), True)]
    for name, bad in wrong + [("use_fp8", True)]:
        more = dict(how, **{name: bad})
        refused(lambda: dispatch(given.x, given.topk, most, experts, **more), name)


def test_nvfp4_values(job: Job) -> None:
    """Groups of all magnitudes, by kernels or the host's code as by the reference; a scale that is a
    number, and rows of the most columns that a warp takes at a time, and more."""
    if job.cuda and job.hosts > 1:
        raise Skipped("for one host")
    buffer = buffer_of(job)
    for turn, (hidden, whole) in enumerate(((256, WHOLE), (2048, 1), (7168, 2688.0), (128, 1e-3))):
        x = rows_of(7 * job.rank + turn, 5, hidden)
        topk = (torch.arange(5)[:, None] + job.rank) % job.n
        (codes, scales), counts, handle, _, _ = buffer.low_latency_dispatch(
            x.to(job.device),
            topk.to(job.device),
            5,
            job.n,
            use_fp8=False,
            use_nvfp4=True,
            x_global_scale=whole,
        )
        sent = [
            rows_of(7 * rank + turn, 5, hidden)[(torch.arange(5) + rank) % job.n == job.rank]
            for rank in range(job.n)
        ]
        for rank, part in enumerate(sent):
            packed_range = int(handle[1][0][rank])
            first, count = packed_range >> 32, packed_range & (1 << 32) - 1
            assert count == len(part)
            right = nvfp4.parts(nvfp4.pack(part, whole), hidden)
            for found, wanted in zip((codes, scales), right):
                same(found.view(torch.uint8)[0, first : first + count], wanted)


def test_nvfp4_graph(job: Job) -> None:
    """A graph takes rows and the scale of all of them as they are at its replay."""
    if not job.cuda:
        raise Skipped("no GPU")
    buffer, x = buffer_of(job), torch.zeros((5, 256), dtype=torch.bfloat16, device=job.device)
    topk = torch.full((5, 1), (job.rank + 1) % job.n, device=job.device)
    whole, found = torch.ones(1, device=job.device), []

    def run() -> None:
        got = buffer.low_latency_dispatch(
            x, topk, 5, job.n, use_fp8=False, use_nvfp4=True, x_global_scale=whole
        )
        found[:] = got[0]

    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    for turn, value in enumerate((WHOLE, 2.5)):
        x.copy_(rows_of(job.rank + 10 * turn, 5, 256))
        whole.fill_(value)
        graph.replay()
        torch.cuda.synchronize()
        sent = rows_of((job.rank - 1) % job.n + 10 * turn, 5, 256)
        for got, right in zip(found, nvfp4.parts(nvfp4.pack(sent, value), 256)):
            same(got.view(torch.uint8)[0, :5], right)


def sizes(**fields: int) -> int:
    """What 64 tokens more take of the slots that rows come into, of each of two sources and
    parities."""
    found = []
    for tokens in (64, 128):
        made = dict(mode=ep.LOW_LATENCY, experts=2, topk=1, handles=1, expert_capacity=1)
        made.update(fields, tokens=tokens)
        found.append(ep.bytes_of(ep.config(**made), 2, 2).symmetric)
    return found[1] - found[0]


def test_bytes_on_the_way(job: Job) -> None:
    """NVFP4 takes 9/16 byte a column, MXFP8 33/32, where FP8 takes 33/32 and BF16 2: of what a row
    takes in a slot, whose parts are multiples of 128 bytes, and beside which all else is equal."""
    hidden, rows = 7168, 64 * 2 * 2

    def row(size: int) -> int:
        return -(-size // 128) * 128

    fp4, mxfp8 = nvfp4.row_bytes(hidden), hidden + hidden // 32
    assert (fp4, mxfp8) == (4032, 7392)
    bf16 = sizes(dtype=ep.BF16, hidden=hidden)
    for bytes_ in (fp4, mxfp8):
        found = sizes(dtype=ep.BYTES, row_bytes=bytes_, hidden=hidden)
        assert bf16 - found == rows * (row(2 * hidden) - row(bytes_)), (bf16, found)
    fp8 = sizes(dtype=ep.FP8, hidden=hidden)
    head = row(16 + 16 + 4 * (hidden // 128)) - row(16 + 16)
    assert bf16 - fp8 == rows * (row(2 * hidden) - row(hidden) - head), (bf16, fp8)


PEER = 16  # words of shmemx_stats_peer_t: pe and same_host, operations, bytes, …
CONTROL = 2 * 64  # bytes of messages that may come between: less than a row's error of 16 in each


def network_bytes(n: int) -> Tuple[int, List[int]]:
    """Bytes that this PE has given to the network, and the PEs of other hosts."""
    words = (ctypes.c_uint64 * (n * PEER))()
    _lib.core().shmemx_stats_peers(words, ctypes.c_size_t(n))
    far = [pe for pe in range(n) if not words[pe * PEER] >> 32]
    return sum(words[pe * PEER + 2] for pe in far), far


def sent_by(job: Job, call: Callable[[], Any]) -> int:
    """The fewest bytes that this PE gives to the network in a call of all ranks."""
    found, held = [], []
    for _ in range(6):
        torch.distributed.barrier()
        before = network_bytes(job.n)[0]
        held.append(call())
        torch.distributed.barrier()
        found.append(network_bytes(job.n)[0] - before)
    return min(found)


def test_bytes_between_hosts(job: Job) -> None:
    """What rows of a format save beside BF16 on the network: bytes of a row times distinct (token,
    other host)."""
    if job.hosts != 2 or job.cuda:
        raise Skipped("for two emulated hosts")
    case = case_of(job, seed=741, tokens=14, hidden=1024)
    buffer, given = buffer_of(job), mine(job, case)
    experts, hidden = case.n * case.local, case.hidden
    far = network_bytes(job.n)[1]
    homes = [{e // case.local for e in row if e >= 0} for row in given.topk.tolist()]
    records = sum(bool(pes & set(far)) for pes in homes)

    def low(**how: Any) -> int:
        return sent_by(
            job, lambda: buffer.low_latency_dispatch(given.x, given.topk, 14, experts, **how)
        )

    saved = low(use_fp8=False) - low(use_fp8=False, use_nvfp4=True, x_global_scale=WHOLE)
    wanted = records * (2 * hidden - nvfp4.row_bytes(hidden))
    assert abs(saved - wanted) <= CONTROL, (saved, wanted)
    codes = given.x.float().to(_nvfp4.E4M3)
    exponents = torch.zeros((codes.shape[0], hidden // 128), dtype=torch.int32)
    ranks, _, counts, inside, _ = buffer.get_dispatch_layout(given.topk, experts)

    def normal(x: Any) -> int:
        return sent_by(
            job,
            lambda: buffer.dispatch(
                x,
                num_tokens_per_rank=ranks,
                is_token_in_rank=inside,
                num_tokens_per_expert=counts,
                topk_idx=given.topk,
                topk_weights=given.weights,
            ),
        )

    saved = normal(given.x) - normal((codes, exponents))
    wanted = records * (2 * hidden - hidden - hidden // 32)
    assert abs(saved - wanted) <= CONTROL, (saved, wanted)
