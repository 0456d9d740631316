# SPDX-License-Identifier: BSD-3-Clause
"""HybridEPBuffer: values, handles, what is refused, and the calls of Megatron-LM."""

from __future__ import annotations

import os
import sys
from typing import Any, Optional, Tuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
import deep_ep_elastic_reference as wanted_of  # noqa: E402
from deep_ep_common import case_of, mine, near, refused, same, same_sum  # noqa: E402
from deep_ep_job import Job  # noqa: E402
import deep_ep_reference as reference  # noqa: E402
from deep_ep_reference import Case  # noqa: E402

import deep_ep  # noqa: E402

MOST, PAD = 64, 8


def made(job: Job, case: Case, **more: Any) -> Any:
    return deep_ep.HybridEPBuffer(
        group=job.group,
        hidden_dim=case.hidden,
        max_num_of_tokens_per_rank=MOST,
        num_local_experts=case.local,
        **more,
    )


def maps_of(case: Case, given: reference.Tokens) -> Tuple[torch.Tensor, torch.Tensor]:
    """A column for each expert: whether a token has it, and with which weight."""
    shape = given.topk.shape[0], case.n * case.local
    routing = torch.zeros(shape, dtype=torch.bool, device=given.x.device)
    probs = torch.zeros(shape, device=given.x.device)
    for token, topk in enumerate(given.topk.tolist()):
        for k, expert in enumerate(topk):
            if expert >= 0:
                routing[token, expert] = True
                probs[token, expert] = given.weights[token, k]
    return routing, probs


def blank(wanted: torch.Tensor, rows: int) -> torch.Tensor:
    """The first rows, or zeros behind."""
    tail = torch.zeros((max(rows - wanted.shape[0], 0),) + wanted.shape[1:], dtype=wanted.dtype)
    return torch.cat([wanted[:rows], tail])


def results_of(job: Job, case: Case, rows: torch.Tensor, pad: int) -> torch.Tensor:
    """What experts here make of expanded rows; padding is no number."""
    ids = blank(wanted_of.expanded(case, job.rank, pad).ids + 1, rows.shape[0]) - 1
    found = torch.full_like(rows, float("nan"))
    for expert in range(case.local):
        at = (ids == expert).nonzero().flatten().to(rows.device)
        found[at] = wanted_of.result(rows[at], job.rank * case.local + expert)
    return found


def check(job: Job, case: Case, buffer: Any, how: dict, rows: Optional[int]) -> Any:
    """A dispatch_with_permute and its combine, with the routing in `how`."""
    wanted = wanted_of.expanded(case, job.rank, PAD)
    given = mine(job, case)
    got, probs, scales, counts, handle = buffer.dispatch_with_permute(
        hidden=given.x, pad_multiple=PAD, **how
    )
    rows = wanted.x.shape[0] if rows is None else rows
    same(got, blank(wanted.x, rows))
    assert scales is None and counts.dtype == torch.int64
    assert counts.tolist() == [wanted_of.up(count, PAD) for count in wanted.count]
    assert handle[7].tolist() == wanted.count and int(handle[10]) == 0
    come = int(handle[3])
    assert handle[3].shape == (1,) and come == sum(wanted_of.from_each(case, job.rank))
    chosen = reference.normal_rows(case, job.rank).topk
    for expert in range(case.local):
        same(handle[4][:come, expert], (chosen == expert).any(1))
    if "topk_weights" in how or "probs" in how:
        same(probs, blank(wanted.weights, rows))
    else:
        assert probs is None
    out, back = buffer.combine_with_unpermute(
        hidden=results_of(job, case, got, PAD), probs=probs, handle=handle, pad_multiple=PAD
    )
    if "topk_idx" in how:
        same_sum(job, out, wanted_of.combined(case, job.rank, [], False))
    else:
        near(out, wanted_of.combined(case, job.rank, [], False), 0.01)
    if probs is not None:
        same(back, maps_of(case, given)[1].cpu())
    return handle


def test_hybrid_permute(job: Job) -> None:
    """Routings as maps and as indices, with and without weights, the host waiting or not."""
    case = case_of(job, seed=700)
    buffer, given, experts = made(job, case), mine(job, case), case.n * case.local
    routing, probs = maps_of(case, given)
    by_map = dict(routing_map=routing, num_of_experts_per_rank=case.local)
    by_indices = dict(topk_idx=given.topk, num_of_experts=experts)
    most = wanted_of.up(case.n * MOST * case.topk, PAD)
    free = dict(num_permuted_tokens=most, non_blocking=True)
    check(job, case, buffer, dict(by_map, probs=probs), None)
    check(job, case, buffer, by_map, None)
    check(job, case, buffer, dict(by_indices, topk_weights=given.weights), None)
    check(job, case, buffer, dict(by_map, probs=probs, **free), most)
    check(job, case, buffer, dict(by_indices, topk_weights=given.weights, **free), most)
    exact = wanted_of.expanded(case, job.rank, PAD).x.shape[0]
    handle = check(job, case, buffer, dict(by_map, num_permuted_tokens=exact), exact)
    assert len(handle) == 11 and handle[8] == given.x.shape[0]
    case = case_of(job, seed=701, empty=job.n - 1)
    routing, probs = maps_of(case, mine(job, case))
    check(job, case, buffer, dict(routing_map=routing, probs=probs), None)
    buffer.destroy()


def test_hybrid_overflow(job: Job) -> None:
    """Rows beyond num_permuted_tokens are left out, and add nothing."""
    case = case_of(job, seed=702)
    buffer, given = made(job, case), mine(job, case)
    routing, probs = maps_of(case, given)
    wanted = wanted_of.expanded(case, job.rank, PAD)
    rows = max(wanted.x.shape[0] - PAD, 0) // PAD * PAD
    got, weights, _, counts, handle = buffer.dispatch_with_permute(
        hidden=given.x,
        routing_map=routing,
        probs=probs,
        pad_multiple=PAD,
        num_permuted_tokens=rows,
        non_blocking=True,
    )
    same(got, wanted.x[:rows])
    same(weights, wanted.weights[:rows])
    assert int(handle[10]) == 1
    assert counts.tolist() == [wanted_of.up(count, PAD) for count in wanted.count]
    _, back = buffer.combine_with_unpermute(
        hidden=got, probs=torch.ones_like(weights), handle=handle, pad_multiple=PAD
    )
    assert int((back > 0).sum()) <= int(routing.sum()) and bool((back[~routing] == 0).all())
    buffer.destroy()


def test_hybrid_plain(job: Job) -> None:
    """Without permutation: a row for each token, probs by the experts of a host."""
    case = case_of(job, seed=703)
    buffer, given = made(job, case), mine(job, case)
    routing, probs = maps_of(case, given)
    wanted = reference.normal_rows(case, job.rank)
    columns = case.local * buffer.num_of_hybrid_ep_ranks_per_nvlink_domain
    first = buffer.local_rank * case.local
    assert buffer.node_rank * columns + first == job.rank * case.local
    handle = None
    for how in (
        dict(routing_map=routing, probs=probs),
        dict(topk_idx=given.topk, topk_weights=given.weights, num_of_experts=case.n * case.local),
    ):
        for known in (None, handle):
            rows, come, scales, handle = buffer.dispatch(
                hidden=given.x, scaling_factor=torch.ones(3, 2), handle=known, **how
            )
            same(rows, wanted.x)
            assert scales is None and come.shape == (rows.shape[0], columns) and len(handle) == 7
            for expert in range(case.local):
                share = torch.where(wanted.topk == expert, wanted.weights, torch.zeros(()))
                same(come[:, first + expert], share.sum(1))
            out, back = buffer.combine(rows, come, handle)
            same(back, probs.cpu())
            near(out, reference.normal_sum(case, job.rank, lambda rank: 1.0), 0.01)
    buffer.destroy()


def test_hybrid_bytes(job: Job) -> None:
    """Rows of one byte and their scales travel as they are, padded by zeros."""
    case = case_of(job, seed=704)
    buffer, given = made(job, case, use_fp8=True), mine(job, case)
    routing, _ = maps_of(case, given)
    codes, scales = reference.quantize(given.x.cpu())
    rows, _, come, _, handle = buffer.dispatch_with_permute(
        hidden=codes.to(job.device),
        scaling_factor=scales.to(job.device),
        routing_map=routing,
        pad_multiple=PAD,
    )
    wanted = wanted_of.expanded(case, job.rank, PAD)
    real = wanted.ids >= 0
    sent, by = reference.quantize(wanted.x)
    assert rows.dtype == torch.uint8 and rows.shape[0] == wanted.x.shape[0]
    same(rows.cpu()[real], sent[real])
    same(come.cpu()[real], by[real])
    assert not rows.cpu()[~real].any() and not come.cpu()[~real].any()
    out, _ = buffer.combine_with_unpermute(
        hidden=results_of(job, case, wanted.x.to(job.device), PAD), handle=handle
    )
    near(out, wanted_of.combined(case, job.rank, [], False), 0.01)
    buffer.destroy()


class Dispatch(torch.autograd.Function):
    """Megatron's: forward a dispatch, backward a combine of gradients of rows and probs."""

    @staticmethod
    def forward(ctx: Any, x: Any, routing: Any, probs: Any, buffer: Any, local: int) -> Any:
        rows, come, _, counts, handle = buffer.dispatch_with_permute(
            hidden=x,
            routing_map=routing,
            probs=probs,
            scaling_factor=None,
            num_of_experts_per_rank=local,
            pad_multiple=PAD,
            num_permuted_tokens=None,
            non_blocking=False,
        )
        ctx.buffer, ctx.handle = buffer, handle
        return rows, come, counts, handle

    @staticmethod
    def backward(ctx: Any, rows: Any, come: Any, *_: Any) -> Any:
        x, probs = ctx.buffer.combine_with_unpermute(
            hidden=rows.contiguous(), probs=come, handle=ctx.handle, pad_multiple=PAD
        )
        return x, None, probs, None, None


class Combine(torch.autograd.Function):
    """Megatron's: forward a combine, backward a dispatch by its handle."""

    @staticmethod
    def forward(ctx: Any, rows: Any, handle: Any, buffer: Any) -> Any:
        ctx.buffer, ctx.handle, ctx.rows = buffer, handle, rows.shape[0]
        return buffer.combine_with_unpermute(hidden=rows, handle=handle, pad_multiple=PAD)[0]

    @staticmethod
    def backward(ctx: Any, out: Any) -> Any:
        rows = ctx.buffer.dispatch_with_permute(
            hidden=out.contiguous(),
            scaling_factor=None,
            handle=ctx.handle,
            pad_multiple=PAD,
            num_permuted_tokens=ctx.rows,
        )[0]
        return rows, None, None


def test_hybrid_megatron(job: Job) -> None:
    """Two layers, forward and backward, of experts that multiply by their weight."""
    case = case_of(job, seed=705)
    buffer, given = made(job, case), mine(job, case)
    routing, weights = maps_of(case, given)
    x, probs = given.x.clone().requires_grad_(), weights.clone().requires_grad_()
    hidden = x
    for _ in range(2):
        rows, come, counts, handle = Dispatch.apply(hidden, routing, probs, buffer, case.local)
        assert int(counts.sum()) == rows.shape[0]
        hidden = Combine.apply((rows.float() * come[:, None]).to(torch.bfloat16), handle, buffer)
    factor = weights.sum(1, keepdim=True)
    near(hidden.detach(), (given.x.float() * factor**2).cpu(), 0.1)
    hidden.float().sum().backward()
    near(x.grad, (factor**2).expand(given.x.shape).cpu(), 0.1)
    wanted = 2 * factor * given.x.float().sum(1, keepdim=True) * routing
    error = (probs.grad - wanted).abs()
    assert bool((error <= 0.3 + 0.1 * wanted.abs()).all()), error.max()
    buffer.destroy()


def test_hybrid_wrong(job: Job) -> None:
    """What is wrong is refused by name before anything is sent."""
    case = case_of(job, seed=706)
    buffer, given = made(job, case), mine(job, case)
    routing, probs = maps_of(case, given)
    call, x = buffer.dispatch_with_permute, given.x
    _, _, _, _, handle = call(hidden=x, routing_map=routing, pad_multiple=PAD)
    plain = buffer.dispatch(x, routing_map=routing)[3]
    refused(lambda: made(job, case._replace(hidden=100)), "hidden_dim", "128")
    refused(lambda: call(hidden=x), "routing_map", "is None")
    refused(lambda: call(hidden=x[:, :100], routing_map=routing), "hidden")
    refused(lambda: call(hidden=x, routing_map=routing.int()), "routing_map", "bool")
    refused(lambda: call(hidden=x, routing_map=routing[1:]), "routing_map")
    refused(lambda: call(hidden=x, routing_map=routing, probs=probs[:, 1:]), "probs")
    refused(lambda: call(hidden=x, topk_idx=given.topk), "num_of_experts")
    refused(lambda: call(hidden=x, routing_map=routing, use_fp8=True), "use_fp8")
    refused(lambda: call(hidden=x.byte(), routing_map=routing), "scaling_factor", "is None")
    refused(lambda: call(hidden=x, routing_map=routing, non_blocking=True), "num_permuted_tokens")
    odd = dict(non_blocking=True, num_permuted_tokens=PAD + 1, pad_multiple=PAD)
    refused(lambda: call(hidden=x, routing_map=routing, **odd), "multiple of pad_multiple")
    refused(lambda: call(hidden=x, handle=handle, pad_multiple=PAD * 2), "pad_multiple")
    refused(lambda: call(hidden=x, handle=handle, num_permuted_tokens=7), "num_permuted_tokens")
    refused(lambda: call(hidden=x, handle=plain), "handle", "dispatch_with_permute")
    refused(lambda: buffer.dispatch(x, handle=handle), "handle", "give one of dispatch")
    refused(lambda: buffer.combine(x, None, handle), "handle", "give one of dispatch")
    refused(lambda: buffer.combine_with_unpermute(hidden=x, handle=None), "handle")
    wide = torch.ones((x.shape[0], 20 * job.n), dtype=torch.bool, device=x.device)
    refused(lambda: call(hidden=x, routing_map=wide), "routing_map", "16 at most")
    buffer.destroy()


def test_hybrid_uneven_maps(job: Job) -> None:
    """Ranks whose tokens have different numbers of experts, of which the largest changes."""
    experts, tokens, hidden = 2 * job.n, 3, 256
    buffer = deep_ep.HybridEPBuffer(
        group=job.group, hidden_dim=hidden, max_num_of_tokens_per_rank=MOST, num_local_experts=2
    )
    x = torch.full((tokens, hidden), job.rank + 1.0, device=job.device).bfloat16()
    for turn in range(6):
        routing = torch.zeros((tokens, experts), dtype=torch.bool, device=job.device)
        many = 1 + (job.rank + turn) % min(experts, 4)
        for token in range(tokens):
            for k in range(many):
                routing[token, (token + job.rank + k * 3) % experts] = True
        probs = routing.float() * (job.rank + 1) / 8
        if turn % 2:
            rows, back, _, handle = buffer.dispatch(x, probs=probs, routing_map=routing)
            ranks = routing.view(tokens, job.n, -1).any(2).sum(1)
            sums, again = buffer.combine(rows, back, handle)
        else:
            rows, back, _, _, handle = buffer.dispatch_with_permute(
                hidden=x, probs=probs, routing_map=routing
            )
            ranks = routing.sum(1)
            sums, again = buffer.combine_with_unpermute(hidden=rows, probs=back, handle=handle)
        near(sums, (x.float() * ranks[:, None]).bfloat16())
        same(again, probs)
    buffer.destroy()
