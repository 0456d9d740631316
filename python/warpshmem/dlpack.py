# SPDX-License-Identifier: BSD-3-Clause
"""DLPack capsules made with ctypes: the protocol by which frameworks take each other's arrays."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Dict, Tuple

from .dtypes import Type
from .errors import WarpshmemError

CPU, CUDA = 1, 2


class _Device(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_NAME = b"dltensor"
_python = ctypes.pythonapi
_new = _python.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_valid = _python.PyCapsule_IsValid
_valid.restype, _valid.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]

# What consumers hold: by the address of the struct, the struct, its arrays and the memory.
_held: Dict[int, Tuple[Any, ...]] = {}
# Capsules that nobody had consumed when last looked at. A capsule has no destructor: it could run
# while an exception is on its way, where no Python may.
_given: Dict[int, Any] = {}


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _release(managed: int, held: Dict[int, Any] = _held) -> None:
    """The consumer has done with it."""
    held.pop(managed, None)


def _sweep() -> None:
    """Forget capsules that were consumed, and those that nobody has any more."""
    for where in list(_given):
        if not _valid(id(_given[where]), _NAME):
            del _given[where]
        elif sys.getrefcount(_given[where]) <= 2:
            del _given[where]
            _held.pop(where, None)


def capsule(
    owner: Any, address: int, shape: Tuple[int, ...], kind: Type, device: Tuple[int, int]
) -> Any:
    """Make a capsule over dense memory, which keeps `owner` alive until the consumer has done with
    it."""
    if kind.dlpack < 0:
        raise WarpshmemError("DLPack has no type %s; take uint8 and reinterpret it" % kind.name)
    extents = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    dense, step = [], 1
    for extent in reversed(shape):
        dense.append(step)
        step *= extent
    strides = (ctypes.c_int64 * max(len(shape), 1))(*reversed(dense))
    managed = _Managed()
    managed.tensor = _Tensor(
        address,
        _Device(*device),
        len(shape),
        _DataType(kind.dlpack, kind.size * 8, 1),
        extents,
        strides,
        0,
    )
    managed.deleter = ctypes.cast(_release, ctypes.c_void_p).value
    where = ctypes.addressof(managed)
    _held[where] = (managed, extents, strides, owner)
    _sweep()
    _given[where] = _new(where, _NAME, None)
    return _given[where]
