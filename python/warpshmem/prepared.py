# SPDX-License-Identifier: BSD-3-Clause
"""Transfers prepared once and started often: the arguments are looked at when they are made."""

from __future__ import annotations

import ctypes
import functools
from typing import Any, Callable, Tuple

from . import _lib, job, rma, streams
from .memory import View

_state = job.state
_pointer, _size, _int, _word = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_uint64


class Prepared:
    """A transfer whose arguments are checked and converted: call it as often as wanted. It keeps
    its arrays alive."""

    __slots__ = ("_call", "_world", "_name", "_held")

    def __init__(self, name: str, call: Callable[[], None], held: Tuple[Any, ...]) -> None:
        self._call, self._world, self._name, self._held = call, job.state.world, name, held

    def __call__(self) -> None:
        if not _state.live or _state.world != self._world:
            raise job.stale(self._name, self._world)
        self._call()


def _transfer(
    name: str,
    first: View,
    second: View,
    nbytes: int,
    pe: int,
    nbi: bool,
    stream: Any,
    held: Tuple[Any, ...],
) -> Prepared:
    routine = name + ("mem_nbi" if nbi else "mem")
    arguments = (_pointer(first.address), _pointer(second.address), _size(nbytes), _int(pe))
    if stream is None:
        call = functools.partial(getattr(_lib.core(), "shmem_" + routine), *arguments)
    else:
        call = functools.partial(
            getattr(_lib.nvshmem(), "nvshmemx_%s_on_stream" % routine),
            *arguments,
            _pointer(streams.handle(stream, "prepare_" + name)),
        )
    return Prepared("prepare_" + name, call, held)


def prepare_put(dest: Any, source: Any, pe: int, nbi: bool = False, stream: Any = None) -> Prepared:
    """Return `op` so that op() is put(dest, source, pe) (nbi: put_nbi), of what `source` then
    holds. Section 9.6.1.1."""
    there, here = rma._put_views("prepare_put", dest, source, pe)
    return _transfer("put", there, here, here.nbytes, pe, nbi, stream, (dest, source, stream))


def prepare_get(dest: Any, source: Any, pe: int, nbi: bool = False, stream: Any = None) -> Prepared:
    """Return `op` so that op() is get(dest, source, pe) (nbi: get_nbi). Section 9.6.1.5."""
    there, here = rma._get_views("prepare_get", dest, source, pe)
    return _transfer("get", here, there, here.nbytes, pe, nbi, stream, (dest, source, stream))


def prepare_put_signal(
    dest: Any,
    source: Any,
    signal: Any,
    value: int,
    pe: int,
    op: str = "set",
    nbi: bool = False,
    stream: Any = None,
    index: int = 0,
) -> Prepared:
    """Return `op` so that op() is put_signal with these arguments. Sections 9.8.1, .2."""
    name = "prepare_put_signal"
    there, here = rma._put_views(name, dest, source, pe)
    word, code = rma.signal_word(name, signal, index=index), rma.signal_op(name, op)
    number = rma.number(name, value, rma.UNSIGNED)
    routine = "putmem_signal" + ("_nbi" if nbi else "")
    arguments = [
        _pointer(there.address),
        _pointer(here.address),
        _size(here.nbytes),
        _pointer(word.address),
        _word(number),
        _int(code if stream is None else rma.STREAM_SIGNALS[code]),
        _int(pe),
    ]
    if stream is None:
        call = functools.partial(getattr(_lib.core(), "shmem_" + routine), *arguments)
    else:
        call = functools.partial(
            getattr(_lib.nvshmem(), "nvshmemx_%s_on_stream" % routine),
            *arguments,
            _pointer(streams.handle(stream, name)),
        )
    return Prepared(name, call, (dest, source, signal, stream))
