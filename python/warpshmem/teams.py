# SPDX-License-Identifier: BSD-3-Clause
"""Teams of PEs: section 9.4."""

from __future__ import annotations

import ctypes
import errno
from typing import Any, Optional, Sequence, Tuple

from . import _lib, job
from .errors import WarpshmemError, check, refuse


class Team:
    """An ordered set of PEs, numbered from 0. `handle` is the shmem_team_t as a whole number; 0:
    this PE is no member."""

    __slots__ = ("handle", "_world")

    def __init__(self, handle: int, world: Optional[int] = None) -> None:
        self.handle = handle
        self._world = world  # the job that it belongs to; None: those that every job has

    def _need(self, call: str) -> int:
        job.need(call)
        if self._world is not None and self._world != job.state.world:
            raise job.stale(call, self._world)
        return self.handle

    def _member(self, call: str) -> int:
        if not self._need(call):
            raise refuse(call, "team", self, "this PE is no member of it, or it was destroyed")
        return self.handle

    @property
    def is_member(self) -> bool:
        """Is this PE one of its PEs?"""
        return self._need("Team.is_member") != 0

    @property
    def my_pe(self) -> int:
        """This PE's number in the team; -1 where it is no member. Section 9.4.1."""
        return _lib.core().shmem_team_my_pe(self._need("Team.my_pe"))

    @property
    def n_pes(self) -> int:
        """How many PEs the team has; -1 where this PE is no member. Section 9.4.2."""
        return _lib.core().shmem_team_n_pes(self._need("Team.n_pes"))

    @property
    def number(self) -> int:
        """The team's number, alike on all members; what kernels and NVSHMEM's names take.
        shmemx_team_number."""
        return _lib.core().shmemx_team_number(self._need("Team.number"))

    def translate(self, pe: int, team: "Team") -> Optional[int]:
        """Return the number in `team` of PE `pe` of this team; None where it is not in both.
        Section 9.4.5."""
        if not isinstance(team, Team):
            raise refuse("Team.translate", "team", team, "pass a warpshmem.Team")
        pe = job.check_int("Team.translate", "pe", pe)
        found = _lib.core().shmem_team_translate_pe(
            self._member("Team.translate"), pe, team._need("Team.translate")
        )
        return None if found < 0 else found

    def split_strided(self, start: int, stride: int, size: int) -> "Team":
        """Split off PEs start, start + stride, ... (`size` of them). Collective over this team.
        Section 9.4.6.

        The result's handle is 0 at PEs that are no members. WarpshmemError where there are no such
        PEs, or no room.
        """
        for name, value in (("start", start), ("stride", stride), ("size", size)):
            job.check_int("Team.split_strided", name, value)
        made = ctypes.c_void_p()
        check(
            _lib.core().shmem_team_split_strided(
                self._member("Team.split_strided"), start, stride, size, None, 0, ctypes.byref(made)
            ),
            "Team.split_strided(start=%r, stride=%r, size=%r) of %d PEs"
            % (start, stride, size, self.n_pes),
        )
        return Team(made.value or 0, job.state.world)

    def split_2d(self, xrange: int) -> Tuple["Team", "Team"]:
        """Lay the PEs out in rows of `xrange`; return this PE's row and column. Collective over
        this team. 9.4.7."""
        if job.check_int("Team.split_2d", "xrange", xrange) < 1:
            raise refuse("Team.split_2d", "xrange", xrange, "rows have at least 1 PE")
        row, column = ctypes.c_void_p(), ctypes.c_void_p()
        check(
            _lib.core().shmem_team_split_2d(
                self._member("Team.split_2d"),
                xrange,
                None,
                0,
                ctypes.byref(row),
                None,
                0,
                ctypes.byref(column),
            ),
            "Team.split_2d(xrange=%r)" % xrange,
        )
        return Team(row.value or 0, job.state.world), Team(column.value or 0, job.state.world)

    def create(self, pes: Sequence[int]) -> "Team":
        """Create a team of PEs of this team, in the order given. Collective over this team.
        shmemx_team_create."""
        n = self.n_pes
        pes = job.check_ints("Team.create", "pes", pes)
        for pe in pes:
            job.check_pe("Team.create", pe, n, "pes")
        if len(set(pes)) != len(pes) or not pes:
            raise refuse("Team.create", "pes", pes, "name at least one PE, and each once")
        made = ctypes.c_void_p()
        check(
            _lib.core().shmemx_team_create(
                self._member("Team.create"),
                (ctypes.c_int * len(pes))(*pes),
                len(pes),
                None,
                0,
                ctypes.byref(made),
            ),
            "Team.create",
        )
        return Team(made.value or 0, job.state.world)

    @staticmethod
    def from_group(group: Any) -> "Team":
        """Create the team of a process group of torch.distributed, in the order of its ranks.
        Collective over all PEs.

        group: one that this process is a member of, of processes that are PEs; None, or what
        torch.distributed.new_group gives other processes: no group. Each PE gives its own; all
        members of a group give it. WarpshmemError on all PEs where they do not.
        """
        from .torch import team_of

        return team_of(group)

    @staticmethod
    def by_id(team_id: int, n_pes: int, my_pe: int) -> "Team":
        """Create a team of PEs that know nothing of each other but an id, each with its number in
        it. Collective over these alone. id: of make_id at one of them. shmemx_team_init."""
        job.need("Team.by_id")
        for name, value in (("team_id", team_id), ("n_pes", n_pes), ("my_pe", my_pe)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise refuse("Team.by_id", name, value, "pass a whole number")
        if not 0 <= team_id < 1 << 64:
            raise refuse("Team.by_id", "team_id", team_id, "pass what make_id has returned")
        job.check_int("Team.by_id", "n_pes", n_pes)
        job.check_int("Team.by_id", "my_pe", my_pe)
        made = ctypes.c_void_p()
        check(
            _lib.core().shmemx_team_init(team_id, n_pes, my_pe, None, 0, ctypes.byref(made)),
            "Team.by_id(n_pes=%r, my_pe=%r)" % (n_pes, my_pe),
        )
        return Team(made.value or 0, job.state.world)

    @staticmethod
    def make_id() -> int:
        """Make an id for one team, of which this PE is a member. Local. shmemx_team_get_id."""
        job.need("Team.make_id")
        made = ctypes.c_uint64()
        check(_lib.core().shmemx_team_get_id(ctypes.byref(made)), "Team.make_id")
        return made.value

    def empty(
        self, shape: Any, dtype: Any = "float32", like: Any = "numpy", device: str = "host"
    ) -> Any:
        """Return an array in symmetric memory of the team's members alone, as warpshmem.empty.
        Collective over the team, with equal arguments. It is there until free.
        shmemx_team_malloc, shmemx_team_malloc_device."""
        from .arrays import empty_of

        return empty_of(self._member("Team.empty"), shape, dtype, like, device)

    def free(self, array: Any) -> None:
        """Give back what empty returned: no array over it is used any more. Collective over the
        team. shmemx_team_free."""
        from .memory import view

        seen = view(array, "Team.free", "array")
        _lib.core().shmemx_team_free(self._member("Team.free"), seen.address)

    def sync(self, stream: Any = None) -> None:
        """Wait until all members have come. Collective over the team. Section 9.10.3."""
        from .collectives import team_sync

        team_sync(self, stream)

    def barrier(self, stream: Any = None) -> None:
        """Complete what this PE has put, then sync. Collective. shmemx_team_barrier."""
        from .collectives import team_barrier

        team_barrier(self, stream)

    @property
    def broken(self) -> bool:
        """Whether a member has failed while the others go on. Local. shmemx_team_broken."""
        return _lib.core().shmemx_team_broken(self._need("Team.broken")) == 1

    def shrink(self) -> "Team":
        """Make a team of the members that live. Collective over these. shmemx_team_shrink."""
        made = ctypes.c_void_p()
        handle = self._member("Team.shrink")
        job.need_none_in_flight("Team.shrink", handle)
        status = _lib.core().shmemx_team_shrink(handle, ctypes.byref(made))
        if status == -errno.EOPNOTSUPP:
            raise WarpshmemError(
                "warpshmem.Team.shrink: a failure ends the job, so that there is nothing to shrink; "
                "set SHMEM_ON_PE_FAILURE=continue"
            )
        check(status, "Team.shrink")
        return Team(made.value or 0, job.state.world)

    def destroy(self) -> None:
        """End the team. Collective over it; without effect at PEs that are no members. Section
        9.4.8."""
        handle = self._need("Team.destroy")
        if self._world is None:
            raise refuse(
                "Team.destroy", "team", self, "the library's own teams stay until finalize"
            )
        job.need_none_in_flight("Team.destroy", handle)
        self.handle = 0
        if handle:
            _lib.core().shmem_team_destroy(handle)

    def __enter__(self) -> "Team":
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is None:
            self.destroy()

    def __repr__(self) -> str:
        return "<warpshmem.Team %s>" % (
            _NAMES.get(self.handle, "of handle %#x" % self.handle)
            if self._world is None
            else "of handle %#x" % self.handle
        )


_NAMES = {1: "WORLD", 2: "SHARED", 3: "NODE", 4: "SAME_MYPE_NODE"}
TEAM_WORLD, TEAM_SHARED, TEAM_NODE, TEAM_SAME_MYPE_NODE = (Team(handle) for handle in _NAMES)


def member(team: Any, call: str) -> int:
    """Return the handle of a team of which this PE is a member; ArgumentError otherwise."""
    if not isinstance(team, Team):
        raise refuse(call, "team", team, "pass a warpshmem.Team, such as warpshmem.TEAM_WORLD")
    return team._member(call)
