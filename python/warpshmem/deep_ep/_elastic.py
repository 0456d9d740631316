# SPDX-License-Identifier: BSD-3-Clause
"""Dispatch and combine of EPBuffer and ElasticBuffer, by the calls of Buffer's normal mode and
operations of torch on what they receive."""

from __future__ import annotations

from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

import torch
from warpshmem import ep

from . import _domains, _expand, _layout, _singly, _topk
from ._handle import EPHandle
from ._normal import rounded

Tensor = torch.Tensor
Results = Callable[[], Tuple[Any, ...]]


class Ask(NamedTuple):
    """A dispatch, checked. x: rows, or (rows, scales)."""

    x: Any
    topk_idx: Optional[Tensor]
    weights: Optional[Tensor]
    stats: Optional[Tensor]
    experts: int
    most: int  # tokens of a rank
    alignment: int
    sms: int
    handle: Optional[EPHandle]
    copy: bool  # the handle has a topk_idx of its own
    sync: bool  # the host waits for the numbers
    expand: bool
    zero: bool  # padding is zero
    ids: bool  # the handle has recv_expert_ids
    columns: bool  # scales by columns
    rows: Optional[int] = None  # expanded rows that are made; None: all


class Calls:
    """The calls of one Buffer of the second interface over one of the first."""

    def __init__(self, buffer: Any, hybrid: bool, several: bool) -> None:
        self.buffer, self.normal, self.several = buffer, buffer._normal, several
        self.rank, self.size = buffer.rank, buffer.group_size
        self.singly = _singly.Singly(buffer)
        self.physical = _domains.domains(self.size, buffer.team, buffer.agreement)
        self.logical = self.physical if hybrid else (1, self.size)

    def close(self) -> None:
        """End what calls needed, but the Buffer. Collective."""
        self.singly.close()

    # Dispatch.

    def dispatch(self, ask: Ask, stream: Any) -> Tuple[Results, Tuple[Any, ...]]:
        """Send and receive rows. Returns what makes (recv_x, recv_topk_idx, recv_topk_weights,
        handle) of what came, and the tensors that came."""
        call = self._again if ask.handle is not None else self._new
        handle, rows, scales, weights = call(ask, stream)
        if ask.stats is not None:
            ask.stats.add_(handle._counts)
        held = (rows, scales, weights) + (tuple(vars(handle).values()) if stream else ())
        return lambda: self._results(ask, handle, rows, scales, weights), held

    def _new(self, ask: Ask, stream: Any) -> Tuple[EPHandle, Tensor, Any, Any]:
        x, scales = _expand.pair(ask.x)
        topk_idx = ask.topk_idx
        assert topk_idx is not None
        numbers = _layout.layout(topk_idx, ask.experts, self.size)
        worst = 0 if ask.sync else self.size * ask.most
        begun = self.normal.begin(
            x, scales, numbers, topk_idx, ask.weights, worst, stream, checked=True, named=True
        )
        if worst:
            begun = begun._replace(columns=topk_idx.shape[1])
        inner = begun.handle
        got = begun.got or self.normal.send(
            inner, x, scales, inner.topk, ask.weights, stream, numbers=True
        )
        handle = EPHandle()
        handle.do_expand, handle.num_experts = ask.expand, ask.experts
        handle.expert_alignment, handle.num_max_tokens_per_rank = ask.alignment, ask.most
        handle.num_sms = ask.sms
        handle.topk_idx = topk_idx.clone() if ask.copy else topk_idx
        handle._inner, handle._owner = inner, self
        handle._counts = got.counts
        handle._chosen = got.row_topk[: begun.rows, : begun.columns]
        handle._most = begun.most
        self._number(handle, begun.experts, ask)
        self._name(handle, got)
        rows, come = _expand.pair(self.normal.rows_of(got, begun.rows, scales))
        weights = got.row_weights[: begun.rows, : begun.columns]
        return handle, rows, come, weights if ask.weights is not None else None

    def _number(self, handle: EPHandle, counts: List[int], ask: Ask) -> None:
        """Set the numbers of rows, and each expert's place among expanded rows."""
        rows, columns = handle._chosen.shape
        local = handle._counts.shape[0]
        handle.num_recv_tokens = rows
        handle.num_recv_tokens_per_expert_list = rounded(counts, ask.alignment)
        expanded = sum(handle.num_recv_tokens_per_expert_list)
        if ask.rows is not None:
            expanded = ask.rows
        elif not ask.sync:
            expanded = _expand.worst(rows, columns, local, ask.alignment)
        handle.num_expanded_tokens = expanded
        if not ask.expand:
            return
        made = _expand.places(handle._chosen, handle._counts, ask.alignment, expanded, ask.ids)
        handle.num_unaligned_recv_tokens_per_expert = handle._counts.clone()
        handle._places, handle.recv_expert_ids = made, made.ids

    def _name(self, handle: EPHandle, got: ep.Received) -> None:
        """Keep whose token each received row is, and how many came from each source."""
        handle._sources, handle._tokens = got.sources, got.row_sources
        if got.sources.is_cuda:
            handle.psums()  # on the stream of the call
            if torch.cuda.is_current_stream_capturing():
                handle.metadata()  # of each replay

    def _again(self, ask: Ask, stream: Any) -> Tuple[EPHandle, Tensor, Any, Any]:
        """A dispatch by the routing of a handle; with weights they travel anew."""
        handle, (x, scales) = ask.handle, _expand.pair(ask.x)
        assert handle is not None
        inner, weights = handle._inner, None
        if ask.weights is None:
            return (handle,) + _expand.pair(self.normal.again(x, scales, inner, stream)) + (None,)
        self.normal.check(inner, "dispatch")
        got = self.normal.send(inner, x, scales, inner.topk, ask.weights, stream)
        rows, columns = handle._chosen.shape
        weights = got.row_weights[:rows, :columns]
        return (handle,) + _expand.pair(self.normal.rows_of(got, rows, scales)) + (weights,)

    def _results(
        self, ask: Ask, handle: EPHandle, rows: Tensor, scales: Any, weights: Any
    ) -> Tuple[Any, ...]:
        """Return what the dispatch gives, of what was received."""
        topk: Optional[Tensor] = None
        made = handle._places
        if made is not None:
            rows, scales, weights = _expand.expand(rows, scales, weights, made, ask.zero)
        else:
            topk = handle._chosen.to(handle.topk_idx.dtype, copy=True).contiguous()
            weights = weights.contiguous() if weights is not None else None
        scales = _expand.by_columns(scales, ask.columns)
        return (rows if scales is None else (rows, scales)), topk, weights, handle

    # Combine.

    def combine(
        self,
        x: Tensor,
        handle: EPHandle,
        weights: Optional[Tensor],
        biases: Sequence[Tensor],
        stream: Any,
    ) -> Tuple[Results, Tuple[Any, ...]]:
        """Bring rows back. Returns what makes (x, weights), and the tensors that came."""
        inner, places = handle._inner, handle._places
        self.normal.check(inner, "combine")
        weights = self._weights(handle, weights)
        apart = places is not None and not self.several
        if places is not None and self.several:
            x = _expand.fold(x, places.rows)
        if not biases and not apart and (self.several or self.physical[0] == 1):
            found = self.normal.combine(x, inner, weights, stream)
            return lambda: found, found
        back = None
        if weights is not None:
            back = self.normal.combine(x, inner, weights, stream)[1]
        topk = inner.entry.fields["topk"]
        rows = self._bring(x, handle, topk, apart, stream)
        return lambda: (_singly.add(rows, topk, biases), back), (rows, back)

    @staticmethod
    def _weights(handle: EPHandle, weights: Optional[Tensor]) -> Optional[Tensor]:
        """Return the weights of received rows [R, K]; expanded ones are [E]."""
        if weights is None or handle._places is None:
            return weights
        return _expand.fold_choices(weights, handle._places.rows)

    def _bring(self, x: Tensor, handle: EPHandle, topk: int, apart: bool, stream: Any) -> Tensor:
        """Bring received rows, or apart each expanded one, to their tokens: [T * topk, hidden]."""
        most, local = handle.num_max_tokens_per_rank, handle._counts.shape[0]
        named, rows = handle.metadata()[:, 0], handle._most
        homes = torch.div(named, most, rounding_mode="floor")
        numbers = (named - homes * most) * topk
        choices = torch.arange(handle._chosen.shape[1], dtype=torch.int32, device=x.device)
        if apart:
            assert handle._places is not None
            wide = handle._places.rows
            here = (homes + 1)[:, None] * (wide >= 0)
            homes = _expand.expand_choices(here, handle._places) - 1
            numbers = _expand.expand_choices(numbers[:, None] + choices, handle._places)
            rows *= min(topk, local)
            rows += (handle.expert_alignment - 1) * local
        elif handle._chosen.shape[0]:
            numbers = numbers + (handle._chosen >= 0).int().argmax(1).int()
        own = handle._inner.tokens, topk, most, rows
        return self.singly.bring(x, homes, numbers, own, stream)
