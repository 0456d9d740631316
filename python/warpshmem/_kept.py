# SPDX-License-Identifier: BSD-3-Clause
"""Memory of arrays that outlive the job: pages of the host stay where they are, with what was in
them, until the last array over them is gone.

The heap is shared memory, so mremap makes a second mapping of its pages before the end, without a
copy, and moves it to the old address when the library has unmapped the heap.
"""

from __future__ import annotations

import ctypes
import mmap
import weakref
from typing import Any, List, Optional, Tuple

from . import job

_MAYMOVE, _FIXED = 1, 2
_MAP_FIXED_NOREPLACE = 0x100000
_FAILED = ctypes.c_void_p(-1).value
_alive: "weakref.WeakSet[Any]" = weakref.WeakSet()  # Memory of the host, of any job


class _Range:
    """Pages that arrays lie in: `at`, where they were, and the second mapping of them."""

    def __init__(self, begin: int, end: int, users: List[Any]) -> None:
        self.at, self.size, self.users = begin, end - begin, users
        self.second = _call("mremap", begin, 0, self.size, _MAYMOVE)

    def put_back(self) -> None:
        """Move the second mapping to the old address, which must be free now."""
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED_NOREPLACE
        place = _call("mmap", self.at, self.size, 0, flags, -1, 0)
        if place != self.at:  # another thread has taken it: reading there does no harm
            for address in filter(None, (place, self.second)):
                _call("munmap", address, self.size)
            return
        _call("mremap", self.second, self.size, self.size, _MAYMOVE | _FIXED, self.at)
        self.left = len(self.users)
        for memory in self.users:
            weakref.finalize(memory, self.leave).atexit = False
        self.users = []

    def leave(self) -> None:
        """One of the arrays is gone."""
        self.left -= 1
        if not self.left:
            _call("munmap", self.at, self.size)


def _call(name: str, *arguments: int) -> Optional[int]:
    """Call a routine of memory with addresses as numbers; None where it fails."""
    routine = getattr(ctypes.CDLL(None, use_errno=True), name)
    routine.restype = ctypes.c_void_p
    found = routine(*(ctypes.c_void_p(one & (1 << 64) - 1) for one in arguments))
    return None if found == _FAILED else found


def watch(memory: Any) -> None:
    """Take note of memory of the host."""
    _alive.add(memory)


def _pages(memories: List[Any]) -> List[Tuple[int, int, List[Any]]]:
    """Return the pages of arrays: begin, end, arrays; those that touch are one range."""
    page, found = mmap.PAGESIZE, []  # type: int, List[Tuple[int, int, List[Any]]]
    for memory in sorted(memories, key=lambda one: one.address):
        begin = memory.address // page * page
        end = -(-(memory.address + max(memory.nbytes, 1)) // page) * page
        if found and begin <= found[-1][1]:
            last = found.pop()
            found.append((last[0], max(last[1], end), last[2] + [memory]))
        else:
            found.append((begin, end, [memory]))
    return found


_ranges: List[_Range] = []


def before_end() -> None:
    """Map what arrays lie in once more."""
    here = [memory for memory in _alive if memory.world == job.state.world]
    _ranges[:] = [_Range(*one) for one in _pages(here)]


def after_end() -> None:
    """Put it where it was."""
    while _ranges:
        kept = _ranges.pop()
        if kept.second is not None:
            kept.put_back()


job.at_end.append(before_end)
job.after_end.append(after_end)
