# SPDX-License-Identifier: BSD-3-Clause
"""Low-latency mode: halves, hooks and packed rows by low-latency instances of warpshmem.ep."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import torch
from warpshmem import ep

from . import _low_checks, _topk
from .errors import wrong
from .utils.event import EventHandle, EventOverlap, Launch

HANDLES = 8
ROUTE_COLUMNS = 128  # of the rows by which weights travel: 64 words of 32 bits
_announced = threading.local()  # .weights: of this thread's calls


@contextlib.contextmanager
def announced_weights(weights: Optional[torch.Tensor]) -> Iterator[None]:
    """Give the weights of a combine to the low_latency_dispatch calls inside: they then travel with
    the rows.

    weights: [T, K] float32, the tensor that low_latency_combine will be given. Without it a combine
    sends the weights first, by a small dispatch of its own.
    """
    before = announced()
    _announced.weights = weights
    try:
        yield
    finally:
        _announced.weights = before


def announced() -> Optional[torch.Tensor]:
    """Return the weights that this thread has announced."""
    return getattr(_announced, "weights", None)


class Handle(tuple):
    """What low_latency_dispatch leaves for its combine.

    A tuple as DeepEP's: (packed_recv_src_info, packed_recv_layout_range,
    num_max_dispatch_tokens_per_rank, hidden, num_experts). src_info is all -1: which token of its
    source a row is, is not sent.
    """

    place: "Place"
    number: int
    turn: int
    tokens: int
    given: torch.Tensor  # topk_idx of the dispatch
    topk: torch.Tensor  # with the instance's columns
    weights: Optional[torch.Tensor]
    version: Optional[int]  # of the weights


class Place:
    """An instance for one shape, its handles in turn, and the half that has not been received
    yet."""

    def __init__(self, fields: Dict[str, int]) -> None:
        self.fields = fields
        self.instance = ep.ExpertParallel(**fields)
        self.turn = 0
        self.sources: Optional[torch.Tensor] = None
        self.routes: Optional[Place] = None
        self.pending: Dict[str, Callable[[], None]] = {}

    def routes_place(self) -> "Place":
        """Return the instance by which weights travel; its rows lie as those of this one."""
        if self.routes is None:
            self.routes = Place(dict(self.fields, dtype=ep.BF16, hidden=ROUTE_COLUMNS))
        return self.routes

    def unknown_sources(self, device: torch.device) -> torch.Tensor:
        if self.sources is None:
            shape = (self.instance.local_experts, self.instance.capacity)
            self.sources = torch.full(shape, -1, dtype=torch.int32, device=device)
        return self.sources

    def close(self) -> None:
        if self.routes is not None:
            self.routes.close()
        self.instance.close()


class _Hook:
    """The receiving half of a call: runs once, on the stream of the sending half."""

    def __init__(self, place: Place, kind: str, receive: Callable[[], None], stream: Any) -> None:
        self.place, self.kind, self.receive, self.stream = place, kind, receive, stream
        self.done: Optional[EventHandle] = None
        place.pending[kind] = self.run

    def run(self) -> None:
        if self.place.pending.get(self.kind) != self.run:
            return
        del self.place.pending[self.kind]
        if self.stream is None:
            self.receive()
            return
        with torch.cuda.stream(self.stream):
            self.receive()
            self.done = EventHandle()

    def __call__(self) -> None:
        self.run()
        if (
            self.stream is not None
            and torch.cuda.current_stream() != self.stream
            and self.done is not None
        ):
            self.done.current_stream_wait()


class LowLatency:
    """The calls of low-latency mode of one Buffer."""

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer
        self.places: Dict[Tuple[int, ...], List[Place]] = {}

    def close(self) -> None:
        """End all instances. Collective."""
        for places in self.places.values():
            for place in places:
                place.close()
        self.places = {}

    def place(
        self, device: int, dtype: int, hidden: int, experts: int, topk: int, most: int, tokens: int
    ) -> Place:
        """Return the instance for a shape, which all PEs give alike: the last one, unless the top-k
        needs another."""
        key = (device, dtype, hidden, experts, most)
        places = self.places.setdefault(key, [])
        if not places or topk > places[-1].fields["topk"]:
            self.buffer.refuse_capture("low_latency_dispatch with a new shape")
            topk = self._agree(key, topk, tokens)
            places.append(
                Place(
                    dict(
                        mode=ep.LOW_LATENCY,
                        device=device,
                        dtype=dtype,
                        hidden=hidden,
                        experts=experts,
                        topk=topk,
                        tokens=most,
                        capacity=most * self.buffer.group_size,
                        handles=HANDLES,
                    )
                )
            )
        return places[-1]

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

    def _halves(
        self,
        place: Place,
        kind: str,
        call: Callable[[int, Any], None],
        after: Callable[[], None],
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
        if kind in place.pending:  # a receiving half comes before the next sending half
            place.pending[kind]()
        cuda = bool(place.fields["device"])
        stream = (
            (torch.cuda.current_stream() if hook else self.buffer.comm_stream) if cuda else None
        )
        launch = Launch(stream, None, async_finish)

        def receive(halves: int = ep.RECEIVE) -> None:
            call(halves, stream)
            after()

        with launch:
            if hook:
                call(ep.SEND, stream)
            else:
                receive(ep.BOTH)
        event = launch.finish(inputs, outputs)
        return event, _Hook(place, kind, receive, stream) if hook else None

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
    ) -> Tuple[Any, ...]:
        """packed: scales as bytes of exponents, four in a word."""
        weights, k, x = announced(), topk_idx.shape[-1], x.contiguous()
        _low_checks.dispatch(x, topk_idx, max_tokens, dtype, packed)
        _topk.check("low_latency_dispatch", topk_idx, experts)
        _topk.check_weights("low_latency_dispatch", weights)
        _low_checks.stats(stats, experts // self.buffer.group_size)
        place = self.place(int(x.is_cuda), dtype, x.shape[1], experts, k, max_tokens, x.shape[0])
        instance, columns = place.instance, place.fields["topk"]
        number, place.turn = place.turn % HANDLES, place.turn + 1
        topk = _topk.fitting(topk_idx, columns, torch.int32, -1)
        given = _topk.fitting(weights, columns, torch.float32, 0) if weights is not None else None
        got = instance.received(x)
        ranges = torch.empty(got.sources.shape[:2], dtype=torch.int64, device=x.device)
        scales = _scales_for(got, packed)

        def call(halves: int, stream: Any) -> None:
            instance.dispatch(
                x, topk, given, handle=number, halves=halves, received=got, stream=stream
            )

        def after() -> None:
            ranges.copy_(got.sources[:, :, 0].long() << 32 | got.sources[:, :, 1].long())
            if scales is not None:
                _fill_scales(scales, got.row_scales, packed)
            if stats is not None:
                stats.add_(got.counts.to(stats.dtype))

        handle = Handle((place.unknown_sources(x.device), ranges, max_tokens, x.shape[1], experts))
        handle.place, handle.number, handle.turn = place, number, place.turn
        handle.tokens, handle.given, handle.topk = x.shape[0], topk_idx, topk
        handle.weights, handle.version = weights, _topk.version(weights)
        event, receive = self._halves(
            place,
            "dispatch",
            call,
            after,
            (x, topk, given),
            tuple(got) + (ranges, scales),
            async_finish,
            hook,
        )
        return (
            (got.rows if scales is None else (got.rows, scales)),
            got.counts,
            handle,
            event,
            receive,
        )

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
    ) -> Tuple[torch.Tensor, EventOverlap, Any]:
        self.check(handle)
        place, instance = handle.place, handle.place.instance
        rows = (instance.local_experts, instance.capacity, instance.config.hidden)
        if tuple(x.shape) != rows or x.dtype != torch.bfloat16:
            raise wrong(
                "low_latency_combine",
                "x",
                "has shape %s of %s; it is %s of torch.bfloat16" % (tuple(x.shape), x.dtype, rows),
            )
        if out is None:
            out = torch.empty((handle.tokens, rows[2]), dtype=torch.bfloat16, device=x.device)
        y = instance.buffer(ep.BUFFER_Y, x) if zero_copy else x.contiguous()
        ready = [y]

        def call(halves: int, stream: Any) -> None:
            if halves & ep.SEND and handle.weights is None:
                ready[0] = self._weigh(handle, weights, y, zero_copy, stream)
            instance.combine(ready[0], handle=handle.number, halves=halves, out=out, stream=stream)

        _low_checks.topk(topk_idx, handle)
        _low_checks.weights(weights, handle)
        event, receive = self._halves(
            place, "combine", call, lambda: None, (x, weights), (out,), async_finish, hook
        )
        return out, event, receive

    def _weigh(
        self, handle: Handle, weights: torch.Tensor, y: torch.Tensor, in_place: bool, stream: Any
    ) -> torch.Tensor:
        """Return y times the weights of their tokens, which come from there by a dispatch of
        small rows."""
        place, topk = handle.place.routes_place(), handle.topk
        k, words = topk.shape[1], torch.zeros(
            (handle.tokens, ROUTE_COLUMNS // 2), dtype=torch.int32, device=y.device
        )
        words[:, :k] = topk
        words[:, k : 2 * k] = _topk.fitting(weights, k, torch.float32, 0).view(torch.int32)
        got = place.instance.received(y)
        place.instance.dispatch(words.view(torch.bfloat16), topk, received=got, stream=stream)
        come, local = got.rows.view(torch.int32), place.instance.local_experts
        mine = torch.arange(local, dtype=torch.int32, device=y.device) + self.buffer.rank * local
        chosen = come[:, :, :k] == mine.view(local, 1, 1)
        found = come[:, :, k : 2 * k].contiguous().view(torch.float32)
        each = torch.where(chosen, found, torch.zeros_like(found)).sum(2, keepdim=True)
        return y.mul_(each) if in_place else torch.mul(y, each, out=torch.empty_like(y))

    @staticmethod
    def check(handle: Any) -> None:
        """Refuse what is no handle, and one whose number later dispatches have taken."""
        if not isinstance(handle, Handle):
            raise wrong(
                "low_latency_combine",
                "handle",
                "is %s; give what low_latency_dispatch returned" % type(handle).__name__,
            )
        if handle.place.turn - handle.turn >= HANDLES:
            raise wrong(
                "low_latency_combine",
                "handle",
                "is older than the last %d dispatches; combine before" % HANDLES,
            )


def _scales_for(got: ep.Received, packed: bool) -> Optional[torch.Tensor]:
    """Return room for scales as DeepEP gives them: the rows of a column beside each other."""
    if got.row_scales is None:
        return None
    local, rows, groups = got.row_scales.shape
    shape = (local, groups // 4 if packed else groups, rows)
    kind = torch.int32 if packed else torch.float32
    return torch.empty(shape, dtype=kind, device=got.row_scales.device).transpose(1, 2)


def _fill_scales(to: torch.Tensor, scales: torch.Tensor, packed: bool) -> None:
    if packed:
        to.copy_((scales.view(torch.int32) >> 23).to(torch.uint8).view(torch.int32))
    else:
        to.copy_(scales)
