# SPDX-License-Identifier: BSD-3-Clause
"""Which ranks share a host: physical and logical domains."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import warpshmem

from . import _start
from ._agree import Agreement


def get_physical_domain_size(group: Any) -> Tuple[int, int]:
    """Return how many hosts a group has, and how many of its ranks each. Collective over the group,
    which it starts warpshmem for. Hosts with unlike numbers of ranks count as one rank each."""
    return _start.size_of(group, "get_physical_domain_size")[1]


def get_logical_domain_size(group: Any, allow_hybrid_mode: bool = True) -> Tuple[int, int]:
    """Return the number of scale-out ranks, and of scale-up ranks: the physical ones, or without
    allow_hybrid_mode (1, all ranks). Collective over the group."""
    found = get_physical_domain_size(group)
    return found if allow_hybrid_mode else (1, found[0] * found[1])


def domains(size: int, team: Optional[warpshmem.Team], asked: Agreement) -> Tuple[int, int]:
    """Return hosts and ranks a host of a group of `size` ranks: of all PEs, or those of a team.
    Collective over them; asked: theirs."""
    told = [number for (number,) in asked.gather([near(size, team)])]
    return (size // told[0], told[0]) if told[0] and len(set(told)) == 1 else (size, 1)


def near(size: int, team: Optional[warpshmem.Team]) -> int:
    """Return how many ranks share memory with this one, if they follow each other and begin at a
    multiple of their number; else 0."""
    everybody = warpshmem.TEAM_WORLD if team is None else team
    found = [
        rank
        for rank in range(size)
        if everybody.translate(rank, warpshmem.TEAM_SHARED) is not None
    ]
    n, first = len(found), found[0]
    alike = found == list(range(first, first + n)) and not first % n and not size % n
    return n if alike else 0
