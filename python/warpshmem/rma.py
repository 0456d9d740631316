# SPDX-License-Identifier: BSD-3-Clause
"""Puts, gets, signals: sections 9.6 and 9.8; on streams by libnvshmem_host's routines."""

from __future__ import annotations

import operator
from typing import Any, Optional, Tuple

from . import _lib, _quick, job, streams
from .dtypes import TYPES
from .dtypes import need as need_type
from .errors import refuse
from .memory import View, symmetric, view, writable

SIGNALS = {"set": 0, "add": 1}
STREAM_SIGNALS = {0: 9, 1: 10}  # of NVSHMEM
UNSIGNED = View(0, 1, TYPES["uint64"], False)  # what a signal's value fits


def _two(
    call: str, remote: Any, local: Any, remote_name: str, local_name: str
) -> Tuple[View, View]:
    """Describe the symmetric array and the other one, whose types must be alike."""
    there, here = symmetric(remote, call, remote_name), view(local, call, local_name)
    if there.kind is not here.kind:
        raise refuse(
            call,
            local_name,
            here.kind.name,
            "its dtype must be that of %s, %s" % (remote_name, there.kind.name),
        )
    return there, here


def _put_views(call: str, dest: Any, source: Any, pe: int) -> Tuple[View, View]:
    job.need(call)
    job.check_pe(call, pe)
    there, here = _two(call, dest, source, "dest", "source")
    if here.size > there.size:
        raise refuse(
            call,
            "source",
            "%d elements" % here.size,
            "dest has %d: pass a part of source" % there.size,
        )
    return there, here


def _get_views(call: str, dest: Any, source: Any, pe: int) -> Tuple[View, View]:
    job.need(call)
    job.check_pe(call, pe)
    there, here = _two(call, source, dest, "source", "dest")
    writable(here, call, "dest")
    if here.size > there.size:
        raise refuse(
            call,
            "dest",
            "%d elements" % here.size,
            "source has %d: pass a part of dest" % there.size,
        )
    return there, here


def put(dest: Any, source: Any, pe: int, stream: Any = None) -> None:
    """Copy all of `source`, any array of this PE, to the symmetric array `dest` at PE `pe`. Section
    9.6.1.1.

    `source` has no more elements than `dest`, and the same dtype. Returns when it may be reused;
    the data has arrived after a quiet or barrier. stream: the copy happens in the order of that
    stream; arrays are then memory of GPUs.
    """
    if stream is None and _quick.put(dest, source, pe):
        return
    there, here = _put_views("put", dest, source, pe)
    if stream is None:
        _lib.core().shmem_putmem(there.address, here.address, here.nbytes, pe)
    else:
        _lib.nvshmem().nvshmemx_putmem_on_stream(
            there.address, here.address, here.nbytes, pe, streams.handle(stream, "put")
        )


def put_nbi(dest: Any, source: Any, pe: int, stream: Any = None) -> None:
    """Start a put; neither array may be touched, nor freed, before the next quiet. Else as put.
    Section 9.6.2."""
    if stream is None and _quick.put_nbi(dest, source, pe):
        return
    there, here = _put_views("put_nbi", dest, source, pe)
    if stream is None:
        _lib.core().shmem_putmem_nbi(there.address, here.address, here.nbytes, pe)
    else:
        _lib.nvshmem().nvshmemx_putmem_nbi_on_stream(
            there.address, here.address, here.nbytes, pe, streams.handle(stream, "put_nbi")
        )


def get(dest: Any, source: Any, pe: int, stream: Any = None) -> None:
    """Fill `dest`, any array of this PE, from the symmetric array `source` at PE `pe`. Section
    9.6.1.5.

    `dest` has no more elements than `source`, and the same dtype. stream: as put.
    """
    if stream is None and _quick.get(dest, source, pe):
        return
    there, here = _get_views("get", dest, source, pe)
    if stream is None:
        _lib.core().shmem_getmem(here.address, there.address, here.nbytes, pe)
    else:
        _lib.nvshmem().nvshmemx_getmem_on_stream(
            here.address, there.address, here.nbytes, pe, streams.handle(stream, "get")
        )


def get_nbi(dest: Any, source: Any, pe: int, stream: Any = None) -> None:
    """Start a get; `dest` holds the data after the next quiet. Else as get. Section 9.6.2."""
    if stream is None and _quick.get_nbi(dest, source, pe):
        return
    there, here = _get_views("get_nbi", dest, source, pe)
    if stream is None:
        _lib.core().shmem_getmem_nbi(here.address, there.address, here.nbytes, pe)
    else:
        _lib.nvshmem().nvshmemx_getmem_nbi_on_stream(
            here.address, there.address, here.nbytes, pe, streams.handle(stream, "get_nbi")
        )


def _strided(
    call: str,
    name: str,
    remote: View,
    local: View,
    dest_stride: int,
    source_stride: int,
    nelems: int,
    sizes: Tuple[int, int],
    addresses: Tuple[int, int],
    pe: int,
) -> None:
    for argument, stride in (("dest_stride", dest_stride), ("source_stride", source_stride)):
        if stride < 1:
            raise refuse(call, argument, stride, "strides count elements and are at least 1")
    for argument, size, stride in (
        ("dest", sizes[0], dest_stride),
        ("source", sizes[1], source_stride),
    ):
        if nelems < 0 or (nelems and (nelems - 1) * stride >= size):
            raise refuse(
                call,
                "nelems",
                nelems,
                "%s has %d elements, which is too few with a stride of %d"
                % (argument, size, stride),
            )
    routine = getattr(_lib.core(), "shmem_%s%d" % (name, remote.kind.size * 8))
    routine(addresses[0], addresses[1], dest_stride, source_stride, nelems, pe)


def iput(
    dest: Any, source: Any, dest_stride: int, source_stride: int, nelems: int, pe: int
) -> None:
    """Put element i * source_stride of `source` to element i * dest_stride of `dest`, i < nelems.
    Section 9.6.1.3."""
    job.need("iput")
    job.check_pe("iput", pe)
    there, here = _two("iput", dest, source, "dest", "source")
    _strided(
        "iput",
        "iput",
        there,
        here,
        dest_stride,
        source_stride,
        nelems,
        (there.size, here.size),
        (there.address, here.address),
        pe,
    )


def iget(
    dest: Any, source: Any, dest_stride: int, source_stride: int, nelems: int, pe: int
) -> None:
    """Get element i * source_stride of `source` to element i * dest_stride of `dest`, i < nelems.
    Section 9.6.1.7."""
    job.need("iget")
    job.check_pe("iget", pe)
    there, here = _two("iget", source, dest, "source", "dest")
    writable(here, "iget", "dest")
    _strided(
        "iget",
        "iget",
        there,
        here,
        dest_stride,
        source_stride,
        nelems,
        (here.size, there.size),
        (here.address, there.address),
        pe,
    )


def element(
    call: str, array: Any, index: int, pe: Optional[int], family: str, argument: str = "dest"
) -> View:
    """Describe element `index` (of the flat array) of a symmetric array at `pe`, of a type of
    `family`."""
    job.need(call)
    if pe is not None:
        job.check_pe(call, pe)
    seen = symmetric(array, call, argument)
    kind = need_type(seen.kind, family, call)
    try:
        number = operator.index(index)
    except TypeError:
        number = -1
    if not 0 <= number < seen.size:
        raise refuse(call, "index", index, "%s has %d elements" % (argument, seen.size))
    return View(seen.address + number * kind.size, 1, kind, seen.gpu)


def number(call: str, value: Any, seen: View, argument: str = "value") -> Any:
    """Return a value that fits the type; ArgumentError where it does not."""
    kind = seen.kind
    if kind.name.startswith("float"):
        try:
            return float(value)
        except (TypeError, ValueError):
            raise refuse(call, argument, value, "pass a number") from None
    low = 0 if kind.name.startswith("u") else -(1 << (kind.size * 8 - 1))
    high = (1 << (kind.size * 8)) + low if low else 1 << (kind.size * 8)
    try:
        whole = operator.index(value)
    except TypeError:
        raise refuse(
            call, argument, value, "pass a whole number, as the array is of %s" % kind.name
        ) from None
    if not low <= whole < high:
        raise refuse(call, argument, value, "%s goes from %d to %d" % (kind.name, low, high - 1))
    return whole


def p(dest: Any, value: Any, pe: int, index: int = 0, stream: Any = None) -> None:
    """Put a number to element `index` of `dest` at PE `pe`. Section 9.6.1.2."""
    seen = element("p", dest, index, pe, "element")
    value = number("p", value, seen)
    if stream is None:
        _lib.typed("shmem_{T}_p", seen.kind.c, seen.kind.value)(seen.address, value, pe)
    else:
        _lib.typed("nvshmemx_{T}_p_on_stream", seen.kind.c, seen.kind.value)(
            seen.address, value, pe, streams.handle(stream, "p")
        )


def g(source: Any, pe: int, index: int = 0) -> Any:
    """Return element `index` of `source` of PE `pe`. Section 9.6.1.6."""
    seen = element("g", source, index, pe, "element", "source")
    return _lib.typed("shmem_{T}_g", seen.kind.c, seen.kind.value)(seen.address, pe)


def signal_word(call: str, signal: Any, argument: str = "signal", index: int = 0) -> View:
    """Describe the first word of a symmetric array of 8-byte integers."""
    seen = symmetric(signal, call, argument)
    if seen.kind.name not in ("uint64", "int64") or seen.size <= index or index < 0:
        raise refuse(
            call,
            argument,
            "%s, %d elements" % (seen.kind.name, seen.size),
            "a signal is an element of a symmetric array of uint64 or int64",
        )
    return View(seen.address + 8 * index, 1, seen.kind, seen.gpu)


def signal_op(call: str, op: str) -> int:
    """Return the number of "set" or "add"."""
    if op not in SIGNALS:
        raise refuse(call, "op", op, 'use "set" or "add"')
    return SIGNALS[op]


def _word(call: str, value: int) -> int:
    return number(call, value, UNSIGNED)


def put_signal(
    dest: Any,
    source: Any,
    signal: Any,
    value: int,
    pe: int,
    op: str = "set",
    nbi: bool = False,
    stream: Any = None,
    index: int = 0,
) -> None:
    """Put `source` to `dest` at PE `pe`, and after it update element `index` of `signal` there.
    Sections 9.8.1, .2.

    signal: symmetric array of uint64 (or int64); value: 0 to 2**64 - 1; op: "set" or "add". nbi:
    the arrays may not be touched before the next quiet. stream: as put.
    """
    if stream is None and _quick.put_signal(dest, source, signal, value, pe, op, nbi, index):
        return
    there, here = _put_views("put_signal", dest, source, pe)
    word, code = signal_word("put_signal", signal, index=index), signal_op("put_signal", op)
    value = _word("put_signal", value)
    if stream is None:
        routine = _lib.core().shmem_putmem_signal_nbi if nbi else _lib.core().shmem_putmem_signal
        routine(there.address, here.address, here.nbytes, word.address, value, code, pe)
        return
    library = _lib.nvshmem()
    routine = (
        library.nvshmemx_putmem_signal_nbi_on_stream
        if nbi
        else library.nvshmemx_putmem_signal_on_stream
    )
    routine(
        there.address,
        here.address,
        here.nbytes,
        word.address,
        value,
        STREAM_SIGNALS[code],
        pe,
        streams.handle(stream, "put_signal"),
    )


def signal_update(
    signal: Any, value: int, pe: int, op: str = "set", stream: Any = None, index: int = 0
) -> None:
    """Set element `index` of `signal` at PE `pe` to `value`, or add `value` to it. Sections 9.8.3
    and 9.8.5."""
    job.need("signal_update")
    job.check_pe("signal_update", pe)
    word, code = signal_word("signal_update", signal, index=index), signal_op("signal_update", op)
    value = _word("signal_update", value)
    if stream is not None:
        _lib.nvshmem().nvshmemx_signal_op_on_stream(
            word.address, value, STREAM_SIGNALS[code], pe, streams.handle(stream, "signal_update")
        )
    elif code:
        _lib.core().shmem_signal_add(word.address, value, pe)
    else:
        _lib.core().shmem_signal_set(word.address, value, pe)


def signal_fetch(signal: Any, index: int = 0) -> int:
    """Return element `index` of this PE's own `signal`. Section 9.8.4."""
    job.need("signal_fetch")
    return _lib.core().shmem_signal_fetch(signal_word("signal_fetch", signal, index=index).address)


def fence() -> None:
    """Order what this PE has put to each PE before what it puts there later. Section 9.12.1."""
    job.need("fence")
    _lib.core().shmem_fence()


def quiet(stream: Any = None) -> None:
    """Complete what this PE has put and got; on a stream, what its kernels have. Section 9.12.2."""
    job.need("quiet")
    if stream is None:
        _lib.core().shmem_quiet()
    else:
        _lib.nvshmem().nvshmemx_quiet_on_stream(streams.handle(stream, "quiet"))
