# SPDX-License-Identifier: BSD-3-Clause
"""Dispatch and combine of EPBuffer and ElasticBuffer, by the calls of Buffer's normal mode and
operations of torch on what they receive."""

from __future__ import annotations

from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

import torch
from warpshmem import _ep_arrays, ep

from . import _domains, _expand, _layout, _singly, _topk
from ._handle import EPHandle
from ._normal import Wide, rounded

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
    later: bool = False  # who asks for attributes of the handle comes after the call
    uneven: bool = False  # ranks may have different numbers of columns

    def wide(self) -> Wide:
        """Return how rows lie that are received expert by expert."""
        weights = self.weights is not None
        return Wide(self.alignment, self.zero, weights, self.ids, self.columns)


class Come(NamedTuple):
    """What a dispatch has received. expanded: rows lie expert by expert already."""

    rows: Tensor
    scales: Optional[Tensor]
    weights: Optional[Tensor]
    expanded: bool = False


class Calls:
    """The calls of one Buffer of the second interface over one of the first."""

    def __init__(self, buffer: Any, hybrid: bool, several: bool) -> None:
        self.buffer, self.normal, self.several = buffer, buffer._normal, several
        self.rank, self.size = buffer.rank, buffer.group_size
        self.singly = _singly.Singly(buffer)
        self.physical = _domains.domains(self.size, buffer.team, buffer.agreement)
        self.logical = self.physical if hybrid else (1, self.size)
        buffer.others.append(self.singly)

    # Dispatch.

    def dispatch(self, ask: Ask, stream: Any) -> Tuple[Results, Tuple[Any, ...]]:
        """Send and receive rows. Returns what makes (recv_x, recv_topk_idx, recv_topk_weights,
        handle) of what came, and the tensors that came."""
        call = self._again if ask.handle is not None else self._new
        handle, come = call(ask, stream)
        if ask.stats is not None:
            ask.stats.add_(handle._counts)
        held = come[:3] + (tuple(vars(handle).values()) if stream else ())
        return lambda: self._results(ask, handle, come), held

    def _new(self, ask: Ask, stream: Any) -> Tuple[EPHandle, Come]:
        x, scales = _expand.pair(ask.x)
        topk_idx = ask.topk_idx
        assert topk_idx is not None
        numbers = _layout.Later(topk_idx, ask.experts, self.size)
        worst = 0 if ask.sync else self.size * ask.most
        wide = ask.wide() if ask.expand and ask.rows is None else None
        handle, copies = EPHandle(), []  # type: EPHandle, List[Tuple[Tensor, int]]

        def meanwhile(got: ep.Received) -> None:
            self._fill(handle, ask)
            if not ask.expand:
                copy = got.row_topk.to(topk_idx.dtype, copy=True)
                at = _ep_arrays.raw_stream(copy.get_device()) if copy.is_cuda else 0
                copies[:] = [(copy, at)]

        more = dict(checked=True, named=True, wide=wide, meanwhile=meanwhile, uneven=ask.uneven)
        given = numbers, topk_idx, ask.weights, worst, stream
        begun = self.normal.begin(x, scales, *given, **more)
        if worst:
            begun = begun._replace(columns=topk_idx.shape[1])
        inner, out, got = begun.handle, begun.wide, begun.got
        if got is None:
            if ask.expand and inner.entry.expands:
                expanded = self._expanded(ask, begun, inner.entry.instance.local_experts)
                out = ask.wide().made(inner.entry, x, scales, expanded, begun.rows)
            got = self.normal.send(
                inner, x, scales, inner.topk, ask.weights, stream, numbers=True, wide=out
            )
        self._fill(handle, ask)
        if inner.borrowed:
            inner.topk, inner.borrowed = handle.topk_idx, False
        handle._inner, handle._counts = inner, got.counts
        handle._chosen = got.row_topk[: begun.rows, : begun.columns]
        handle._most = begun.most
        if copies and begun.got is not None:
            handle.copied(begun.rows, *copies.pop())
        self._number(handle, begun, ask, out)
        self._name(handle, got, ask.later)
        if out is not None:
            return handle, self._come(out, handle.num_expanded_tokens, scales)
        rows, come = _expand.pair(self.normal.rows_of(got, begun.rows, scales))
        weights = got.row_weights[: begun.rows, : begun.columns]
        return handle, Come(rows, come, weights if ask.weights is not None else None)

    def _fill(self, handle: EPHandle, ask: Ask) -> None:
        """Set what a handle has of its dispatch whatever comes, once."""
        if handle._owner is not None:
            return
        handle.do_expand, handle.num_experts = ask.expand, ask.experts
        handle.expert_alignment, handle.num_max_tokens_per_rank = ask.alignment, ask.most
        handle.num_sms, handle._given_shape = ask.sms, _expand.pair(ask.x)[0].shape
        topk_idx = ask.topk_idx
        assert topk_idx is not None
        handle.topk_idx = topk_idx.clone() if ask.copy else topk_idx
        handle._owner = self

    def _come(self, out: ep.Expanded, expanded: int, scales: Any) -> Come:
        """Return what has come expert by expert."""
        weights = out.weights[:expanded] if out.weights is not None else None
        return Come(*_expand.pair(self.normal.rows_of(out, expanded, scales)), weights, True)

    @staticmethod
    def _expanded(ask: Ask, begun: Any, local: int) -> int:
        """Return how many expanded rows there are."""
        if ask.rows is not None:
            return ask.rows
        if ask.sync:
            return sum(rounded(begun.experts, ask.alignment))
        return _expand.worst(begun.rows, begun.columns, local, ask.alignment)

    def _number(self, handle: EPHandle, begun: Any, ask: Ask, out: Any) -> None:
        """Set the numbers of rows, and each expert's place among expanded rows. out: where these
        have come to."""
        rows, columns = handle._chosen.shape
        handle.num_recv_tokens = rows
        handle.num_recv_tokens_per_expert_list = rounded(begun.experts, ask.alignment)
        expanded = self._expanded(ask, begun, handle._counts.shape[0])
        handle.num_expanded_tokens = expanded
        if not ask.expand:
            return
        if out is None:
            made = _expand.places(handle._chosen, handle._counts, ask.alignment, expanded, ask.ids)
        else:
            ids = out.experts[:expanded] if ask.ids else None
            places = out.places[:rows, :columns]
            made = _expand.Places(out.ends, places, out.sources[:expanded], ids)
            handle._wide = out.places
        handle.num_unaligned_recv_tokens_per_expert = handle._counts.clone()
        handle._places, handle.recv_expert_ids = made, made.ids

    def _name(self, handle: EPHandle, got: ep.Received, later: bool) -> None:
        """Keep whose token each received row is, and how many came from each source."""
        handle._sources, handle._tokens = got.sources, got.row_sources
        if got.sources.is_cuda:
            captured = handle._captured = torch.cuda.is_current_stream_capturing()
            if captured or not later:
                handle.psums()  # on the stream of the call
            if captured:
                handle.metadata()  # of each replay

    def _again(self, ask: Ask, stream: Any) -> Tuple[EPHandle, Come]:
        """A dispatch by the routing of a handle; with weights they travel anew."""
        handle, (x, scales) = ask.handle, _expand.pair(ask.x)
        assert handle is not None
        inner, out = handle._inner, self._out(handle, x, scales, ask.wide())
        if ask.weights is None:
            found = _expand.pair(self.normal.again(x, scales, inner, stream, out))
            if out is not None:
                return handle, self._come(out, handle.num_expanded_tokens, scales)
            return handle, Come(*found, None)
        self.normal.check(inner, "dispatch")
        got = self.normal.send(inner, x, scales, inner.topk, ask.weights, stream, wide=out)
        if out is not None:
            return handle, self._come(out, handle.num_expanded_tokens, scales)
        rows, columns = handle._chosen.shape
        weights = got.row_weights[:rows, :columns]
        return handle, Come(*_expand.pair(self.normal.rows_of(got, rows, scales)), weights)

    def _out(self, handle: EPHandle, x: Any, scales: Any, wide: Wide) -> Optional[ep.Expanded]:
        """Return where rows of another dispatch by a handle go, expert by expert, where the call
        can store them there."""
        if handle._wide is None or handle._places is None:
            return None
        entry = handle._inner.entry.other(self.normal.dtype(x, scales))
        made = wide._replace(ids=False).made(entry, x, scales, handle.num_expanded_tokens, 1)
        return made._replace(ends=handle._places.ends, places=None, sources=None)

    def _results(self, ask: Ask, handle: EPHandle, come: Come) -> Tuple[Any, ...]:
        """Return what the dispatch gives, of what was received."""
        topk: Optional[Tensor] = None
        rows, scales, weights, expanded = come
        made = handle._places
        if expanded:
            pass
        elif made is not None:
            rows, scales, weights = _expand.expand(rows, scales, weights, made, ask.zero)
        else:
            topk = handle.chosen()
            weights = weights.contiguous() if weights is not None else None
        scales = _expand.by_columns(scales, ask.columns)
        return (rows if scales is None else (rows, scales)), topk, weights, handle

    # Calls that are as those of Buffer.

    def plain(self, x: Any, handle: Any, expand: bool) -> Optional[Tuple[Tensor, Any]]:
        """Return rows and scales of a dispatch by a handle, to received rows or expanded ones; None
        where it is another call."""
        if not self._is_mine(handle) or handle.do_expand is not expand:
            return None
        rows, scales = x if x.__class__ is tuple and len(x) == 2 else (x, None)
        if rows.__class__ is not Tensor or rows.shape != handle._given_shape:
            return None
        if rows.device != handle._chosen.device:
            return None
        return (rows, scales) if self._is_known(rows, scales) else None

    def again(
        self, rows: Tensor, scales: Any, handle: EPHandle, stream: Any, zero: bool
    ) -> Tuple[Any, Optional[Tensor]]:
        """Such a dispatch."""
        if not handle.do_expand:
            return self.normal.again(rows, scales, handle._inner, stream), handle.chosen()
        plain = Wide(handle.expert_alignment, zero, False, False, False)
        out = self._out(handle, rows, scales, plain)
        come = _expand.pair(self.normal.again(rows, scales, handle._inner, stream, out))
        if out is None:
            come = _expand.expand(*come, None, handle._places, zero)[:2]
        else:
            come = self._come(out, handle.num_expanded_tokens, scales)[:2]
        return (come[0] if come[1] is None else come), None

    def _is_known(self, rows: Tensor, scales: Any) -> bool:
        """Whether there is an instance for rows, and scales, of these shapes and types."""
        if scales is not None:
            if scales.__class__ is not Tensor or scales.device != rows.device:
                return False
            if scales.dim() != 2 or scales.shape[0] != rows.shape[0]:
                return False
        return self.normal.kind(rows, scales) is not None

    def plain_back(self, x: Any, handle: Any) -> bool:
        """Whether this is a combine as Buffer's, weights and biases apart."""
        if not self._is_mine(handle) or not (
            self.several or (self.physical[0] == 1 and not handle.do_expand)
        ):
            return False
        if x.__class__ is not Tensor or x.dtype != torch.bfloat16 or x.dim() != 2:
            return False
        rows = handle._inner.rows if handle._places is None else handle.num_expanded_tokens
        if x.shape[0] != rows or x.shape[1] != handle._given_shape[1]:
            return False
        return bool(x.device == handle._chosen.device)

    def back(self, x: Tensor, handle: EPHandle, stream: Any) -> Tensor:
        """Such a combine."""
        inner, places = handle._inner, handle._places
        if handle._wide is not None:
            return self.normal.combine(x, inner, None, stream, handle._wide)[0]
        if places is not None:
            self.normal.check(inner, "combine")
            x = _expand.fold(x, places.rows, self._sums(x, inner))
        return self.normal.combine(x, inner, None, stream)[0]

    def _sums(self, x: Tensor, inner: Any) -> Optional[Tensor]:
        """Return where sums are added up that the combine then takes without a copy."""
        if self.physical[0] > 1 or (x.is_cuda and torch.cuda.is_current_stream_capturing()):
            return None
        found = inner.entry.y(x, inner.rows)
        return found if found is not None and found.is_contiguous() else None

    def _is_mine(self, handle: Any) -> bool:
        return handle.__class__ is EPHandle and handle._owner is self

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
        if handle._wide is not None and self.several and not biases:
            found = self.normal.combine(x, inner, weights, stream, handle._wide)
            return lambda: found, found
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
