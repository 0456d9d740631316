# SPDX-License-Identifier: BSD-3-Clause
"""Start and end of the job, and what every call asks first: is this process one of its PEs?"""

from __future__ import annotations

import ctypes
import operator
import os
from typing import Any, Callable, Iterable, List, Optional, Set, Union

from . import _lib, stores
from .errors import WarpshmemError, check, refuse

THREAD_LEVELS = {"single": 0, "funneled": 1, "serialized": 2, "multiple": 3}
WITH_UNIQUEID = 1
MAY_EXIT, ATTACH_GPU = 4, 8
UNIQUE_ID_BYTES = 128
INT_END = 2**31  # of an int of C


class _Attributes(ctypes.Structure):
    """shmemx_init_attr_t of shmemx.h, version 1."""

    _fields_ = [
        ("version", ctypes.c_uint32),
        ("thread_level", ctypes.c_int),
        ("cuda_device", ctypes.c_int),
        ("rank", ctypes.c_int),
        ("n_ranks", ctypes.c_int),
        ("zero", ctypes.c_int),
        ("id", ctypes.c_ubyte * UNIQUE_ID_BYTES),
        ("mpi_comm", ctypes.c_void_p),
        ("unused", ctypes.c_ubyte * 96),
    ]


class _State:
    """Of this process. `live`: it is a PE now; `world` counts the jobs that it has started."""

    __slots__ = ("live", "me", "n", "world", "inits", "child", "why")

    def __init__(self) -> None:
        self.live = False
        self.me = -1
        self.n = 0
        self.world = 0
        self.inits = 0
        self.child = False  # forked from a PE
        self.why = "the library has not been started; call warpshmem.init() first"


state = _State()
# Called when a job has begun, before it ends, and when it has ended.
at_start: List[Callable[[], None]] = []
at_end: List[Callable[[], None]] = []
after_end: List[Callable[[], None]] = []
# Requests (requests.py) that have not been waited for: they keep their arrays, also where the program has
# dropped them.
in_flight: Set[Any] = set()


def _in_child() -> None:
    state.live, state.inits, state.child = False, 0, True
    state.why = (
        "this process (pid %d) is a forked child of PE %d and no PE itself; start workers by "
        "multiprocessing's spawn or by subprocess, and give them a unique id of their own"
        % (os.getpid(), state.me)
    )


def _forked() -> None:
    if state.live:
        _in_child()


os.register_at_fork(after_in_child=_forked)


def not_live(call: str) -> WarpshmemError:
    """Make the exception of a call that only a PE may make."""
    return WarpshmemError("warpshmem.%s: %s" % (call, state.why))


def stale(call: str, world: int) -> WarpshmemError:
    """Make the exception of an object that was made in the job `world`, which is over, or in
    another process."""
    if not state.live:
        return not_live(call)
    return WarpshmemError(
        "warpshmem.%s: it was made in job %d of this process, which is over; make another one"
        % (call, world)
    )


def need(call: str) -> None:
    """Raise WarpshmemError unless this process is a PE now."""
    if not state.live:
        raise not_live(call)


def need_none_in_flight(call: str, handle: Optional[int] = None) -> None:
    """Raise WarpshmemError where a request, of the team of a handle alone, has not been waited for:
    the library would end the job."""
    for request in list(in_flight):
        if not request.complete and request.is_of(state.world, handle):
            raise WarpshmemError(
                "warpshmem.%s: %r has not been waited for; call its wait first" % (call, request)
            )


def check_pe(call: str, pe: int, n: Optional[int] = None, argument: str = "pe") -> int:
    """Return `pe` where it is one of `n` PEs (default: of the job); else ArgumentError."""
    limit = state.n if n is None else n
    try:
        good = 0 <= operator.index(pe) < limit
    except TypeError:
        good = False
    if not good:
        raise refuse(call, argument, pe, "there are PEs 0 to %d" % (limit - 1))
    return pe


def check_ints(call: str, argument: str, values: Iterable[int]) -> List[int]:
    """Return the whole numbers of a sequence; ArgumentError where it is none."""
    try:
        return [operator.index(value) for value in values]
    except TypeError:
        raise refuse(call, argument, values, "pass a list of whole numbers") from None


def check_int(call: str, argument: str, value: Any) -> int:
    """Return `value` where it is a whole number that C's int holds, of which ctypes would drop bits
    otherwise; else ArgumentError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise refuse(call, argument, value, "pass a whole number") from None
    if not -INT_END <= number < INT_END:
        raise refuse(call, argument, value, "pass one of 32 bits")
    return number


def get_unique_id() -> bytes:
    """Make the 128 bytes by which processes that no launcher connects become one job
    (shmemx_get_uniqueid).

    One process calls it, gives the bytes to the others as a secret, and must run until they have
    finalized. Raises WarpshmemError with the library's line.
    """
    if state.child:
        raise not_live("get_unique_id")
    unique = (ctypes.c_ubyte * UNIQUE_ID_BYTES)()
    _lib.hold_errors()
    check(_lib.core().shmemx_get_uniqueid(unique), "shmemx_get_uniqueid")
    return bytes(unique)


def _launched() -> bool:
    """Has a launcher with PMIx or PMI started this process?"""
    return any(name in os.environ for name in ("PMIX_NAMESPACE", "PMI_FD", "OSHRUN_PID")) or bool(
        _lib.setting("SHMEM_BOOTSTRAP")
    )


def _whole(call: str, argument: str, value: Any, default: Optional[str]) -> int:
    if value is None and default is not None and default in os.environ:
        value = os.environ[default]
    try:
        return int(value)
    except (OverflowError, TypeError, ValueError):
        cure = "pass a whole number" + (" or set %s" % default if default else "")
        raise refuse(call, argument, value, cure) from None


def _device(device: Any) -> int:
    """Return the number of a GPU: of None (-1: the current one), a number, or torch's or cupy's
    device."""
    if device is None:
        return -1
    if isinstance(device, str):
        device = device.rpartition(":")[2] if ":" in device else None
        if device is None:
            return -1
    for name in ("index", "id"):
        number = getattr(device, name, None)
        if isinstance(number, int):
            return number
    return check_int("init", "device", _whole("init", "device", device, None))


def _thread_level(level: Union[int, str]) -> int:
    if level in THREAD_LEVELS:
        return THREAD_LEVELS[level]  # type: ignore[index]
    if level in THREAD_LEVELS.values():
        return int(level)
    raise refuse("init", "thread_level", level, "use one of " + ", ".join(THREAD_LEVELS))


def _attributes(
    rank: Optional[int], n_pes: Optional[int], uid: Optional[bytes], store: Any
) -> Optional[_Attributes]:
    """Return what starts the library by a unique id; None where a launcher or nobody has started
    this process."""
    if uid is None and store is None:
        if rank is None and n_pes is None and (_launched() or "WORLD_SIZE" not in os.environ):
            return None
        store = stores.from_environment()
    if stores.is_communicator(store):
        rank, n_pes = store.Get_rank(), store.Get_size()
    number = _whole("init", "rank", rank, "RANK")
    n = _whole("init", "n_pes", n_pes, "WORLD_SIZE")
    if n >= INT_END:
        raise refuse("init", "n_pes", n, "there are at most %d PEs" % (INT_END - 1))
    if not 0 <= number < n:
        raise refuse("init", "rank", number, "with n_pes=%d ranks are 0 to %d" % (n, n - 1))
    if uid is None:
        uid = stores.exchange(store, number, n, get_unique_id)
    if not isinstance(uid, (bytes, bytearray)) or len(uid) != UNIQUE_ID_BYTES:
        raise refuse("init", "uid", uid, "pass the %d bytes of get_unique_id()" % UNIQUE_ID_BYTES)
    attributes = _Attributes(version=1, cuda_device=-1)
    unique = (ctypes.c_ubyte * UNIQUE_ID_BYTES).from_buffer_copy(uid)
    check(
        _lib.core().shmemx_set_attr_uniqueid_args(number, n, unique, ctypes.byref(attributes)),
        "shmemx_set_attr_uniqueid_args",
    )
    return attributes


def init(
    rank: Optional[int] = None,
    n_pes: Optional[int] = None,
    uid: Optional[bytes] = None,
    store: Any = None,
    device: Any = None,
    thread_level: Union[int, str] = "multiple",
    may_exit: bool = False,
    attach_gpu: bool = False,
) -> None:
    """Start the library: this process becomes a PE. Collective over all PEs. Section 9.1.1,
    shmemx_init_attr.

    uid: the bytes of get_unique_id() of one process; `rank` and `n_pes` say which PE of how many
    this one becomes.
    store: carries the id instead, and rank 0 makes it: a store of torch.distributed,
        torch.distributed itself or a process group, a communicator of mpi4py (which also gives rank
        and n_pes), the path of a file that all processes see, "tcp://host:port" of rank 0's
        machine, or anything with set(key, bytes) and get(key).
    Neither: under oshrun, srun and mpirun PMIx or PMI says who is who; else RANK, WORLD_SIZE,
        MASTER_ADDR and MASTER_PORT do, as torchrun sets them; without any of these this is a job of
        one PE.
    device: the GPU of this PE: a number as cudaSetDevice has it, or torch's or cupy's device.
    Default: the current one.
    thread_level: "single", "funneled", "serialized", "multiple" (section 9.2), as any thread may
    run destructors.
    may_exit: for libraries that start the job for a program, which then ends with status 0 and
    without finalize as a matter of course: no line warns of it.
    attach_gpu: do it now, not in the first call that allocates memory of the GPU: teams of a part
    of the PEs may allocate such memory from then on. Alike on all PEs.

    Each call needs a finalize of its own. Raises ArgumentError; WarpshmemError with the library's
    line.
    """
    from . import interrupt

    if state.child:
        raise not_live("init")
    _lib.hold_errors()
    if state.inits:
        state.inits += 1
        check(_lib.core().shmemx_init_attr(0, None), "shmemx_init_attr")
        return
    level, gpu = _thread_level(thread_level), _device(device)
    try:
        attributes = _attributes(rank, n_pes, uid, store)
        flags = (WITH_UNIQUEID if attributes else 0) | (MAY_EXIT if may_exit else 0)
        flags |= ATTACH_GPU if attach_gpu else 0
        attributes = attributes or _Attributes(version=1)
        attributes.thread_level, attributes.cuda_device = level, gpu
        interrupt.start()
        check(_lib.core().shmemx_init_attr(flags, ctypes.byref(attributes)), "shmemx_init_attr")
    finally:
        stores.clean()
    core = _lib.core()
    state.me, state.n = core.shmem_my_pe(), core.shmem_n_pes()
    state.inits, state.world, state.live = 1, state.world + 1, True
    for routine in at_start:
        routine()


def finalize() -> None:
    """End the use of the library: a barrier, and the end of all symmetric memory. Collective.
    Section 9.1.4.

    Arrays of the host keep what they hold; those of a GPU must not be touched afterwards. Without
    effect where the library is not started.
    """
    if not state.inits:
        return
    if state.inits > 1:
        state.inits -= 1
        _lib.core().shmem_finalize()
        return
    need_none_in_flight("finalize")
    for routine in at_end:
        routine()
    _lib.core().shmem_finalize()
    state.live, state.inits = False, 0
    state.why = "the library has been finalized; call warpshmem.init() again"
    for routine in after_end:
        routine()


class Job:
    """A job as a context: `with warpshmem.Job(): ...` calls init, and finalize unless an exception
    leaves it."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        self._arguments = (args, keywords)

    def __enter__(self) -> "Job":
        init(*self._arguments[0], **self._arguments[1])
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is None:
            finalize()


def initialized() -> bool:
    """Return whether this process is a PE: after init, before finalize, and in no forked child.
    Section 9.1.5."""
    return state.live


def my_pe() -> int:
    """Return this PE's number, from 0. Section 9.1.2."""
    need("my_pe")
    return state.me


def n_pes() -> int:
    """Return the number of PEs of the job. Section 9.1.3."""
    need("n_pes")
    return state.n


def global_exit(status: int) -> None:
    """End all PEs of the job with this exit status, from any PE. Does not return. Section 9.1.6."""
    need("global_exit")
    _lib.core().shmem_global_exit(check_int("global_exit", "status", status))
