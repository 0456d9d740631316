# SPDX-License-Identifier: BSD-3-Clause
"""Nonblocking collectives and alltoallv: shmem/request.h.

    request = shmem.alltoall_nb(dest, source)
    compute()
    request.wait()          # or: await request

All members of a team begin the same collectives in the same order; they complete in any order. Until
a request is complete its arrays belong to the library.
"""

from __future__ import annotations

import ctypes
from typing import Any, Callable, Generator, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from . import _lib, job, streams
from .collectives import _op, _two
from .dtypes import need as need_type
from .errors import check, refuse
from .memory import View, symmetric, view, writable
from .teams import TEAM_WORLD, Team, member


class Request:
    """A nonblocking collective in progress; made by the routines that end in _nb. Complete from the
    start where there is nothing to do."""

    __slots__ = ("_handle", "_team", "_call", "_world", "_kept")

    def __init__(self, call: str, kept: Tuple[Any, ...], team: int) -> None:
        self._handle = ctypes.c_void_p()
        self._team = team
        self._call = call
        self._world = job.state.world
        self._kept = kept
        job.in_flight.add(self)  # first: a signal's handler may raise as soon as it is begun

    def _begun(self, status: int) -> "Request":
        if not self._handle:
            self._forget()
        check(status, self._call)
        return self

    def _need(self, call: str) -> None:
        job.need(call)
        if self._handle and self._world != job.state.world:
            raise job.stale(call, self._world)

    def _forget(self) -> None:
        """It is complete."""
        job.in_flight.discard(self)
        self._kept = ()

    def _ended(self, status: int) -> None:
        self._forget()
        check(status, self._call)

    def is_of(self, world: int, handle: Optional[int]) -> bool:
        """Whether it is of this job and of the team of that handle (None: of any). For the
        package."""
        return self._world == world and handle in (None, self._team)

    @property
    def complete(self) -> bool:
        """Is it known to be complete? Does not look anew; test does."""
        return not self._handle

    def wait(self) -> None:
        """Wait until it is complete. Raises WarpshmemError where the collective failed at this
        PE."""
        if not self._handle:
            self._forget()  # an exception of a signal's handler came first
            return
        self._need("Request.wait")
        self._ended(_lib.core().shmemx_req_wait(ctypes.byref(self._handle)))

    def test(self) -> bool:
        """Make progress, and return whether it is complete. Raises as wait does."""
        if not self._handle:
            self._forget()
            return True
        self._need("Request.test")
        status = _lib.core().shmemx_req_test(ctypes.byref(self._handle))
        if status > 0:
            return False
        self._ended(status)
        return True

    def __await__(self) -> Generator[None, None, None]:
        """Wait in a coroutine: others run between tests."""
        while not self.test():
            yield

    def __repr__(self) -> str:
        state = "complete" if self.complete else "in flight"
        return "<warpshmem.Request of %s, %s>" % (self._call, state)


def _all_requests(call: str, requests: Iterable[Request]) -> List[Request]:
    try:
        found = list(requests)
    except TypeError:
        found = [None]  # type: ignore[list-item]
    if not all(isinstance(request, Request) for request in found):
        raise refuse(call, "requests", requests, "pass a list of what routines in _nb return")
    return found


def wait_all(requests: Iterable[Request]) -> None:
    """Wait until all are complete. Raises WarpshmemError for the first that failed, after all
    are."""
    failed = None
    for request in _all_requests("wait_all", requests):
        try:
            request.wait()
        except RuntimeError as error:
            failed = failed or error
    if failed:
        raise failed


def test_any_request(requests: Sequence[Request]) -> Optional[int]:
    """Return the index of one that has become complete, or None. Those that were complete before the
    call are passed over."""
    for index, request in enumerate(_all_requests("test_any_request", requests)):
        if not request.complete and request.test():
            return index
    return None


def sync_nb(team: Team = TEAM_WORLD) -> Request:
    """Begin a sync: complete once all members have begun it. shmemx_sync_nb."""
    handle = member(team, "sync_nb")
    request = Request("sync_nb", (), handle)
    return request._begun(_lib.core().shmemx_sync_nb(handle, ctypes.byref(request._handle)))


def _begin(name: str, to: View, of: View, nbytes: int, team: Team, kept: Any, *more: int) -> Request:
    request = Request(name + "_nb", kept, team.handle)
    routine = getattr(_lib.core(), "shmemx_%smem_nb" % name)
    handle = ctypes.byref(request._handle)
    return request._begun(routine(team.handle, to.address, of.address, nbytes, *more, handle))


def broadcast_nb(dest: Any, source: Any, root: int, team: Team = TEAM_WORLD) -> Request:
    """Begin a broadcast. Arguments are those of broadcast."""
    to, of = _two("broadcast_nb", dest, source, team, (1, 1))
    job.check_pe("broadcast_nb", root, team.n_pes, "root")
    return _begin("broadcast", to, of, of.nbytes, team, (dest, source), root)


def fcollect_nb(dest: Any, source: Any, team: Team = TEAM_WORLD) -> Request:
    """Begin an fcollect. Arguments are those of fcollect."""
    n = member(team, "fcollect_nb") and team.n_pes
    to, of = _two("fcollect_nb", dest, source, team, (n, 1))
    return _begin("fcollect", to, of, of.nbytes, team, (dest, source))


def collect_nb(dest: Any, source: Any, team: Team = TEAM_WORLD) -> Request:
    """Begin a collect. Arguments are those of collect."""
    to, of = _two("collect_nb", dest, source, team, (1, 1))
    return _begin("collect", to, of, of.nbytes, team, (dest, source))


def alltoall_nb(dest: Any, source: Any, team: Team = TEAM_WORLD) -> Request:
    """Begin an alltoall. Arguments are those of alltoall."""
    n = member(team, "alltoall_nb") and team.n_pes
    to, of = _two("alltoall_nb", dest, source, team, (n, n))
    return _begin("alltoall", to, of, of.nbytes // n, team, (dest, source))


def reduce_nb(dest: Any, source: Any, op: str = "sum", team: Team = TEAM_WORLD) -> Request:
    """Begin a reduction in memory of the host. Arguments are those of reduce."""
    call = "reduce_nb"
    to, of = _two(call, dest, source, team, (1, 1))
    need_type(to.kind, _op(call, op), call)
    if to.gpu or of.gpu:
        cure = "the host combines in its own memory alone; pass arrays of the host"
        raise refuse(call, "dest" if to.gpu else "source", "memory of a GPU", cure)
    routine: Callable[..., int] = _lib.typed("shmemx_{T}_%s_reduce_nb" % op, to.kind.c, None)
    request = Request(call, (dest, source), team.handle)
    handle = ctypes.byref(request._handle)
    return request._begun(routine(team.handle, to.address, of.address, of.size, handle))


def _numbers(call: str, argument: str, values: Sequence[int], n: int) -> Any:
    numbers = job.check_ints(call, argument, values)
    if len(numbers) != n or not all(0 <= number < 1 << 63 for number in numbers):
        raise refuse(call, argument, values, "pass %d numbers, each 0 or more" % n)
    return (ctypes.c_size_t * n)(*numbers)


def _inside(call: str, seen: View, name: str, counts: Any, offsets: Any) -> None:
    for count, offset in zip(counts, offsets):
        if count and offset + count > seen.size:
            cure = "a block of %d elements ends beyond the %d of %s" % (count, seen.size, name)
            raise refuse(call, name + "_offsets", offset, cure)


def _arrays(call: str, dest: Any, source: Any) -> Tuple[View, View]:
    to, of = symmetric(dest, call, "dest"), view(source, call, "source")
    writable(to, call, "dest")
    if to.kind is not of.kind:
        cure = "its dtype must be that of dest, " + to.kind.name
        raise refuse(call, "source", of.kind.name, cure)
    return to, of


class _Exchange:
    """The arguments that both forms of alltoallv have."""

    def __init__(self, call: str, dest: Any, source: Any, counts: Any, offsets: Any, team: Team) -> None:
        self.n = member(team, call) and team.n_pes
        self.to, self.of = _arrays(call, dest, source)
        self.width = self.to.kind.size
        self.counts = _numbers(call, "source_counts", counts, self.n)
        self.offsets = _numbers(call, "source_offsets", offsets, self.n)
        _inside(call, self.of, "source", self.counts, self.offsets)

    def scaled(self, numbers: Any) -> Any:
        """Return numbers of elements in bytes."""
        return (ctypes.c_size_t * self.n)(*[number * self.width for number in numbers])


def alltoallv_nb(
    dest: Any,
    dest_counts: Sequence[int],
    dest_offsets: Sequence[int],
    source: Any,
    source_counts: Sequence[int],
    source_offsets: Sequence[int],
    team: Team = TEAM_WORLD,
) -> Request:
    """Begin an alltoallv. Arguments are those of alltoallv."""
    return _alltoallv_begin(
        "alltoallv_nb", dest, (dest_counts, dest_offsets), source, (source_counts, source_offsets), team
    )


def _alltoallv_begin(
    call: str, dest: Any, to_words: Any, source: Any, of_words: Any, team: Team
) -> Request:
    both = _Exchange(call, dest, source, *of_words, team)
    to_counts = _numbers(call, "dest_counts", to_words[0], both.n)
    to_offsets = _numbers(call, "dest_offsets", to_words[1], both.n)
    _inside(call, both.to, "dest", to_counts, to_offsets)
    arrays = [both.scaled(x) for x in (to_counts, to_offsets, both.counts, both.offsets)]
    request = Request(call, (dest, source, arrays), team.handle)
    return request._begun(
        _lib.core().shmemx_alltoallvmem_nb(
            team.handle,
            both.to.address,
            *arrays[:2],
            both.of.address,
            *arrays[2:],
            ctypes.byref(request._handle),
        )
    )


def _words(call: str, n: int, **arrays: Any) -> List[int]:
    """Return the addresses of arrays of counts and offsets that a GPU reads and writes."""
    found = []
    for argument, array in arrays.items():
        seen = view(array, call, argument)
        if not seen.gpu or seen.kind.name not in ("int64", "uint64") or seen.size < n:
            what = "%d of %s in memory of %s" % (
                seen.size,
                seen.kind.name,
                "a GPU" if seen.gpu else "the host",
            )
            cure = "on a stream it is an array of at least %d int64 in memory of the GPU" % n
            raise refuse(call, argument, what, cure)
        found.append(seen.address)
    return found


def _on_stream(call: str, dest: Any, source: Any, team: Team) -> Tuple[View, View, int]:
    n = member(team, call) and team.n_pes
    to, of = _arrays(call, dest, source)
    for argument, seen in (("dest", to), ("source", of)):
        if not seen.gpu:
            raise refuse(
                call, argument, "memory of the host", "on a stream it is memory of the GPU"
            )
    return to, of, n


def _alltoallv_on_stream(
    dest: Any, dest_words: Any, source: Any, source_words: Any, team: Team, stream: Any
) -> None:
    call = "alltoallv"
    to, of, n = _on_stream(call, dest, source, team)
    found = _words(call, n, dest_counts=dest_words[0], dest_offsets=dest_words[1])
    given = _words(call, n, source_counts=source_words[0], source_offsets=source_words[1])
    number = streams.handle(stream, call)
    check(
        _lib.nvshmem().nvshmemx_alltoallv_on_stream(
            team.number, to.address, *found, of.address, *given, to.kind.size, number
        ),
        call,
    )


def alltoallv(
    dest: Any,
    dest_counts: Any,
    dest_offsets: Any,
    source: Any,
    source_counts: Any,
    source_offsets: Any,
    team: Team = TEAM_WORLD,
    stream: Any = None,
) -> None:
    """Exchange blocks of different lengths: source_counts[i] elements from source_offsets[i] of
    `source` go to member i, dest_counts[i] elements from it to dest_offsets[i] of `dest`.

    `dest` is symmetric, `source` any array of this PE; counts and offsets are in elements, one a
    member. What one member gives another is what that one gets. shmemx_alltoallvmem.

    On a stream all arrays are in memory of the GPU, `source` symmetric, counts and offsets int64.
    They are read when the stream comes there, not before, and are the library's until then: a CUDA
    graph that has captured the call may find others in each launch.
    """
    words = (dest_counts, dest_offsets), (source_counts, source_offsets)
    if stream is not None:
        _alltoallv_on_stream(dest, words[0], source, words[1], team, stream)
    else:
        _alltoallv_begin("alltoallv", dest, words[0], source, words[1], team).wait()


def _align(call: str, align: int, width: int) -> int:
    """Return `align` elements in bytes."""
    elements = job.check_ints(call, "align", (align,))[0]
    if not 1 <= elements < (1 << 63) // width:
        raise refuse(call, "align", align, "it is at least 1, and fewer bytes than memory holds")
    return elements * width


class Packed(NamedTuple):
    """What alltoallv_packed has found: elements from each member, where they begin in `dest`, how
    many elements it takes in all, and whether `dest` had room. Without room nothing is written."""

    counts: Tuple[int, ...]
    offsets: Tuple[int, ...]
    need: int
    fits: bool


def alltoallv_packed(
    dest: Any,
    source: Any,
    source_counts: Sequence[int],
    source_offsets: Sequence[int],
    align: int = 1,
    team: Team = TEAM_WORLD,
) -> Packed:
    """As alltoallv where only senders know the counts: blocks lie in `dest` in order of the members,
    each from a multiple of `align` elements on. Raises WarpshmemError where a member has failed. shmemx_alltoallvmem_packed_nelems."""
    call = "alltoallv_packed"
    both = _Exchange(call, dest, source, source_counts, source_offsets, team)
    width = both.width
    alignment = _align(call, align, width)
    counts, offsets = (ctypes.c_size_t * both.n)(), (ctypes.c_size_t * both.n)()
    need = ctypes.c_size_t()
    status = _lib.core().shmemx_alltoallvmem_packed_nelems(
        team.handle,
        both.to.address,
        counts,
        offsets,
        both.to.nbytes,
        alignment,
        ctypes.byref(need),
        both.of.address,
        both.scaled(both.counts),
        both.scaled(both.offsets),
    )
    if need.value <= both.to.nbytes:
        check(status, call)  # a member has failed
    found = [tuple(number // width for number in numbers) for numbers in (counts, offsets)]
    return Packed(found[0], found[1], need.value // width, status == 0)


def alltoallv_packed_on_stream(
    dest: Any,
    dest_counts: Any,
    dest_offsets: Any,
    need: Any,
    source: Any,
    source_counts: Any,
    source_offsets: Any,
    stream: Any,
    align: int = 1,
    team: Team = TEAM_WORLD,
) -> None:
    """As alltoallv_packed, on a stream: what it finds is written to `dest_counts`, `dest_offsets`
    and `need`.

    All arrays are in memory of the GPU, `dest` and `source` symmetric, the others int64; `need` has
    one element. Where it is more than the elements of `dest` afterwards, `dest` was too small and
    nothing was written to it. shmemx_alltoallvmem_packed_nelems_on_stream.
    """
    call = "alltoallv_packed_on_stream"
    to, of, n = _on_stream(call, dest, source, team)
    _align(call, align, to.kind.size)
    found = _words(call, n, dest_counts=dest_counts, dest_offsets=dest_offsets)
    given = _words(call, n, source_counts=source_counts, source_offsets=source_offsets)
    room = (to.size, int(align), *_words(call, 1, need=need))
    number = streams.handle(stream, call)
    check(
        _lib.nvshmem().nvshmemx_alltoallv_packed_on_stream(
            team.number, to.address, *found, *room, of.address, *given, to.kind.size, number
        ),
        call,
    )
