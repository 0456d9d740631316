# SPDX-License-Identifier: BSD-3-Clause
"""Starts warpshmem for a group, and ends it when its last Buffer was destroyed."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Tuple

import torch
import warpshmem

from ._agree import Agreement

RANKS_A_HOST = 8  # of the numbers that layouts and programs take for hosts


class Started(NamedTuple):
    """This process in a group whose PEs are there. team: None for all PEs in the group's order."""

    rank: int
    size: int
    team: Optional[warpshmem.Team]


class _State:
    """Buffers that were made and not destroyed, and whether the job was started for them."""

    buffers = 0
    ours = False


def members(group: Any, comm: Any, call: str = "Buffer") -> Tuple[int, int]:
    """Return rank and size of a process group, or of a communicator of mpi4py."""
    if group is not None:
        return group.rank(), group.size()
    if comm is not None:
        return comm.Get_rank(), comm.Get_size()
    raise ValueError(
        "deep_ep.%s: neither group nor comm is given; give a process group of "
        "torch.distributed, or a communicator of mpi4py as comm" % call
    )


def start(group: Any, comm: Any, call: str = "Buffer") -> Started:
    """Start warpshmem with the group's processes as its PEs, unless it has been started with just
    these, in whatever order.

    Collective over the group. WarpshmemError where the job has other PEs.
    """
    rank, size = members(group, comm, call)
    if not warpshmem.initialized():
        device = torch.cuda.current_device() if torch.cuda.is_available() else None
        warpshmem.init(
            rank=rank,
            n_pes=size,
            store=group if group is not None else comm,
            device=device,
            thread_level="multiple",
            may_exit=True,  # a framework knows of no finalize
        )
        _State.ours, _State.buffers = True, 0
        return Started(rank, size, None)
    if warpshmem.n_pes() != size:
        raise warpshmem.WarpshmemError(
            "deep_ep.%s: this process is rank %d of %d in the group, and PE %d of %d of "
            "warpshmem; expert parallelism here is over all PEs: destroy the Buffers of the other "
            "group first (all of them, on all of its ranks), or make the first Buffer of a "
            "process with the group that is to exchange tokens"
            % (call, rank, size, warpshmem.my_pe(), warpshmem.n_pes())
        )
    pes = _order(rank, size)
    if pes == list(range(size)):
        return Started(rank, size, None)
    return Started(rank, size, warpshmem.TEAM_WORLD.create(pes))


def size_of(group: Any, call: str) -> int:
    """Start warpshmem for a group, as for a Buffer, and return its size. Collective over the
    group."""
    found = start(group, None, call)
    if found.team is not None:
        found.team.destroy()
    return found.size


def _order(rank: int, size: int) -> List[int]:
    """Return the PE of each rank. Collective over all PEs, which are the group's."""
    asked = Agreement(size)
    ranks = [numbers[0] for numbers in asked.gather([rank])]
    asked.close()
    return sorted(range(size), key=lambda pe: ranks[pe])


def made() -> None:
    """A Buffer was made."""
    _State.buffers += 1


def ended(team: Optional[warpshmem.Team]) -> None:
    """A Buffer was destroyed: after the last one the job ends that was started for them. Collective
    over the group."""
    _State.buffers -= 1
    if team is not None:
        team.destroy()
    if not _State.buffers and _State.ours:
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
