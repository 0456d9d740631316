# SPDX-License-Identifier: BSD-3-Clause
"""Events, and the streams that calls run on. Without a GPU an event is one that has happened."""

from __future__ import annotations

from typing import Any, Iterable, List, Optional, Tuple

import torch


class EventHandle:
    """An event, recorded on the current stream where it is made."""

    def __init__(self) -> None:
        self.event: Optional[Any] = None
        if torch.cuda.is_available():
            self.event = torch.cuda.Event()
            self.event.record(torch.cuda.current_stream())

    def current_stream_wait(self) -> None:
        """Let what comes later on the current stream wait for the event."""
        if self.event is not None:
            torch.cuda.current_stream().wait_event(self.event)


class EventOverlap:
    """An EventHandle, or None where a call did not leave one; `with event:` waits at the block's
    end.

    extra_tensors: kept as long as this object, for the stream that uses them.
    """

    def __init__(
        self,
        event: Optional[EventHandle] = None,
        extra_tensors: Optional[Tuple[torch.Tensor, ...]] = None,
    ) -> None:
        self.event = event
        self.extra_tensors = extra_tensors

    def current_stream_wait(self) -> None:
        """Let the current stream wait for the event. ValueError where there is none."""
        if self.event is None:
            raise ValueError("deep_ep.EventOverlap: there is no event; call with async_finish=True")
        self.event.current_stream_wait()

    def __enter__(self) -> "EventOverlap":
        return self

    def __exit__(self, *_: Any) -> None:
        if self.event is not None:
            self.event.current_stream_wait()


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


class Launch:
    """A call's stream as a context: inside, it is the current one; `finish` says who waits for
    it."""

    def __init__(
        self, stream: Optional[Any], previous_event: Optional[EventOverlap], async_finish: bool
    ) -> None:
        self.stream, self.previous, self.is_async = stream, previous_event, async_finish
        self.compute = torch.cuda.current_stream() if stream is not None else None

    def __enter__(self) -> "Launch":
        if self.stream is None:
            return self
        before = self.previous.event if self.previous is not None else None
        if before is not None and before.event is not None:
            self.stream.wait_event(before.event)
        elif self.stream != self.compute:
            self.stream.wait_stream(self.compute)
        self._context = torch.cuda.stream(self.stream)
        self._context.__enter__()
        return self

    def __exit__(self, *what: Any) -> None:
        if self.stream is not None:
            self._context.__exit__(*what)

    def finish(self, inputs: Iterable[Any], outputs: Iterable[Any]) -> EventOverlap:
        """Return the event of an asynchronous call, or let the caller's stream wait for the
        call."""
        if self.stream is None:
            return EventOverlap(EventHandle() if self.is_async else None)
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
