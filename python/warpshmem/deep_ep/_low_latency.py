# SPDX-License-Identifier: BSD-3-Clause
"""Low-latency mode: a call is one call of a low-latency instance of warpshmem.ep, which writes
what is returned; with a hook it is two. Nothing else is started on the GPU."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

import torch
from warpshmem import WarpshmemError, _ep_arrays, ep

from . import _dropped, _low_checks, _low_plans, _nvfp4, _signals, _topk
from .errors import wrong
from .utils.event import EventHandle, EventOverlap, Launch

HANDLES = 8


class Handle(tuple):
    """What low_latency_dispatch leaves for its combine.

    A tuple as DeepEP's: (packed_recv_src_info, packed_recv_layout_range,
    num_max_dispatch_tokens_per_rank, hidden, num_experts).
    """

    entry: "Entry"
    number: int
    turn: int
    tokens: int
    given: torch.Tensor  # topk_idx of the dispatch
    version: Optional[int]  # of it
    plans: "_low_plans.Plans"


class Entry:
    """An instance for one shape, its handles in turn, what calls begin from, and the half that has
    not been received yet."""

    def __init__(self, fields: Dict[str, int], team: Any = None) -> None:
        self.fields = fields
        self.instance = ep.ExpertParallel(team, **fields)
        self.device = bool(fields["device"])
        self.turn = 0
        self.stream: Any = None  # of the last call
        self.raw = 0  # its cudaStream_t
        self.pending: Dict[str, "_Hook"] = {}
        self.buffers: Dict[int, torch.Tensor] = {}  # those of zero_copy, by address
        one = self.instance
        self.lead = (one.local_experts, one.capacity)
        self.ranges = (one.local_experts, one.n_pes)
        self.rows = self.lead + (fields["hidden"],)
        self.plans: Dict[bool, _low_plans.Plans] = {}  # by whether scales are packed
        self.shown = _signals.Shown(team)
        self.dispatch = ep.DispatchByExpert(version=ep.CALL_VERSION)
        self.combine = ep.Combine(version=ep.CALL_VERSION)

    def scales(self, packed: bool) -> Tuple[Tuple[int, int, int], Tuple[int, int, int]]:
        """Return shape and strides of scales as DeepEP gives them: rows of a column beside each
        other."""
        columns = self.fields["hidden"] // (512 if packed else 128)
        rows = self.lead[1]
        return self.lead + (columns,), (columns * rows, 1, rows)

    def buffer(self, like: torch.Tensor) -> torch.Tensor:
        """Return the tensor over what the next combine with zero_copy takes."""
        address = self.instance.buffer_address(ep.BUFFER_Y)
        if address not in self.buffers:
            self.buffers[address] = self.instance.buffer(ep.BUFFER_Y, like)
        return self.buffers[address]

    def follow(self, stream: Any) -> None:
        """Let calls come one after another also where streams change, as on DeepEP's one stream."""
        last, self.stream = self.stream, stream
        self.raw = stream.cuda_stream if stream is not None else 0
        if last is not None and last != stream and not torch.cuda.is_current_stream_capturing():
            stream.wait_stream(last)

    def forget(self) -> None:
        """Let go of tensors over symmetric memory."""
        self.buffers = {}

    def close(self) -> None:
        """End the instance. Collective. Receiving halves that nobody has called come first."""
        for hook in list(self.pending.values()):
            hook.run()
        self.forget()
        self.shown.close()
        for plans in self.plans.values():
            plans.close()
        self.instance.close()


class _Hook:
    """The receiving half of a call: runs once, on the stream of the sending half."""

    __slots__ = ("entry", "kind", "receive", "stream", "held")

    def __init__(
        self, entry: Entry, kind: str, receive: Callable[[], None], stream: Any, held: Any
    ) -> None:
        self.entry, self.kind, self.receive, self.stream = entry, kind, receive, stream
        self.held = held
        entry.pending[kind] = self

    def run(self) -> bool:
        if self.entry.pending.get(self.kind) is not self:
            return False
        del self.entry.pending[self.kind]
        self.receive()
        self.held = None
        return True

    def __call__(self) -> None:
        self.run()
        stream = self.stream
        if stream is not None:
            if _ep_arrays.raw_stream(stream.device_index) != stream.cuda_stream:
                torch.cuda.current_stream().wait_stream(stream)


class LowLatency:
    """The calls of low-latency mode of one Buffer."""

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer
        self.entries: Dict[Tuple[int, ...], List[Entry]] = {}
        self.plans: Dict[Tuple[Any, ...], _low_plans.Plans] = {}  # of the last dispatch so

    def all(self) -> List[Entry]:
        """Return the entries that there are."""
        return [entry for entries in self.entries.values() for entry in entries]

    def close(self) -> None:
        """End all instances. Collective."""
        for entry in self.all():
            entry.close()
        self.entries, self.plans = {}, {}

    def entry(
        self, device: int, dtype: int, hidden: int, experts: int, topk: int, most: int, tokens: int
    ) -> Entry:
        """Return the instance for a shape, which all PEs give alike: the last one, unless the top-k
        needs another."""
        key = (device, dtype, hidden, experts, most)
        entries = self.entries.get(key)
        if entries and topk <= entries[-1].fields["topk"]:
            return entries[-1]
        entries = self.entries.setdefault(key, [])
        self.buffer.refuse_capture("low_latency_dispatch with a new shape")
        masks = self._masks()
        topk = self._agree(key, topk, tokens)
        _dropped.meet(self.buffer.agreement)
        entries.append(
            Entry(
                dict(
                    mode=ep.LOW_LATENCY,
                    device=device,
                    dtype=dtype,
                    hidden=hidden,
                    experts=experts,
                    topk=topk,
                    tokens=most,
                    expert_capacity=most * self.buffer.group_size,
                    handles=HANDLES,
                    topk_bits=64,
                    **masks,
                ),
                self.buffer.team,
            )
        )
        for rank in self.buffer._masked:
            entries[-1].instance.mask_update(rank, True)
        return entries[-1]

    def _masks(self) -> Dict[str, int]:
        """Return the fields of an instance that are of masks."""
        if not self.buffer.enable_shrink:
            return {}
        return dict(masks=1, limit_ms=max(1, int(self.buffer.low_latency_limit_secs * 1000)))

    def _agree(self, key: Tuple[int, ...], topk: int, tokens: int) -> int:
        """Return the top-k of a new instance; what else PEs must give alike is refused by name."""
        told = self.buffer.agreement.gather((tokens, topk) + key)
        names = ("rows' device", "use_fp8 and round_scale", "hidden", "num_experts")
        names += ("num_max_dispatch_tokens_per_rank",)
        for at, name in enumerate(names):
            for rank, numbers in enumerate(told):
                if numbers[2 + at] != key[at]:
                    text = "differ: here %d, at rank %d %d; give the same on all ranks"
                    raise wrong(
                        "low_latency_dispatch", name, text % (key[at], rank, numbers[2 + at])
                    )
        return _topk.room(_topk.agreed(told), key[3])

    def _start(
        self,
        entry: Entry,
        kind: str,
        call: Callable[[int, Any], None],
        inputs: Tuple[Any, ...],
        outputs: Tuple[Any, ...],
        async_finish: bool,
        hook: bool,
    ) -> Tuple[EventOverlap, Optional[Callable[[], None]]]:
        """Launch both halves, or the sending one and return the hook that launches the other."""
        if async_finish and hook:
            raise wrong(
                "low_latency_" + kind,
                "async_finish",
                "and return_recv_hook are both True; choose one",
            )
        if kind in entry.pending:  # a receiving half comes before the next sending half
            entry.pending[kind].run()
        if async_finish and entry.device:
            with Launch(self.buffer.comm_stream, None, True) as launch:
                entry.follow(launch.stream)
                call(ep.BOTH, launch.stream)
            return launch.finish(inputs, outputs), None
        stream = torch.cuda.current_stream() if entry.device else None
        entry.follow(stream)
        call(ep.SEND if hook else ep.BOTH, stream)
        event = EventOverlap(EventHandle() if async_finish else None)
        if not hook:
            return event, None

        def receive() -> None:
            entry.follow(stream)
            call(ep.RECEIVE, stream)

        return event, _Hook(entry, kind, receive, stream, inputs + outputs)

    def dispatch(
        self,
        x: torch.Tensor,
        topk_idx: torch.Tensor,
        max_tokens: int,
        experts: int,
        stats: Optional[torch.Tensor],
        dtype: int,
        packed: bool,
        async_finish: bool,
        hook: bool,
        waits: Optional[torch.Tensor] = None,
        whole: Optional[torch.Tensor] = None,
    ) -> Tuple[Any, ...]:
        """packed: scales as bytes of exponents, four in a word. waits: [ranks] int64, ns. whole: the
        scale of all rows of NVFP4."""
        n = self.buffer.group_size
        _low_checks.dispatch(x, topk_idx, max_tokens, experts, n, dtype, packed)
        _low_checks.waits("dispatch", waits, x, n)
        _low_checks.stats(stats, experts // n, x)
        tokens, k = topk_idx.shape
        entry = self.entry(int(x.is_cuda), dtype, x.shape[1], experts, k, max_tokens, tokens)
        number, entry.turn = entry.turn % HANDLES, entry.turn + 1
        hidden, device, like = x.shape[1], x.device, x
        x = _contiguous(x)
        topk = _contiguous(topk_idx, torch.int64)
        counts = torch.empty(entry.ranges[:1], dtype=torch.int32, device=device)
        sources = torch.empty(entry.lead, dtype=torch.int32, device=device)
        ranges = torch.empty(entry.ranges, dtype=torch.int64, device=device)
        made = _copy(entry.dispatch)
        given = self._rows(entry, packed, device, made)
        made.handle, made.tokens = number, tokens
        made.columns = k if tokens else 0
        made.x, made.topk = x.data_ptr(), topk.data_ptr() or made.rows  # not NULL, nor read
        made.counts = counts.data_ptr()
        made.row_sources, made.ranges = sources.data_ptr(), ranges.data_ptr()
        made.totals = stats.data_ptr() if stats is not None else None
        made.waits = waits.data_ptr() if waits is not None else None
        made.global_scale = whole.data_ptr() if whole is not None else None
        start = entry.instance.start_dispatch

        def call(halves: int, stream: Any) -> None:
            made.halves, made.stream = halves, stream and stream.cuda_stream
            try:
                start(made)
            except WarpshmemError as error:
                _low_checks.experts(topk_idx, experts, error)
                raise

        event, receive = self._start(
            entry,
            "dispatch",
            call,
            (x, topk, stats, waits, whole),
            given + (counts, sources, ranges),
            async_finish,
            hook,
        )
        handle = Handle((sources, ranges, max_tokens, hidden, experts))
        handle.entry, handle.number, handle.turn = entry, number, entry.turn
        handle.tokens, handle.given, handle.version = tokens, topk_idx, _topk.version(topk_idx)
        if packed not in entry.plans:
            entry.plans[packed] = _low_plans.Plans(entry, like, packed)
        handle.plans = self.plans[max_tokens, experts, dtype, packed] = entry.plans[packed]
        return (given if dtype else given[0]), counts, handle, event, receive

    @staticmethod
    def _rows(entry: Entry, packed: bool, device: Any, made: Any) -> Tuple[torch.Tensor, ...]:
        """Allocate what a dispatch receives, and name it in its struct: rows, or rows and
        scales."""
        fields = entry.fields
        if fields["dtype"] == ep.NVFP4:
            forms = _nvfp4.forms(entry.lead, fields["hidden"])
            codes, by = (torch.empty(size, dtype=kind, device=device) for size, kind in forms)
            made.rows, made.row_scales = codes.data_ptr(), by.data_ptr()
            return codes, by
        form = _low_checks.FP8_DTYPE if fields["dtype"] else torch.bfloat16
        rows = torch.empty(entry.rows, dtype=form, device=device)
        made.rows = rows.data_ptr()
        if not fields["dtype"]:
            return (rows,)
        shape, steps = entry.scales(packed)
        kind = torch.int32 if packed else torch.float32
        scales = torch.empty_strided(shape, steps, dtype=kind, device=device)
        made.row_scales = scales.data_ptr()
        made.scales_row_step, made.scales_column_step = steps[1:]
        made.scales_packed = int(packed)
        return rows, scales

    def quick_dispatch(
        self,
        plans: _low_plans.Plans,
        x: Any,
        topk_idx: Any,
        stats: Any,
        async_finish: bool,
        hook: bool,
        whole: Tuple[Any, ...] = (),
    ) -> Optional[Tuple[Any, ...]]:
        """The same as the dispatch before it, with other tensors; None where it is not."""
        entry, plan = plans.entry, plans.dispatch
        comm = self.buffer.comm_stream if async_finish else None
        raw = plans.start("dispatch", x, comm) if plan is not None else None
        if raw is None:
            return None
        number = entry.turn % HANDLES
        halves, given = ep.SEND if hook else ep.BOTH, (x, topk_idx, stats) + whole
        try:
            found = plan.call(halves, number, raw, -1, -1, 0, *given, *plans.makes)
        except WarpshmemError as error:
            _low_checks.experts(topk_idx, plans.shape[2], error)
            raise
        if found is None:
            return None
        entry.turn += 1
        handle = Handle((found[3], found[4]) + plans.shape)
        handle.entry, handle.number, handle.turn, handle.plans = entry, number, entry.turn, plans
        handle.tokens, handle.given, handle.version = found[0], topk_idx, _topk.version(topk_idx)
        rows = (found[1], found[5]) if plans.scaled else found[1]
        if async_finish:
            event = plans.event(comm, given + found[1:])
            return rows, found[2], handle, event, None
        receive = None
        if hook:
            half = _low_plans.receiver(entry, plan, found[-1], raw, ep.DispatchByExpert)
            receive = _Hook(entry, "dispatch", half, entry.stream, given + (found,))
        return rows, found[2], handle, EventOverlap(), receive

    def quick_combine(
        self,
        x: Any,
        topk_idx: Any,
        weights: Any,
        handle: Any,
        zero_copy: bool,
        async_finish: bool,
        hook: bool,
        out: Any,
    ) -> Optional[Tuple[Any, ...]]:
        """A combine of the experts that the dispatch had; None where it is another call."""
        if handle.__class__ is not Handle:
            return None
        entry, plans = handle.entry, handle.plans
        plan = plans.combine
        if (
            plan is None
            or topk_idx is not handle.given
            or handle.version != _topk.version(topk_idx)
            or entry.turn - handle.turn >= HANDLES
        ):
            return None
        comm = self.buffer.comm_stream if async_finish else None
        raw = plans.start("combine", x, comm)
        if raw is None:
            return None
        tokens, columns = topk_idx.shape
        if out is None:
            out = torch.empty((tokens, entry.rows[2]), dtype=torch.bfloat16, device=topk_idx.device)
        at = entry.instance.buffer_address(ep.BUFFER_Y) if zero_copy else 0
        halves = ep.SEND if hook else ep.BOTH
        found = plan.call(halves, handle.number, raw, tokens, columns, at, x, weights, out)
        if found is None:
            return None
        if async_finish:
            return out, plans.event(comm, (x, weights, out)), None
        receive = None
        if hook:
            half = _low_plans.receiver(entry, plan, found[-1], raw, ep.Combine)
            receive = _Hook(entry, "combine", half, entry.stream, (x, weights, out))
        return out, EventOverlap(), receive

    def combine(
        self,
        x: torch.Tensor,
        topk_idx: torch.Tensor,
        weights: torch.Tensor,
        handle: Handle,
        zero_copy: bool,
        async_finish: bool,
        hook: bool,
        out: Optional[torch.Tensor],
        waits: Optional[torch.Tensor] = None,
        overlap: Optional[Dict[str, Any]] = None,
    ) -> Tuple[torch.Tensor, EventOverlap, Any]:
        """overlap: arguments of single-batch overlap, by name."""
        self.check(handle)
        entry = handle.entry
        _low_checks.combine(x, topk_idx, weights, handle, out)
        signals = _signals.asked(overlap or {}, x, self.buffer)
        _low_checks.waits("combine", waits, x, self.buffer.group_size)
        if out is None:
            shape = (handle.tokens, entry.rows[2])
            out = torch.empty(shape, dtype=torch.bfloat16, device=x.device)
        x, weights, made = _contiguous(x), _contiguous(weights), _copy(entry.combine)
        made.handle = handle.number
        made.columns = weights.shape[1] if handle.tokens else 0
        made.y = entry.instance.buffer_address(ep.BUFFER_Y) if zero_copy else x.data_ptr()
        made.weights = weights.data_ptr() or x.data_ptr()  # not NULL, nor read
        made.out = out.data_ptr()
        made.waits = waits.data_ptr() if waits is not None else None
        start = entry.instance.start_combine
        apart = waits is not None and entry.device  # a whole one waits for others' weights uncounted

        def call(halves: int, stream: Any) -> None:
            if apart and halves == ep.BOTH:
                call(ep.SEND, stream)
                call(ep.RECEIVE, stream)
                return
            made.halves, made.stream = halves, stream and stream.cuda_stream
            if signals is None or not halves & ep.SEND:
                start(made)
                return
            made.signals = entry.shown.begin(signals, entry.rows[0] * entry.rows[1])
            made.signal_value, made.signal_rows = signals.value, signals.rows
            try:
                start(made)
            finally:
                entry.shown.end()

        event, receive = self._start(
            entry, "combine", call, (x, weights, waits, signals), (out,), async_finish, hook
        )
        return out, event, receive

    @staticmethod
    def check(handle: Any) -> None:
        """Refuse what is no handle, and one whose number later dispatches have taken."""
        if not isinstance(handle, Handle):
            raise wrong(
                "low_latency_combine",
                "handle",
                "is %s; give what low_latency_dispatch returned" % type(handle).__name__,
            )
        if handle.entry.turn - handle.turn >= HANDLES:
            raise wrong(
                "low_latency_combine",
                "handle",
                "is older than the last %d dispatches; combine before" % HANDLES,
            )
        if not handle.entry.instance._ep:
            text = "is of a Buffer that was destroyed; dispatch again"
            raise wrong("low_latency_combine", "handle", text)


def _contiguous(tensor: torch.Tensor, dtype: Optional[torch.dtype] = None) -> torch.Tensor:
    """Return the tensor as calls take it; nothing is done where it is so."""
    if dtype is not None and tensor.dtype != dtype:
        tensor = tensor.to(dtype)
    return tensor if tensor.is_contiguous() else tensor.contiguous()


def _copy(call: Any) -> Any:
    """Return a struct of a call that begins as this one: a hook keeps its own."""
    return type(call).from_buffer_copy(call)
