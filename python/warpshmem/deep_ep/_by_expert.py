# SPDX-License-Identifier: BSD-3-Clause
"""Layouts and expansion on a GPU by kernels of the library, a launch each: what _layout.py and
_expand.py make by operations of torch where the library has none. All run on the current
stream."""

from __future__ import annotations

import ctypes
from typing import Any, Optional, Tuple

import torch
from warpshmem import _ep_arrays, _lib

from . import _topk

Tensor = torch.Tensor
ROW = 16  # rows are multiples of so many bytes, at such addresses
_routines: Optional[Tuple[Any, ...]] = None


def _routine(number: int) -> Any:
    global _routines
    if _routines is None:
        library = _lib.ep()
        names = "wsh_ep_sums", "wsh_ep_places", "wsh_ep_expand", "wsh_ep_fold", "wsh_ep_layout"
        _routines = tuple(getattr(library, name) for name in names)
        for routine in _routines:
            routine.argtypes = ctypes.c_void_p, ctypes.c_void_p
    return _routines[number]


def _call(number: int, device: int, *given: Any) -> bool:
    """Call a routine with what ep/by_expert.h says of it: tensors, None, numbers. False: the
    library has no kernels, or none for so many choices or tokens."""
    words = [
        one.data_ptr() if isinstance(one, Tensor) else 0 if one is None else one for one in given
    ]
    struct = (ctypes.c_int64 * len(words))(*words)
    status = _routine(number)(ctypes.addressof(struct), _ep_arrays.raw_stream(device))
    if status > 0:
        raise RuntimeError("deep_ep: a kernel does not start: CUDA error %d" % status)
    return bool(status == 0)


def _plain(rows: Tensor) -> bool:
    """Whether rows are as kernels take them."""
    width = rows.shape[1] * rows.element_size()
    return rows.is_contiguous() and width % ROW == 0 and rows.data_ptr() % ROW == 0


def layout(
    chosen: Tensor, experts: int, ranks: int, hosts: int
) -> Optional[Tuple[Tensor, Optional[Tensor], Tensor, Tensor]]:
    """Return tokens by rank, by host (0 hosts: None), by expert, and whether each goes to each
    rank."""
    tokens, topk = chosen.shape
    wide = _topk.WIDE.get(chosen.dtype)
    if not chosen.is_cuda or wide is None:
        return None
    chosen, new = chosen.contiguous(), chosen.new_empty
    of_rank = new((ranks,), dtype=torch.int32)
    of_host = new((hosts,), dtype=torch.int32) if hosts else None
    of_expert = new((experts,), dtype=torch.int32)
    goes = new((tokens, ranks), dtype=torch.bool)
    sizes = tokens, topk, wide, ranks, ranks // hosts if hosts else ranks, experts // ranks
    tensors = chosen, of_rank, of_host, of_expert, goes
    done = _call(4, chosen.get_device(), *tensors, *sizes)
    return (of_rank, of_host, of_expert, goes) if done else None


def sums(
    sources: Tensor, counts: Optional[Tensor], inside: int, alignment: int
) -> Optional[Tuple[Tensor, Optional[Tensor]]]:
    """Return inclusive sums of rows by rank inside its group of so many, and of aligned counts."""
    if not sources.is_cuda or not sources.is_contiguous():
        return None
    come = sources.new_empty((inside,))
    padded = torch.empty_like(counts) if counts is not None else None
    local = counts.shape[0] if counts is not None else 0
    sizes = sources.shape[0], inside, local, alignment
    done = _call(0, sources.get_device(), sources, counts, come, padded, *sizes)
    return (come, padded) if done else None


def places(
    chosen: Tensor, counts: Tensor, alignment: int, expanded: int, ids: bool
) -> Optional[Tuple[Tensor, Tensor, Tensor, Optional[Tensor]]]:
    """Return ends, rows, sources and, with ids, the expert of each expanded row, as
    _expand.Places has them."""
    topk, wide = chosen.shape[1], _topk.WIDE.get(chosen.dtype)
    if not chosen.is_cuda or chosen.stride(1) != 1 or wide is None:
        return None
    ends = torch.empty_like(counts)
    rows = chosen.new_empty(chosen.shape, dtype=torch.int32)
    sources = chosen.new_empty((expanded,), dtype=torch.int64)
    named = chosen.new_empty((expanded,), dtype=torch.int32) if ids else None
    sizes = chosen.shape[0], topk, chosen.stride(0), wide, counts.shape[0], alignment, expanded
    tensors = chosen, counts, ends, rows, sources, named
    done = _call(1, chosen.get_device(), *tensors, *sizes)
    return (ends, rows, sources, named) if done else None


def expand(
    rows: Tensor,
    scales: Optional[Tensor],
    weights: Optional[Tensor],
    made: Any,
    zero: bool,
) -> Optional[Tuple[Tensor, Optional[Tensor], Optional[Tensor]]]:
    """Return expanded rows, scales and weights; made: _expand.Places. zero: padding is zero."""
    if not rows.is_cuda or not _plain(rows):
        return None
    columns, step = 0, 0
    if scales is not None:
        if not scales.is_contiguous() or scales.element_size() != 4 or scales.dim() != 2:
            return None
        columns = scales.shape[1]
    if weights is not None:
        if weights.dtype != torch.float32 or weights.stride(1) != 1:
            return None
        step = weights.stride(0)
    expanded = made.sources.shape[0]
    out = rows.new_empty((expanded, rows.shape[1]))
    some = scales.new_empty((expanded, columns)) if scales is not None else None
    more = weights.new_empty((expanded,)) if weights is not None else None
    tensors = made.rows, made.sources, rows, out, scales, some, weights, more
    width = rows.shape[1] * rows.element_size()
    sizes = rows.shape[0], made.rows.shape[1], expanded, width, columns, step, int(zero)
    done = _call(2, rows.get_device(), *tensors, *sizes)
    return (out, some, more) if done else None


def fold(x: Tensor, rows: Tensor, out: Optional[Tensor]) -> Optional[Tensor]:
    """Return the sums of expanded rows, as _expand.fold."""
    if not x.is_cuda or x.dtype != torch.bfloat16:
        return None
    x, rows = x.contiguous(), rows.contiguous()
    if not _plain(x):
        return None
    if out is None:
        out = x.new_empty((rows.shape[0], x.shape[1]))
    done = _call(3, x.get_device(), rows, x, out, rows.shape[0], rows.shape[1], x.shape[1])
    return out if done else None
