# SPDX-License-Identifier: BSD-3-Clause
"""HybridEPBuffer: the names and arguments of DeepEP's hybrid branch, over the calls of EPBuffer."""

from __future__ import annotations

import types
from typing import Any, Dict, Optional, Tuple

import torch

from . import _expand, _hybrid_checks as checks, _routes
from ._elastic_checks import flags
from ._handle import EPHandle
from .elastic import EPBuffer
from .errors import wrong

Tensor = torch.Tensor
Maybe = Optional[torch.Tensor]
_PLAIN: Dict[str, Any] = dict.fromkeys(  # arguments of a dispatch of EPBuffer that ask for nothing
    "topk_idx topk_weights num_experts expert_alignment handle do_cpu_sync previous_event "
    "cumulative_local_expert_recv_stats".split()
)
_PLAIN.update(
    dict.fromkeys(
        "async_with_compute_stream allocate_on_comm_stream use_tma_aligned_col_major_sf".split(),
        False,
    ),
    num_qps=0,
)


class HybridHandle(tuple):
    """What a dispatch leaves for its combine and for later dispatches of its routing.

    A tuple of as many items as DeepEP's. Of `dispatch`: 3 num_dispatched_tokens [1] int32, 4
    local_expert_routing_map [rows, local experts] bool, 5 tokens of this rank, 6 the configuration.
    Of `dispatch_with_permute` also 7 tokens_per_expert int32, without padding, then 8 tokens of
    this rank, 9 the configuration, 10 overflow_flag [1] int32. The others are None.
    """

    inner: EPHandle
    per_expert: Maybe  # padded, int64


class HybridEPBuffer:
    """Dispatch and combine for a group of processes, a PE each.

    Collective over the group, of torch.distributed. hidden_dim, max_num_of_tokens_per_rank and
    num_local_experts: what calls have, the second at most, grown by a call of more. use_fp8 is
    kept: each call's hidden says what is sent. num_sms_dispatch_api: of the first call of a shape.
    The others change nothing. A token has 16 experts at most.
    """

    def __init__(
        self,
        group: Any,
        hidden_dim: int,
        max_num_of_tokens_per_rank: int,
        num_local_experts: int,
        use_fp8: bool = False,
        num_sms_dispatch_api: Optional[int] = None,
        num_sms_combine_api: Optional[int] = None,
        num_sms_preprocessing_api: Optional[int] = None,
        num_blocks_permute: Optional[int] = None,
        num_blocks_unpermute: Optional[int] = None,
        load_cached_kernels: bool = False,
        use_shared_buffer: bool = True,
        enable_custom_allgather: bool = False,
        num_of_hybrid_ep_ranks_per_nvlink_domain: Optional[int] = None,
        use_mnnvl: Optional[bool] = None,
    ) -> None:
        sizes = hidden_dim, max_num_of_tokens_per_rank, num_local_experts
        checks.sizes(*sizes, num_sms_dispatch_api)
        if group is None:
            text = "is None; give a process group of torch.distributed"
            raise wrong("HybridEPBuffer", "group", text)
        self._rows = EPBuffer(
            group, num_max_tokens_per_rank=max_num_of_tokens_per_rank, explicitly_destroy=True
        )
        self._rows._name = name = type(self).__name__
        inner = self._rows._inner
        inner.name = inner._normal.name = name
        inner.promised = False  # DeepEP has no destroy here
        self._sms = num_sms_dispatch_api or 0
        self.group, self.rank, self.group_size = group, self._rows.rank_idx, self._rows.num_ranks
        nodes, near = self._rows.num_rdma_ranks, self._rows.num_nvlink_ranks
        self.num_of_nodes, self.num_of_hybrid_ep_ranks_per_nvlink_domain = nodes, near
        self.node_rank, self.local_rank = divmod(self.rank, near)
        self.runtime: Any = self._rows.runtime
        config = types.SimpleNamespace(
            hidden_dim=hidden_dim,
            max_num_of_tokens_per_rank=max_num_of_tokens_per_rank,
            num_of_experts_per_rank=num_local_experts,
            num_of_ranks_per_node=near,
            num_of_nodes=nodes,
            use_fp8=bool(use_fp8),
            pad_multiple=0,
        )
        self.configurer = types.SimpleNamespace(buffer_config=config)

    def destroy(self) -> None:
        """End what calls needed, as EPBuffer.destroy; DeepEP has no such call. Collective over the
        group."""
        self._rows.destroy()
        self.runtime = None

    def empty_jit_cache(self) -> None:
        """Nothing to empty: kernels are compiled before."""

    def update_template_config(
        self,
        hidden_dim: Optional[int] = None,
        num_of_tokens_per_rank: Optional[int] = None,
        num_local_experts: Optional[int] = None,
        pad_multiple: Optional[int] = None,
        use_fp8: Optional[bool] = None,
        fuse_permute_dispatch: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Return the configuration of a call with what is given, and raise the Buffer's tokens to
        num_of_tokens_per_rank, the next multiple of 16. No other field changes what calls do."""
        kept = self.configurer.buffer_config
        if num_of_tokens_per_rank is not None:
            call = "HybridEPBuffer.update_template_config"
            checks.tokens(call, num_of_tokens_per_rank)
            most = (num_of_tokens_per_rank + 15) // 16 * 16
            kept.max_num_of_tokens_per_rank = max(kept.max_num_of_tokens_per_rank, most)
        made = types.SimpleNamespace(**vars(kept))
        given = dict(
            hidden_dim=hidden_dim,
            num_of_experts_per_rank=num_local_experts,
            pad_multiple=pad_multiple or None,
            use_fp8=use_fp8,
        )
        vars(made).update({name: value for name, value in given.items() if value is not None})
        vars(made).update(kwargs)
        return made

    def dispatch(
        self,
        hidden: Tensor,
        scaling_factor: Maybe = None,
        topk_idx: Maybe = None,
        topk_weights: Maybe = None,
        num_of_experts: Optional[int] = None,
        probs: Maybe = None,
        routing_map: Maybe = None,
        num_dispatched_tokens_tensor: Maybe = None,
        num_dispatched_tokens: Optional[int] = None,
        handle: Optional[Tuple] = None,
    ) -> Tuple[Tensor, Maybe, Maybe, HybridHandle]:
        """Send each token to the ranks that have its experts.

        hidden: [T, hidden_dim] bfloat16, or of one byte with scaling_factor [T, hidden_dim / 128]
        float32. The routing is routing_map [T, experts] bool, with probs [T, experts] float32 or
        None; or topk_idx [T, K], with topk_weights or None, and num_of_experts; or that of
        `handle`. Returns rows, one for each token that comes here, by source rank, then token;
        probs [rows, experts of this host], 0 but for this rank's, or None; scales or None; handle.
        """
        call = "HybridEPBuffer.dispatch"
        if handle is not None:
            checks.handle(call, handle, HybridHandle, False)
        indices = topk_idx, topk_weights, num_of_experts
        ask = self._ask(call, hidden, scaling_factor, indices, probs, routing_map, handle, True)
        rows, scales, weights, made = self._send(ask)
        if weights is not None:
            local = made.num_experts // self.group_size
            columns = local * self.num_of_hybrid_ep_ranks_per_nvlink_domain
            weights = _routes.spread(weights, made._chosen, columns, self.local_rank * local)
        if handle is None:
            config = self.update_template_config(hidden.shape[1])
            handle = HybridHandle((None,) * 3 + self._come(made) + (hidden.shape[0], config))
            handle.inner, handle.per_expert = made, None
        return rows.view(hidden.dtype), weights, scales, handle  # type: ignore[return-value]

    def combine(
        self, hidden: Tensor, probs: Maybe = None, handle: Optional[Tuple] = None
    ) -> Tuple[Tensor, Maybe]:
        """Bring rows back to the tokens of a `dispatch`, and add them up over ranks.

        hidden: a bfloat16 row for each received one; probs: as they came, or None. Returns the sums
        [T, hidden_dim], and probs [T, experts] or None.
        """
        call = "HybridEPBuffer.combine"
        made = checks.handle(call, handle, HybridHandle, False).inner
        if probs is not None:
            local = made.num_experts // self.group_size
            columns = local * self.num_of_hybrid_ep_ranks_per_nvlink_domain
            shape = made.num_recv_tokens, columns
            checks.matrix(call, "probs", probs, shape, torch.float32, made._chosen)
            probs = _routes.gathered(probs, made._chosen, self.local_rank * local)
        return self._back(call, hidden, made, probs)

    def dispatch_with_permute(
        self,
        *,
        hidden: Tensor,
        topk_idx: Maybe = None,
        topk_weights: Maybe = None,
        num_of_experts_per_rank: Optional[int] = None,
        num_of_experts: Optional[int] = None,
        use_fp8: Optional[bool] = None,
        routing_map: Maybe = None,
        probs: Maybe = None,
        scaling_factor: Maybe = None,
        num_permuted_tokens: Optional[int] = None,
        pad_multiple: Optional[int] = None,
        handle: Optional[Tuple] = None,
        non_blocking: bool = False,
        fuse_permute_dispatch: bool = False,
        num_dispatched_tokens: Optional[int] = None,
        use_host_meta: Optional[bool] = None,
    ) -> Tuple[Tensor, Maybe, Maybe, Tensor, HybridHandle]:
        """Send each token to its experts, expert by expert. hidden, routing: as `dispatch`.

        An expert's rows lie by source rank, then token; its number of rows is padded to a multiple
        of pad_multiple by rows of 0. num_permuted_tokens: so many rows are returned; those beyond
        are left out, and handle[10] is 1. non_blocking (or use_host_meta=False): the host does not
        wait, and num_permuted_tokens is given. Returns rows, probs [rows] or None, scales or None,
        padded rows of each expert here [local experts] int64 (on the host unless non_blocking),
        handle.
        """
        call = "HybridEPBuffer.dispatch_with_permute"
        flags(call, non_blocking=non_blocking, use_host_meta=use_host_meta)
        wait = not (non_blocking or use_host_meta is False)
        pad = checks.permuted(call, num_permuted_tokens, pad_multiple, wait, use_fp8, hidden)
        if handle is not None:
            checks.again(call, handle, HybridHandle, num_permuted_tokens, pad_multiple)
        indices = topk_idx, topk_weights, num_of_experts
        ask = self._ask(call, hidden, scaling_factor, indices, probs, routing_map, handle, wait)
        ask.update(do_expand=True, do_zero_padding=True, rows=num_permuted_tokens)
        if handle is None:
            ask["expert_alignment"] = pad
        rows, scales, weights, made = self._send(ask)
        if handle is None:
            handle = self._permuted(made, hidden, pad, num_permuted_tokens)
        return rows.view(hidden.dtype), weights, scales, handle.per_expert, handle  # type: ignore

    def combine_with_unpermute(
        self,
        *,
        hidden: Tensor,
        probs: Maybe = None,
        handle: Optional[Tuple] = None,
        pad_multiple: Optional[int] = None,
        fuse_unpermute_combine: bool = False,
        num_dispatched_tokens: Optional[int] = None,
    ) -> Tuple[Tensor, Maybe]:
        """Bring rows of a `dispatch_with_permute` back to their tokens, and add them up.

        hidden: a bfloat16 row for each received one; probs [rows] or None. Returns the sums
        [T, hidden_dim], and probs [T, experts] or None.
        """
        call = "HybridEPBuffer.combine_with_unpermute"
        checks.again(call, handle, HybridHandle, None, pad_multiple)
        made: EPHandle = handle.inner  # type: ignore[union-attr]
        if probs is not None:
            shape = (made.num_expanded_tokens,)
            checks.matrix(call, "probs", probs, shape, torch.float32, made._chosen)
        return self._back(call, hidden, made, probs)

    # Parts of calls.

    def _ask(
        self,
        call: str,
        hidden: Tensor,
        scales: Maybe,
        indices: Tuple[Maybe, Maybe, Optional[int]],
        probs: Maybe,
        routing: Maybe,
        handle: Any,
        wait: bool,
    ) -> Dict[str, Any]:
        """Return the arguments of EPBuffer's dispatch. wait: the host may."""
        byte = checks.hidden(call, hidden, scales)
        topk, weights, experts = indices
        tokens, topk_missing = hidden.shape[0], topk is None
        most = self.update_template_config(num_of_tokens_per_rank=tokens)
        given = dict(
            _PLAIN,
            call=call,
            x=(hidden, scales) if byte else hidden,
            num_max_tokens_per_rank=None if handle else most.max_num_of_tokens_per_rank,
            num_sms=self._sms,
            do_expand=False,
            do_zero_padding=False,
        )
        if routing is not None:
            checks.matrix(call, "routing_map", routing, (tokens, None), torch.bool, hidden)
            checks.shared(call, routing, self.group_size)
            experts = routing.shape[1]
        elif topk is not None:
            checks.indices(call, topk, weights, experts, tokens, self.group_size)
            if handle is not None and weights is not None:
                probs = _routes.spread(weights, topk, experts)
        if handle is not None:
            if weights is not None and topk_missing:
                text = "is given with a handle, and topk_idx is not; give both, or probs"
                raise wrong(call, "topk_weights", text)
            inner = given["handle"] = handle.inner
            experts, topk, routing = inner.num_experts, inner.topk_idx, None
        elif routing is not None:
            topk = _routes.choices(routing, checks.columns(call, routing, wait))
            given["uneven"] = True  # tokens of other ranks may have more experts
        elif topk is None:
            raise wrong(call, "routing_map", "is None; give it, topk_idx, or a handle")
        if probs is not None and (routing is not None or handle is not None):
            checks.matrix(call, "probs", probs, (tokens, experts), torch.float32, hidden)
            weights = _routes.gathered(probs, topk)
        elif routing is not None or handle is not None:
            weights = None
        if handle is None:
            given.update(topk_idx=topk, num_experts=experts, do_cpu_sync=wait)
        return dict(given, topk_weights=weights)

    def _send(self, ask: Dict[str, Any]) -> Tuple[Tensor, Maybe, Maybe, EPHandle]:
        """Return rows, scales, weights and the handle of EPBuffer's dispatch."""
        rows, _, weights, made, _ = self._rows._dispatch(ask, copy=False)
        return _expand.pair(rows) + (weights, made)

    def _come(self, made: EPHandle) -> Tuple[Tensor, Tensor]:
        """Return how many rows have come, and which experts here they have."""
        if made.num_recv_tokens_per_expert_list:
            come = torch.tensor([made.num_recv_tokens], dtype=torch.int32)
        else:
            come = made.psum_num_recv_tokens_per_scaleup_rank[-1:]
        local = made.num_experts // self.group_size
        ones = torch.ones_like(made._chosen, dtype=torch.uint8)
        return come, _routes.spread(ones, made._chosen, local).bool()

    def _permuted(
        self, made: EPHandle, hidden: Tensor, pad: int, rows: Optional[int]
    ) -> HybridHandle:
        """Return the handle of a dispatch_with_permute."""
        padded = _expand.aligned(made._counts, pad)
        over = torch.zeros(1, dtype=torch.int32, device=hidden.device)
        if rows is not None:
            over = (padded.sum() > rows).int().view(1)
        config = self.update_template_config(hidden.shape[1], pad_multiple=pad)
        shown = self._come(made) + (None, None, made._counts, hidden.shape[0], config, over)
        handle = HybridHandle((None,) * 3 + shown)
        handle.inner, handle.per_expert = made, padded.long()
        if made.num_recv_tokens_per_expert_list:
            handle.per_expert = torch.tensor(made.num_recv_tokens_per_expert_list)
        return handle

    def _back(
        self, call: str, hidden: Tensor, made: EPHandle, weights: Maybe
    ) -> Tuple[Tensor, Maybe]:
        """Return sums, and probs of all experts."""
        checks.results(call, hidden, made)
        out, back, _ = self._rows.combine(hidden, made, topk_weights=weights)
        if back is not None:
            back = _routes.spread(back, made.topk_idx, made.num_experts)
        return out, back
