# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep as SGLang, vLLM and Megatron-LM call it, against stubs of their interfaces.

The stubs have the classes and arguments of those interfaces and nothing else of the frameworks.
"""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple, Optional, Tuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import (  # noqa: E402
    case_of,
    expert_scaled,
    mine,
    near,
    run_experts,
    same,
    scaled,
)
from deep_ep_job import Job  # noqa: E402
import deep_ep_reference as reference  # noqa: E402

import deep_ep  # noqa: E402
from deep_ep.utils import EventHandle, EventOverlap  # noqa: E402


class TopKOutput(NamedTuple):
    topk_weights: torch.Tensor
    topk_ids: torch.Tensor


class DeepEPDispatcher:
    """SGLang's: dispatch(hidden_states, topk_output) and combine(combine_input), in two stages
    each."""

    def __init__(self, group: Any, experts: int, most: int) -> None:
        hint = deep_ep.Buffer.get_low_latency_rdma_size_hint(most, 256, group.size(), experts)
        self.buffer = deep_ep.Buffer(
            group,
            0,
            hint,
            low_latency_mode=True,
            num_qps_per_rank=experts // group.size(),
            allow_mnnvl=True,
        )
        self.experts, self.most = experts, most
        self.handle: Any = None

    def dispatch(self, hidden_states: torch.Tensor, topk_output: TopKOutput) -> Tuple[Any, Any]:
        self.dispatch_a(hidden_states, topk_output)
        return self.dispatch_b()

    def dispatch_a(self, hidden_states: torch.Tensor, topk_output: TopKOutput) -> None:
        self.topk = topk_output
        self.buffer.clean_low_latency_buffer(self.most, hidden_states.shape[1], self.experts)
        self.rows, self.masked_m, self.handle, self.event, self.hook = (
            self.buffer.low_latency_dispatch(
                hidden_states,
                topk_output.topk_ids,
                self.most,
                self.experts,
                use_fp8=False,
                async_finish=False,
                return_recv_hook=True,
            )
        )

    def dispatch_b(self) -> Tuple[Any, Any]:
        self.hook()
        return self.rows, self.masked_m

    def combine(self, combine_input: torch.Tensor) -> torch.Tensor:
        out, _, hook = self.buffer.low_latency_combine(
            x=combine_input,
            topk_idx=self.topk.topk_ids,
            topk_weights=self.topk.topk_weights,
            handle=self.handle,
            async_finish=False,
            return_recv_hook=True,
        )
        hook()
        return out


class DeepEPLLPrepareAndFinalize:
    """vLLM's modular kernel: prepare_async and finalize by low-latency calls."""

    def __init__(self, buffer: deep_ep.Buffer, most: int) -> None:
        self.buffer, self.most = buffer, most
        self.handle: Any = None

    def prepare_async(
        self,
        a1: torch.Tensor,
        topk_weights: torch.Tensor,
        topk_ids: torch.Tensor,
        num_experts: int,
        expert_map: Any,
        apply_router_weight_on_input: bool,
        quant_config: Any,
    ) -> Any:
        if apply_router_weight_on_input:
            a1 = a1 * topk_weights.to(a1.dtype)
        self.rows, self.counts, self.handle, _, hook = self.buffer.low_latency_dispatch(
            a1,
            topk_ids,
            self.most,
            num_experts,
            use_fp8=False,
            round_scale=False,
            use_ue8m0=False,
            async_finish=False,
            return_recv_hook=True,
        )
        return hook, lambda: (self.rows, self.counts)

    def finalize(
        self,
        output: torch.Tensor,
        fused_expert_output: torch.Tensor,
        topk_weights: torch.Tensor,
        topk_ids: torch.Tensor,
        apply_router_weight_on_input: bool,
    ) -> None:
        if apply_router_weight_on_input:
            topk_weights = torch.ones_like(topk_weights)
        _, _, hook = self.buffer.low_latency_combine(
            fused_expert_output,
            topk_ids,
            topk_weights,
            self.handle,
            async_finish=False,
            zero_copy=False,
            return_recv_hook=True,
            out=output,
        )
        hook()


def test_sglang(job: Job) -> None:
    """Dispatcher in both stages."""
    case = case_of(job, seed=70)
    given = mine(job, case)
    dispatcher = DeepEPDispatcher(job.group, case.n * case.local, case.tokens)
    topk = TopKOutput(given.weights, given.topk)
    rows, masked_m = dispatcher.dispatch(given.x, topk)
    assert int(masked_m.sum()) == sum(
        len(part) for e in range(case.local) for part in reference.low_rows(case, job.rank, e)
    )
    out = dispatcher.combine(run_experts(job, case, rows))
    near(out, reference.low_sum(case, job.rank, expert_scaled))


def test_vllm_low_latency(job: Job) -> None:
    """prepare_async and finalize."""
    case = case_of(job, seed=71)
    given = mine(job, case)
    buffer = deep_ep.Buffer(
        group=job.group,
        num_nvl_bytes=0,
        num_rdma_bytes=1 << 30,
        low_latency_mode=True,
        num_qps_per_rank=2,
        allow_nvlink_for_low_latency_mode=True,
        allow_mnnvl=False,
    )
    kernel = DeepEPLLPrepareAndFinalize(buffer, case.tokens)
    hook, receiver = kernel.prepare_async(
        given.x, given.weights, given.topk, case.n * case.local, None, False, None
    )
    hook()
    out = torch.empty_like(given.x)
    kernel.finalize(out, run_experts(job, case, receiver()[0]), given.weights, given.topk, False)
    near(out, reference.low_sum(case, job.rank, expert_scaled))


def test_vllm_high_throughput(job: Job) -> None:
    """dispatch and combine as DeepEPHTPrepareAndFinalize makes them."""
    case = case_of(job, seed=72)
    given, experts = mine(job, case), case.n * case.local
    buffer = deep_ep.Buffer(
        group=job.group,
        num_nvl_bytes=1 << 30,
        num_rdma_bytes=0,
        low_latency_mode=False,
        num_qps_per_rank=1,
    )
    per_rank, per_host, per_expert, inside, event = buffer.get_dispatch_layout(
        topk_idx=given.topk,
        num_experts=experts,
        previous_event=None,
        async_finish=False,
        allocate_on_comm_stream=False,
    )
    x, topk, weights, counts, handle, event = buffer.dispatch(
        x=given.x,
        handle=None,
        num_tokens_per_rank=per_rank,
        num_tokens_per_rdma_rank=per_host,
        is_token_in_rank=inside,
        num_tokens_per_expert=per_expert,
        topk_idx=given.topk,
        topk_weights=given.weights,
        expert_alignment=1,
        config=deep_ep.Buffer.get_dispatch_config(job.n),
        previous_event=None,
        async_finish=True,
        allocate_on_comm_stream=False,
    )
    if event.event is not None:
        event.current_stream_wait()
    assert topk.dtype == deep_ep.topk_idx_t and sum(counts) == int((topk >= 0).sum())
    out, _, event = buffer.combine(
        x=x * scaled(job.rank),
        handle=handle,
        topk_weights=None,
        config=deep_ep.Buffer.get_combine_config(job.n),
        previous_event=None,
        async_finish=False,
        allocate_on_comm_stream=False,
    )
    assert event.event is None
    same(out, reference.normal_sum(case, job.rank, scaled))


_megatron: Optional[deep_ep.Buffer] = None


def megatron_buffer(group: Any, hidden_bytes: int) -> deep_ep.Buffer:
    """As fused_a2a.py: one that is large enough by the hints."""
    global _megatron
    nvl = rdma = 0
    for config in (
        deep_ep.Buffer.get_dispatch_config(group.size()),
        deep_ep.Buffer.get_combine_config(group.size()),
    ):
        nvl = max(config.get_nvl_buffer_size_hint(hidden_bytes, group.size()), nvl)
        rdma = max(config.get_rdma_buffer_size_hint(hidden_bytes, group.size()), rdma)
    old = _megatron
    if old is None or old.group != group or old.num_nvl_bytes < nvl or old.num_rdma_bytes < rdma:
        _megatron = deep_ep.Buffer(group, nvl, rdma)
    assert _megatron is not None
    return _megatron


class FusedDispatch(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        indices: torch.Tensor,
        probs: torch.Tensor,
        experts: int,
        group: Any,
    ) -> Any:
        before = EventOverlap(EventHandle())
        buffer = megatron_buffer(group, x.shape[1] * 2)
        per_rank, per_host, per_expert, inside, event = buffer.get_dispatch_layout(
            indices, experts, previous_event=before, async_finish=True, allocate_on_comm_stream=True
        )
        rows, topk, weights, counts, handle, after = buffer.dispatch(
            x,
            topk_idx=indices,
            topk_weights=probs,
            num_tokens_per_rank=per_rank,
            num_tokens_per_rdma_rank=per_host,
            is_token_in_rank=inside,
            num_tokens_per_expert=per_expert,
            previous_event=event,
            async_finish=True,
            allocate_on_comm_stream=True,
        )
        after.current_stream_wait()
        ctx.group, ctx.handle = group, handle
        return rows, topk, weights, torch.tensor(counts), handle

    @staticmethod
    def backward(ctx: Any, rows: torch.Tensor, _: Any, weights: torch.Tensor, *__: Any) -> Any:
        buffer = megatron_buffer(ctx.group, rows.shape[1] * 2)
        x, probs, after = buffer.combine(
            rows.contiguous(),
            ctx.handle,
            topk_weights=weights.float(),
            previous_event=EventOverlap(EventHandle()),
            async_finish=True,
            allocate_on_comm_stream=True,
        )
        after.current_stream_wait()
        return x, None, probs, None, None


class FusedCombine(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, group: Any, handle: Any) -> torch.Tensor:
        ctx.group, ctx.handle = group, handle
        return megatron_buffer(group, x.shape[1] * 2).combine(x, handle=handle)[0]

    @staticmethod
    def backward(ctx: Any, out: torch.Tensor) -> Any:
        buffer = megatron_buffer(ctx.group, out.shape[1] * 2)
        return buffer.dispatch(out.contiguous(), handle=ctx.handle)[0], None, None


def test_megatron(job: Job) -> None:
    """Forward and backward of several layers; each one's handle is kept until its way back."""
    case = case_of(job, seed=73)
    given = mine(job, case)
    x, probs = given.x.clone().requires_grad_(), given.weights.clone().requires_grad_()
    hidden = x
    for _ in range(3):
        rows, topk, weights, counts, handle = FusedDispatch.apply(
            hidden, given.topk, probs, case.n * case.local, job.group
        )
        assert counts.tolist() == reference.normal_rows(case, job.rank).counts
        mine_alone = torch.where(topk >= 0, weights, torch.zeros_like(weights))
        chosen = mine_alone.sum(1, keepdim=True).to(rows.dtype)
        hidden = FusedCombine.apply(rows * chosen, job.group, handle)
    own = reference.tokens_of(case, job.rank)
    used = torch.where(own.topk >= 0, own.weights, torch.zeros_like(own.weights))
    factor = used.sum(1, keepdim=True)
    near(hidden.detach(), own.x.float() * factor**3, 0.1)
    hidden.float().sum().backward()
    near(x.grad, (factor**3).expand(own.x.shape), 0.1)
    wanted = 3 * factor**2 * own.x.float().sum(1, keepdim=True) * (own.topk >= 0)
    error = (probs.grad.cpu() - wanted).abs()
    assert bool((error <= 0.3 + 0.1 * wanted.abs()).all()), error.max()
