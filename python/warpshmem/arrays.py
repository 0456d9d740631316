# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of numpy, torch and cupy in symmetric memory, and over the memory of peers."""

from __future__ import annotations

import operator
import sys
from typing import Any, Callable, Dict, Optional, Sequence, Tuple, Union

from . import _lib, job
from .dtypes import Type, type_of
from .errors import WarpshmemError, refuse
from .memory import Memory, allocate, symmetric, view

Shape = Union[int, Sequence[int]]


def _as_shape(shape: Shape, call: str) -> Tuple[int, ...]:
    sequence: Any = (shape,) if hasattr(shape, "__index__") else shape
    try:
        extents = tuple(operator.index(extent) for extent in sequence)
    except TypeError:
        extents = (-1,)
    if any(extent < 0 for extent in extents):
        raise refuse(
            call, "shape", shape, "pass a whole number or a sequence of them, none below 0"
        )
    return extents


def _current_gpu() -> int:
    """Return the number of the GPU that the driver has current, which is the job's after the first
    allocation."""
    import ctypes

    number = ctypes.c_int()
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        if driver.cuCtxGetDevice(ctypes.byref(number)):
            return 0
    except OSError:
        return 0
    return number.value


def _numpy(memory: Memory, call: str) -> Any:
    import numpy

    if memory.kind.typestr is None:
        raise refuse(call, "dtype", memory.kind.name, 'numpy has no such type; use like="torch"')
    return numpy.asarray(memory)


def _torch(memory: Memory, call: str) -> Any:
    import torch

    kind = getattr(torch, memory.kind.name, None)
    if kind is None:
        raise refuse(call, "dtype", memory.kind.name, "this version of torch has no such type")
    if 0 in memory.shape:
        return torch.empty(memory.shape, dtype=kind, device=_torch_device(memory))
    raw = Memory(
        memory.address,
        memory.nbytes,
        (memory.nbytes,),
        type_of("uint8", call),
        memory.device,
        False,
        memory,
    )
    return torch.from_dlpack(raw).view(kind).reshape(memory.shape)


def _torch_device(memory: Memory) -> str:
    return "cpu" if memory.device is None else "cuda:%d" % memory.device


def _cupy(memory: Memory, call: str) -> Any:
    import cupy

    if memory.device is None or memory.kind.typestr is None:
        raise refuse(
            call,
            "like",
            "cupy",
            'cupy has arrays in memory of GPUs alone (device="gpu"), and no %s' % memory.kind.name,
        )
    chunk = cupy.cuda.UnownedMemory(memory.address, max(memory.nbytes, 1), memory, memory.device)
    return cupy.ndarray(memory.shape, memory.kind.name, cupy.cuda.MemoryPointer(chunk, 0))


_MAKERS: Dict[Optional[str], Callable[[Memory, str], Any]] = {
    "numpy": _numpy,
    "torch": _torch,
    "cupy": _cupy,
    None: lambda memory, call: memory,
}


def _framework(like: Any, call: str) -> Optional[str]:
    """Return the name of a framework: of its name, its module, or an array of it; None is Memory
    itself."""
    if like is None or isinstance(like, str):
        name = like
    else:
        name = getattr(like, "__name__", type(like).__module__).partition(".")[0]
    if name not in _MAKERS:
        raise refuse(
            call, "like", like, 'use "numpy", "torch", "cupy", or None for warpshmem.Memory'
        )
    return name


def _make(
    call: str, shape: Shape, dtype: Any, like: Any, device: str, zeroed: bool, team: Any = None
) -> Any:
    job.need(call)
    extents, kind, framework = _as_shape(shape, call), type_of(dtype, call), _framework(like, call)
    if device not in ("host", "gpu"):
        raise refuse(call, "device", device, 'use "host" or "gpu"')
    gpu = device == "gpu"
    if (framework, gpu) in (("numpy", True), ("cupy", False)):
        raise refuse(call, "device", device, "%s has no arrays there" % framework)
    if framework:
        try:
            __import__(framework)
        except ImportError as error:
            raise WarpshmemError(
                "warpshmem.%s: like=%r, but it cannot be imported: %s" % (call, like, error)
            ) from None
    nbytes = kind.size
    for extent in extents:
        nbytes *= extent
    address = allocate(call, max(nbytes, 1), gpu, zeroed, team)
    memory = Memory(address, nbytes, extents, kind, _current_gpu() if gpu else None, team is None)
    return _MAKERS[framework](memory, call)


def empty(shape: Shape, dtype: Any = "float32", like: Any = "numpy", device: str = "host") -> Any:
    """Return an array in symmetric memory, not initialized. Collective over all PEs, with equal
    arguments.

    shape: a whole number or a sequence of them, in elements; dtype: a name ("float32", "bfloat16",
    ...) or a dtype of a framework. like: "numpy", "torch", "cupy", a module or an array of one of
    them; None for a warpshmem.Memory, which other frameworks take through DLPack. device: "host",
    or "gpu": memory of this PE's GPU.

    The memory is given back when the last array over it is gone, at any time and in any order on
    each PE; it is used again when all PEs have given it back. Section 9.3.1, shmemx_malloc_device,
    shmemx_free_later. Raises WarpshmemError on all PEs where it does not fit.
    """
    return _make("empty", shape, dtype, like, device, False)


def empty_of(team: Any, shape: Shape, dtype: Any, like: Any, device: str) -> Any:
    """Return an array in memory of a team: Team.empty."""
    return _make("Team.empty", shape, dtype, like, device, False, team)


def zeros(shape: Shape, dtype: Any = "float32", like: Any = "numpy", device: str = "host") -> Any:
    """Return an array of zeros in symmetric memory: as empty. Collective over all PEs. Section
    9.3.6."""
    return _make("zeros", shape, dtype, like, device, True)


def is_symmetric(array: Any) -> bool:
    """Return whether an array lies in symmetric memory of this PE. Local. Section 9.1.8."""
    job.need("is_symmetric")
    seen = view(array, "is_symmetric", "array")
    return bool(_lib.core().shmem_addr_accessible(seen.address, job.state.me))


def _like_of(array: Any) -> Optional[str]:
    if isinstance(array, Memory):
        return None
    name = type(array).__module__.partition(".")[0]
    if hasattr(array, "data_ptr") and "torch" in sys.modules:
        return "torch"
    return name if name in _MAKERS else None


def _device_of(array: Any, gpu: bool) -> Optional[int]:
    if not gpu:
        return None
    if isinstance(array, Memory):
        return array.device
    device = array.device
    number = getattr(device, "index", None)
    return number if isinstance(number, int) else getattr(device, "id", 0)


def _peer(call: str, array: Any, pe: int, address: Optional[int], like: Any) -> Any:
    if not address:
        raise WarpshmemError(
            "warpshmem.%s: memory of PE %d cannot be reached by loads and stores: it is on another"
            " host, or GPUs without NVLink or peer access; use put and get" % (call, pe)
        )
    seen = view(array, call, "array")
    kind: Type = seen.kind
    memory = Memory(
        address, seen.nbytes, tuple(array.shape), kind, _device_of(array, seen.gpu), False, array
    )
    return _MAKERS[_like_of(array) if like is None else _framework(like, call)](memory, call)


def peer(array: Any, pe: int, like: Any = None) -> Any:
    """Return an array of the same framework over the copy of `array` at PE `pe`, for loads and
    stores. Local.

    It is valid while the copy is, keeps `array` alive, and is no symmetric memory itself. Section
    9.1.9 (shmem_ptr). Raises WarpshmemError where the memory of that PE cannot be mapped here.
    """
    job.need("peer")
    job.check_pe("peer", pe)
    seen = symmetric(array, "peer", "array")
    return _peer("peer", array, pe, _lib.core().shmem_ptr(seen.address, pe), like)


def register(array: Any) -> None:
    """Name memory of a GPU outside the symmetric heap that is source or target of transfers. Local.

    Section: shmemx_buffer_register. Raises WarpshmemError with the library's line.
    """
    from .errors import check

    job.need("register")
    seen = view(array, "register", "array")
    check(_lib.core().shmemx_buffer_register(seen.address, seen.nbytes), "shmemx_buffer_register")


def unregister(array: Any) -> None:
    """End what register began. Local. Raises WarpshmemError with the library's line."""
    from .errors import check

    job.need("unregister")
    check(
        _lib.core().shmemx_buffer_unregister(view(array, "unregister", "array").address),
        "shmemx_buffer_unregister",
    )
