# SPDX-License-Identifier: BSD-3-Clause
"""Symmetric memory for programs of torch: addresses of peers' copies, signals by channel, a pool
that torch allocates from. warpshmem.torch has the names."""

from __future__ import annotations

import threading
from typing import Any, Dict, List, Optional

import torch

from . import _lib, _quick, job, rma, waits
from .errors import WarpshmemError, refuse
from .memory import symmetric
from .teams import TEAM_WORLD, Team

Tensor = torch.Tensor


def peer_pointers(tensor: Tensor, team: Team = TEAM_WORLD) -> Tensor:
    """Return [members] int64, on the device of `tensor`: the address of each member's copy, for
    loads and stores of kernels; 0 where this PE reaches it by puts and gets alone. Local.

    tensor: symmetric, of this PE. The addresses are good as long as the copies are there.
    """
    call = "torch.peer_pointers"
    job.need(call)
    seen, core = symmetric(tensor, call, "tensor"), _lib.core()
    found: List[int] = []
    for member in range(team.n_pes):
        pe = team.translate(member, TEAM_WORLD)
        found.append(core.shmem_ptr(seen.address, pe) or 0)
    return torch.tensor(found, dtype=torch.int64).to(tensor.device)


class Channels:
    """Signals between the members of a team, by channel: each wait takes one put_signal of its
    sender.

    Collective over the team. number: of channels. device: "host", or "gpu" for waits on streams.
    The counts of what was waited for are kept on the host: a CUDA graph with such a wait is not
    replayed.
    """

    def __init__(self, number: int = 1, team: Team = TEAM_WORLD, device: str = "host") -> None:
        call = "torch.Channels"
        job.need(call)
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise refuse(call, "number", number, "give a whole number, at least 1")
        self.number, self.team = number, team
        self.words = team.empty(team.n_pes * number, "int64", like="torch", device=device)
        self.words.zero_()
        if self.words.is_cuda:
            torch.cuda.synchronize()
        team.barrier()
        self._taken: Dict[int, int] = {}
        self._closed = False

    def close(self) -> None:
        """Give the memory back. Collective over the team; a second call does nothing."""
        if not self._closed:
            self._closed = True
            self.team.free(self.words)

    def put_signal(
        self, dest: Tensor, source: Tensor, member: int, channel: int = 0, stream: Any = None
    ) -> None:
        """Put `source` to the symmetric `dest` at a member, and after it signal on the channel. On
        a stream: as warpshmem.put_signal."""
        at = self._index("torch.Channels.put_signal", self.team.my_pe, channel)
        pe = self._pe("torch.Channels.put_signal", member)
        rma.put_signal(dest, source, self.words, 1, pe, op="add", stream=stream, index=at)

    def wait(self, member: int, channel: int = 0, stream: Any = None) -> None:
        """Wait until the next put_signal of a member has come on the channel, its data too; the
        host, or a stream."""
        self._pe("torch.Channels.wait", member)
        at = self._index("torch.Channels.wait", member, channel)
        self._taken[at] = self._taken.get(at, 0) + 1
        waits.signal_wait_until(self.words, "ge", self._taken[at], index=at, stream=stream)

    def _index(self, call: str, member: int, channel: int) -> int:
        if self._closed:
            raise refuse(call, "self", "closed", "make other Channels")
        if isinstance(channel, bool) or not isinstance(channel, int):
            raise refuse(call, "channel", channel, "give a whole number")
        if not 0 <= channel < self.number:
            raise refuse(call, "channel", channel, "there are 0 to %d" % (self.number - 1))
        return member * self.number + channel

    def _pe(self, call: str, member: int) -> int:
        job.check_pe(call, member, self.team.n_pes, "member")
        return int(self.team.translate(member, TEAM_WORLD) or 0)


_pools: List[Any] = []  # allocators, which torch only refers to
_lock = threading.Lock()


def mem_pool() -> Any:
    """Return a torch.cuda.MemPool over the device symmetric heap: `with
    torch.cuda.use_mem_pool(pool)` tensors of the GPU are symmetric.

    All PEs allocate the same in the same order there: what torch's allocator asks the pool for is
    collective over all PEs. What it gives back is free when all PEs have given it back. The pool is
    to go before finalize. WarpshmemError without a GPU, or where torch has no such pools.
    """
    call = "warpshmem.torch.mem_pool"
    job.need("torch.mem_pool")
    pool: Optional[Any] = getattr(torch.cuda, "MemPool", None)
    if not torch.cuda.is_available():
        raise WarpshmemError(call + ": torch has no GPU; use warpshmem.empty")
    if pool is None:
        raise WarpshmemError(call + ": torch %s has no MemPool; use 2.5" % torch.__version__)
    if _quick.module is None:
        cure = "install a wheel of warpshmem, and leave WARPSHMEM_PYTHON_CALLS unset"
        raise WarpshmemError("%s: there is no extension module; %s" % (call, cure))
    from torch.cuda.memory import CUDAPluggableAllocator

    with _lock:
        if not _pools:
            path = str(_quick.module.__file__)
            names = "warpshmem_pool_malloc", "warpshmem_pool_free"
            _pools.append(CUDAPluggableAllocator(path, *names))
    return pool(_pools[0].allocator())
