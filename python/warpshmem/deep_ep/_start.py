# SPDX-License-Identifier: BSD-3-Clause
"""Starts warpshmem for a group, makes teams for others, and ends it when its last Buffer was
destroyed."""

from __future__ import annotations

import gc
import secrets
from typing import Any, List, NamedTuple, Optional, Tuple

import torch
import warpshmem
from warpshmem.errors import ArgumentError

from . import _domains, _dropped
from ._agree import Agreement
from .errors import shown

RANKS_A_HOST = 8  # of the numbers that layouts and programs take for hosts


class Started(NamedTuple):
    """This process in a group whose PEs are there. team: None for all PEs in the group's order.
    number: not 0, the same on all ranks, and no other group's."""

    rank: int
    size: int
    team: Optional[warpshmem.Team]
    number: int


class _State:
    """Buffers that were made and not destroyed, and whether the job was started for them."""

    buffers = 0
    ours = False
    job = ""  # the name of a job that was started for them


def members(group: Any, comm: Any, call: str = "Buffer") -> Tuple[int, int]:
    """Return rank and size of a process group, or of a communicator of mpi4py."""
    if group is not None:
        _has(call, "group", group, ("rank", "size"), "a process group of torch.distributed")
        return group.rank(), group.size()
    if comm is not None:
        _has(call, "comm", comm, ("Get_rank", "Get_size"), "a communicator of mpi4py")
        return comm.Get_rank(), comm.Get_size()
    raise ValueError(
        "deep_ep.%s: neither group nor comm is given; give a process group of "
        "torch.distributed, or a communicator of mpi4py as comm" % call
    )


def _has(call: str, name: str, given: Any, asked: Tuple[str, ...], what: str) -> None:
    """Refuse what has not these methods: no group, or torch's number for a process that is in
    none."""
    if not all(callable(getattr(given, one, None)) for one in asked):
        raise ArgumentError("deep_ep.%s: %s is %s; give %s" % (call, name, shown(given), what))


def start(group: Any, comm: Any, call: str = "Buffer") -> Started:
    """Start warpshmem with the group's processes as its PEs, unless it has been started and these
    are PEs of it: all, in whatever order, or a part of them.

    Collective over the group. WarpshmemError on all of its ranks where one is no PE of the job that
    another one is a PE of.
    """
    rank, size = members(group, comm, call)
    told = _told(group, comm, rank, size)
    number = int(told[0].name, 16) | 1
    if not any(each.live for each in told):
        device = torch.cuda.current_device() if torch.cuda.is_available() else None
        warpshmem.init(
            rank=rank,
            n_pes=size,
            store=group if group is not None else comm,
            device=device,
            thread_level="multiple",
            may_exit=True,  # a framework knows of no finalize
            attach_gpu=device is not None,
        )
        _State.ours, _State.buffers, _State.job = True, 0, told[0].name
        return Started(rank, size, None, number)
    alone = next((at for at, each in enumerate(told) if not each.live), None)
    if alone is None:
        alone = next((at for at, each in enumerate(told) if each.job != told[0].job), None)
    if alone is not None:
        raise warpshmem.WarpshmemError(
            "deep_ep.%s: rank %d of %d in the group is no PE of the job that another rank is in; "
            "destroy the Buffers of the other group first (all of them, on all of its ranks), or "
            "make the first Buffer of a process with a group of all processes that are to exchange "
            "tokens" % (call, alone, size)
        )
    _dropped.end([each.dropped for each in told])
    pes = [each.pe for each in told]
    if pes == list(range(warpshmem.n_pes())):
        return Started(rank, size, None, number)
    return Started(rank, size, warpshmem.Team.by_id(told[0].team, size, rank), number)


class _Told(NamedTuple):
    """What a rank tells the others of its group. live: it is PE `pe` of `job`. name: of the job
    that may be started, and team: of the team that may be made, as rank 0 says. dropped: numbers of
    Buffers that may end."""

    live: bool
    pe: int
    job: str
    name: str
    team: int
    dropped: List[int]


def _told(group: Any, comm: Any, rank: int, size: int) -> List[_Told]:
    """Ask all ranks of a group what they are."""
    live = warpshmem.initialized()
    team = warpshmem.Team.make_id() if live and not rank else 0
    pe = warpshmem.my_pe() if live else -1
    name = secrets.token_hex(8) if not rank else ""
    job = _State.job if _State.ours else ""
    mine = _Told(live, pe, job, name, team, _dropped.told() if live else [])
    found: List[Any] = [None] * size
    if group is None or not isinstance(group, torch.distributed.ProcessGroup):
        found = (comm if group is None else group).allgather(tuple(mine))
    else:
        torch.distributed.all_gather_object(found, tuple(mine), group)
    return [_Told(*each) for each in found]


def size_of(group: Any, call: str) -> Tuple[int, Tuple[int, int]]:
    """Start warpshmem for a group, as for a Buffer, and return its size, and hosts and ranks of
    each. Collective over the group."""
    found = start(group, None, call)
    asked = Agreement(found.size, found.team)
    hosts = _domains.domains(found.size, found.team, asked)
    asked.close()
    if found.team is not None:
        found.team.destroy()
    return found.size, hosts


def collect() -> None:
    """Let the garbage collector find Buffers that were dropped: each refers to itself."""
    if _State.buffers:
        gc.collect()


def made() -> None:
    """A Buffer was made."""
    _State.buffers += 1


def ending(agreement: Agreement) -> bool:
    """Return whether the Buffer that is about to be destroyed is the last one of all of its ranks.
    Collective over the group; each for itself where a rank has failed."""
    if agreement.broken:
        return _State.buffers == 1
    return not any(left for (left,) in agreement.gather([_State.buffers - 1]))


def ended(team: Optional[warpshmem.Team], last: bool) -> None:
    """A Buffer was destroyed: after the last one the job ends that was started for them, where all
    of its PEs are the group's. Collective over the group."""
    _State.buffers -= 1
    whole = team is None or team.n_pes == warpshmem.n_pes()
    if team is not None:
        team.destroy()
    if last and whole and _State.ours:
        _State.ours = False
        warpshmem.finalize()


class Runtime:
    """What programs read of Buffer.runtime."""

    def __init__(self, rank: int, size: int) -> None:
        self._rank, self._size = rank, size

    def is_available(self) -> bool:
        return True

    def get_num_rdma_ranks(self) -> int:
        return max(1, self._size // RANKS_A_HOST)

    def get_rdma_rank(self) -> int:
        return self._rank // RANKS_A_HOST

    def get_local_device_id(self) -> int:
        return torch.cuda.current_device() if torch.cuda.is_available() else 0
