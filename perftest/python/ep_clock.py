# SPDX-License-Identifier: BSD-3-Clause
"""How calls are timed: one after another, by the GPU while the host is ahead, and by the host alone."""

from __future__ import annotations

import ctypes
import statistics
import time
from typing import Any, Callable, List, Optional

ROUNDS = 5  # of calls one after another: their median counts
CHUNK = 16  # calls that the stream holds at a time
HOST_CALLS = 12
SKEW_US = 2000  # by which processes may begin apart
Call = Callable[[], Any]


class HostClock:
    """On the CPU a call has ended when it returns."""

    def __init__(self, meet: Call) -> None:
        self.meet = meet

    def sync(self) -> None:
        pass

    def called(self, call: Call, calls: int) -> float:
        """Return us of a call, of so many that follow each other."""
        found = []
        for _ in range(ROUNDS):
            self.meet()
            call()  # ends nearly at once for all, unlike the meeting
            self.sync()
            began = time.perf_counter()
            for _ in range(calls):
                call()
            self.sync()
            found.append((time.perf_counter() - began) / calls * 1e6)
        return statistics.median(found)

    def idle(self, call: Call) -> Optional[float]:
        """Return us until a call returns while the GPU has nothing to do."""
        found = []
        for _ in range(HOST_CALLS):
            self.sync()
            self.meet()
            began = time.perf_counter()
            call()
            found.append((time.perf_counter() - began) * 1e6)
        self.sync()
        return statistics.median(found)

    def busy(self, call: Call, us: float, room: int) -> Optional[float]:
        return None

    def stream(self, call: Call, calls: int, us: float, room: int) -> List[float]:
        """Return us of each of so many calls that follow each other."""
        self.meet()
        call()
        ends = [time.perf_counter()]
        for _ in range(calls):
            call()
            ends.append(time.perf_counter())
        return [(end - begin) * 1e6 for begin, end in zip(ends, ends[1:])]

    def graph(self, call: Call, calls: int) -> Any:
        return None


class GpuClock(HostClock):
    """The current stream is held by a kernel while the host puts calls into it."""

    def __init__(self, meet: Call) -> None:
        import torch

        super().__init__(meet)
        self.cuda = torch.cuda
        self.marks = [torch.cuda.Event(enable_timing=True) for _ in range(CHUNK + 1)]
        for cycles in (1000, 1000000):  # the first loads the kernel
            self.marks[0].record()
            torch.cuda._sleep(cycles)
            self.marks[1].record()
            torch.cuda.synchronize()
        self.cycles_a_us = cycles / (self.marks[0].elapsed_time(self.marks[1]) * 1000)

    def sync(self) -> None:
        self.cuda.synchronize()

    def hold(self, us: float) -> None:
        self.sync()
        self.meet()
        self.cuda._sleep(int(us * self.cycles_a_us))

    def busy(self, call: Call, us: float, room: int) -> Optional[float]:
        """Return us until a call returns while the stream is held, for at most `room` calls. us: what
        it takes on an idle one."""
        found = []
        calls = min(HOST_CALLS, room)
        self.hold(SKEW_US + 2 * calls * us)
        for _ in range(calls):
            began = time.perf_counter()
            call()
            found.append((time.perf_counter() - began) * 1e6)
        self.sync()
        return statistics.median(found)

    def stream(self, call: Call, calls: int, us: float, room: int) -> List[float]:
        """Return us of the stream for each call, at most `room` being held. us: of the host for one.
        The first of a chunk waits for other processes, and does not count."""
        found: List[float] = []
        marks = self.marks[: min(CHUNK + 1, room)]
        while len(found) < calls:
            self.hold(SKEW_US + 2 * len(marks) * us)
            for mark in marks:
                call()
                mark.record()
            self.sync()
            found += [a.elapsed_time(b) * 1000 for a, b in zip(marks, marks[1:])]
        return found[:calls]

    def graph(self, call: Call, calls: int) -> Any:
        """Return a graph of so many calls. Raises RuntimeError where they cannot be captured."""
        import torch

        try:
            graph = torch.cuda.CUDAGraph(keep_graph=True)
        except TypeError:  # an older torch
            graph = torch.cuda.CUDAGraph()
        self.sync()
        self.meet()
        with torch.cuda.graph(graph):
            for _ in range(calls):
                call()
        if hasattr(graph, "instantiate"):
            graph.instantiate()
        return graph


def nodes(graph: Any) -> Optional[int]:
    """Return the nodes of a graph that keeps what was captured; None where torch cannot say."""
    try:
        count = ctypes.c_size_t()
        found = ctypes.CDLL("libcuda.so.1").cuGraphGetNodes(
            ctypes.c_void_p(graph.raw_cuda_graph()), None, ctypes.byref(count)
        )
        return count.value if found == 0 else None
    except (AttributeError, RuntimeError, OSError):
        return None
