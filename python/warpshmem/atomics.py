# SPDX-License-Identifier: BSD-3-Clause
"""Atomics: section 9.7. Each acts on element `index` (0 by default) of a symmetric array at PE
`pe`, as one step."""

from __future__ import annotations

from typing import Any

from . import _lib, rma


def _one(call: str, name: str, dest: Any, index: int, pe: int, family: str) -> Any:
    seen = rma.element(call, dest, index, pe, family)
    return seen, _lib.typed("shmem_{T}_atomic_" + name, seen.kind.c, seen.kind.value)


def _with_value(name: str, dest: Any, value: Any, pe: int, index: int, family: str) -> Any:
    call = "atomic_" + name
    seen, routine = _one(call, name, dest, index, pe, family)
    return routine(seen.address, rma.number(call, value, seen), pe)


def atomic_fetch(source: Any, pe: int, index: int = 0) -> Any:
    """Return the element. int32, int64, uint32, uint64, float32, float64. Section 9.7.1.1."""
    seen, routine = _one("atomic_fetch", "fetch", source, index, pe, "atomic_extended")
    return routine(seen.address, pe)


def atomic_set(dest: Any, value: Any, pe: int, index: int = 0) -> None:
    """Set the element to `value`. Types as atomic_fetch. Section 9.7.1.2."""
    _with_value("set", dest, value, pe, index, "atomic_extended")


def atomic_swap(dest: Any, value: Any, pe: int, index: int = 0) -> Any:
    """Set the element to `value` and return what it was. Types as atomic_fetch. Section 9.7.1.4."""
    return _with_value("swap", dest, value, pe, index, "atomic_extended")


def atomic_compare_swap(dest: Any, cond: Any, value: Any, pe: int, index: int = 0) -> Any:
    """Set the element to `value` where it is `cond`, and return what it was. int32 to uint64.
    Section 9.7.1.3."""
    seen, routine = _one("atomic_compare_swap", "compare_swap", dest, index, pe, "atomic")
    wanted = rma.number("atomic_compare_swap", cond, seen, "cond")
    return routine(seen.address, wanted, rma.number("atomic_compare_swap", value, seen), pe)


def atomic_fetch_inc(dest: Any, pe: int, index: int = 0) -> int:
    """Add 1 and return what the element was. int32 to uint64. Section 9.7.1.5."""
    seen, routine = _one("atomic_fetch_inc", "fetch_inc", dest, index, pe, "atomic")
    return routine(seen.address, pe)


def atomic_inc(dest: Any, pe: int, index: int = 0) -> None:
    """Add 1. int32 to uint64. Section 9.7.1.6."""
    seen, routine = _one("atomic_inc", "inc", dest, index, pe, "atomic")
    routine(seen.address, pe)


def atomic_fetch_add(dest: Any, value: int, pe: int, index: int = 0) -> int:
    """Add `value` and return what the element was. int32 to uint64. Section 9.7.1.7."""
    return _with_value("fetch_add", dest, value, pe, index, "atomic")


def atomic_add(dest: Any, value: int, pe: int, index: int = 0) -> None:
    """Add `value`. int32 to uint64. Section 9.7.1.8."""
    _with_value("add", dest, value, pe, index, "atomic")


def atomic_fetch_and(dest: Any, value: int, pe: int, index: int = 0) -> int:
    """Combine with `value` bit by bit by and, and return what the element was. int32 to uint64.
    Section 9.7.1.9."""
    return _with_value("fetch_and", dest, value, pe, index, "atomic_bitwise")


def atomic_and(dest: Any, value: int, pe: int, index: int = 0) -> None:
    """Combine with `value` bit by bit by and. int32 to uint64. Section 9.7.1.10."""
    _with_value("and", dest, value, pe, index, "atomic_bitwise")


def atomic_fetch_or(dest: Any, value: int, pe: int, index: int = 0) -> int:
    """Combine with `value` bit by bit by or, and return what the element was. int32 to uint64.
    Section 9.7.1.11."""
    return _with_value("fetch_or", dest, value, pe, index, "atomic_bitwise")


def atomic_or(dest: Any, value: int, pe: int, index: int = 0) -> None:
    """Combine with `value` bit by bit by or. int32 to uint64. Section 9.7.1.12."""
    _with_value("or", dest, value, pe, index, "atomic_bitwise")


def atomic_fetch_xor(dest: Any, value: int, pe: int, index: int = 0) -> int:
    """Combine with `value` bit by bit by xor, and return what the element was. int32 to uint64.
    Section 9.7.1.13."""
    return _with_value("fetch_xor", dest, value, pe, index, "atomic_bitwise")


def atomic_xor(dest: Any, value: int, pe: int, index: int = 0) -> None:
    """Combine with `value` bit by bit by xor. int32 to uint64. Section 9.7.1.14."""
    _with_value("xor", dest, value, pe, index, "atomic_bitwise")
