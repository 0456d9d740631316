# SPDX-License-Identifier: BSD-3-Clause
"""The types of elements: names of the frameworks, names in C, sizes."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, NamedTuple, Optional

from .errors import refuse


class Type(NamedTuple):
    """A type of elements. `c`: TYPENAME in routines, None where the library has none; `value`:
    passed by value."""

    name: str
    c: Optional[str]
    value: Any
    size: int
    typestr: Optional[str]  # of the array interface; None where it has none
    dlpack: int  # DLPack's kind of type; -1 where it has none


INT, UINT, FLOAT, BFLOAT, COMPLEX, BOOL = 0, 1, 2, 4, 5, 6

TYPES: Dict[str, Type] = {
    row[0]: Type(*row)
    for row in (
        ("float32", "float", ctypes.c_float, 4, "<f4", FLOAT),
        ("float64", "double", ctypes.c_double, 8, "<f8", FLOAT),
        ("int8", "int8", ctypes.c_int8, 1, "|i1", INT),
        ("int16", "int16", ctypes.c_int16, 2, "<i2", INT),
        ("int32", "int32", ctypes.c_int32, 4, "<i4", INT),
        ("int64", "int64", ctypes.c_int64, 8, "<i8", INT),
        ("uint8", "uint8", ctypes.c_uint8, 1, "|u1", UINT),
        ("uint16", "uint16", ctypes.c_uint16, 2, "<u2", UINT),
        ("uint32", "uint32", ctypes.c_uint32, 4, "<u4", UINT),
        ("uint64", "uint64", ctypes.c_uint64, 8, "<u8", UINT),
        ("complex64", "complexf", None, 8, "<c8", COMPLEX),
        ("complex128", "complexd", None, 16, "<c16", COMPLEX),
        ("bool", "uint8", None, 1, "|b1", BOOL),
        ("float16", "half", None, 2, "<f2", FLOAT),
        ("bfloat16", "bfloat16", None, 2, None, BFLOAT),
        ("float8_e4m3fn", None, None, 1, None, -1),
        ("float8_e5m2", None, None, 1, None, -1),
    )
}

_PYTHON = {float: "float64", int: "int64", bool: "bool", complex: "complex128"}

# The classes of types of the specification, by the names of above.
_WORDS = ("int32", "int64", "uint32", "uint64")
_WHOLE = ("int8", "int16", "uint8", "uint16") + _WORDS
CLASSES = {
    "atomic": _WORDS,
    "atomic_extended": _WORDS + ("float32", "float64"),
    "atomic_bitwise": _WORDS,
    "wait": _WORDS,
    "element": _WHOLE + ("float32", "float64"),
    "bitwise": _WHOLE,
    "ordered": _WHOLE + ("float32", "float64"),
    "arithmetic": _WHOLE + ("float32", "float64", "complex64", "complex128"),
    "stream_ordered": _WHOLE + ("float32", "float64", "float16", "bfloat16"),
}


def dtype_name(dtype: Any) -> str:
    """Return the name of a dtype: of a name, a type of Python, or a dtype of numpy, cupy, torch."""
    if isinstance(dtype, str):
        return dtype
    if dtype in _PYTHON:
        return _PYTHON[dtype]
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return str(name).rpartition(".")[2]


def type_of(dtype: Any, call: str) -> Type:
    """Return the row of a dtype; ArgumentError where there is none."""
    name = dtype_name(dtype)
    try:
        return TYPES[name]
    except KeyError:
        raise refuse(call, "dtype", dtype, "use one of " + ", ".join(TYPES)) from None


def need(kind: Type, family: str, call: str) -> Type:
    """Return `kind` where the specification has the routine for it; else ArgumentError with those
    that it has."""
    if kind.name not in CLASSES[family]:
        raise refuse(
            call, "dtype", kind.name, "this routine is there for " + ", ".join(CLASSES[family])
        )
    return kind
