# SPDX-License-Identifier: BSD-3-Clause
"""Which ranks share a host: physical and logical domains."""

from __future__ import annotations

from typing import Any, Tuple

import warpshmem

from . import _start


def get_physical_domain_size(group: Any) -> Tuple[int, int]:
    """Return how many hosts a group has, and how many of its ranks each. Collective over the group,
    which it starts warpshmem for. Hosts with unlike numbers of ranks count as one rank each."""
    return domains(_start.size_of(group, "get_physical_domain_size"))


def get_logical_domain_size(group: Any, allow_hybrid_mode: bool = True) -> Tuple[int, int]:
    """Return the number of scale-out ranks, and of scale-up ranks: the physical ones, or without
    allow_hybrid_mode (1, all ranks). Collective over the group."""
    found = get_physical_domain_size(group)
    return found if allow_hybrid_mode else (1, found[0] * found[1])


def domains(size: int) -> Tuple[int, int]:
    """Return hosts and ranks a host of a job of `size` PEs, started."""
    near = warpshmem.TEAM_SHARED.n_pes
    return (size // near, near) if near and size % near == 0 else (size, 1)
