# SPDX-License-Identifier: BSD-3-Clause
"""Routing as maps, a column for each expert, and as choices, a column for each of a token's experts.
Operations of torch, which wait for no GPU."""

from __future__ import annotations

import torch

Tensor = torch.Tensor


def choices(routing: Tensor, columns: int) -> Tensor:
    """Return [T, columns] int64: the experts of each token [T, experts] in their order, then -1.
    Experts of a token beyond so many are left out."""
    place = torch.where(routing, routing.cumsum(1) - 1, columns).clamp(max=columns)
    numbers = torch.arange(routing.shape[1], device=routing.device).expand(routing.shape)
    made = numbers.new_full((routing.shape[0], columns + 1), -1)
    return made.scatter_(1, place, numbers)[:, :columns].contiguous()


def spread(values: Tensor, chosen: Tensor, columns: int, first: int = 0) -> Tensor:
    """Return [R, columns] of [R, K]: choice c's value in column first + c, 0 in others; -1: none."""
    made = values.new_zeros((values.shape[0], columns + 1))
    at = torch.where(chosen >= 0, chosen + first, torch.full_like(chosen, columns))
    return made.scatter_(1, at.long(), values)[:, :columns].contiguous()


def gathered(values: Tensor, chosen: Tensor, first: int = 0) -> Tensor:
    """Return [R, K] of [R, columns]: what `spread` was given."""
    found = values.gather(1, (chosen + first).clamp(min=0).long())
    return torch.where(chosen >= 0, found, torch.zeros_like(found))
