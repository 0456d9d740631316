# SPDX-License-Identifier: BSD-3-Clause
"""GPU modules of kernels in Python: initialised when they are loaded, and again when warpshmem is.

A module that calls routines of warpshmem has a copy of the library's view of the job, which
shmemx_module_init fills.
"""
from __future__ import annotations

import ctypes
import functools
import threading
from typing import Any, Set

from . import _lib, job
from .errors import WarpshmemError, check

VIEW = b"wsh_device_view"

_lock = threading.Lock()
_loaded: Set[int] = set()


@functools.lru_cache(maxsize=None)
def _driver() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


@functools.lru_cache(maxsize=None)
def _routine(name: str, result: Any, *arguments: Any) -> Any:
    routine = getattr(_lib.core(), name)
    routine.restype, routine.argtypes = result, arguments
    return routine


def calls_library(module: int) -> bool:
    """Tell whether the CUmodule has routines of warpshmem in it."""
    at, size = ctypes.c_void_p(), ctypes.c_size_t()
    found = _driver().cuModuleGetGlobal_v2(
        ctypes.byref(at), ctypes.byref(size), ctypes.c_void_p(module), VIEW
    )
    return found == 0


def ready(what: str) -> None:
    """Raise WarpshmemError where kernels cannot be launched: this is no PE, or it has no GPU."""
    if not job.state.live:
        raise WarpshmemError("%s calls routines of warpshmem: %s" % (what, job.state.why))
    if not _routine("shmemx_device_heap_base", ctypes.c_void_p)():
        raise WarpshmemError(
            "%s calls routines of warpshmem, to which no GPU is attached; before it is launched "
            "make an array with warpshmem.empty(..., device='gpu') on every PE" % what
        )


def add(module: int, what: str) -> None:
    """Initialise a CUmodule, once: the kernels in it then know this PE and its peers.

    Raises WarpshmemError, which names `what`, where warpshmem is not initialised or has no GPU.
    """
    with _lock:
        if module in _loaded:
            return
    ready(what)
    check(_initialise(module), "shmemx_module_init")
    with _lock:
        _loaded.add(module)


def _initialise(module: int) -> int:
    return int(_routine("shmemx_module_init", ctypes.c_int, ctypes.c_void_p)(module))


def remove(module: int) -> None:
    """Forget a CUmodule that is about to be unloaded."""
    with _lock:
        known = module in _loaded
        _loaded.discard(module)
    if known and job.state.live:
        _routine("shmemx_module_finalize", ctypes.c_int, ctypes.c_void_p)(module)


def again() -> None:
    """Initialise all modules that are loaded: warpshmem was finalised and is there again."""
    with _lock:
        modules = list(_loaded)
    for module in modules:
        check(_initialise(module), "shmemx_module_init")


job.at_start.append(again)
