# SPDX-License-Identifier: BSD-3-Clause
"""Expansion: a row for each expert that a received token has here, expert by expert, and the way
back. Kernels of the library, the extension module, or operations of torch on the rows' device;
nothing waits for a GPU."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Tuple

import torch
from warpshmem import _quick

from . import _by_expert

Tensor = torch.Tensor


class Places(NamedTuple):
    """Where the rows of experts lie. L experts, R received rows, E expanded ones."""

    ends: Tensor  # [L] int32: an expert's first row plus its real count
    rows: Tensor  # [R, K] int32: the expanded row of each choice, -1: none here
    sources: Tensor  # [E] int64: the received row of each expanded one, -1: padding
    ids: Optional[Tensor] = None  # [E] int32: the expert of each expanded row, -1: padding


def aligned(counts: Tensor, alignment: int) -> Tensor:
    """Return counts, each the next multiple of `alignment`."""
    return torch.div(counts + (alignment - 1), alignment, rounding_mode="floor") * alignment


def worst(received: int, topk: int, local: int, alignment: int) -> int:
    """Return the expanded rows that `received` rows can become, a multiple of `alignment`."""
    most = received * min(topk, local) + (alignment - 1) * local
    return (most + alignment - 1) // alignment * alignment


def places(
    chosen: Tensor, counts: Tensor, alignment: int, expanded: int, ids: bool = False
) -> Places:
    """Give each expert's rows, in the order of received rows, their places.

    chosen: [R, K] int64 or int32, experts here, -1: none. counts: [L] int32, how many rows each expert has.
    expanded: E; what has its place beyond is left out. ids: they are wanted too.
    """
    made = _by_expert.places(chosen, counts, alignment, expanded, ids)
    if made is not None:
        return Places(*made)
    found = _placed(chosen, counts, alignment, expanded)
    return found._replace(ids=_ids(found, counts, alignment)) if ids else found


def _ids(made: Places, counts: Tensor, alignment: int) -> Tensor:
    ends = aligned(counts, alignment).cumsum(0, dtype=torch.int32)
    rows = torch.arange(made.sources.shape[0], dtype=torch.int32, device=ends.device)
    found = torch.bucketize(rows, ends, right=True).int()
    return torch.where(made.sources >= 0, found, torch.full_like(found, -1))


def _placed(chosen: Tensor, counts: Tensor, alignment: int, expanded: int) -> Places:
    """The same without kernels of the library, and without ids."""
    local, each = counts.shape[0], chosen.shape[1]
    if not chosen.is_cuda and _quick.module is not None:
        return _places(chosen.int().contiguous(), counts, alignment, expanded)
    flat = torch.where(chosen >= 0, chosen, torch.full_like(chosen, local)).flatten().long()
    first = aligned(counts, alignment).cumsum(0) - aligned(counts, alignment)
    first = torch.cat([first, first.new_full((1,), expanded)])
    before = torch.cat([counts.cumsum(0) - counts, counts.sum().view(1)])
    ordered, order = torch.sort(flat, stable=True)
    numbers = torch.arange(flat.shape[0], device=flat.device)
    at = torch.where(ordered < local, first[ordered] + numbers - before[ordered], expanded)
    found = torch.empty_like(flat)
    found[order] = at.clamp(max=expanded)
    sources = torch.full((expanded + 1,), -1, dtype=torch.int64, device=flat.device)
    sources[found] = torch.div(numbers, each, rounding_mode="floor")
    rows = torch.where(found < expanded, found, -1).int().view(chosen.shape)
    return Places(first[:local].int() + counts, rows, sources[:expanded])


def _places(chosen: Tensor, counts: Tensor, alignment: int, expanded: int) -> Places:
    """The same by the extension module."""
    ends, rows = torch.empty_like(counts), torch.empty_like(chosen)
    sources = torch.empty(expanded, dtype=torch.int64)
    sizes = (*chosen.shape, counts.shape[0], alignment, expanded)
    of = chosen.data_ptr(), counts.data_ptr()
    to = ends.data_ptr(), rows.data_ptr(), sources.data_ptr()
    _quick.module.places(*of, *sizes, *to)
    return Places(ends, rows, sources)


def expand(
    rows: Tensor, scales: Optional[Tensor], weights: Optional[Tensor], made: Places, zero: bool
) -> Tuple[Tensor, Optional[Tensor], Optional[Tensor]]:
    """Return [E, …] rows and scales, copies of their received ones, and [E] weights, of their
    choices, 0 in padding. zero: all of padding is zero, else anything."""
    done = _by_expert.expand(rows, scales, weights, made, zero)
    if done is not None:
        return done
    return (
        _copies(rows, made, zero),
        _copies(scales, made, zero) if scales is not None else None,
        expand_choices(weights, made) if weights is not None else None,
    )


def _copies(rows: Tensor, made: Places, zero: bool) -> Tensor:
    """Return [E, …] rows, copies of their received ones. zero: padding is zero, else anything."""
    if not rows.shape[0]:
        return rows.new_zeros((made.sources.shape[0],) + rows.shape[1:])
    found = take(rows, made.sources.clamp(min=0))
    return blank(found, made.sources < 0) if zero else found


def take(rows: Tensor, numbers: Tensor) -> Tensor:
    """Return rows by their numbers. As words of 16 bits where they are BF16, which the CPU copies
    much faster."""
    if rows.dtype == torch.bfloat16:
        return rows.view(torch.int16).index_select(0, numbers).view(rows.dtype)
    return rows.index_select(0, numbers)


def blank(rows: Tensor, where: Tensor) -> Tensor:
    """Fill the rows that `where` [E] says with zeros, and return them."""
    plain = rows.view(torch.uint8) if rows.element_size() == 1 else rows
    if not rows.is_cuda:  # there are few, and the CPU looks at each element of all
        plain[where] = 0
        return rows
    plain.masked_fill_(where.view((-1,) + (1,) * (rows.dim() - 1)), 0)
    return rows


def expand_choices(values: Tensor, made: Places) -> Tensor:
    """Return [E] of [R, K]: of each expanded row its choice's value; 0 in padding."""
    expanded = made.sources.shape[0]
    found = values.new_zeros((expanded + 1,))
    at = torch.where(made.rows >= 0, made.rows, torch.full_like(made.rows, expanded))
    found[at.long().flatten()] = values.flatten()
    return found[:expanded]


def fold_choices(values: Tensor, rows: Tensor) -> Tensor:
    """Return [R, K] of [E]: of each choice its expanded row's value, 0 where it has none."""
    if not values.shape[0]:
        return values.new_zeros(rows.shape)
    found = values[rows.clamp(min=0).long()]
    return torch.where(rows >= 0, found, torch.zeros_like(found))


def fold(x: Tensor, rows: Tensor, out: Optional[Tensor] = None) -> Tensor:
    """Return [R, hidden] bfloat16: the expanded rows of each received one, added in FP32 in the
    order of the choices and rounded once. out: where they are written, by kernels or the extension
    module."""
    if not x.is_cuda and _quick.module is not None:
        x, rows = x.contiguous(), rows.contiguous()
        made = x.new_empty((len(rows), x.shape[1])) if out is None else out
        where = made.data_ptr(), x.data_ptr(), rows.data_ptr()
        _quick.module.fold(*where, *rows.shape, x.shape[1])
        return made
    done = _by_expert.fold(x, rows, out)
    if done is not None:
        return done
    if not x.is_cuda and rows.numel():  # in one pass, which is many times as fast on the CPU
        wide = torch.zeros((x.shape[0] + 1, x.shape[1]), dtype=torch.float32)
        wide[:-1] = x
        at = torch.where(rows >= 0, rows, torch.full_like(rows, x.shape[0])).long()
        return torch.nn.functional.embedding_bag(at, wide, mode="sum").to(x.dtype)
    total = torch.zeros((rows.shape[0], x.shape[1]), dtype=torch.float32, device=x.device)
    for k in range(rows.shape[1] if x.shape[0] else 0):
        found = take(x, rows[:, k].clamp(min=0).long()).float()
        total += found.masked_fill_((rows[:, k] < 0)[:, None], 0)
    return total.to(x.dtype)


def by_columns(scales: Optional[Tensor], wanted: bool) -> Optional[Tensor]:
    """Return scales whose columns lie one after another, at multiples of four rows, as matrix
    products of TMA take them; as they are where that is not wanted."""
    if scales is None or not wanted:
        return scales
    steps = (1, (scales.shape[0] + 3) // 4 * 4)
    if scales.stride() == steps:
        return scales
    made = torch.empty_strided(tuple(scales.shape), steps, dtype=scales.dtype, device=scales.device)
    return made.copy_(scales)


def pair(rows: Any) -> Tuple[Tensor, Optional[Tensor]]:
    """Return rows and scales of what calls take and give: rows, or (rows, scales)."""
    return tuple(rows) if isinstance(rows, (tuple, list)) else (rows, None)  # type: ignore
