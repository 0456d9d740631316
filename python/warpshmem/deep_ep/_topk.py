# SPDX-License-Identifier: BSD-3-Clause
"""Experts and weights of tokens: what is refused, and columns that fit an instance."""

from __future__ import annotations

from typing import List, Optional

import torch
from warpshmem import _quick

from .errors import wrong

WIDE = {torch.int64: 1, torch.int32: 0}  # types of choices, and whether they have 64 bits


def check_type(call: str, topk: torch.Tensor) -> None:
    """Refuse what are no numbers of experts."""
    if topk.dtype not in (torch.int64, torch.int32):
        raise wrong(call, "topk_idx", "is of %s; give deep_ep.topk_idx_t, torch.int64" % topk.dtype)


def check(call: str, topk: torch.Tensor, experts: int) -> None:
    """Refuse what are no expert numbers. Values are looked at where that waits for no GPU."""
    check_type(call, topk)
    if topk.dim() == 2 and are_right(topk, experts):
        return
    if topk.is_cuda or not topk.numel():
        return
    low, high = int(topk.min()), int(topk.max())
    if low < -1 or high >= experts:
        text = "has %d; experts are 0 to %d, and -1 is none"
        raise wrong(call, "topk_idx", text % (low if low < -1 else high, experts - 1))


def are_right(topk: torch.Tensor, experts: int) -> bool:
    """Return whether choices on the CPU are right, each expert of a token named once; False too
    where nothing here can tell."""
    if _quick.module is None or topk.device.type != "cpu" or not topk.is_contiguous():
        return False
    wide = WIDE.get(topk.dtype)
    if wide is None:
        return False
    return bool(_quick.module.choices(topk.data_ptr(), *topk.shape, wide, experts))


def check_weights(call: str, weights: Optional[torch.Tensor]) -> None:
    """Refuse weights that are not float32, as DeepEP does."""
    if weights is not None and weights.dtype != torch.float32:
        raise wrong(call, "topk_weights", "is of %s; give torch.float32" % weights.dtype)


def fitting(values: torch.Tensor, columns: int, dtype: torch.dtype, empty: int) -> torch.Tensor:
    """Return [T, K] as a contiguous [T, columns] of `dtype`; new columns are `empty`. Fewer columns
    come from ranks without tokens alone."""
    if values.shape[1] == columns:
        fits = values.dtype == dtype and values.is_contiguous()
        return values if fits else values.to(dtype).contiguous()
    made = torch.full((values.shape[0], columns), empty, dtype=dtype, device=values.device)
    some = min(columns, values.shape[1])
    made[:, :some] = values[:, :some]
    return made


LEAST = 8  # columns of instances that PEs take without asking each other


def room(topk: int, experts: int) -> int:
    """Return the columns of such an instance: with LEAST, a PE without tokens may say another top-k
    up to there."""
    return max(topk, min(LEAST, experts))


def agreed(told: List[List[int]]) -> int:
    """Return the top-k of a call of all ranks, of which each tells tokens and top-k: what those
    with tokens have at most."""
    with_tokens = [numbers[1] for numbers in told if numbers[0]]
    return max(with_tokens or [numbers[1] for numbers in told])


def version(tensor: Optional[torch.Tensor]) -> Optional[int]:
    """Return how often a tensor has been written in place; None where torch does not count it, as
    in inference mode."""
    if tensor is None or tensor.is_inference():
        return None
    return int(tensor._version)
