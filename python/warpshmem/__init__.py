# SPDX-License-Identifier: BSD-3-Clause
"""OpenSHMEM for Python: symmetric arrays of numpy, torch and cupy, one-sided transfers, atomics,
collectives.

    import warpshmem as shmem
    shmem.init()
    box = shmem.zeros(1, "int64")
    shmem.put(box, box + shmem.my_pe(), (shmem.my_pe() + 1) % shmem.n_pes())
    shmem.barrier_all()
    shmem.finalize()

Sections in docstrings are those of OpenSHMEM 1.6. Wrong arguments raise ArgumentError, refusals of
the library WarpshmemError with the library's line.
"""

from ._lib import library_path
from .arrays import empty, is_symmetric, peer, register, unregister, zeros
from .atomics import (
    atomic_add,
    atomic_and,
    atomic_compare_swap,
    atomic_fetch,
    atomic_fetch_add,
    atomic_fetch_and,
    atomic_fetch_inc,
    atomic_fetch_or,
    atomic_fetch_xor,
    atomic_inc,
    atomic_or,
    atomic_set,
    atomic_swap,
    atomic_xor,
)
from .collectives import (
    alltoall,
    alltoalls,
    barrier_all,
    broadcast,
    collect,
    exscan,
    fcollect,
    inscan,
    reduce,
    reducescatter,
    sync_all,
    team_barrier,
    team_sync,
)
from .errors import ArgumentError, WarpshmemError
from .failures import failed_pes, failure_generation
from .job import Job, finalize, get_unique_id, global_exit, init, initialized, my_pe, n_pes
from .memory import Memory
from .prepared import Prepared, prepare_get, prepare_put, prepare_put_signal
from .requests import (
    Packed,
    Request,
    alltoall_nb,
    alltoallv,
    alltoallv_nb,
    alltoallv_packed,
    alltoallv_packed_on_stream,
    broadcast_nb,
    collect_nb,
    fcollect_nb,
    reduce_nb,
    sync_nb,
    test_any_request,
    wait_all,
)
from .rma import (
    fence,
    g,
    get,
    get_nbi,
    iget,
    iput,
    p,
    put,
    put_nbi,
    put_signal,
    quiet,
    signal_fetch,
    signal_update,
)
from .teams import TEAM_NODE, TEAM_SAME_MYPE_NODE, TEAM_SHARED, TEAM_WORLD, Team
from ._version import VERSION as __version__
from .waits import (
    signal_wait_until,
    test,
    test_all,
    test_any,
    test_some,
    wait_until,
    wait_until_all,
    wait_until_any,
    wait_until_some,
    wait_until_timeout,
)

__all__ = [
    name
    for name in dir()
    if not name.startswith("_")
    and name not in (
        "arrays",
        "atomics",
        "collectives",
        "dlpack",
        "dtypes",
        "errors",
        "failures",
        "interrupt",
        "job",
        "memory",
        "prepared",
        "requests",
        "rma",
        "stores",
        "streams",
        "teams",
        "waits",
    )
]
