# SPDX-License-Identifier: BSD-3-Clause
"""Low-latency calls by plans of the extension module, where a call is as the one before it: of the
same shape, with contiguous tensors. All others are `_low_latency.py`'s.

What a call returns is new memory of torch's allocator, which is in the order of streams, keeps
graphs apart, and knows of every tensor and view that is alive.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, List, Optional, Tuple

import torch
from warpshmem import _ep_arrays, _ep_plans, _quick, ep
from warpshmem._ep_plans import COLUMNS, LEADING, NEEDED, TOKENS, WRITTEN, Slot

from . import _low_checks, _nvfp4
from .utils.event import EventHandle, EventOverlap, Lent, behind, number_of


def dispatch(entry: Any, like: torch.Tensor, packed: bool) -> Any:
    """Return the plan of an entry's dispatches; None without the extension."""
    dtype, begin = entry.fields["dtype"], ep.DispatchByExpert(version=ep.CALL_VERSION)
    new, fp8 = _ep_arrays.allocator(like), dtype in (ep.FP8, ep.FP8_UE8M0)
    rows = entry.rows, _low_checks.FP8_DTYPE if fp8 else torch.bfloat16
    if dtype == ep.NVFP4:
        rows, scales = _nvfp4.forms(entry.lead, entry.fields["hidden"])

    def made(field: str, *form: Any) -> Slot:
        return Slot(field, WRITTEN, (), (), *new(*form))

    slots = [
        Slot("x", NEEDED, ("bfloat16",), (TOKENS, entry.fields["hidden"])),
        Slot("topk", NEEDED, ("int64",), (TOKENS, COLUMNS)),
        Slot("totals", WRITTEN, ("int32",), entry.ranges[:1]),
    ]
    if dtype == ep.NVFP4:
        slots.append(Slot("global_scale", NEEDED | LEADING, ("float32",), ()))
    slots += [
        made("rows", *rows),
        made("counts", entry.ranges[:1], torch.int32),
        made("row_sources", entry.lead, torch.int32),
        made("ranges", entry.ranges, torch.int64),
    ]
    if fp8:
        shape, steps = entry.scales(packed)
        begin.scales_row_step, begin.scales_column_step = steps[1:]
        begin.scales_packed = int(packed)
        kind = torch.int32 if packed else torch.float32
        slots.append(made("row_scales", shape, kind, steps))
    if dtype == ep.NVFP4:
        slots.append(made("row_scales", *scales))
    return _ep_plans.plan(entry.instance, "dispatch", begin, tuple(slots), like)


def combine(entry: Any, like: torch.Tensor) -> Any:
    """Return the plan of an entry's combines; None without the extension."""
    hidden = entry.fields["hidden"]
    slots = (
        Slot("y", NEEDED, ("bfloat16",), entry.rows),
        Slot("weights", NEEDED, ("float32",), (TOKENS, COLUMNS)),
        Slot("out", NEEDED | WRITTEN, ("bfloat16",), (TOKENS, hidden)),
    )
    begin = ep.Combine(version=ep.CALL_VERSION)
    return _ep_plans.plan(entry.instance, "combine", begin, slots, like)


def on_gpu(tensor: Any) -> bool:
    """Is this a tensor of a GPU?"""
    return getattr(tensor, "is_cuda", False) is True


class Plans:
    """The plans of one entry and form of scales, and the calls by them. A call returns None where
    it is not plain."""

    def __init__(self, entry: Any, like: torch.Tensor, packed: bool) -> None:
        self.entry, self.scaled, self.device = entry, bool(entry.fields["dtype"]), entry.device
        self.dispatch, self.combine = dispatch(entry, like, packed), combine(entry, like)
        self.fork: Any = None  # an event, made once
        self.fork_at = 0  # as the driver knows it
        self.spare: List[Tuple[Any, int]] = []  # events that calls use again
        self.comm: Any = None  # the stream of the last asynchronous call
        self.comm_raw = 0
        self.owner = 0  # the stream that was current in it
        self.makes = (None,) * (5 if self.scaled else 4)  # no arrays: the outputs that are made
        one = entry.fields
        self.shape = one["tokens"], one["hidden"], one["experts"]  # the end of a handle

    def close(self) -> None:
        for plan in (self.dispatch, self.combine):
            if plan is not None:
                plan.close()

    def start(self, kind: str, like: Any, comm: Any = None) -> Optional[int]:
        """Return the stream of a call, after the half that is before it: the current one, or comm,
        which waits for it. None where `like` is no tensor of a GPU, and is to be."""
        entry = self.entry
        if kind in entry.pending:
            entry.pending[kind].run()
        if not self.device:
            return 0
        if not on_gpu(like):
            return None
        raw = _ep_arrays.raw_stream(like.get_device())
        if comm is not None:
            self.owner = raw
            if comm is not self.comm:
                self.comm, self.comm_raw = comm, comm.cuda_stream
        if comm is not None and self.comm_raw != raw:
            if entry.raw not in (raw, self.comm_raw):
                entry.follow(torch.cuda.current_stream())
            if not (self.fork_at and _quick.stream_follow(self.fork_at, raw, self.comm_raw)):
                self._follow()
            entry.stream, entry.raw = comm, self.comm_raw
        elif raw != entry.raw:
            entry.follow(torch.cuda.current_stream())
        return entry.raw

    def _follow(self) -> None:
        """Let the stream of asynchronous calls wait for the current one, by torch."""
        self.fork = self.fork or torch.cuda.Event()
        self.fork.record(torch.cuda.current_stream())
        self.comm.wait_event(self.fork)
        self.fork_at = number_of(self.fork)

    def event(self, comm: Any, tensors: Tuple[Any, ...]) -> EventOverlap:
        """Return the event of a call that was started on comm with these tensors, some None."""
        if not self.device:
            return EventOverlap(EventHandle())
        held = [one for one in tensors if one is not None]
        handle = Lent(self.spare, comm, self.comm_raw)
        return behind(handle, comm, held, self.owner)


def receiver(entry: Any, plan: Any, made: bytes, raw: int, kind: Any) -> Callable[[], None]:
    """Return what makes the receiving half of a call."""
    return functools.partial(_receive, entry, plan, made, raw, entry.stream, kind)


def _receive(entry: Any, plan: Any, made: bytes, raw: int, stream: Any, kind: Any) -> None:
    if raw != entry.raw:
        entry.follow(stream)
    if not plan.again(made, ep.RECEIVE, raw):  # the Buffer was destroyed
        call = kind.from_buffer_copy(made)
        call.halves = ep.RECEIVE
        one = entry.instance
        (one.start_dispatch if kind is not ep.Combine else one.start_combine)(call)
