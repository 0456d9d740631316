# SPDX-License-Identifier: BSD-3-Clause
"""EPBuffer and ElasticBuffer: DeepEP's second interface by names and arguments, over the calls of
Buffer."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import torch

from ._base import Base
from ._elastic_checks import whole
from ._handle import EPHandle
from .errors import not_offered
from .utils.event import EventOverlap

Event = Any  # an EventHandle or an EventOverlap


class EPBuffer(Base):
    """Dispatch and combine for a group of processes, a PE each.

    Collective over the group, of torch.distributed. num_max_tokens_per_rank, hidden (a multiple of
    128) and num_topk (to 16): what calls have at most; the first is taken by calls that do not name
    it. allow_hybrid_mode: hosts are scale-out ranks. allow_multiple_reduction: combine may round a
    sum of a rank or host to BF16 before the last sum; without it each sum is rounded once.
    prefer_overlap_with_compute: fewer SMs. num_bytes, use_fp8_dispatch, deterministic (every order
    is), sl_idx, num_allocated_qps and the time-outs are kept and change nothing: symmetric memory
    grows as calls need it, and SHMEM_HANG_SECONDS names ranks that are waited for.
    """

    def __init__(
        self,
        group: Any,
        num_bytes: Optional[int] = None,
        num_max_tokens_per_rank: int = 0,
        hidden: int = 0,
        num_topk: int = 0,
        use_fp8_dispatch: bool = False,
        lb_allocation_plan_or_num_bytes: Any = 0,
        deterministic: bool = False,
        allow_hybrid_mode: bool = True,
        allow_multiple_reduction: bool = True,
        prefer_overlap_with_compute: bool = True,
        sl_idx: Optional[int] = None,
        num_allocated_qps: int = 0,
        num_cpu_timeout_secs: int = 300,
        num_gpu_timeout_secs: int = 100,
        explicitly_destroy: bool = False,
    ) -> None:
        if not isinstance(lb_allocation_plan_or_num_bytes, int):
            raise not_offered(
                "EPBuffer",
                "lb_allocation_plan_or_num_bytes",
                "a plan",
                "give a number of bytes: BufferAllocator allocates what is asked for",
            )
        self._open(dict(locals()))

    def dispatch(
        self,
        x: Any,
        topk_idx: Optional[torch.Tensor] = None,
        topk_weights: Optional[torch.Tensor] = None,
        cumulative_local_expert_recv_stats: Optional[torch.Tensor] = None,
        num_experts: Optional[int] = None,
        num_max_tokens_per_rank: Optional[int] = None,
        expert_alignment: Optional[int] = None,
        num_sms: int = 0,
        num_qps: int = 0,
        previous_event: Optional[Event] = None,
        async_with_compute_stream: bool = False,
        allocate_on_comm_stream: bool = False,
        handle: Optional[EPHandle] = None,
        do_handle_copy: bool = False,
        do_cpu_sync: Optional[bool] = None,
        do_expand: bool = False,
        do_zero_padding: bool = False,
        emit_expert_ids: bool = False,
        use_tma_aligned_col_major_sf: bool = False,
        defer_epilogue: bool = False,
    ) -> Any:
        """Send each token to the ranks that have its experts.

        x: [T, hidden] bfloat16, or (one-byte rows, scales: float32 [T, hidden / 128], or int32 of
        four exponents, to as many columns). topk_idx: [T, K] int64 or int32, -1: none;
        topk_weights: [T, K] float32. cumulative_local_expert_recv_stats: [L] int32, to which the
        counts of the L experts here are added. handle: an earlier dispatch's, whose routing is
        taken; then neither topk_idx nor do_cpu_sync are given, and topk_weights may be.
        do_handle_copy: the handle's topk_idx is a copy; else it is the tensor that is given, which stays
        as it is while the handle is used. do_cpu_sync (without a handle: True): the
        host waits for the numbers, and what is returned has the size of what came; otherwise that
        of what can come. do_expand: a row for each expert here, expert by expert, each expert's
        first row at a multiple of expert_alignment; do_zero_padding: rows between are 0.
        emit_expert_ids: handle.recv_expert_ids. use_tma_aligned_col_major_sf: scales by columns,
        at multiples of four rows. previous_event: what the call waits for, with
        allocate_on_comm_stream. num_sms: of the first call of a shape. num_qps changes nothing.

        Returns recv_x, recv_topk_idx [rows, K] (experts here from 0, -1: another's; None with
        do_expand), recv_topk_weights [rows, K] (with do_expand [rows]), handle, event. Rows lie by
        source rank, then token, within an expert too. With defer_epilogue: an event alone, whose
        wait() returns the first four.
        """
        if handle is not None and not (
            topk_idx is not None
            or topk_weights is not None
            or cumulative_local_expert_recv_stats is not None
            or num_experts is not None
            or num_max_tokens_per_rank is not None
            or expert_alignment is not None
            or previous_event is not None
            or not (do_cpu_sync is None or do_cpu_sync is False)
            or not (do_zero_padding is False or do_expand is True)
            or emit_expert_ids is not False
            or use_tma_aligned_col_major_sf is not False
            or defer_epilogue is not False
        ):
            how = num_sms, num_qps, async_with_compute_stream
            found = self._again(x, handle, how, do_expand, do_zero_padding)
            if found is not None:
                return found
        return self._dispatch(
            dict(locals()), copy=do_handle_copy, ids=emit_expert_ids, defer=defer_epilogue
        )

    def combine(
        self,
        x: torch.Tensor,
        handle: EPHandle,
        topk_weights: Optional[torch.Tensor] = None,
        bias: Any = None,
        num_sms: int = 0,
        num_qps: int = 0,
        previous_event: Optional[Event] = None,
        async_with_compute_stream: bool = False,
        allocate_on_comm_stream: bool = False,
        defer_epilogue: bool = False,
    ) -> Any:
        """Bring rows back to the tokens of the dispatch with `handle`, and add them up.

        x: a bfloat16 row for each received, or expanded, one; no weights are applied. topk_weights:
        [rows, K] float32, each column added over ranks; of expanded rows [rows], and with
        allow_multiple_reduction only. bias: a tensor or two, [T, hidden] bfloat16, added in FP32
        before the sum is rounded; all ranks give it or none does. Returns the sums [T, hidden], the
        weights [T, K] or None, event; with defer_epilogue an event alone, whose wait() returns the
        first two.
        """
        if not (
            topk_weights is not None
            or bias is not None
            or previous_event is not None
            or defer_epilogue is not False
        ):
            found = self._back(x, handle, (num_sms, num_qps, async_with_compute_stream))
            if found is not None:
                return found
        return self._combine(dict(locals()), defer=defer_epilogue)


class ElasticBuffer(Base):
    """The same in the words of DeepEP 2.1. num_cpu_bytes is refused; else as EPBuffer."""

    def __init__(
        self,
        group: Any,
        num_bytes: Optional[int] = None,
        num_cpu_bytes: int = 0,
        num_max_tokens_per_rank: int = 0,
        hidden: int = 0,
        num_topk: int = 0,
        use_fp8_dispatch: bool = False,
        deterministic: bool = False,
        allow_hybrid_mode: bool = True,
        allow_multiple_reduction: bool = True,
        prefer_overlap_with_compute: bool = True,
        sl_idx: int = 3,
        num_allocated_qps: int = 0,
        num_cpu_timeout_secs: int = 300,
        num_gpu_timeout_secs: int = 100,
        explicitly_destroy: bool = False,
    ) -> None:
        if whole("ElasticBuffer", "num_cpu_bytes", num_cpu_bytes, 0):
            raise not_offered(
                "ElasticBuffer",
                "num_cpu_bytes",
                num_cpu_bytes,
                "leave it 0: it is for engram_write, which is not offered",
            )
        self._open(dict(locals()))

    def dispatch(
        self,
        x: Any,
        topk_idx: Optional[torch.Tensor] = None,
        topk_weights: Optional[torch.Tensor] = None,
        cumulative_local_expert_recv_stats: Optional[torch.Tensor] = None,
        num_experts: Optional[int] = None,
        num_max_tokens_per_rank: Optional[int] = None,
        expert_alignment: Optional[int] = None,
        num_sms: int = 0,
        num_qps: int = 0,
        previous_event: Optional[Event] = None,
        previous_event_before_epilogue: Optional[Event] = None,
        async_with_compute_stream: bool = False,
        allocate_on_comm_stream: bool = False,
        handle: Optional[EPHandle] = None,
        do_handle_copy: bool = True,
        do_cpu_sync: Optional[bool] = None,
        do_expand: bool = False,
        do_zero_padding: bool = False,
        use_tma_aligned_col_major_sf: bool = False,
    ) -> Tuple[Any, Optional[torch.Tensor], Optional[torch.Tensor], EPHandle, EventOverlap]:
        """As EPBuffer.dispatch. previous_event_before_epilogue: the call waits for it too."""
        if handle is not None and not (
            topk_idx is not None
            or topk_weights is not None
            or cumulative_local_expert_recv_stats is not None
            or num_experts is not None
            or num_max_tokens_per_rank is not None
            or expert_alignment is not None
            or previous_event is not None
            or previous_event_before_epilogue is not None
            or not (do_cpu_sync is None or do_cpu_sync is False)
            or not (do_zero_padding is False or do_expand is True)
            or use_tma_aligned_col_major_sf is not False
        ):
            how = num_sms, num_qps, async_with_compute_stream
            made = self._again(x, handle, how, do_expand, do_zero_padding)
            if made is not None:
                return made  # type: ignore[return-value]
        return self._dispatch(  # type: ignore[no-any-return]
            dict(locals()), copy=do_handle_copy, second=previous_event_before_epilogue
        )

    def combine(
        self,
        x: torch.Tensor,
        handle: EPHandle,
        topk_weights: Optional[torch.Tensor] = None,
        bias: Any = None,
        num_sms: int = 0,
        num_qps: int = 0,
        previous_event: Optional[Event] = None,
        previous_event_before_epilogue: Optional[Event] = None,
        async_with_compute_stream: bool = False,
        allocate_on_comm_stream: bool = False,
    ) -> Tuple[torch.Tensor, Optional[torch.Tensor], EventOverlap]:
        """As EPBuffer.combine. previous_event_before_epilogue: the call waits for it too."""
        if not (
            topk_weights is not None
            or bias is not None
            or previous_event is not None
            or previous_event_before_epilogue is not None
        ):
            made = self._back(x, handle, (num_sms, num_qps, async_with_compute_stream))
            if made is not None:
                return made  # type: ignore[return-value]
        found = self._combine(dict(locals()), second=previous_event_before_epilogue)
        return found  # type: ignore[no-any-return]
