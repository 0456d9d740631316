# SPDX-License-Identifier: BSD-3-Clause
"""Calls that are nearly right: each gives the right values or is refused, and no rank waits for
ever. Ranks without tokens and another top-k, weights changed in place, wrong expert numbers, scales
of other forms, destroyed Buffers."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import (  # noqa: E402
    buffer_of,
    case_of,
    check_packed,
    codes_of,
    dispatch,
    expert_scaled,
    mine,
    near,
    refused,
    run_experts,
    same,
    same_sum,
    scaled,
)
from deep_ep_job import Job  # noqa: E402
import deep_ep_reference as reference  # noqa: E402

import deep_ep  # noqa: E402


def idle_as(given: reference.Tokens, topk: int) -> reference.Tokens:
    """What a rank has that has no tokens, and says another top-k."""
    if given.x.shape[0]:
        return given
    return reference.Tokens(
        given.x, given.topk.new_empty((0, topk)), given.weights.new_empty((0, topk))
    )


def low_call(job: Job, buffer: deep_ep.Buffer, case: reference.Case, idle: int) -> None:
    given, most = idle_as(mine(job, case), idle), 40
    rows, counts, handle, _, _ = buffer.low_latency_dispatch(
        given.x, given.topk, most, case.n * case.local, use_fp8=False
    )
    check_packed(job, case, rows, counts, handle)
    y = run_experts(job, case, rows)
    out, _, _ = buffer.low_latency_combine(y, given.topk, given.weights, handle)
    near(out, reference.low_sum(case, job.rank, expert_scaled))


def test_low_idle_rank_of_another_topk(job: Job) -> None:
    """In the first call and later; the others' top-k grows and shrinks."""
    buffer = deep_ep.Buffer(job.group, low_latency_mode=True, explicitly_destroy=True)
    for seed, (topk, idle) in enumerate(((3, 2), (3, 4), (2, 4), (4, 4), (4, 1), (3, 3), (2, 5))):
        for empty in (job.n - 1, 0):
            case = case_of(job, seed=80 + seed, topk=topk, empty=empty)
            low_call(job, buffer, case, idle)
    buffer.destroy()


def test_normal_idle_rank_of_another_topk(job: Job) -> None:
    buffer = deep_ep.Buffer(job.group, explicitly_destroy=True)
    for seed, (topk, idle) in enumerate(((3, 2), (3, 4), (2, 4), (4, 4), (4, 1), (3, 3), (2, 5))):
        for more in ({}, {"num_worst_tokens": 64 * job.n}):  # type: Dict[str, Any]
            case = case_of(job, seed=90 + seed, topk=topk, empty=job.n - 1)
            given = idle_as(mine(job, case), idle)
            got = dispatch(buffer, given, case.n * case.local, **more)
            wanted = reference.normal_rows(case, job.rank)
            rows = len(wanted.x)
            same(got[0][:rows], wanted.x)
            same(got[1][:rows, :topk], wanted.topk)
            same(got[2][:rows, :topk], wanted.weights)
            assert (got[1][:, topk:] == -1).all() and (got[1][rows:] == -1).all()
            x = got[0] * scaled(job.rank)
            out, weights, _ = buffer.combine(x, got[4], topk_weights=got[2])
            same_sum(job, out, reference.normal_sum(case, job.rank, scaled))
            assert weights.shape == given.weights.shape
            used = torch.where(given.topk >= 0, given.weights, torch.zeros_like(given.weights))
            same(weights, used.cpu())
    buffer.destroy()


def test_shapes_that_differ(job: Job) -> None:
    """The first call of a shape names what ranks give differently, on all of them."""
    if job.n == 1:
        return
    buffer, case = buffer_of(job), case_of(job, seed=99)
    given, odd = mine(job, case), int(job.rank == job.n - 1)
    for name, most, experts in (
        ("num_max_dispatch_tokens_per_rank", 50 + odd, case.n * case.local),
        ("num_experts", 50, case.n * (case.local + odd)),
    ):
        refused(
            lambda: buffer.low_latency_dispatch(given.x, given.topk, most, experts, use_fp8=False),
            "Buffer.low_latency_dispatch: " + name,
            "at rank",
        )


def test_weights_changed_in_place(job: Job) -> None:
    """Weights are those that the combine is given, whatever they were at the dispatch; experts are
    the dispatch's."""
    buffer, case = buffer_of(job), case_of(job, seed=100)
    given, experts = mine(job, case), case.n * case.local
    weights = given.weights.clone()
    for inference in (False, True):  # where torch counts no changes
        with torch.inference_mode(inference):
            rows, _, handle, _, _ = buffer.low_latency_dispatch(
                given.x, given.topk, 40, experts, use_fp8=False
            )
            weights = weights * 2
            y = run_experts(job, case, rows)
            out, _, _ = buffer.low_latency_combine(y, given.topk.clone(), weights, handle)
        near(out, (4 if inference else 2) * reference.low_sum(case, job.rank, expert_scaled))


def test_wrong_experts(job: Job) -> None:
    """In both modes, before anything is sent."""
    buffer, case = buffer_of(job), case_of(job, seed=101)
    given, experts = mine(job, case), case.n * case.local
    layout = buffer.get_dispatch_layout(given.topk, experts)

    def both(topk: torch.Tensor, low: str, *words: str) -> None:
        refused(
            lambda: buffer.low_latency_dispatch(given.x, topk, 40, experts, use_fp8=False),
            "deep_ep.Buffer.low_latency_dispatch: topk_idx",
            low,
        )
        refused(
            lambda: buffer.dispatch(
                given.x,
                num_tokens_per_rank=layout[0],
                is_token_in_rank=layout[3],
                num_tokens_per_expert=layout[2],
                topk_idx=topk,
                topk_weights=given.weights,
            ),
            *words,
        )
        refused(lambda: buffer.get_dispatch_layout(topk, experts), *words)

    both(given.topk.float(), "topk_idx is of torch.float32", "topk_idx is of torch.float32")
    if not job.cuda and given.x.shape[0]:
        for number in (experts, -2, (1 << 32) + 1):
            topk = given.topk.clone()
            topk[0, 0] = number
            both(
                topk,
                "topk[0][0] is %d; it is an expert from 0 to" % number,
                "topk_idx has %d; experts are 0 to %d" % (number, experts - 1),
            )


def test_wrong_combines(job: Job) -> None:
    """Other experts or weights than the dispatch's; statistics of another form."""
    buffer, case = buffer_of(job), case_of(job, seed=102)
    given, experts = mine(job, case), case.n * case.local
    low = buffer.low_latency_dispatch
    rows, _, handle, _, _ = low(given.x, given.topk, 40, experts, use_fp8=False)
    y = run_experts(job, case, rows)
    for topk in (
        given.topk.roll(1, 1) if not job.cuda else None,
        given.topk[:, 1:],
        given.topk.int(),
    ):
        if topk is None or (
            topk.shape == given.topk.shape
            and torch.equal(topk.long(), given.topk)
            and topk.dtype == given.topk.dtype
        ):
            continue
        refused(
            lambda: buffer.low_latency_combine(y, topk, given.weights, handle),
            "Buffer.low_latency_combine: topk_idx is not that of the dispatch",
        )
    refused(
        lambda: buffer.low_latency_combine(y, given.topk, given.weights.bfloat16(), handle),
        "topk_weights is of torch.bfloat16; give torch.float32",
    )
    stats = torch.zeros(case.local + 1, dtype=torch.int32, device=job.device)
    refused(
        lambda: low(given.x, given.topk, 40, experts, stats, use_fp8=False),
        "cumulative_local_expert_recv_stats has shape (%d,)" % (case.local + 1),
    )
    out, _, _ = buffer.low_latency_combine(y, given.topk, given.weights, handle)
    near(out, reference.low_sum(case, job.rank, expert_scaled))


def test_arguments_of_other_versions(job: Job) -> None:
    """What asks for nothing is taken; what asks is refused by name; what nobody has is a
    TypeError."""
    buffer, case = buffer_of(job), case_of(job, seed=103)
    given, experts = mine(job, case), case.n * case.local

    def low(**more: Any) -> Any:
        return buffer.low_latency_dispatch(given.x, given.topk, 40, experts, use_fp8=False, **more)

    _, _, handle, _, _ = low(use_nvfp4=False, x_global_scale=None)
    for call in (
        lambda: low(use_nvfp4=True, x_global_scale=1, use_ue8m0_for_sf=True),
        lambda: buffer.low_latency_combine(
            given.x, given.topk, given.weights, handle, use_logfmt=True
        ),
    ):
        try:
            call()
        except deep_ep.NotOffered as error:
            assert "is not offered here" in str(error)
            continue
        raise AssertionError("not refused")
    try:
        low(use_fp9=True)
    except TypeError as error:
        assert "there is no argument use_fp9" in str(error)


def test_packed_scales(job: Job) -> None:
    """Scales of four bytes in an int32 travel as they are, and so do those that lie by columns."""
    buffer, case = buffer_of(job), case_of(job, seed=104, hidden=1024)
    given, experts = mine(job, case), case.n * case.local
    codes, scales = codes_of(job, given.x)
    made = torch.Generator().manual_seed(job.rank)
    packed = torch.randint(-(1 << 31), (1 << 31) - 1, (len(given.x), 2), generator=made)
    packed = packed.to(torch.int32).to(job.device)
    mark = torch.arange(len(given.x), device=job.device) + 1000 * job.rank
    if len(given.x):
        packed[:, 0] = mark.int()  # by which a row is known again
    rows = dispatch(buffer, given, experts, (codes, packed))
    by_rows = dispatch(buffer, given, experts, (codes, scales))
    by_columns = scales.t().contiguous().t()
    assert by_columns.stride() != scales.stride() or len(scales) < 2
    for got in (dispatch(buffer, given, experts, (codes, by_columns)), by_rows):
        same(got[0][0].view(torch.uint8), by_rows[0][0].view(torch.uint8).cpu())
        same(got[0][1], by_rows[0][1].cpu())
    come, marks = rows[0][1], []
    assert come.dtype == torch.int32 and come.shape == (len(rows[0][0]), 2) and come.is_contiguous()
    for rank in range(job.n):
        topk = reference.tokens_of(case, rank).topk
        first, last = job.rank * case.local, (job.rank + 1) * case.local
        here = ((topk >= first) & (topk < last)).any(1)
        marks += [1000 * rank + int(token) for token in here.nonzero()]
        drawn = torch.Generator().manual_seed(rank)
        words = torch.randint(-(1 << 31), (1 << 31) - 1, (len(topk), 2), generator=drawn)[here, 1]
        at = len(marks) - len(words)
        same(come[at : at + len(words), 1], words.to(torch.int32))
    assert come[:, 0].tolist() == marks
    again = buffer.dispatch((codes, packed), handle=rows[4])[0]
    same(again[1], come.cpu())
    refused(
        lambda: dispatch(buffer, given, experts, (codes, scales[:, 1:])), "scales of", "float32"
    )


def test_after_destroy(job: Job) -> None:
    """A Buffer that was destroyed says so, and makes nothing."""
    buffer, case = deep_ep.Buffer(job.group, explicitly_destroy=True), case_of(job, seed=105)
    given, experts = mine(job, case), case.n * case.local
    got = dispatch(buffer, given, experts)
    buffer.destroy()
    buffer.destroy()
    for call in (
        lambda: dispatch(buffer, given, experts),
        lambda: buffer.combine(got[0], got[4]),
        lambda: buffer.low_latency_dispatch(given.x, given.topk, 40, experts, use_fp8=False),
        lambda: buffer.low_latency_combine(got[0], given.topk, given.weights, ()),
        lambda: buffer.get_next_low_latency_combine_buffer(()),
    ):
        refused(call, "is a Buffer that was destroyed; make another one")
    assert not buffer._normal.pool.entries and not buffer._low.entries
