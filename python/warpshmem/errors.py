# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of the package, and how a status of the library becomes one."""

from __future__ import annotations

from typing import Any, Callable


class WarpshmemError(RuntimeError):
    """The library refused a call, or is not there. The text is the library's own line where it
    wrote one."""


class ArgumentError(WarpshmemError, ValueError):
    """An argument is wrong. Raised before the library is called; names the argument, its value and
    the cure."""


def last_line() -> str:
    """Return, once, the last line of an error that the library wrote in this thread; "" where there
    is none."""
    from . import _lib

    text = _lib.core().shmemx_error_last()
    return text.decode(errors="replace") if text else ""


def check(status: int, call: str, line: Callable[[], str] = last_line) -> None:
    """Raise WarpshmemError with the library's line where `status` of `call` is not 0."""
    if status:
        raise WarpshmemError(
            line()
            or last_line()
            or "%s returned %d; a line on standard error may say why" % (call, status)
        )


def refuse(call: str, argument: str, value: Any, cure: str) -> ArgumentError:
    """Make the exception of a wrong argument: `raise refuse("put", "pe", 7, "there are PEs 0 to
    3")`."""
    text = repr(value)
    if len(text) > 80:
        text = text[:77] + "..."
    return ArgumentError("warpshmem.%s: %s is %s; %s" % (call, argument, text, cure))
