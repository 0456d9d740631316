# SPDX-License-Identifier: BSD-3-Clause
"""Events, and the streams that calls run on. Without a GPU an event is one that has happened."""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, Union

import torch
from warpshmem import _ep_arrays, _quick


class EventHandle:
    """An event, recorded on the current stream where it is made."""

    def __init__(self) -> None:
        self.event: Optional[Any] = None
        if torch.cuda.is_available():
            self._record(torch.cuda.current_stream())

    def _record(self, stream: Any) -> None:
        self.event = torch.cuda.Event()
        self.event.record(stream)

    def current_stream_wait(self) -> None:
        """Let what comes later on the current stream wait for the event."""
        if self.event is not None:
            torch.cuda.current_stream().wait_event(self.event)


class Lent(EventHandle):
    """One on the stream `number` of a GPU, whose event of CUDA goes back to `spare` when nobody has
    it any more: to make and end one takes as long as a launch."""

    at = 0  # the event as the driver knows it; 0: torch's routines are to do it

    def __init__(self, spare: List[Tuple[Any, int]], stream: Any, number: int) -> None:
        self.spare, self.gpu = spare, stream.device_index
        self.event, self.at = spare.pop() if spare else (None, 0)
        if self.at and _quick.event_mark(self.at, number):
            return
        if self.event is None:
            self.event = torch.cuda.Event()
        self.event.record(stream)
        self.at = number_of(self.event)

    def __del__(self, count: Callable[[Any], int] = sys.getrefcount) -> None:
        if self.at and count(self.event) <= 2:
            self.spare.append((self.event, self.at))

    def current_stream_wait(self) -> None:
        if self.at and torch.cuda.current_device() == self.gpu:
            if _quick.event_wait(self.at, _ep_arrays.raw_stream(self.gpu)):
                return
        super().current_stream_wait()


def number_of(event: Any) -> int:
    """Return what the driver calls an event that has been recorded; 0 where that is not known."""
    _quick.meet_driver()
    return getattr(event, "cuda_event", 0) or 0


class Held:
    """Tensors that a stream works on, which is not the one that their memory belongs to: `owner`.
    Once the owner has waited for that stream, its order frees them rightly; else record_stream
    does, which costs an event for each and keeps the memory until the stream has come so far."""

    __slots__ = ("tensors", "stream", "owner")

    def __init__(self, tensors: List[torch.Tensor], stream: Any, owner: int) -> None:
        self.tensors, self.stream, self.owner = tensors, stream, owner

    def waited(self) -> None:
        """The current stream waits for the tensors' stream."""
        if _ep_arrays.raw_stream(self.stream.device_index) == self.owner:
            self.tensors = []

    def __del__(self) -> None:
        for tensor in self.tensors:
            tensor.record_stream(self.stream)


class EventOverlap:
    """An EventHandle, or None where a call did not leave one; `with event:` waits at the block's
    end.

    extra_tensors: kept as long as this object, for the stream that uses them. results: of a call
    with defer_epilogue, makes what the first wait returns; later ones return the same.
    """

    def __init__(
        self,
        event: Optional[EventHandle] = None,
        extra_tensors: Optional[Tuple[torch.Tensor, ...]] = None,
        results: Optional[Callable[[], Any]] = None,
    ) -> None:
        self.event = event
        self.extra_tensors = extra_tensors
        self.hook_after_wait: Optional[Callable[[], Any]] = None
        self._held: Optional[Held] = None
        self._results, self._made = results, None
        self._release = False

    def current_stream_wait(self, release_handle: bool = False) -> Any:
        """Let the current stream wait for the event, then call the hook, once. release_handle: the
        event ends here. Returns the results of a call with defer_epilogue, else None. ValueError
        where there is no event."""
        if self.event is None and self._made is None:
            raise ValueError(
                "deep_ep.EventOverlap: there is no event; call with async_finish=True "
                "(async_with_compute_stream=True)"
            )
        if self.event is not None:
            self.event.current_stream_wait()
        if self._held is not None:
            self._held.waited()
        hook, self.hook_after_wait = self.hook_after_wait, None
        if hook is not None:
            hook()
        if self._results is not None:
            self._made, self._results = self._results(), None
        if release_handle:
            self.event = None
        return self._made

    wait = current_stream_wait

    def register_hook_after_wait(self, hook_after_wait: Callable[[], Any]) -> None:
        """Have the next wait call it. ValueError where one is registered already."""
        if not callable(hook_after_wait):
            raise ValueError(
                "deep_ep.EventOverlap: hook_after_wait is %s; give what can be called"
                % type(hook_after_wait).__name__
            )
        if self.hook_after_wait is not None:
            raise ValueError("deep_ep.EventOverlap: a hook is registered already; wait first")
        self.hook_after_wait = hook_after_wait

    def __call__(self, release_handle: bool = False) -> "EventOverlap":
        """Say whether the next `with` block's end releases the event: `with event(True):`."""
        self._release = release_handle
        return self

    def __enter__(self) -> "EventOverlap":
        return self

    def __exit__(self, *_: Any) -> None:
        release, self._release = self._release, False
        if self.event is not None:
            self.current_stream_wait(release)


def behind(handle: Lent, stream: Any, tensors: List[torch.Tensor], owner: int) -> EventOverlap:
    """Return the event of what has been started on a stream, with tensors of the stream `owner`."""
    event = EventOverlap(handle)
    event._held = Held(tensors, stream, owner)
    return event


def check_nvlink_connections(group: Any) -> None:
    """Nothing to check: rows go by NVLink where PEs reach each other so, else by the network."""


def tensors_of(*values: Any) -> List[torch.Tensor]:
    """Return the tensors among values and in their tuples."""
    found: List[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found.extend(tensors_of(*value))
    return found


def _recorded(event: Optional[Union[EventOverlap, EventHandle]]) -> Optional[Any]:
    """Return the event of CUDA that an EventOverlap or EventHandle has, if any."""
    handle = event.event if isinstance(event, EventOverlap) else event
    return handle.event if handle is not None else None


class Fork:
    """Lets a stream wait for another one, by an event that is made once."""

    def __init__(self) -> None:
        self.event: Any = None
        self.at = 0  # as the driver knows it

    def follow(self, first: Any, second: Any) -> None:
        """What comes on the second stream waits for what is on the first."""
        if self.at and _quick.stream_follow(self.at, first.cuda_stream, second.cuda_stream):
            return
        self.event = self.event or torch.cuda.Event()
        self.event.record(first)
        second.wait_event(self.event)
        self.at = number_of(self.event)


class Order:
    """The stream of the last of some calls that come one after another, also where streams
    change; and the events of those that are asynchronous."""

    def __init__(self) -> None:
        self.last: Optional[Any] = None
        self.fork = Fork()
        self.spare: List[Tuple[Any, int]] = []

    def follow(self, stream: Any) -> None:
        """The next call is on `stream`."""
        last, self.last = self.last, stream
        if last is not None and last != stream:
            stream.wait_stream(last)


_current: Dict[int, Any] = {}  # by GPU: the stream that was last the current one


def current_stream() -> Any:
    """Return torch's current stream. torch makes a new object each time; here it is the one before,
    where that has not changed."""
    gpu = torch.cuda.current_device()
    found = _current.get(gpu)
    if found is None or found.cuda_stream != _ep_arrays.raw_stream(gpu):
        found = _current[gpu] = torch.cuda.current_stream()
    return found


class Launch:
    """A call's stream as a context: inside, it is the current one; `finish` says who waits for
    it. second: another event that the stream waits for first. order: of calls that may be on any
    stream. What is not asynchronous and names no event is then on the caller's, which would wait
    for it anyway: no events, and no memory of another stream, of which torch must be told by
    record_stream for each tensor. A captured call is on `stream`: its graph has the order."""

    def __init__(
        self,
        stream: Optional[Any],
        previous_event: Optional[Union[EventOverlap, EventHandle]],
        async_finish: bool,
        second: Optional[Union[EventOverlap, EventHandle]] = None,
        order: Optional[Order] = None,
    ) -> None:
        self.stream, self.previous, self.is_async = stream, previous_event, async_finish
        self.second, self.order = second, order
        self._context: Any = None
        self._plain = False  # events may be used again: no graph records them
        self.compute = current_stream() if stream is not None else None

    def __enter__(self) -> "Launch":
        if self.stream is None:
            return self
        before, second = _recorded(self.previous), _recorded(self.second)
        if self.order is not None and not torch.cuda.is_current_stream_capturing():
            self._plain = True
            if before is None and second is None and not self.is_async:
                self.stream = self.compute
            self.order.follow(self.stream)
        if before is not None:
            self.stream.wait_event(before)
        elif self.stream != self.compute:
            if self._plain:
                self.order.fork.follow(self.compute, self.stream)  # type: ignore[union-attr]
            else:
                self.stream.wait_stream(self.compute)
        if second is not None:
            self.stream.wait_event(second)
        if self.stream != self.compute:
            self._context = torch.cuda.stream(self.stream)
            self._context.__enter__()
        return self

    def __exit__(self, *what: Any) -> None:
        if self._context is not None:
            self._context.__exit__(*what)

    def finish(self, inputs: Iterable[Any], outputs: Iterable[Any]) -> EventOverlap:
        """Return the event of an asynchronous call, or let the caller's stream wait for the
        call."""
        if self.stream is None:
            return EventOverlap(EventHandle() if self.is_async else None)
        if self._plain and self.stream != self.compute:
            return self._finish_plain(list(inputs), list(outputs))
        if self.stream != self.compute:
            for tensor in tensors_of(*inputs, *outputs):
                tensor.record_stream(self.compute)
                tensor.record_stream(self.stream)
        if not self.is_async:
            if self.stream != self.compute:
                self.compute.wait_stream(self.stream)
            return EventOverlap()
        with torch.cuda.stream(self.stream):
            return EventOverlap(EventHandle())

    def _finish_plain(self, inputs: List[Any], outputs: List[Any]) -> EventOverlap:
        """The same of a call that no graph records. What it has made is memory of its stream, of
        which torch must know that the caller's uses it; inputs are of the caller's, and are kept
        until that has waited."""
        assert self.stream is not None and self.order is not None
        made = tensors_of(*outputs)
        for tensor in made:
            tensor.record_stream(self.compute)
        if not self.is_async:
            self.order.fork.follow(self.stream, self.compute)
            return EventOverlap()
        raw = self.stream.cuda_stream
        handle = Lent(self.order.spare, self.stream, raw)
        return behind(handle, self.stream, tensors_of(*inputs) + made, self.compute.cuda_stream)
