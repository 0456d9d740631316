# SPDX-License-Identifier: BSD-3-Clause
"""PEs that have failed while the others go on (SHMEM_ON_PE_FAILURE=continue)."""

from __future__ import annotations

import ctypes
from typing import List

from . import _lib, job


def failed_pes() -> List[int]:
    """Return the PEs that have failed, in order. Local. shmemx_failed_pes."""
    job.need("failed_pes")
    room = (ctypes.c_int * job.state.n)()
    found = _lib.core().shmemx_failed_pes(room, job.state.n)
    return list(room[:found])


def failure_generation() -> int:
    """Return a number that grows with each failure. Local. shmemx_failure_generation."""
    job.need("failure_generation")
    return _lib.core().shmemx_failure_generation()
