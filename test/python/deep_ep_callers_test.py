# SPDX-License-Identifier: BSD-3-Clause
"""EPBuffer and ElasticBuffer as vLLM, SGLang, torchtitan and Megatron-LM call them, and their
signatures beside a stored list of DeepEP's."""

from __future__ import annotations

import inspect
import os
import sys
from typing import Any, Dict, List, Tuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
import deep_ep_elastic_reference as wanted_of  # noqa: E402
from deep_ep_common import case_of, codes_of, mine, near, same  # noqa: E402
from deep_ep_elastic_test import results_of  # noqa: E402
from deep_ep_job import Job  # noqa: E402
import deep_ep_reference as reference  # noqa: E402

import deep_ep  # noqa: E402

MOST = 64


def used(job: Job, case: reference.Case) -> torch.Tensor:
    """The sum of a token's weights that have an expert."""
    own = mine(job, case)
    return torch.where(own.topk >= 0, own.weights, torch.zeros_like(own.weights)).sum(1)


def test_caller_vllm(job: Job) -> None:
    """The arguments of vLLM's prepare and finalize; weights are applied by the experts."""
    case = case_of(job, seed=500)
    given, experts = mine(job, case), case.n * case.local
    buffer = deep_ep.ElasticBuffer(
        group=job.group,
        num_max_tokens_per_rank=MOST,
        hidden=case.hidden,
        num_topk=case.topk,
        use_fp8_dispatch=False,
        allow_hybrid_mode=True,
        prefer_overlap_with_compute=True,
        allow_multiple_reduction=True,
        num_cpu_timeout_secs=60,
        num_gpu_timeout_secs=60,
        explicitly_destroy=True,
    )
    assert buffer.get_theoretical_num_sms(num_experts=experts, num_topk=case.topk) > 0
    for expand, sync in ((False, True), (True, True), (False, False)):
        got = buffer.dispatch(
            x=given.x,
            topk_idx=given.topk,
            topk_weights=given.weights,
            num_experts=experts,
            num_max_tokens_per_rank=MOST,
            do_expand=expand,
            do_cpu_sync=sync,
            async_with_compute_stream=False,
        )
        rows, topk, weights, handle, event = got
        assert event.event is None
        counts = reference.normal_rows(case, job.rank).counts
        assert handle.num_recv_tokens_per_expert_list == (counts if sync else [])
        come = sum(wanted_of.from_each(case, job.rank))
        assert int(handle.psum_num_recv_tokens_per_scaleup_rank[-1]) == come
        if expand:
            y = (rows.float() * weights[:, None]).to(torch.bfloat16)
        else:
            y = (rows.float() * weights.sum(1)[:, None]).to(torch.bfloat16)
        out, back, event = buffer.combine(
            x=y,
            handle=handle,
            topk_weights=None,
            async_with_compute_stream=True,
            allocate_on_comm_stream=False,
        )
        event.current_stream_wait()
        assert back is None
        near(out, (given.x.float() * used(job, case)[:, None]).cpu(), 0.05)
    buffer.destroy()


def test_caller_vllm_mxfp8(job: Job) -> None:
    """Rows of MXFP8: a byte of exponent for each 32 columns, four in an int32, by columns."""
    case = case_of(job, seed=501, hidden=512)
    given = mine(job, case)
    codes, _ = codes_of(job, given.x)
    made = torch.Generator().manual_seed(job.rank)
    exponents = torch.randint(0, 255, (given.x.shape[0], 16), generator=made, dtype=torch.uint8)
    packed = exponents.view(torch.int32).to(job.device).t().contiguous().t()
    buffer = deep_ep.ElasticBuffer(job.group, num_max_tokens_per_rank=MOST, explicitly_destroy=True)
    (rows, scales), topk, _, handle, _ = buffer.dispatch(
        x=(codes, packed),
        topk_idx=given.topk,
        num_experts=case.n * case.local,
        use_tma_aligned_col_major_sf=True,
    )
    assert scales.dtype == torch.int32 and scales.shape == (rows.shape[0], 4)
    assert scales.stride() == (1, -(-rows.shape[0] // 4) * 4)
    sent = codes_of(job, reference.normal_rows(case, job.rank).x)[0]
    same(rows.view(torch.uint8), sent.cpu().view(torch.uint8))
    named = handle.recv_src_metadata[:, 0].cpu()
    for source in range(job.n):
        tokens = (named[named // MOST == source] % MOST).long()
        own = reference.tokens_of(case, source)
        made = torch.Generator().manual_seed(source)
        sent = torch.randint(0, 255, (own.x.shape[0], 16), generator=made, dtype=torch.uint8)
        same(scales[(named // MOST == source).to(scales.device)], sent.view(torch.int32)[tokens])
    buffer.destroy()


def test_caller_sglang(job: Job) -> None:
    """SGLang's: aligned experts, FP8 with scales by columns, queue pairs of a number of SMs."""
    case = case_of(job, seed=502, hidden=512)
    given, experts = mine(job, case), case.n * case.local
    hint = deep_ep.ElasticBuffer.get_buffer_size_hint(job.group, MOST, 512, case.topk, True)
    buffer = deep_ep.ElasticBuffer(
        job.group,
        num_bytes=hint,
        num_max_tokens_per_rank=MOST,
        hidden=512,
        num_topk=case.topk,
        use_fp8_dispatch=True,
        sl_idx=0,
        explicitly_destroy=True,
    )
    assert buffer.num_bytes == hint and buffer.sl_idx == 0
    sms = buffer.get_theoretical_num_sms(experts, case.topk)
    before = buffer.capture()
    got = buffer.dispatch(
        codes_of(job, given.x),
        topk_idx=given.topk,
        topk_weights=given.weights,
        num_experts=experts,
        expert_alignment=128,
        num_sms=sms,
        num_qps=buffer.get_theoretical_num_qps(sms),
        previous_event=before,
        async_with_compute_stream=True,
        allocate_on_comm_stream=True,
        do_expand=True,
        use_tma_aligned_col_major_sf=True,
    )
    got[4].current_stream_wait()
    (rows, scales), handle = got[0], got[3]
    assert rows.shape[0] % 128 == 0 and scales.stride()[0] == 1
    starts = torch.tensor([0] + handle.num_recv_tokens_per_expert_list).cumsum(0)
    assert int(starts[-1]) == rows.shape[0]
    x = torch.zeros((rows.shape[0], 512))
    ids = wanted_of.expanded(case, job.rank, 128).ids >= 0
    x[ids] = reference.dequantize(rows.cpu()[ids], scales.cpu()[ids])
    weighted = (x * got[2].cpu()[:, None] * ids[:, None]).to(torch.bfloat16).to(rows.device)
    out, _, _ = buffer.combine(weighted, handle)
    near(out, (given.x.float() * used(job, case)[:, None]).cpu(), 0.15)
    buffer.destroy()


class Exchange:
    """A Buffer, and what its autograd functions need."""

    def __init__(self, job: Job, case: reference.Case, kind: Any) -> None:
        hint = kind.get_buffer_size_hint(job.group, MOST, case.hidden, case.topk)
        self.experts = case.n * case.local
        self.buffer = kind(
            job.group,
            num_bytes=hint,
            num_max_tokens_per_rank=MOST,
            hidden=case.hidden,
            num_topk=case.topk,
            explicitly_destroy=True,
        )


class Dispatch(torch.autograd.Function):
    """Forward a dispatch, backward a combine of the rows' gradients with those of the weights."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, topk: Any, probs: Any, one: Exchange) -> Any:
        rows, _, weights, handle, event = one.buffer.dispatch(
            x,
            topk_idx=topk,
            topk_weights=probs,
            num_experts=one.experts,
            expert_alignment=8,
            do_expand=True,
            do_zero_padding=True,
            async_with_compute_stream=True,
            allocate_on_comm_stream=True,
            previous_event=one.buffer.capture(),
        )
        event.current_stream_wait()
        ctx.one, ctx.handle = one, handle
        return rows, weights, handle

    @staticmethod
    def backward(ctx: Any, rows: torch.Tensor, weights: torch.Tensor, _: Any) -> Any:
        x, probs, _ = ctx.one.buffer.combine(rows.contiguous(), ctx.handle, topk_weights=weights)
        return x, None, probs, None


class Combine(torch.autograd.Function):
    """Forward a combine, backward a dispatch by its handle."""

    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, handle: Any, one: Exchange) -> torch.Tensor:
        ctx.one, ctx.handle = one, handle
        return one.buffer.combine(rows, handle=handle)[0]

    @staticmethod
    def backward(ctx: Any, out: torch.Tensor) -> Any:
        rows = ctx.one.buffer.dispatch(
            out.contiguous(), handle=ctx.handle, do_expand=True, do_zero_padding=True
        )[0]
        return rows, None, None


def train(job: Job, kind: Any, seed: int) -> None:
    """Two layers, forward and backward, of experts that multiply by what is in `factor`."""
    case = case_of(job, seed=seed)
    given, one = mine(job, case), Exchange(job, case, kind)
    x, probs = given.x.clone().requires_grad_(), given.weights.clone().requires_grad_()
    hidden = x
    for _ in range(2):
        rows, weights, handle = Dispatch.apply(hidden, given.topk, probs, one)
        hidden = Combine.apply((rows.float() * weights[:, None]).to(torch.bfloat16), handle, one)
    factor = used(job, case)[:, None]
    near(hidden.detach(), (given.x.float() * factor**2).cpu(), 0.1)
    hidden.float().sum().backward()
    near(x.grad, (factor**2).expand(given.x.shape).cpu(), 0.1)
    wanted = 2 * factor * given.x.float().sum(1, keepdim=True) * (given.topk >= 0)
    error = (probs.grad - wanted).abs()
    assert bool((error <= 0.3 + 0.1 * wanted.abs()).all()), error.max()
    one.buffer.destroy()


def test_caller_torchtitan(job: Job) -> None:
    train(job, deep_ep.ElasticBuffer, 503)


def test_caller_megatron(job: Job) -> None:
    train(job, deep_ep.EPBuffer, 504)


def test_caller_sglang_deferred(job: Job) -> None:
    """SGLang's adapter of 2.5: results by the event; experts' numbers for a grouped product."""
    case = case_of(job, seed=505)
    given = mine(job, case)
    buffer = deep_ep.EPBuffer(job.group, num_max_tokens_per_rank=MOST, explicitly_destroy=True)
    event = buffer.dispatch(
        given.x,
        topk_idx=given.topk,
        topk_weights=given.weights,
        num_experts=case.n * case.local,
        do_expand=True,
        emit_expert_ids=True,
        do_cpu_sync=False,
        defer_epilogue=True,
        async_with_compute_stream=True,
    )
    got = event.wait() + (event,)
    first = got[3].recv_expert_ids.cpu()
    assert set(first.tolist()) <= set(range(-1, case.local))
    out = buffer.combine(results_of(job, case, got), got[3])[0]
    near(out, wanted_of.combined(case, job.rank, [], False))
    buffer.destroy()


# Signatures.


def stored() -> List[str]:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "deep_ep_signatures")
    with open(path) as lines:
        return [line.strip() for line in lines if not line.startswith("#")]


def parameters(found: Any, drop: bool) -> List[Tuple[str, str]]:
    """Name and default of each parameter, as text; "**": the name is of a dict of all others."""
    values = list(inspect.signature(found).parameters.values())[drop:]
    names = {inspect.Parameter.empty: ""}
    return [
        (one.name, "**" if one.kind is one.VAR_KEYWORD else names.get(one.default, repr(one.default)))
        for one in values
    ]


def found_of(name: str) -> List[Tuple[str, str]]:
    owner, _, call = name.partition(".")
    item = getattr(deep_ep, owner)
    if not call:
        return parameters(item, False)
    static = isinstance(inspect.getattr_static(item, call), staticmethod)
    return parameters(getattr(item, call), not static)


def test_signatures(job: Job) -> None:
    """Names, order and defaults are DeepEP's (what must be given there may have one here); what is
    more comes behind, with a default."""
    seen: Dict[str, int] = {}
    for line in stored():
        name, _, rest = line.rstrip(")").partition("(")
        wanted = [tuple(part.partition("=")[::2]) for part in rest.split(", ") if part]
        found = found_of(name)
        assert [one[0] for one in found[: len(wanted)]] == [one[0] for one in wanted], line
        for (parameter, default), (_, said) in zip(found, wanted):
            assert said in ("", default), (line, parameter, default)
        assert all(default for _, default in found[len(wanted) :]), line
        seen[name] = len(wanted)
    assert len(seen) > 60 and seen["EPBuffer.dispatch"] == 20 and seen["Buffer.dispatch"] == 14
