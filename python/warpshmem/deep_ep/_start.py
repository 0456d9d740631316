# SPDX-License-Identifier: BSD-3-Clause
"""Starts warpshmem for a group."""

from __future__ import annotations

from typing import Any, Tuple

import torch
import warpshmem

RANKS_A_HOST = 8  # of the numbers that layouts and programs take for hosts


def members(group: Any, comm: Any) -> Tuple[int, int]:
    """Return rank and size of a process group, or of a communicator of mpi4py."""
    if group is not None:
        return group.rank(), group.size()
    if comm is not None:
        return comm.Get_rank(), comm.Get_size()
    raise ValueError(
        "deep_ep.Buffer: neither group nor comm is given; give a process group of "
        "torch.distributed, or a communicator of mpi4py as comm"
    )


def start(group: Any, comm: Any) -> Tuple[int, int]:
    """Start warpshmem with the group's processes as its PEs, unless it has been started with just
    these.

    Collective over the group. Returns rank and size. WarpshmemError where the job has other PEs.
    """
    rank, size = members(group, comm)
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
    if (warpshmem.my_pe(), warpshmem.n_pes()) != (rank, size):
        raise warpshmem.WarpshmemError(
            "deep_ep.Buffer: this process is rank %d of %d in the group, and PE %d of %d of "
            "warpshmem; expert parallelism here is over all PEs, in their order: make the first "
            "Buffer of a process with the group that is to exchange tokens, and do not start "
            "warpshmem before with another one" % (rank, size, warpshmem.my_pe(), warpshmem.n_pes())
        )
    return rank, size


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
