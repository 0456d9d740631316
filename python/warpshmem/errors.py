# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of the package, and how a status of the library becomes one."""

from __future__ import annotations

from typing import Any, Callable, List


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


def failed_text() -> str:
    """Return who has failed while the others go on, and what to do; "" where nobody has. One PE of a
    team says it in a line, the others have none."""
    from . import failures, job

    failed: List[int] = failures.failed_pes() if job.state.live else []
    if not failed:
        return ""
    who = "PE %d has" % failed[0] if len(failed) == 1 else "PEs %s have" % str(failed)[1:-1]
    return who + " failed, and the others go on: call shrink of the team, or of TEAM_WORLD"


def check(status: int, call: str, line: Callable[[], str] = last_line) -> None:
    """Raise WarpshmemError with the library's line where `status` of `call` is not 0."""
    if status:
        raise WarpshmemError(
            line()
            or last_line()
            or "%s returned %d; %s"
            % (call, status, failed_text() or "a line on standard error may say why")
        )


def refuse(call: str, argument: str, value: Any, cure: str) -> ArgumentError:
    """Make the exception of a wrong argument: `raise refuse("put", "pe", 7, "there are PEs 0 to
    3")`."""
    text = repr(value)
    if len(text) > 80:
        text = text[:77] + "..."
    return ArgumentError("warpshmem.%s: %s is %s; %s" % (call, argument, text, cure))
