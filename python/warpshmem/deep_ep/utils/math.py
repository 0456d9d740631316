# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep.utils.math: numbers and formats that programs around DeepEP compute with."""

from __future__ import annotations

import zlib
from typing import Any, Tuple

import torch

GROUP, LARGEST = 128, 448.0  # columns of a scale; the largest value of e4m3


def ceil_div(x: int, y: int) -> int:
    """Return x / y, rounded up."""
    return -(-x // y)


def align(x: int, y: int) -> int:
    """Return the next multiple of y from x on."""
    return ceil_div(x, y) * y


def safe_div(a: Any, b: Any) -> float:
    """Return a / b, 0 where b is 0."""
    return a / b if b else 0.0


def calc_diff(x: torch.Tensor, y: torch.Tensor) -> float:
    """Return how unlike two tensors are: 0 for equal ones, about 1 for unrelated ones."""
    one, two = x.double().flatten(), y.double().flatten()
    return safe_div(float((one - two).square().sum()), float((one.square() + two.square()).sum()))


def count_bytes(*tensors: Any) -> int:
    """Return the bytes of tensors, in tuples too; None has none."""
    total = 0
    for one in tensors:
        if isinstance(one, torch.Tensor):
            total += one.numel() * one.element_size()
        elif one is not None:
            total += count_bytes(*one)
    return total


def hash_tensors(*tensors: Any) -> int:
    """Return a number that is the same for tensors of the same bytes, in tuples too; None has no
    bytes. It is not DeepEP's."""
    value = 0
    for one in tensors:
        if isinstance(one, torch.Tensor):
            flat = one.detach().cpu().contiguous().view(-1).view(torch.uint8)
            value = zlib.crc32(flat.numpy(), value)
        elif one is not None:
            value = zlib.crc32(b"%d" % hash_tensors(*one), value)
    return value


def hash_tensor(t: torch.Tensor) -> int:
    """Return the number of one tensor."""
    return hash_tensors(t)


def inplace_unique(x: torch.Tensor, num_slots: int) -> None:
    """Let each row of x [rows, numbers], from 0 to below num_slots, have every number once, the
    greatest first, and -1 behind them; numbers below 0 go."""
    numbers = torch.arange(num_slots + 1, dtype=x.dtype, device=x.device)
    places = torch.where(x < 0, num_slots, x).long()
    there = torch.zeros((x.shape[0], num_slots + 1), dtype=torch.bool, device=x.device)
    there.scatter_(1, places, True)
    once = torch.where(there, numbers, -1)[:, :num_slots].flip(1)
    order = (once < 0).to(torch.int8).argsort(dim=1, stable=True)
    width = min(num_slots, x.shape[1])
    x.fill_(-1)
    x[:, :width] = once.gather(1, order[:, :width])


def create_grouped_scores(
    scores: torch.Tensor, group_idx: torch.Tensor, num_groups: int
) -> torch.Tensor:
    """Return scores [tokens, experts], 0 at experts whose group of experts, one of num_groups that
    follow each other, is not in the token's row of group_idx [tokens, chosen]."""
    tokens, experts = scores.shape
    chosen = torch.zeros((tokens, num_groups), dtype=scores.dtype, device=scores.device)
    chosen.scatter_(1, group_idx.long(), 1)
    return scores * chosen.repeat_interleave(experts // num_groups, dim=1)


def per_token_cast_to_fp8(x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
    """Return x [T, hidden] as float8_e4m3fn, and float32 scales [T, hidden / 128]; torch 2.1."""
    groups = x.float().view(x.shape[0], -1, GROUP)
    scales = groups.abs().amax(2).clamp(min=1e-4) / LARGEST
    codes = (groups / scales[:, :, None]).to(torch.float8_e4m3fn)
    return codes.view(x.shape), scales


def per_token_cast_back(x_fp8: torch.Tensor, x_scales: torch.Tensor) -> torch.Tensor:
    """Return bfloat16 rows of float8_e4m3fn ones, and their scales: float32, or int32 of four
    exponents."""
    if x_scales.dtype == torch.int32:
        words = x_scales.contiguous().view(torch.uint8).view(x_scales.shape[0], -1)
        x_scales = (words.int() << 23).view(torch.float32)[:, : x_fp8.shape[1] // GROUP]
    groups = x_fp8.float().view(x_fp8.shape[0], x_scales.shape[1], -1)
    return (groups * x_scales[:, :, None]).view(x_fp8.shape).to(torch.bfloat16)
