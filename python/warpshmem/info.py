# SPDX-License-Identifier: BSD-3-Clause
"""`python -m warpshmem.info`: which library is used, from where, which versions, and what was found
beside it."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import sys
from typing import Any, Dict, List, Optional, Tuple

from . import __version__, _lib, _quick
from .errors import WarpshmemError

FILES = ("libnvshmem_device.bc", "libnvshmem_device.ltoir", "oshrun")
FOREIGN = (
    ("libfabric", "libfabric.so.1"),
    ("PMIx", "libpmix.so.2"),
    ("hwloc", "libhwloc.so.15"),
    ("CUDA driver", "libcuda.so.1"),
)
FRAMEWORKS = ("numpy", "torch", "cupy", "numba", "triton", "mpi4py")


def specification() -> Tuple[int, int]:
    """Return the version of OpenSHMEM that the library has. Section 9.1.11."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _lib.core().shmem_info_get_version(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def vendor() -> str:
    """Return the library's name. Section 9.1.12."""
    name = ctypes.create_string_buffer(64)
    _lib.core().shmem_info_get_name(name)
    return name.value.decode()


def _library(load: Any, name: str) -> str:
    try:
        load()
    except WarpshmemError as error:
        return "no: %s" % error
    return _lib.path_of(name) or name


def _file(name: str) -> str:
    try:
        return _lib.library_path(name)
    except WarpshmemError as error:
        return "no: %s" % error


def _foreign(soname: str) -> str:
    try:
        ctypes.CDLL(soname)
    except OSError as error:
        return "no: %s" % error
    return _lib.path_of(soname) or soname


def _framework(name: str) -> Optional[str]:
    if importlib.util.find_spec(name) is None:
        return None
    try:
        from importlib.metadata import PackageNotFoundError, version

        return version(name)
    except PackageNotFoundError:
        return "a version that is not known"


def report() -> Dict[str, str]:
    """Return what `python -m warpshmem.info` prints: names and values. Needs no started library."""
    rows = {
        "warpshmem": "%s, %s" % (__version__, os.path.dirname(os.path.abspath(__file__))),
        "python": "%s, %s" % (platform.python_version(), sys.executable),
        "looked in": (
            ", ".join(_lib.folders())
            + ("" if os.environ.get("WARPSHMEM_LIBRARY_DIR") else ", then the loader's path")
        ),
    }
    rows[_lib.CORE] = _library(_lib.core, _lib.CORE)
    if not rows[_lib.CORE].startswith("no: "):
        rows["specification"] = "OpenSHMEM %d.%d, %s" % (specification() + (vendor(),))
        rows[_lib.EP] = _library(_lib.ep, _lib.EP)
        rows[_lib.NVSHMEM] = _library(_lib.nvshmem, _lib.NVSHMEM)
    rows["calls"] = _quick.describe()
    for name in FILES:
        rows[name] = _file(name)
    for name, soname in FOREIGN:
        rows[name] = _foreign(soname)
    for name in FRAMEWORKS:
        rows[name] = _framework(name) or "not installed"
    return rows


def main(arguments: List[str]) -> int:
    """Print the report; 0 where the library was found, else 1."""
    if arguments:
        print("usage: python -m warpshmem.info", file=sys.stderr)
        return 2
    rows = report()
    width = max(len(name) for name in rows)
    for name, value in rows.items():
        print("%-*s  %s" % (width, name, value))
    return 1 if rows[_lib.CORE].startswith("no: ") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
