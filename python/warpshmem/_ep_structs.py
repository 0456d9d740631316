# SPDX-License-Identifier: BSD-3-Clause
"""The structs of shmemx_ep.h."""

from __future__ import annotations

import ctypes
from typing import Any, List, Tuple

_pointer = ctypes.c_void_p
_int = ctypes.c_int


class Config(ctypes.Structure):
    """shmemx_ep_config_t; make it with `config`."""

    _fields_ = [
        ("version", ctypes.c_uint32),
        ("mode", _int),
        ("dtype", _int),
        ("route", _int),
        ("device", _int),
        ("hidden", _int),
        ("experts", _int),
        ("topk", _int),
        ("tokens", _int),
        ("capacity", _int),
        ("window", _int),
        ("handles", _int),
        ("blocks", _int),
        ("topk_bits", _int),
        ("exact", _int),
        ("row_bytes", _int),
        ("expert_capacity", _int),
        ("pe_capacity", _int),
        ("masks", _int),
        ("limit_ms", _int),
        ("fewer_blocks", _int),
        ("unused", _int * 11),
    ]


class Bytes(ctypes.Structure):
    """shmemx_ep_bytes_t: symmetric and local bytes of a PE, and counters."""

    _fields_ = [("symmetric", ctypes.c_size_t), ("local", ctypes.c_size_t), ("counters", _int)]


class Statistics(ctypes.Structure):
    """shmemx_ep_statistics_t: rows and puts over the network, rows to PEs of this host, calls,
    since create."""

    _fields_ = [
        (name, ctypes.c_uint64) for name in ("network_rows", "network_puts", "near_rows", "calls")
    ]


def _fields(kind: Any, names: str) -> List[Tuple[str, Any]]:
    return [(name, kind) for name in names.split()]


class RowsByExpert(ctypes.Structure):
    """shmemx_ep_rows_by_expert_t."""

    _fields_ = _fields(
        _pointer, "rows row_scales counts sources ranges row_sources totals"
    ) + _fields(ctypes.c_int64, "scales_row_step scales_column_step scales_packed")


class RowsBySource(ctypes.Structure):
    """shmemx_ep_rows_by_source_t."""

    _fields_ = _fields(
        _pointer, "rows row_scales counts sources row_sources row_topk row_weights"
    )


class RowsExpanded(ctypes.Structure):
    """shmemx_ep_rows_expanded_t."""

    _fields_ = _fields(
        _pointer, "rows row_scales weights ends places sources experts"
    ) + _fields(ctypes.c_int64, "room alignment zero scales_row_step scales_column_step")


class Dispatch(ctypes.Structure):
    """The members of shmemx_ep_dispatch_t before by_expert."""

    _fields_ = (
        [("version", ctypes.c_uint32)]
        + _fields(_int, "halves handle tokens columns")
        + _fields(_pointer, "x x_scales topk weights rows row_scales counts sources")
        + _fields(_pointer, "row_topk row_weights stream ranges row_sources totals")
        + _fields(ctypes.c_int64, "scales_row_step scales_column_step")
        + [("scales_packed", _int), ("waits", _pointer)]
        + _fields(ctypes.c_int64, "rows_most agreed")
        + _fields(_pointer, "row_sums global_scale expanded")
        + [("unused", ctypes.c_int64 * 1)]
    )


class DispatchByExpert(Dispatch):
    """shmemx_ep_dispatch_t in low latency: `rows` and the others are those of by_expert. Its
    version is CALL_VERSION."""

    _anonymous_ = ("by_expert",)
    _fields_ = [("by_expert", RowsByExpert), ("by_source", RowsBySource)]


class DispatchBySource(Dispatch):
    """shmemx_ep_dispatch_t in high throughput: `rows` and the others are those of by_source. Its
    version is CALL_VERSION."""

    _anonymous_ = ("by_source",)
    _fields_ = [("by_expert", RowsByExpert), ("by_source", RowsBySource)]


class Combine(ctypes.Structure):
    """shmemx_ep_combine_t. Its version is CALL_VERSION."""

    _fields_ = (
        [("version", ctypes.c_uint32)]
        + _fields(_int, "halves handle columns")
        + _fields(_pointer, "y y_weights out out_weights stream weights waits signals")
        + [("signal_value", ctypes.c_uint32), ("signal_rows", _int)]
        + [("signal_blocks", ctypes.c_int64), ("places", _pointer), ("unused", ctypes.c_int64 * 2)]
    )
