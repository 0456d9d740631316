# SPDX-License-Identifier: BSD-3-Clause
"""What all ranks must know before a call: numbers of each, gathered on the host."""

from __future__ import annotations

import ctypes
from typing import Any, List, Sequence

import warpshmem
from warpshmem import _lib

TEAM_WORLD = 1


class Agreement:
    """Gathers equally many numbers from all PEs of `team` (None: all), in its order.

    Two images in symmetric memory come in turn: who writes one again has been told by everybody, in
    the gather between, that it has read it.
    """

    def __init__(self, n_pes: int, team: Any = None) -> None:
        self.n = n_pes
        self.team = TEAM_WORLD if team is None else team.handle
        self.words = 0
        self.memory = 0
        self.turn = 0
        core = _lib.core()
        self._malloc, self._free, self._collect = (
            core.shmemx_team_malloc,
            core.shmemx_team_free,
            core.shmem_fcollectmem,
        )
        self._malloc.restype = ctypes.c_void_p
        self._malloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self._free.restype, self._free.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p]
        self._collect.restype = ctypes.c_int
        self._collect.argtypes = [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_size_t,
        ]

    def _grow(self, words: int) -> None:
        self.close()
        self.memory = self._malloc(self.team, 2 * (self.n + 1) * words * 8) or 0
        if not self.memory:
            raise warpshmem.WarpshmemError(
                "deep_ep: no symmetric memory for %d bytes; raise "
                "SHMEM_SYMMETRIC_SIZE" % (2 * (self.n + 1) * words * 8)
            )
        self.words = words

    def gather(self, numbers: Sequence[int]) -> List[List[int]]:
        """Return the numbers (unsigned, 64 bits) of each PE. Collective over the
        team; equally many on all."""
        count = len(numbers)
        if count > self.words:
            self._grow(max(64, 2 * count))
        self.turn = 1 - self.turn
        base = self.memory + self.turn * (self.n + 1) * self.words * 8
        (ctypes.c_uint64 * count).from_address(base)[:] = numbers
        to = base + self.words * 8
        if self._collect(self.team, to, base, count * 8):
            raise warpshmem.WarpshmemError(
                "deep_ep: PEs could not exchange numbers; a line says why"
            )
        found = (ctypes.c_uint64 * (count * self.n)).from_address(to)[:]
        return [found[pe * count : (pe + 1) * count] for pe in range(self.n)]

    @property
    def broken(self) -> bool:
        """Whether a PE of it has failed while the others go on: they gather nothing any more."""
        return bool(_lib.core().shmemx_team_broken(self.team) == 1)

    def close(self) -> None:
        """Give the memory back. Collective."""
        if self.memory:
            self._free(self.team, self.memory)
        self.memory = self.words = 0
