# SPDX-License-Identifier: BSD-3-Clause
"""How long things last: routings whose tensor is written again, memory of several sizes, halves that
nobody calls, tensors of Buffers that were destroyed."""

from __future__ import annotations

import os
import sys
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import case_of, check_received, dispatch, mine, same  # noqa: E402
from deep_ep_job import Job  # noqa: E402
import deep_ep_reference as reference  # noqa: E402

import deep_ep  # noqa: E402
from deep_ep import Buffer, EPBuffer, ElasticBuffer  # noqa: E402

MOST = 64


def codes_of(case: reference.Case, given: reference.Tokens) -> Any:
    """Rows of one byte that say whose they are, and scales."""
    device = given.x.device
    number = torch.arange(given.x.shape[0], dtype=torch.uint8, device=device)
    scales = torch.ones((given.x.shape[0], case.hidden // 128), device=device)
    return number[:, None].expand(-1, case.hidden).contiguous(), scales


def test_life_of_a_routing(job: Job) -> None:
    """The tensor of a dispatch's topk_idx has the next batch's routing when rows of another type come
    by the handle."""
    case = case_of(job, seed=1300)
    given, experts = mine(job, case), case.n * case.local
    codes = codes_of(case, given)
    buffer = Buffer(job.group, explicitly_destroy=True)
    for more in ({}, dict(num_worst_tokens=case.n * MOST)):
        wanted, topk = dispatch(buffer, given, experts, codes, **more)[:2]
        there = (topk >= 0).any(1)  # all but those that did not come
        kept = given._replace(topk=given.topk.clone())
        handle = dispatch(buffer, kept, experts, **more)[4]
        kept.topk.copy_((given.topk + case.local).remainder(experts))
        same(buffer.dispatch(codes, handle=handle)[0][0][there], wanted[0][there])
        check_received(job, case, dispatch(buffer, given, experts))
    buffer.destroy()


def test_life_of_a_copied_routing(job: Job) -> None:
    """The same by the second interface, with new weights, where a copy is asked for."""
    case = case_of(job, seed=1301)
    given, experts = mine(job, case), case.n * case.local
    for kind, more in ((ElasticBuffer, {}), (EPBuffer, dict(do_handle_copy=True))):
        buffer = kind(job.group, num_max_tokens_per_rank=MOST, explicitly_destroy=True)
        kept = given.topk.clone()
        wanted = buffer.dispatch(given.x, given.topk, given.weights, num_experts=experts)
        handle = buffer.dispatch(given.x, kept, given.weights, num_experts=experts, **more)[3]
        kept.copy_((given.topk + case.local).remainder(experts))
        again = buffer.dispatch(given.x, topk_weights=given.weights, handle=handle)
        same(again[0], wanted[0])
        same(again[2], wanted[2])
        same(handle.topk_idx, given.topk)
        buffer.destroy()


def test_life_of_worst_numbers(job: Job) -> None:
    """Many numbers of worst tokens take a few instances, whose rows are right."""
    case = case_of(job, seed=1302, tokens=20)
    given, experts = mine(job, case), case.n * case.local
    buffer = Buffer(job.group, explicitly_destroy=True)
    wanted = dispatch(buffer, given, experts)[0]
    begun = len(buffer.instances())
    for worst in range(case.n * 20, case.n * 120, 7):
        got = dispatch(buffer, given, experts, num_worst_tokens=worst)
        assert got[0].shape[0] == worst and got[1].shape[0] == worst
        there = (got[1] >= 0).any(1)
        same(got[0][there], wanted)
    made = len(buffer.instances()) - begun
    assert 1 < made <= 5, made
    for worst in (case.n * 119, case.n * 20):
        dispatch(buffer, given, experts, num_worst_tokens=worst)
    assert len(buffer.instances()) - begun == made
    buffer.destroy()


def test_life_of_a_half(job: Job) -> None:
    """A Buffer ends whose hooks nobody has called, destroyed or dropped; then they do nothing."""
    case = case_of(job, seed=1303)
    given, experts = mine(job, case), case.n * case.local
    for ends in ("destroyed", "dropped"):
        buffer = Buffer(job.group, low_latency_mode=True, explicitly_destroy=ends == "destroyed")
        got = buffer.low_latency_dispatch(
            given.x, given.topk, case.tokens, experts, use_fp8=False, return_recv_hook=True
        )
        hook = got[4]
        if ends == "destroyed":
            buffer.destroy()
            hook()
            buffer.destroy()
        del buffer, got, hook
        other = Buffer(job.group, explicitly_destroy=True)
        check_received(job, case, dispatch(other, given, experts))
        other.destroy()


def test_life_of_a_lent_tensor(job: Job) -> None:
    """A tensor of get_next_low_latency_combine_buffer is of use after destroy() on one rank, and the
    memory is given back when it has gone."""
    case = case_of(job, seed=1304)
    given, experts = mine(job, case), case.n * case.local
    buffer = Buffer(job.group, low_latency_mode=True, explicitly_destroy=True)
    handle = buffer.low_latency_dispatch(
        given.x, given.topk, case.tokens, experts, use_fp8=False
    )[2]
    lent = buffer.get_next_low_latency_combine_buffer(handle) if job.rank == 0 else None
    if lent is not None:
        lent.fill_(3)
    buffer.destroy()
    other = Buffer(job.group, explicitly_destroy=True)
    check_received(job, case, dispatch(other, given, experts))
    if lent is not None:
        assert bool((lent == 3).all())
        lent.fill_(4)
    check_received(job, case, dispatch(other, given, experts))
    assert deep_ep.buffer._dropped._dropped
    del lent
    other.destroy()
    assert not deep_ep.buffer._dropped._dropped
