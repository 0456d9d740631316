# SPDX-License-Identifier: BSD-3-Clause
"""Finds and loads the libraries, once each, and gives their routines the types of _abi.py."""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import threading
from typing import Any, Callable, Dict, List, Optional

from . import _abi
from .errors import WarpshmemError

CORE = "libwarpshmem.so.0"
EP = "libwarpshmem-ep.so.0"
NVSHMEM = "libnvshmem_host.so.3"
TRACE = "libwarpshmem-trace.so.0"
BUNDLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")

_lock = threading.RLock()
_loaded: Dict[str, ctypes.CDLL] = {}


def folders() -> List[str]:
    """Return the folders to look in before the loader's own path."""
    chosen = os.environ.get("WARPSHMEM_LIBRARY_DIR")
    return [os.path.abspath(chosen)] if chosen else [BUNDLED]


def _loaded_path(name: str) -> Optional[str]:
    """Return the file that a loaded library of this name was read from."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                path = line.rstrip("\n").partition("/")[2]
                if path and os.path.basename(path).startswith(name.rstrip("0123456789.")):
                    return "/" + path
    except OSError:
        pass
    return None


def _candidates(name: str) -> List[str]:
    """Return the files that may be `name`: in a folder itself, or as installed and built trees have
    it."""
    below = ("", "nvshmem/lib", "../nvshmem/lib", "warpshmem/nvshmem/lib")
    return [
        os.path.normpath(os.path.join(folder, sub, name)) for folder in folders() for sub in below
    ]


def _load(name: str, mode: int) -> ctypes.CDLL:
    tried = []
    with _lock:
        if name in _loaded:
            return _loaded[name]
        for path in _candidates(name) + ([] if os.environ.get("WARPSHMEM_LIBRARY_DIR") else [name]):
            if os.path.isabs(path) and not os.path.exists(path):
                tried.append(path)
                continue
            try:
                _loaded[name] = ctypes.CDLL(path, mode=mode)
                return _loaded[name]
            except OSError as error:
                tried.append(str(error))
    raise WarpshmemError(
        "%s was not found or could not be loaded: %s; install a wheel of warpshmem that holds the"
        " libraries, or set WARPSHMEM_LIBRARY_DIR to the folder of %s"
        % (name, "; ".join(tried), name)
    )


def _declare(library: ctypes.CDLL, table: Dict[str, str]) -> None:
    for name, signature in table.items():
        if "{T}" in name:
            continue
        _prototype(library, name, signature, None)


@functools.lru_cache(maxsize=None)
def _of_file(name: str) -> bool:
    """Say whether a file of settings gives a value. While core() declares routines."""
    routine = getattr(_loaded[CORE], "shmemx_setting", None)
    if routine is None:
        return False
    routine.restype, routine.argtypes = ctypes.c_char_p, [ctypes.c_char_p]
    return bool(routine(name.encode()))


def _traced(library: ctypes.CDLL, name: str) -> Optional[Any]:
    """Return the wrapper that notes the calls of a routine, where SHMEM_TRACE or SHMEM_NVTX asks."""
    if library is not _loaded.get(CORE):
        return None
    if not any(os.environ.get(one) or _of_file(one) for one in ("SHMEM_TRACE", "SHMEM_NVTX")):
        return None
    wrapper = getattr(_load(TRACE, ctypes.RTLD_LOCAL), name, None)
    if wrapper is not None:
        setattr(library, name, wrapper)
    return wrapper


def _prototype(library: ctypes.CDLL, name: str, signature: str, value: Any) -> Callable[..., Any]:
    try:
        routine = _traced(library, name) or getattr(library, name)
    except AttributeError:
        raise WarpshmemError(
            "%s has no routine %s; its version is another one than the package's: install both "
            "from one build" % (library._name, name)
        ) from None
    result, _, arguments = signature.partition(" ")
    routine.restype = value if result == "T" else _abi.LETTERS[result]
    routine.argtypes = [value if letter == "T" else _abi.LETTERS[letter] for letter in arguments]
    return routine


@functools.lru_cache(maxsize=None)
def core() -> ctypes.CDLL:
    """Return libwarpshmem, loaded with RTLD_GLOBAL, so that extensions that are loaded later find
    its names."""
    library = _load(CORE, ctypes.RTLD_GLOBAL)
    _declare(library, _abi.CORE)
    atexit.register(library.shmemx_error_hold, 0)  # what nobody has asked for is printed
    return library


def setting(name: str) -> str:
    """Return the value that the environment or a file of settings gives a setting; "" where neither
    does."""
    value = os.environ.get(name)
    if not value:
        value = os.fsdecode(core().shmemx_setting(name.encode()) or b"")
    return value


_thread = threading.local()


def hold_errors() -> None:
    """Let lines about errors in this thread be those of exceptions alone. Before calls that may be
    refused; once a thread."""
    if not hasattr(_thread, "holds"):
        _thread.holds = core().shmemx_error_hold(1)


@functools.lru_cache(maxsize=None)
def ep() -> ctypes.CDLL:
    """Return libwarpshmem-ep."""
    core()
    return _load(EP, ctypes.RTLD_LOCAL)


@functools.lru_cache(maxsize=None)
def nvshmem() -> ctypes.CDLL:
    """Return libnvshmem_host, which has the routines on streams."""
    core()
    library = _load(NVSHMEM, ctypes.RTLD_LOCAL)
    _declare(library, _abi.NVSHMEM)
    return library


@functools.lru_cache(maxsize=None)
def typed(name: str, type_name: str, value: Any) -> Callable[..., Any]:
    """Return the routine of the table's row `name` for a type: its name in C, and its ctypes type
    (None: no value)."""
    if name in _abi.CORE:
        return _prototype(core(), name.format(T=type_name), _abi.CORE[name], value)
    return _prototype(nvshmem(), name.format(T=type_name), _abi.NVSHMEM[name], value)


def path_of(name: str) -> Optional[str]:
    """Return the file of a library that has been loaded."""
    return _loaded_path(name)


def library_path(name: str) -> str:
    """Return the absolute path of a file of the library, such as libnvshmem_device.bc or oshrun.

    Looks in the folders of the libraries, and where a built or an installed tree has such files.
    Raises WarpshmemError, which names the folders, where it is in none.
    """
    roots = list(folders())
    if not os.environ.get("WARPSHMEM_LIBRARY_DIR"):
        loaded = path_of(CORE)
        if loaded:
            roots.append(os.path.dirname(loaded))
    below = (
        "",
        "..",
        "../bin",
        "nvshmem/lib",
        "../nvshmem/lib",
        "warpshmem/nvshmem/lib",
        "warpshmem",
    )
    for root in roots:
        for sub in below:
            path = os.path.normpath(os.path.join(root, sub, name))
            if os.path.isfile(path):
                return path
    raise WarpshmemError(
        "%s is not there: looked in and beside %s; install a wheel that was built with it, or set "
        "WARPSHMEM_LIBRARY_DIR to the folder that has it" % (name, ", ".join(roots))
    )
