# SPDX-License-Identifier: BSD-3-Clause
"""Dispatch and combine by the classes of vLLM and SGLang themselves, with tensors of the CPU.

Run by frameworks.sh, with the Python of an environment that has the framework.
"""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any
from unittest import mock

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

HIDDEN = 2048  # one that vLLM's low-latency class takes


def vllm_buffer(manager: Any, job: Job, **shape: int) -> deep_ep.Buffer:
    """The Buffer that vLLM's manager makes, whose own start needs vLLM's groups."""
    of = SimpleNamespace(
        cpu_group=job.group, internode=False, num_sms=20, support_fault_tolerance=False
    )
    return deep_ep.Buffer(**manager._make_all2all_kwargs(of, **shape))


def test_vllm_low_latency(job: Job) -> None:
    from vllm.distributed.device_communicators import all2all
    from vllm.model_executor.layers.fused_moe import topk_weight_and_reduce as reduce
    from vllm.model_executor.layers.fused_moe.config import FUSED_MOE_UNQUANTIZED_CONFIG
    from vllm.model_executor.layers.fused_moe.prepare_finalize import deepep_ll

    case = case_of(job, hidden=HIDDEN, seed=71)
    given, experts = mine(job, case), case.n * case.local
    buffer = vllm_buffer(
        all2all.DeepEPLLAll2AllManager,
        job,
        max_num_tokens_per_dp_rank=case.tokens,
        token_hidden_size=HIDDEN,
        num_ep_ranks=job.n,
        num_global_experts=experts,
        num_local_experts=case.local,
    )
    kernel = deepep_ll.DeepEPLLPrepareAndFinalize(buffer, case.tokens, job.n)
    for finalize in (kernel.finalize, kernel.finalize_async):
        rows, _, meta, _, _ = kernel.prepare(
            given.x, given.weights, given.topk, experts, None, False, FUSED_MOE_UNQUANTIZED_CONFIG
        )
        assert [int(count) for count in meta.expert_num_tokens] == [
            sum(len(part) for part in reference.low_rows(case, job.rank, e))
            for e in range(case.local)
        ]
        out = torch.empty_like(given.x)
        later = finalize(
            out,
            run_experts(job, case, rows),
            given.weights,
            given.topk,
            False,
            reduce.TopKWeightAndReduceDelegate(),
        )
        for call in later or ():
            call()
        near(out, reference.low_sum(case, job.rank, expert_scaled))
    buffer.destroy()


def test_vllm_high_throughput(job: Job) -> None:
    from vllm.distributed.device_communicators import all2all
    from vllm.model_executor.layers.fused_moe import modular_kernel
    from vllm.model_executor.layers.fused_moe import topk_weight_and_reduce as reduce
    from vllm.model_executor.layers.fused_moe.config import FUSED_MOE_UNQUANTIZED_CONFIG
    from vllm.model_executor.layers.fused_moe.prepare_finalize import deepep_ht

    mock.patch.object(modular_kernel, "PIN_MEMORY", False).start()  # which takes a GPU
    case = case_of(job, hidden=HIDDEN, seed=72)
    given, experts = mine(job, case), case.n * case.local
    buffer = vllm_buffer(all2all.DeepEPHTAll2AllManager, job)
    kernel = deepep_ht.DeepEPHTPrepareAndFinalize(buffer, job.n, job.n, job.rank * case.local)
    rows, _, meta, topk, weights = kernel.prepare(
        given.x, given.weights, given.topk, experts, None, False, FUSED_MOE_UNQUANTIZED_CONFIG
    )
    wanted = reference.normal_rows(case, job.rank)
    same(rows, wanted.x)
    same(weights, wanted.weights)
    assert meta.expert_num_tokens.tolist() == wanted.counts
    out = torch.empty_like(given.x)
    done = reduce.TopKWeightAndReduceNoOP()
    kernel.finalize(out, rows * scaled(job.rank), weights, topk, False, done)
    same(out, reference.normal_sum(case, job.rank, scaled))
    buffer.destroy()


def sglang_dispatcher(job: Job, case: reference.Case, mode: str, **more: Any) -> Any:
    """SGLang's dispatcher, which asks the GPU how many SMs it has, and the server for settings."""
    from sglang.srt.layers.moe.token_dispatcher import deepep
    from sglang.srt.layers.moe.utils import DeepEPMode
    from sglang.srt.runtime_context import get_resources

    get_resources().buffers.pop("deepep_ep_state", None)
    mock.patch("sglang.srt.layers.moe.utils.get_server_args", lambda: None).start()
    made = deepep.DeepEPDispatcher(
        group=job.group,
        router_topk=case.topk,
        permute_fusion=True,
        num_experts=case.n * case.local,
        num_local_experts=case.local,
        hidden_size=HIDDEN,
        params_dtype=torch.bfloat16,
        deepep_mode=DeepEPMode(mode),
        **more,
    )
    one_gpu = mock.patch("torch.cuda.get_device_properties", mock.Mock())
    with one_gpu as properties:
        properties.return_value.multi_processor_count = 132
        made._get_impl()._get_buffer()
    assert type(deepep.DeepEPBuffer._state().buffer) is deep_ep.Buffer
    return made


def sglang_topk(given: reference.Tokens) -> Any:
    from sglang.srt.layers.moe.topk import StandardTopKOutput

    return StandardTopKOutput(given.weights, given.topk, None)


def test_sglang_low_latency(job: Job) -> None:
    from sglang.srt.layers.moe.token_dispatcher import deepep

    case = case_of(job, hidden=HIDDEN, seed=73)
    given = mine(job, case)
    for hook in (False, True):
        made = sglang_dispatcher(job, case, "low_latency", return_recv_hook=hook)
        made.set_quant_config({"dispatcher_output_dtype": "bf16"})
        got = made.dispatch(given.x, sglang_topk(given))
        assert got.masked_m.tolist() == [
            sum(len(part) for part in reference.low_rows(case, job.rank, e))
            for e in range(case.local)
        ]
        back = deepep.DeepEPLLCombineInput(
            run_experts(job, case, got.hidden_states), got.topk_ids, got.topk_weights
        )
        near(made.combine(back), reference.low_sum(case, job.rank, expert_scaled))


def test_sglang_normal(job: Job) -> None:
    from sglang.srt.layers.moe.token_dispatcher import deepep

    # Without its kernels for a Hopper, which run between the two calls, it refuses the second.
    mock.patch.object(deepep.deep_gemm_wrapper, "ENABLE_JIT_DEEPGEMM", True).start()
    case = case_of(job, hidden=HIDDEN, seed=74)
    given, wanted = mine(job, case), reference.normal_rows(case, job.rank)
    for later in (False, True):
        made = sglang_dispatcher(job, case, "normal", async_finish=later)
        made.set_quant_config({"dispatcher_output_dtype": "bf16"})
        got = made.dispatch(given.x, sglang_topk(given))
        counts = [-(-count // 128) * 128 for count in wanted.counts]
        assert got.num_recv_tokens_per_expert == counts, got.num_recv_tokens_per_expert
        same(got.hidden_states, wanted.x)
        same(got.topk_ids, wanted.topk)
        same(got.topk_weights, wanted.weights)
        back = deepep.DeepEPNormalCombineInput(
            got.hidden_states * scaled(job.rank), got.topk_ids, got.topk_weights
        )
        same(made.combine(back), reference.normal_sum(case, job.rank, scaled))
