# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for words that other PEs write: section 9.11."""

from __future__ import annotations

import ctypes
from typing import Any, List, Optional, Sequence, Tuple

from . import _lib, _quick, job, rma, streams
from .dtypes import need as need_type
from .errors import refuse
from .memory import View, symmetric

_NUMBERS = {
    "eq": 0,
    "ne": 1,
    "gt": 2,
    "le": 3,
    "lt": 4,
    "ge": 5,
    "==": 0,
    "!=": 1,
    ">": 2,
    "<=": 3,
    "<": 4,
    ">=": 5,
}
_NONE = ctypes.c_size_t(-1).value


def comparison(call: str, cmp: str) -> int:
    """Return the number of a comparison."""
    if cmp not in _NUMBERS:
        raise refuse(call, "cmp", cmp, "use one of eq, ne, gt, ge, lt, le")
    return _NUMBERS[cmp]


def _on_host(call: str, seen: View, argument: str = "ivar") -> View:
    if seen.gpu:
        raise refuse(
            call,
            argument,
            "memory of a GPU",
            "the host does not wait there: pass stream=, or wait in a kernel",
        )
    return seen


def wait_until(ivar: Any, cmp: str, value: Any, index: int = 0, stream: Any = None) -> None:
    """Wait until element `index` of this PE's `ivar` compares so with `value`. Section 9.11.1.

    ivar: symmetric array of int32, int64, uint32, uint64; cmp: "eq", "ne", "gt", "ge", "lt", "le".
    With `stream` the stream waits and not the caller. Where it takes longer than SHMEM_HANG_SECONDS
    a line says so.
    """
    if stream is None and _quick.wait(ivar, cmp, value, index):
        return
    seen = rma.element("wait_until", ivar, index, None, "wait", "ivar")
    code, number = comparison("wait_until", cmp), rma.number("wait_until", value, seen)
    if stream is None:
        _on_host("wait_until", seen)
        _lib.typed("shmem_{T}_wait_until", seen.kind.c, seen.kind.value)(seen.address, code, number)
    else:
        _lib.typed("nvshmemx_{T}_wait_until_on_stream", seen.kind.c, seen.kind.value)(
            seen.address, code, number, streams.handle(stream, "wait_until")
        )


def wait_until_timeout(
    ivar: Any, cmp: str, value: Any, seconds: float, index: int = 0
) -> int:
    """Wait until element `index` of this PE's `ivar` compares so, for at most `seconds`. Return 0
    where it does, 1 where the time is over, 2 where a PE has failed since the call began.
    shmemx_wait_until_timeout."""
    seen = _on_host(
        "wait_until_timeout", rma.element("wait_until_timeout", ivar, index, None, "wait", "ivar")
    )
    code, number = comparison("wait_until_timeout", cmp), rma.number(
        "wait_until_timeout", value, seen
    )
    try:
        seconds = float(seconds)
    except (TypeError, ValueError):
        raise refuse("wait_until_timeout", "seconds", seconds, "pass a number") from None
    return _lib.typed("shmemx_{T}_wait_until_timeout", seen.kind.c, seen.kind.value)(
        seen.address, code, number, seconds
    )


def test(ivar: Any, cmp: str, value: Any, index: int = 0) -> bool:
    """Return whether element `index` of this PE's `ivar` compares so with `value`; makes progress.
    Section 9.11.8."""
    found = _quick.test(ivar, cmp, value, index)
    if found is not None:
        return found
    seen = _on_host("test", rma.element("test", ivar, index, None, "wait", "ivar"))
    code, number = comparison("test", cmp), rma.number("test", value, seen)
    return bool(
        _lib.typed("shmem_{T}_test", seen.kind.c, seen.kind.value)(seen.address, code, number)
    )


def signal_wait_until(
    signal: Any, cmp: str, value: int, index: int = 0, stream: Any = None
) -> Optional[int]:
    """Wait until element `index` of this PE's `signal` compares so; return it (None on a stream).
    Section 9.11.15."""
    found = _quick.signal_wait(signal, cmp, value, index) if stream is None else None
    if found is not None:
        return found
    job.need("signal_wait_until")
    seen = rma.signal_word("signal_wait_until", signal, index=index)
    code, number = comparison("signal_wait_until", cmp), rma.number(
        "signal_wait_until", value, rma.UNSIGNED
    )
    if stream is None:
        _on_host("signal_wait_until", seen, "signal")
        return _lib.core().shmem_signal_wait_until(seen.address, code, number)
    _lib.nvshmem().nvshmemx_signal_wait_until_on_stream(
        seen.address, code, number, streams.handle(stream, "signal_wait_until")
    )
    return None


def _set(
    call: str, ivars: Any, status: Optional[Sequence[int]], cmp: str, value: Any
) -> Tuple[View, Any, int, Any]:
    job.need(call)
    seen = _on_host(call, symmetric(ivars, call, "ivars"), "ivars")
    need_type(seen.kind, "wait", call)
    mask = None
    if status is not None:
        if len(status) != seen.size:
            raise refuse(
                call,
                "status",
                "%d elements" % len(status),
                "one is needed for each of the %d ivars" % seen.size,
            )
        mask = (ctypes.c_int * max(seen.size, 1))(*(1 if skip else 0 for skip in status))
    return seen, mask, comparison(call, cmp), rma.number(call, value, seen)


def _routine(name: str, seen: View) -> Any:
    return _lib.typed("shmem_{T}_" + name, seen.kind.c, seen.kind.value)


def wait_until_all(
    ivars: Any, cmp: str, value: Any, status: Optional[Sequence[int]] = None
) -> None:
    """Wait until all elements of `ivars` compare so with `value`; those whose status is not 0 do
    not count. 9.11.2."""
    seen, mask, code, number = _set("wait_until_all", ivars, status, cmp, value)
    _routine("wait_until_all", seen)(seen.address, seen.size, mask, code, number)


def wait_until_any(
    ivars: Any, cmp: str, value: Any, status: Optional[Sequence[int]] = None
) -> Optional[int]:
    """Wait until an element compares so and return its index; None where none counts. Section
    9.11.3."""
    seen, mask, code, number = _set("wait_until_any", ivars, status, cmp, value)
    found = _routine("wait_until_any", seen)(seen.address, seen.size, mask, code, number)
    return None if found == _NONE else found


def wait_until_some(
    ivars: Any, cmp: str, value: Any, status: Optional[Sequence[int]] = None
) -> List[int]:
    """Wait until at least one element compares so and return the indices of all that do. Section
    9.11.4."""
    return _some("wait_until_some", ivars, cmp, value, status)


def test_all(ivars: Any, cmp: str, value: Any, status: Optional[Sequence[int]] = None) -> bool:
    """Return whether all elements of `ivars` compare so with `value`. Section 9.11.9."""
    seen, mask, code, number = _set("test_all", ivars, status, cmp, value)
    return bool(_routine("test_all", seen)(seen.address, seen.size, mask, code, number))


def test_any(
    ivars: Any, cmp: str, value: Any, status: Optional[Sequence[int]] = None
) -> Optional[int]:
    """Return the index of an element that compares so, or None. Section 9.11.10."""
    seen, mask, code, number = _set("test_any", ivars, status, cmp, value)
    found = _routine("test_any", seen)(seen.address, seen.size, mask, code, number)
    return None if found == _NONE else found


def test_some(
    ivars: Any, cmp: str, value: Any, status: Optional[Sequence[int]] = None
) -> List[int]:
    """Return the indices of all elements that compare so. Section 9.11.11."""
    return _some("test_some", ivars, cmp, value, status)


def _some(
    name: str, ivars: Any, cmp: str, value: Any, status: Optional[Sequence[int]]
) -> List[int]:
    seen, mask, code, number = _set(name, ivars, status, cmp, value)
    indices = (ctypes.c_size_t * max(seen.size, 1))()
    count = _routine(name, seen)(seen.address, seen.size, indices, mask, code, number)
    return list(indices[:count])
