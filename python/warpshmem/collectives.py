# SPDX-License-Identifier: BSD-3-Clause
"""Collectives over teams: section 9.10. `dest` and `source` are symmetric arrays, equal in size on
all members."""

from __future__ import annotations

from typing import Any, Callable, Optional, Tuple

from . import _lib, job, streams
from .dtypes import need as need_type
from .errors import check, refuse
from .memory import View, symmetric, writable
from .teams import TEAM_WORLD, Team, member

_FAMILIES = {
    "sum": "arithmetic",
    "prod": "arithmetic",
    "min": "ordered",
    "max": "ordered",
    "and": "bitwise",
    "or": "bitwise",
    "xor": "bitwise",
}


def _check_world(call: str) -> None:
    """Raise WarpshmemError where a PE has failed: the routine has no result."""
    check(int(_lib.core().shmemx_team_broken(TEAM_WORLD.handle) == 1), call)


def barrier_all(stream: Any = None) -> None:
    """Complete what this PE has put, and wait until all PEs have come. Collective over all PEs.
    Section 9.10.1."""
    job.need("barrier_all")
    if stream is None:
        _lib.core().shmem_barrier_all()
        _check_world("shmem_barrier_all")
    else:
        _lib.nvshmem().nvshmemx_barrier_all_on_stream(streams.handle(stream, "barrier_all"))


def sync_all(stream: Any = None) -> None:
    """Wait until all PEs have come; completes nothing. Collective over all PEs. Section 9.10.4."""
    job.need("sync_all")
    if stream is None:
        _lib.core().shmem_sync_all()
        _check_world("shmem_sync_all")
    else:
        _lib.nvshmem().nvshmemx_sync_all_on_stream(streams.handle(stream, "sync_all"))


def team_sync(team: Team, stream: Any = None) -> None:
    """Wait until all members of `team` have come. Section 9.10.3."""
    handle = member(team, "team_sync")
    if stream is None:
        check(_lib.core().shmem_team_sync(handle), "shmem_team_sync")
    else:
        check(
            _lib.nvshmem().nvshmemx_team_sync_on_stream(
                team.number, streams.handle(stream, "team_sync")
            ),
            "nvshmemx_team_sync_on_stream",
        )


def team_barrier(team: Team, stream: Any = None) -> None:
    """Complete what this PE has put, and wait until all members of `team` have come.
    shmemx_team_barrier."""
    handle = member(team, "team_barrier")
    if stream is None:
        check(_lib.core().shmemx_team_barrier(handle), "shmemx_team_barrier")
    else:
        check(
            _lib.nvshmem().nvshmemx_barrier_on_stream(
                team.number, streams.handle(stream, "team_barrier")
            ),
            "nvshmemx_barrier_on_stream",
        )


def _two(
    call: str, dest: Any, source: Any, team: Team, factors: Tuple[int, int]
) -> Tuple[View, View]:
    """Describe both; `dest` must hold factors[0] times the elements of a block, `source` factors[1]
    times."""
    job.need(call)
    member(team, call)
    to, of = symmetric(dest, call, "dest"), symmetric(source, call, "source")
    writable(to, call, "dest")
    if to.kind is not of.kind:
        raise refuse(
            call, "source", of.kind.name, "its dtype must be that of dest, " + to.kind.name
        )
    if of.size % factors[1]:
        raise refuse(
            call,
            "source",
            "%d elements" % of.size,
            "they must be a multiple of the team's %d PEs" % factors[1],
        )
    wanted = of.size // factors[1] * factors[0]
    if to.size < wanted:
        raise refuse(
            call,
            "dest",
            "%d elements" % to.size,
            "it needs %d for a source of %d" % (wanted, of.size),
        )
    return to, of


def _moved(
    name: str, to: View, of: View, nbytes: int, team: Team, stream: Any, root: Optional[int] = None
) -> None:
    tail = () if root is None else (root,)
    if stream is None:
        status = getattr(_lib.core(), "shmem_%smem" % name)(
            team.handle, to.address, of.address, nbytes, *tail
        )
    else:
        status = getattr(_lib.nvshmem(), "nvshmemx_%smem_on_stream" % name)(
            team.number, to.address, of.address, nbytes, *tail, streams.handle(stream, name)
        )
    check(status, name)


def broadcast(
    dest: Any, source: Any, root: int, team: Team = TEAM_WORLD, stream: Any = None
) -> None:
    """Copy `source` of member `root` to `dest` of all members, the root's own included. Section
    9.10.7."""
    to, of = _two("broadcast", dest, source, team, (1, 1))
    job.check_pe("broadcast", root, team.n_pes, "root")
    _moved("broadcast", to, of, of.nbytes, team, stream, root)


def fcollect(dest: Any, source: Any, team: Team = TEAM_WORLD, stream: Any = None) -> None:
    """Write the sources of all members one behind the other to `dest` of each. Section 9.10.8.

    `dest` has at least n_pes times the elements of `source`, which has as many on all members.
    """
    to, of = _two("fcollect", dest, source, team, (member(team, "fcollect") and team.n_pes, 1))
    _moved("fcollect", to, of, of.nbytes, team, stream)


def collect(dest: Any, source: Any, team: Team = TEAM_WORLD) -> None:
    """As fcollect, but sources may differ in size; `dest` holds them all. Section 9.10.8."""
    to, of = _two("collect", dest, source, team, (1, 1))
    _moved("collect", to, of, of.nbytes, team, None)


def alltoall(dest: Any, source: Any, team: Team = TEAM_WORLD, stream: Any = None) -> None:
    """Send block j of `source` to block i of `dest` at member j, i being this one. Section 9.10.5.

    Both have n_pes blocks of equal size, one behind the other: `source`'s elements are a multiple
    of n_pes.
    """
    n = member(team, "alltoall") and team.n_pes
    to, of = _two("alltoall", dest, source, team, (n, n))
    _moved("alltoall", to, of, of.nbytes // n, team, stream)


def alltoalls(
    dest: Any,
    source: Any,
    dest_stride: int,
    source_stride: int,
    nelems: int,
    team: Team = TEAM_WORLD,
) -> None:
    """As alltoall, of blocks of `nelems` elements that lie strides of so many elements apart.
    Section 9.10.6."""
    call = "alltoalls"
    to, of = _two(call, dest, source, team, (0, 1))
    need_type(to.kind, "element", call)
    n = team.n_pes
    for argument, seen, stride in (
        ("dest_stride", to, dest_stride),
        ("source_stride", of, source_stride),
    ):
        if stride < 1 or nelems < 0 or (nelems and (n * nelems - 1) * stride >= seen.size):
            raise refuse(
                call,
                argument,
                stride,
                "strides are at least 1, and %d * %d elements so far apart must fit into "
                "the %d that are there" % (n, nelems, seen.size),
            )
    check(
        _lib.typed("shmem_{T}_alltoalls", to.kind.c, None)(
            team.handle, to.address, of.address, dest_stride, source_stride, nelems
        ),
        call,
    )


def _combined(
    call: str,
    name: str,
    family: str,
    dest: Any,
    source: Any,
    team: Team,
    stream: Any,
    factors: Tuple[int, int],
) -> None:
    to, of = _two(call, dest, source, team, factors)
    count = of.size // factors[1]
    if stream is None and (to.gpu or of.gpu):
        cure = "the host combines in its own memory alone: pass stream=, or arrays of the host"
        raise refuse(call, "dest" if to.gpu else "source", "memory of a GPU", cure)
    if stream is None:
        need_type(to.kind, family, call)
        routine: Callable[..., int] = _lib.typed("shmem_{T}_" + name, to.kind.c, None)
        check(routine(team.handle, to.address, of.address, count), call)
        return
    need_type(to.kind, "stream_ordered" if family != "bitwise" else family, call)
    routine = _lib.typed("nvshmemx_{T}_%s_on_stream" % name, to.kind.c, None)
    check(routine(team.number, to.address, of.address, count, streams.handle(stream, call)), call)


def _op(call: str, op: str) -> str:
    if not isinstance(op, str) or op not in _FAMILIES:
        raise refuse(call, "op", op, "use one of " + ", ".join(_FAMILIES))
    return _FAMILIES[op]


def reduce(
    dest: Any, source: Any, op: str = "sum", team: Team = TEAM_WORLD, stream: Any = None
) -> None:
    """Combine the sources of all members element by element into `dest` of each. Section 9.10.9.

    op: "sum", "prod", "min", "max", "and", "or", "xor". `dest` may be `source`. On streams also
    float16 and bfloat16.
    """
    _combined("reduce", op + "_reduce", _op("reduce", op), dest, source, team, stream, (1, 1))


def reducescatter(
    dest: Any, source: Any, op: str = "sum", team: Team = TEAM_WORLD, stream: Any = None
) -> None:
    """Combine as reduce, and leave block i at member i: `source` has n_pes blocks of the size of
    `dest`.

    On a stream alone (nvshmemx_TYPENAME_OP_reducescatter_on_stream); op: "sum", "prod", "min",
    "max".
    """
    if stream is None:
        raise refuse(
            "reducescatter", "stream", None, "it is there on streams alone; use reduce on the host"
        )
    if op not in ("sum", "prod", "min", "max"):
        raise refuse("reducescatter", "op", op, "use one of sum, prod, min, max")
    n = member(team, "reducescatter") and team.n_pes
    _combined("reducescatter", op + "_reducescatter", "ordered", dest, source, team, stream, (1, n))


def inscan(dest: Any, source: Any, team: Team = TEAM_WORLD) -> None:
    """Write the sum of the sources of members 0 to this one, element by element, to `dest`. Section
    9.10.10."""
    _combined("inscan", "sum_inscan", "arithmetic", dest, source, team, None, (1, 1))


def exscan(dest: Any, source: Any, team: Team = TEAM_WORLD) -> None:
    """As inscan, without this member's own source; zeros at member 0. Section 9.10.10."""
    _combined("exscan", "sum_exscan", "arithmetic", dest, source, team, None, (1, 1))
