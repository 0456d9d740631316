# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep's low-latency mode against a reference in torch: hooks, events, weights, FP8."""

from __future__ import annotations

import os
import sys
import time
from typing import Any, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from deep_ep_common import (  # noqa: E402
    buffer_of,
    case_of,
    mine,
    near,
    same,
    expert_scaled,
    run_experts,
    check_packed,
    check_low,
    refused,
)
from deep_ep_job import Job  # noqa: E402
import deep_ep_reference as reference  # noqa: E402


def test_low(job: Job) -> None:
    for seed in range(4):
        check_low(job, case_of(job, seed=20 + seed))


def test_low_empty(job: Job) -> None:
    for empty in (0, job.n - 1):
        check_low(job, case_of(job, seed=24, empty=empty))


def test_low_hooks(job: Job) -> None:
    for seed in range(3):
        check_low(job, case_of(job, seed=25 + seed), hook=True, zero_copy=seed == 1)


def test_low_events(job: Job) -> None:
    check_low(job, case_of(job, seed=28), async_finish=True)


def test_low_zero_copy(job: Job) -> None:
    for seed in range(3):
        check_low(job, case_of(job, seed=29 + seed), zero_copy=True)


def test_low_two_batches(job: Job) -> None:
    """Both dispatches are sent before either is received; so are the combines."""
    buffer, cases = buffer_of(job), [case_of(job, seed=32 + i) for i in range(2)]
    given = [mine(job, case) for case in cases]
    sent = [
        buffer.low_latency_dispatch(
            one.x, one.topk, case.tokens, case.n * case.local, use_fp8=False, return_recv_hook=True
        )
        for one, case in zip(given, cases)
    ]
    for rows, counts, handle, _, receive in sent:
        receive()
    for case, (rows, counts, handle, _, _) in zip(cases, sent):
        check_packed(job, case, rows, counts, handle)
    back = [
        buffer.low_latency_combine(
            run_experts(job, case, got[0]), one.topk, one.weights, got[2], return_recv_hook=True
        )
        for case, one, got in zip(cases, given, sent)
    ]
    for case, (out, _, receive) in zip(cases, back):
        receive()
        near(out, reference.low_sum(case, job.rank, expert_scaled))


def test_low_row_sources(job: Job) -> None:
    """handle[0]: of which token of its source each row is."""
    buffer, case = buffer_of(job), case_of(job, seed=34)
    given = mine(job, case)
    rows, counts, handle, _, _ = buffer.low_latency_dispatch(
        given.x, given.topk, case.tokens, case.n * case.local, use_fp8=False
    )
    for expert in range(case.local):
        for source in range(job.n):
            packed = int(handle[1][expert][source])
            begin, count = packed >> 32, packed & (1 << 32) - 1
            of = handle[0][expert, begin : begin + count].cpu().long()
            sent = reference.tokens_of(case, source)
            same(rows[expert, begin : begin + count], sent.x[of])
            assert handle[0].shape == rows.shape[:2] and handle[0].dtype == torch.int32
            chosen = (sent.topk == job.rank * case.local + expert).any(1)
            same(of, chosen.nonzero()[:, 0])


def test_low_waits(job: Job) -> None:
    """The last rank comes late to each call: the others have waited for it; in a combine of another
    host the rank alone that its sums come to. By 50 ms, more where that was not late enough, since
    others were held up themselves."""
    buffer, case = buffer_of(job), case_of(job, seed=37)
    given, last = mine(job, case), job.n - 1
    times = [torch.zeros(job.n + 2, dtype=torch.int64, device=job.device) for _ in range(2)]
    names = ("dispatch_wait_recv_cost_stats", "combine_wait_recv_cost_stats")
    more = [{name: one} for name, one in zip(names, times)]

    def start(late: float) -> None:
        torch.distributed.barrier(job.group)
        time.sleep(late * (job.rank == last))

    def calls(hook: bool, late: float = 0.0) -> None:
        start(late)
        rows, _, handle, _, receive = buffer.low_latency_dispatch(
            given.x,
            given.topk,
            40,
            case.n * case.local,
            use_fp8=False,
            return_recv_hook=hook,
            **more[0],
        )
        receive() if hook else None
        y = run_experts(job, case, rows)
        start(late)
        out, _, receive = buffer.low_latency_combine(
            y, given.topk, given.weights, handle, return_recv_hook=hook, **more[1]
        )
        receive() if hook else None
        near(out, reference.low_sum(case, job.rank, expert_scaled))

    each = job.n // job.hosts
    meets = job.hosts == 1 or job.rank >= job.n - each or job.rank % each == each - 1
    found: List[Any] = []

    def seen(hook: bool, late: float) -> bool:
        """Whether all ranks that wait for the last one have."""
        before, good = [one.tolist() for one in times], True
        calls(hook, late)
        for kind, one, old in zip(names, times, before):
            waited = [now - then for now, then in zip(one.tolist(), old)]
            named = job.rank != last and (meets or kind == names[0])
            found.append((min(waited) >= 0 and waited[job.n :] == [0, 0], kind, hook, waited))
            good = good and (not named or waited[last] > 5e6)
        told = [False] * job.n
        torch.distributed.all_gather_object(told, good, job.group)
        return all(told)

    for hook in (False, True):
        calls(hook)  # the first one makes the instance
        assert any(seen(hook, late) for late in (0.05, 0.2, 0.8, 3.2)), found
    for given_wrong in (times[0][: job.n - 1], times[0].int(), times[0][None]):
        more[0][names[0]] = given_wrong
        refused(lambda: calls(False), names[0], "int64")
    assert all(one[0] for one in found), found  # behind the calls, in which ranks wait for each other


class Operators(TorchDispatchMode):
    """Counts what torch is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: List[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def test_low_no_operators(job: Job) -> None:
    """A call, and the two of a hook, asks torch for memory alone: all kernels are the library's."""
    buffer, case = buffer_of(job), case_of(job, seed=36, hidden=1024)
    given, experts = mine(job, case), case.n * case.local
    stats = torch.zeros(case.local, dtype=torch.int32, device=job.device)
    for fp8 in ({"use_fp8": False}, {}, {"round_scale": True, "use_ue8m0": True}):
        for hook in (False, True):
            for zero_copy in (False, True):
                for skip in (True, False):  # the first call of a shape makes an instance
                    with Operators() as seen:
                        rows, _, handle, _, receive = buffer.low_latency_dispatch(
                            given.x, given.topk, 40, experts, stats, return_recv_hook=hook, **fp8
                        )
                        receive() if hook else None
                    y = rows
                    if "use_fp8" not in fp8:
                        y = torch.zeros_like(rows[0], dtype=torch.bfloat16)
                    if zero_copy:
                        buffer.get_next_low_latency_combine_buffer(handle).copy_(y)
                    with seen:
                        _, _, receive = buffer.low_latency_combine(
                            y,
                            given.topk,
                            given.weights,
                            handle,
                            zero_copy=zero_copy,
                            return_recv_hook=hook,
                        )
                        receive() if hook else None
                    others = [name for name in seen.names if not name.startswith("aten.empty")]
                    assert skip or not others, others


def check_fp8(job: Job, round_scale: bool, ue8m0: bool) -> None:
    buffer, case = buffer_of(job), case_of(job, seed=35, hidden=1024)
    given = mine(job, case)
    (rows, scales), counts, handle, _, _ = buffer.low_latency_dispatch(
        given.x,
        given.topk,
        case.tokens,
        case.n * case.local,
        round_scale=round_scale,
        use_ue8m0=ue8m0,
    )
    assert scales.stride()[1] == 1 and scales.stride()[2] == rows.shape[1], scales.stride()
    if ue8m0:
        assert scales.dtype == torch.int32 and scales.shape[2] == 2
        exponents = scales.cpu().contiguous().view(torch.uint8).int() << 23
        scales = exponents.view(torch.float32)
    for expert in range(case.local):
        wanted, at = reference.low_packed(case, job.rank, expert), int(counts[expert])
        near(reference.dequantize(rows[expert, :at], scales[expert, :at]), wanted, 0.07)
        if round_scale:
            used = scales[expert, :at].contiguous().view(torch.int32)
            assert not bool((used & (1 << 23) - 1).any())
    values = torch.zeros(rows.shape, dtype=torch.bfloat16, device=job.device)
    for expert in range(case.local):
        at = int(counts[expert])
        back = reference.dequantize(rows[expert, :at], scales[expert, :at])
        values[expert, :at] = back.to(job.device).to(torch.bfloat16)
    out, _, _ = buffer.low_latency_combine(
        run_experts(job, case, values), given.topk, given.weights, handle
    )
    near(out, reference.low_sum(case, job.rank, expert_scaled), 0.12)


def test_low_fp8(job: Job) -> None:
    check_fp8(job, False, False)


def test_low_fp8_powers_of_two(job: Job) -> None:
    check_fp8(job, True, False)


def test_low_fp8_ue8m0(job: Job) -> None:
    check_fp8(job, True, True)
