# SPDX-License-Identifier: BSD-3-Clause
"""Normal mode: dispatch and combine by high-throughput instances of warpshmem.ep."""

from __future__ import annotations

from typing import Any, Callable, List, NamedTuple, Optional, Set, Tuple, Union

import torch
from warpshmem import ep

from . import _topk
from ._layout import Later, Layout, layout
from ._pool import Entry, Plan, Pool
from .errors import wrong


_FP8 = getattr(torch, "float8_e4m3fn", torch.uint8)
_BYTES = (_FP8, torch.uint8, torch.int8)  # types that rows of one byte may have


class Handle(tuple):
    """What a dispatch leaves for its combine and for later dispatches of its routing.

    As a tuple it has the items of DeepEP's: (rank_prefix_matrix or None, None, None, None,
    is_token_in_rank, None).
    """

    entry: Entry
    number: int
    turn: int
    tokens: int
    rows: int
    topk: torch.Tensor  # with the instance's columns
    borrowed: bool  # it is the program's tensor, until rows have been sent
    own: int  # columns of this rank
    columns: int  # of the received rows' top-k
    owner: "_Owner"
    kept: Set[int]  # of entries that have the routing under this number


class Begun(NamedTuple):
    """A dispatch whose numbers are there: handle, rows that come here, columns of their top-k, rows
    of each expert here (none with num_worst_tokens), rows that any PE receives at most, and what
    was received, expert by expert where that is asked for; None: the rows are to be sent."""

    handle: Handle
    rows: int
    columns: int
    experts: List[int]
    most: int
    got: Optional[ep.Received] = None
    wide: Optional[ep.Expanded] = None


class Wide(NamedTuple):
    """Rows expert by expert, as a dispatch asks for them."""

    alignment: int
    zero: bool  # padding is zeros
    weights: bool
    ids: bool
    columns: bool  # scales by columns
    rows: Optional[int] = None  # None: all

    def made(
        self, entry: Entry, x: torch.Tensor, scales: Any, rows: int, received: int
    ) -> ep.Expanded:
        """Return where so many rows go, of so many received ones."""
        sizes = rows, received, self.alignment, self.zero, self.weights, self.ids
        made = entry.instance.expanded(x, *sizes)
        if not self.columns or scales is None or scales.dtype != torch.float32:
            return made
        shape = tuple(made.row_scales.shape)
        steps = (1, (shape[0] + 3) // 4 * 4)
        place = dict(dtype=torch.float32, device=x.device)
        return made._replace(row_scales=torch.empty_strided(shape, steps, **place))


def rounded(counts: List[int], alignment: int) -> List[int]:
    """Return counts, each the next multiple of `alignment`."""
    if alignment == 1:
        return list(counts)
    return [(count + alignment - 1) // alignment * alignment for count in counts]


class Normal:
    """The calls of normal mode of one Buffer. name: of its class, as programs know it."""

    name = "Buffer"

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer
        self.pool = Pool(buffer)

    def close(self) -> None:
        """End all instances. Collective."""
        self.pool.close()

    def dispatch(
        self,
        x: torch.Tensor,
        scales: Optional[torch.Tensor],
        numbers: Layout,
        topk_idx: Optional[torch.Tensor],
        topk_weights: Optional[torch.Tensor],
        alignment: int,
        worst: int,
        stream: Any,
    ) -> Tuple[Any, ...]:
        """A dispatch of a new routing. The host waits for the numbers of all PEs, and rows come in
        tensors that fit. With `worst` it waits for nothing: so many rows are there, and those that
        did not come have no expert."""
        begun = self.begin(x, scales, numbers, topk_idx, topk_weights, worst, stream, True)
        handle, rows, counts = begun.handle, begun.rows, rounded(begun.experts, alignment)
        got = begun.got or self.send(handle, x, scales, handle.topk, topk_weights, stream)
        columns = begun.columns
        return self._given(got, rows, topk_idx, topk_weights, columns, scales) + (counts, handle)

    def begin(
        self,
        x: torch.Tensor,
        scales: Optional[torch.Tensor],
        numbers: Union[Layout, Later],
        topk_idx: Optional[torch.Tensor],
        topk_weights: Optional[torch.Tensor],
        worst: int,
        stream: Any,
        checked: bool = False,
        named: bool = False,
        wide: Optional[Wide] = None,
        meanwhile: Optional[Callable[[ep.Received], None]] = None,
        uneven: bool = False,
    ) -> "Begun":
        """Choose instance and handle of a dispatch of a new routing, and learn its numbers, without
        `worst` from all PEs: by kernels that send the rows, too, or, to make an instance, on the
        host. checked: topk_idx
        is right; named: counts, sources and row_sources are received; meanwhile: what there is to do
        with what is received while the host would wait for kernels; uneven: ranks with tokens may
        have different numbers of columns."""
        topk, experts = self.routing(numbers, topk_idx, checked)
        _topk.check_weights(self.name + ".dispatch", topk_weights)
        key, tokens = self.key(x, scales, experts), x.shape[0]
        if worst:
            entry, number = self._turn(key, topk.shape[1], tokens, worst)
            columns = topk.shape[1] if tokens else entry.fields["topk"]
            handle = self._handle(entry, number, tokens, topk, numbers.is_token_in_rank, None)
            handle.rows, handle.columns = worst, columns
            return Begun(handle, worst, columns, [], worst)
        if x.is_cuda:
            self.buffer.refuse_capture("dispatch")
        # Without topk_idx kernels know no experts, whose rows the hosts count then.
        last, begun = self.pool.last(key) if topk_idx is not None else None, None
        if last is not None:
            inside, wide = numbers.is_token_in_rank, wide if last.expands else None
            given = last, x, scales, topk, inside, topk_weights, stream, named, wide
            begun = self._told(*given, meanwhile)
        if begun is None:
            begun = self._gathered(key, tokens, topk, self._counted(numbers, topk_idx))
        if uneven:
            begun = begun._replace(columns=begun.handle.entry.fields["topk"])
        handle = begun.handle
        handle.columns = begun.columns
        return begun

    def _told(
        self,
        entry: Entry,
        x: torch.Tensor,
        scales: Optional[torch.Tensor],
        topk: torch.Tensor,
        inside: Optional[torch.Tensor],
        weights: Optional[torch.Tensor],
        stream: Any,
        named: bool,
        wide: Optional[Wide],
        meanwhile: Optional[Callable[[ep.Received], None]],
    ) -> Optional["Begun"]:
        """Send the rows; kernels tell the numbers. None where a PE has declined."""
        instance, tokens, n = entry.instance, x.shape[0], self.buffer.group_size
        number = entry.take(tokens, topk.shape[1])
        if number is None:
            return self._decline(entry, x, scales, stream)
        sums = torch.empty((n, n), dtype=torch.int32, device=x.device)
        handle = self._handle(entry, number, tokens, topk, inside, sums)
        columns = topk.shape[1] if tokens else entry.fields["topk"]

        def made(rows: int, most: int, halves: int) -> Tuple[Any, ep.Received, List[int], int]:
            handle.rows = rows
            out = wide.made(entry, x, scales, most, rows) if wide is not None else None
            got = self.send(handle, x, scales, handle.topk, weights, stream, named, halves, out)
            handle.owner.take(entry.used, number)
            if meanwhile is not None:
                meanwhile(got)
            return (out, got) + instance.counts(number)

        room = entry.room(tokens)
        most = entry.wide_room(tokens, wide.alignment) if wide is not None else 0
        out, got, counts, rows = made(room, most, ep.BOTH)
        if rows < 0:
            return None
        need = sum(rounded(counts, wide.alignment)) if wide is not None else 0
        if rows > room or need > most:
            out, got, counts, rows = made(max(rows, 1), need, ep.RECEIVE)
        elif rows * 2 < room:  # not to keep memory that nobody needs
            got = _fewer(got, rows)
        if out is not None:
            out, entry.wide = _fewer_wide(out, need, rows), need
        handle.rows = entry.rows = rows
        most = entry.fields["pe_capacity"]
        return Begun(handle, rows, columns, counts, most, got, out)

    def _decline(
        self, entry: Entry, x: torch.Tensor, scales: Optional[torch.Tensor], stream: Any
    ) -> None:
        """Tell all PEs that this one cannot make the next call."""
        fields, instance = entry.fields, entry.instance
        nobody = torch.empty((0, fields["topk"]), dtype=torch.int64, device=x.device)
        instance.dispatch(
            x[:0],
            nobody,
            handle=entry.spare,
            received=instance.received(x, 1, True),
            stream=stream,
            x_scales=None if scales is None else _as_floats(scales[:0], x.shape[1] // 128),
            agreed=ep.DECLINES,
        )
        instance.counts(entry.spare)

    def _counted(self, numbers: Union[Layout, Later], topk_idx: Optional[torch.Tensor]) -> Layout:
        """Return the numbers that rows are sent by: those that a program gives may be others."""
        if isinstance(numbers, Later):
            return numbers.counted()
        inside = numbers.is_token_in_rank
        if topk_idx is None:
            return numbers._replace(num_tokens_per_rank=inside.sum(0, dtype=torch.int32))
        found = layout(topk_idx, numbers.num_experts, self.buffer.group_size)
        return found._replace(is_token_in_rank=inside)

    def _gathered(
        self, key: Tuple[int, ...], tokens: int, topk: torch.Tensor, numbers: Layout
    ) -> "Begun":
        """Learn the numbers from the hosts of all PEs."""
        plan, rank = self._plan(key, topk.shape[1], tokens, numbers), self.buffer.rank
        sums = torch.tensor(plan.sent, dtype=torch.int32).cumsum(0, dtype=torch.int32)
        inside = numbers.is_token_in_rank
        handle = self._handle(plan.entry, plan.number, tokens, topk, inside, sums.to(topk.device))
        rows = [sum(column) for column in zip(*plan.sent)]
        handle.owner.take(plan.entry.used, plan.number)
        handle.rows = plan.entry.rows = rows[rank]
        return Begun(handle, rows[rank], plan.topk, plan.experts, max(rows))

    def _plan(self, key: Tuple[int, ...], topk: int, tokens: int, numbers: Layout) -> Plan:
        """Agree with all PEs on what a dispatch sends."""
        counted = torch.cat(
            [numbers.num_tokens_per_rank.int(), numbers.num_tokens_per_expert.int()]
        ).tolist()
        n = self.buffer.group_size
        return self.pool.plan(key, topk, tokens, counted[:n], counted[n:])

    def _turn(self, key: Tuple[int, ...], topk: int, tokens: int, worst: int) -> Tuple[Entry, int]:
        """Take the next handle of an instance for `worst` rows."""
        if tokens * self.buffer.group_size > worst:
            raise wrong(
                self.name + ".dispatch",
                "num_worst_tokens",
                "is %d for %d ranks, and x has %d tokens; give at least ranks "
                "times the tokens of each" % (worst, self.buffer.group_size, tokens),
            )
        entry = self.pool.worst(key, topk, tokens, worst)
        number = entry.turns % entry.handles
        entry.turns += 1
        return entry, number

    def again(
        self,
        x: torch.Tensor,
        scales: Optional[torch.Tensor],
        handle: Handle,
        stream: Any,
        wide: Optional[ep.Expanded] = None,
    ) -> torch.Tensor:
        """A dispatch by the routing of a handle: rows, or rows and scales. wide: where they go,
        expert by expert."""
        self.check(handle, "dispatch")
        if x.shape[0] != handle.tokens:
            raise wrong(
                self.name + ".dispatch",
                "x",
                "has %d rows, and the handle is of %d tokens; give as many"
                % (x.shape[0], handle.tokens),
            )
        if x.shape[1] != handle.entry.fields["hidden"]:
            text = "has %d columns, and the handle's dispatch had %d; give as many"
            given = x.shape[1], handle.entry.fields["hidden"]
            raise wrong(self.name + ".dispatch", "x", text % given)
        entry = handle.entry.other(self.dtype(x, scales, self.name + ".dispatch"))
        known = id(entry) in handle.kept
        topk = None if known else handle.topk
        got = self.send(handle, x, scales, topk, None, stream, wide=wide, entry=entry)
        if wide is not None:
            return self.rows_of(wide, wide.rows.shape[0], scales)
        return self.rows_of(got, handle.rows, scales)

    def combine(
        self,
        x: torch.Tensor,
        handle: Handle,
        weights: Optional[torch.Tensor],
        stream: Any,
        places: Optional[torch.Tensor] = None,
    ) -> Tuple[torch.Tensor, Optional[torch.Tensor]]:
        """Sums over ranks for the tokens of the dispatch, and the weights that come back. places: x
        has expanded rows, there of each received one."""
        self.check(handle, "combine")
        instance = handle.entry.instance
        if x.is_cuda and torch.cuda.is_current_stream_capturing():
            handle.entry.captured = True
        if x.dtype != torch.bfloat16:
            raise wrong(self.name + ".combine", "x", "is of %s; give torch.bfloat16" % x.dtype)
        if places is None and tuple(x.shape) != (handle.rows, instance.config.hidden):
            raise wrong(
                self.name + ".combine",
                "x",
                "has shape %s; it is [%d, %d], a row for each received one"
                % (tuple(x.shape), handle.rows, instance.config.hidden),
            )
        back = None
        _topk.check_weights(self.name + ".combine", weights)
        if weights is not None:
            weights = _topk.fitting(weights, instance.config.topk, torch.float32, 0)
            back = torch.empty(
                (handle.tokens, instance.config.topk), dtype=torch.float32, device=x.device
            )
        out = torch.empty((handle.tokens, x.shape[1]), dtype=x.dtype, device=x.device)
        instance.combine(
            x.contiguous(),
            handle=handle.number,
            y_weights=weights,
            out=out,
            out_weights=back,
            stream=stream,
            places=places,
        )
        return out, back if back is None else _topk.fitting(back, handle.own, back.dtype, 0)

    # Parts of calls.

    def routing(
        self, numbers: Union[Layout, Later], topk_idx: Optional[torch.Tensor], checked: bool
    ) -> Tuple[torch.Tensor, int]:
        """Return topk as the library takes it, and the number of experts: ranks take their place
        without topk_idx."""
        if topk_idx is not None:
            experts = numbers.num_experts
            if not checked:
                _topk.check(self.name + ".dispatch", topk_idx, experts)
            return topk_idx, experts
        inside, n = numbers.is_token_in_rank, self.buffer.group_size
        if n > 16:
            raise wrong(
                self.name + ".dispatch",
                "topk_idx",
                "is None with %d ranks; give it: without it there are 16 at most" % n,
            )
        ranks = torch.arange(n, dtype=torch.int64, device=inside.device).expand(inside.shape)
        return torch.where(inside, ranks, torch.full_like(ranks, -1)).contiguous(), n

    @staticmethod
    def kind(x: torch.Tensor, scales: Optional[torch.Tensor]) -> Optional[int]:
        """Return the dtype of an instance for x; None: there is none."""
        if scales is None and x.dtype == torch.bfloat16:
            return ep.BF16
        if scales is not None and x.dtype in _BYTES:
            if scales.dtype == torch.float32 and scales.shape[-1] == x.shape[1] // 128:
                return ep.FP8
            if scales.dtype == torch.int32 and scales.shape[-1] <= x.shape[1] // 128:
                return ep.FP8  # they travel as they are
        return None

    @staticmethod
    def dtype(
        x: torch.Tensor, scales: Optional[torch.Tensor], call: str = "dispatch"
    ) -> int:
        """Return the dtype of an instance for x; refuse rows of others."""
        found = Normal.kind(x, scales)
        if found is not None:
            return found
        raise wrong(
            call,
            "x",
            "is of %s%s; give torch.bfloat16, or (torch.float8_e4m3fn, float32 scales for "
            "each 128 columns, or such packed in int32)"
            % (
                x.dtype,
                (
                    ""
                    if scales is None
                    else " with scales of %s, %s" % (scales.dtype, tuple(scales.shape))
                ),
            ),
        )

    def key(self, x: torch.Tensor, scales: Optional[torch.Tensor], experts: int) -> Tuple[int, ...]:
        """Return what instances are told apart by."""
        return int(x.is_cuda), self.dtype(x, scales), x.shape[1], experts

    def _handle(
        self,
        entry: Entry,
        number: int,
        tokens: int,
        topk: torch.Tensor,
        inside: Optional[torch.Tensor],
        sums: Optional[torch.Tensor],
    ) -> Handle:
        """Return a handle without its rows. sums: rank_prefix_matrix, which the call may write."""
        handle = Handle((sums, None, None, None, inside, None))
        handle.owner = _Owner()
        handle.entry, handle.number, handle.turn = entry, number, entry.turns
        handle.tokens, handle.own = tokens, topk.shape[1]
        handle.topk = _topk.fitting(topk, entry.fields["topk"], torch.int64, -1)
        handle.borrowed, handle.kept = handle.topk is topk, set()
        return handle

    def check(self, handle: Any, call: str) -> None:
        """Refuse what is no handle, one whose number later dispatches have taken, and one whose
        instance has ended."""
        if not isinstance(handle, Handle):
            text = "is %s; give what dispatch returned" % type(handle).__name__
        elif handle.entry.turns - handle.turn >= handle.entry.handles:
            text = (
                "is of a dispatch with num_worst_tokens, or do_cpu_sync=False, and %d later ones "
                "have been made since, as many as are kept; combine before"
            ) % handle.entry.handles
        elif not handle.entry.instance._ep:
            text = "is of a Buffer that was destroyed; dispatch again"
        else:
            return
        raise wrong("%s.%s" % (self.name, call), "handle", text)

    def send(
        self,
        handle: Handle,
        x: torch.Tensor,
        scales: Optional[torch.Tensor],
        topk: Optional[torch.Tensor],
        weights: Optional[torch.Tensor],
        stream: Any,
        numbers: bool = False,
        halves: int = 0,
        wide: Optional[ep.Expanded] = None,
        entry: Optional[Entry] = None,
    ) -> ep.Received:
        """Call the library's dispatch. topk: the handle's; None: the instance knows it. numbers:
        counts, sources and row_sources are received too. halves: of a call in which PEs agree.
        wide: where rows go, expert by expert. entry: for such rows, where it is known."""
        entry = entry or handle.entry.other(self.dtype(x, scales))
        few = topk is None and not numbers
        got = entry.instance.received(x, handle.rows, few, wide is not None, numbers)
        if numbers:
            more = x.new_empty((max(handle.rows, 1),), dtype=torch.int32)
            got = got._replace(row_sources=more)
        if topk is None:
            got = got if few else got._replace(row_topk=None, row_weights=None)
        elif handle[0] is None:
            got.row_topk.fill_(-1)
            if wide is not None and wide.places is not None:
                wide.places.fill_(-1)
        if got.row_weights is not None and handle[0] is None:
            got.row_weights.zero_()
        columns = entry.fields["topk"]
        if weights is not None:
            weights = _topk.fitting(weights, columns, torch.float32, 0)
        entry.instance.dispatch(
            x.contiguous(),
            None if topk is None else handle.topk,
            weights,
            handle=handle.number,
            received=got,
            stream=stream,
            x_scales=_as_floats(scales, x.shape[1] // 128),
            halves=halves or ep.BOTH,
            rows_most=handle.rows if halves else 0,
            agreed=ep.AGREES if halves else 0,
            row_sums=handle[0] if halves else None,
            expanded=wide,
        )
        handle.kept.add(id(entry))
        if handle.borrowed and not numbers:  # who asks for numbers says what the program keeps
            handle.topk, handle.borrowed = handle.topk.clone(), False
        return got

    @staticmethod
    def rows_of(got: Any, rows: int, scales: Optional[torch.Tensor]) -> Any:
        if got.row_scales is None or scales is None:
            return _first(got.rows, rows)
        come = _first(got.row_scales, rows)
        if scales.dtype == torch.int32:
            come = come.view(torch.int32)[:, : scales.shape[1]].contiguous()
        return _first(got.rows, rows), come

    def _given(
        self,
        got: ep.Received,
        rows: int,
        topk_idx: Optional[torch.Tensor],
        weights: Optional[torch.Tensor],
        columns: int,
        scales: Optional[torch.Tensor],
    ) -> Tuple[Any, ...]:
        """Return recv_x, recv_topk_idx, recv_topk_weights, with so many columns."""
        given = self.rows_of(got, rows, scales)
        if topk_idx is None:
            return given, None, None
        topk = _columns(_first(got.row_topk, rows), columns)
        topk = topk if topk.dtype == topk_idx.dtype else topk.to(topk_idx.dtype)
        if weights is None:
            return given, topk, None
        return given, topk, _columns(_first(got.row_weights, rows), columns)


def _first(array: torch.Tensor, rows: int) -> torch.Tensor:
    """Return the first rows: a view takes time even of all."""
    return array if array.shape[0] == rows else array[:rows]


def _columns(rows: torch.Tensor, columns: int) -> torch.Tensor:
    """Return the first columns of rows, contiguous."""
    return rows if rows.shape[1] == columns else rows[:, :columns].contiguous()


def _as_floats(scales: Optional[torch.Tensor], columns: int) -> Optional[torch.Tensor]:
    """Return scales as the library takes them: words of 32 bits, of which it looks at none."""
    if scales is None:
        return None
    if scales.dtype == torch.int32:
        wide = torch.zeros((scales.shape[0], columns), dtype=torch.int32, device=scales.device)
        wide[:, : scales.shape[1]] = scales
        return wide.view(torch.float32)
    return scales.contiguous()


def _fewer(got: ep.Received, rows: int) -> ep.Received:
    """Return what was received in memory of so many rows."""
    copied = {
        name: getattr(got, name)[:rows].clone()
        for name in ("rows", "row_scales", "row_topk", "row_weights", "row_sources")
        if getattr(got, name) is not None
    }
    return got._replace(**copied)


def _fewer_wide(out: ep.Expanded, rows: int, received: int) -> ep.Expanded:
    """Return so many expanded rows, of so many received ones, in memory of not much more."""

    def part(array: Any) -> Any:
        if array is None:
            return None
        some = array[:rows]
        return some.clone() if rows * 2 < array.shape[0] else some

    named = {
        name: part(getattr(out, name))
        for name in ("rows", "row_scales", "weights", "sources", "experts")
    }
    return out._replace(places=out.places[: max(received, 1)], **named)


class _Owner:
    """Gives the number of a handle back when the handle goes. From when it is taken on."""

    __slots__ = ("used", "number")

    def __init__(self) -> None:
        self.used: Optional[Set[int]] = None

    def take(self, used: Set[int], number: int) -> None:
        used.add(number)
        self.used, self.number = used, number

    def __del__(self) -> None:
        if self.used is not None:
            self.used.discard(self.number)
