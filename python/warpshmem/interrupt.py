# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C while the main thread waits inside the library.

Python raises KeyboardInterrupt when the main thread comes back from C, which a wait for a PE that
was interrupted too never does. So a thread is woken by each SIGINT (signal.set_wakeup_fd). Where
the main thread is still in the same call of this package after GRACE seconds, it ends the job with
a line and status 130. Calls pay nothing for it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Optional, Tuple

from . import _lib, job

GRACE = 0.5
STATUS = 128 + signal.SIGINT
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_reader: Optional[int] = None
_writer: Optional[int] = None
_before = -1  # the descriptor that was set before, to which bytes are passed on


def _position() -> Optional[Tuple[FrameType, int]]:
    """Return where in this package the main thread is; None where it is elsewhere."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    if frame is None or not frame.f_code.co_filename.startswith(_PACKAGE):
        return None
    return frame, frame.f_lasti


def _stays() -> Optional[FrameType]:
    """Return the frame in which the main thread stays for GRACE seconds; None where it moves."""
    first = _position()
    until = time.monotonic() + GRACE
    while first is not None and time.monotonic() < until:
        time.sleep(0.02)
        now = _position()
        if now is None or now[0] is not first[0] or now[1] != first[1]:
            return None
    return first[0] if first else None


def _name(frame: FrameType) -> str:
    """Return a function's name, a method's with its class."""
    name, of = frame.f_code.co_name, frame.f_locals.get("self")
    return name if of is None else "%s.%s" % (type(of).__name__, name)


def _end(frame: FrameType) -> None:
    last, caller = frame, frame.f_back
    while caller is not None and caller.f_code.co_filename.startswith(_PACKAGE):
        last, caller = caller, caller.f_back
    call = _name(last)
    where = " (%s:%d)" % (caller.f_code.co_filename, caller.f_lineno) if caller else ""
    who = "PE %d" % job.state.me if job.state.live else "a process that was to become a PE"
    line = (
        "warpshmem: %s: KeyboardInterrupt: SIGINT while it waits in warpshmem.%s%s; the job ends\n"
        % (who, call, where)
    )
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        pass
    os.write(2, line.encode())
    if job.state.live:
        _lib.core().shmem_global_exit(STATUS)
    os._exit(STATUS)


def _watch(reader: int) -> None:
    while True:
        try:
            woken = os.read(reader, 64)
        except OSError:
            return
        if _before >= 0:
            try:
                os.write(_before, woken)
            except OSError:
                pass
        if signal.SIGINT in woken:
            frame = _stays()
            if frame is not None:
                _end(frame)


def start() -> None:
    """Begin to watch, once a process, from the main thread; where another thread starts the
    library, nobody does."""
    global _reader, _writer, _before
    if _reader is not None or threading.current_thread() is not threading.main_thread():
        return
    _reader, _writer = os.pipe()
    os.set_blocking(_writer, False)
    _before = signal.set_wakeup_fd(_writer, warn_on_full_buffer=False)
    threading.Thread(
        target=_watch, args=(_reader,), name="warpshmem interrupts", daemon=True
    ).start()


def _in_child() -> None:
    """A forked child has no watcher; its signals must not wake the parent's."""
    global _reader, _writer, _before
    if _reader is None or _writer is None:
        return
    if threading.current_thread() is threading.main_thread():
        signal.set_wakeup_fd(-1)
    os.close(_reader)
    os.close(_writer)
    _reader = _writer = None
    _before = -1


os.register_at_fork(after_in_child=_in_child)
