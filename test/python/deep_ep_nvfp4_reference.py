# SPDX-License-Identifier: BSD-3-Clause
"""Rows of NVFP4 by operations of torch, in FP32, rounded to nearest, ties to even."""

from __future__ import annotations

from typing import Tuple

import torch

Tensor = torch.Tensor
GROUP, LARGEST, SCALE_LARGEST = 16, 6.0, 448.0
# Magnitudes between the values 0, 0.5, 1, 1.5, 2, 3, 4, 6; of a tie the even code is taken.
_BETWEEN = (0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0)


def row_bytes(hidden: int) -> int:
    """Return the bytes of a row: its codes, then its scales."""
    return hidden // 2 + hidden // GROUP


def codes_of(values: Tensor) -> Tensor:
    """Return e2m1 codes, uint8, of float32 values; beyond 6 the largest."""
    large, found = values.abs(), torch.zeros(values.shape, dtype=torch.uint8, device=values.device)
    for number, between in enumerate(_BETWEEN):
        found += (large > between) if number % 2 == 0 else (large >= between)
    return found + (torch.signbit(values).to(torch.uint8) << 3)


def scale_codes(scales: Tensor) -> Tensor:
    """Return e4m3 codes, uint8, of float32 scales from 0 on; beyond 448 the largest."""
    given = scales.clamp(max=SCALE_LARGEST)
    power = torch.where(given < 2**-6, -5, torch.frexp(given)[1])  # normal: below 2^power
    units = torch.round(torch.ldexp(given, 4 - power))  # 8 to 16; below 2^-6 0 to 8
    return (units + ((power + 5) * 8).float()).to(torch.uint8)


def scales_from(codes: Tensor) -> Tensor:
    """Return float32 scales of e4m3 codes."""
    exponents, units = (codes >> 3).int(), (codes & 7).float()
    normal = exponents > 0
    return torch.ldexp(units + 8 * normal, exponents.clamp(min=1) - 10)


def pack(x: Tensor, whole: float) -> Tensor:
    """Return [T, row_bytes] uint8 of bfloat16 rows.

    A group's scale is whole * (its largest magnitude) / 6 as e4m3; a code that of
    value * (whole / scale), or 0 where the scale is 0.
    """
    groups = x.float().view(x.shape[0], x.shape[1] // GROUP, GROUP)
    scales = scale_codes(groups.abs().amax(2) * whole / LARGEST)
    exact = scales_from(scales)
    factor = torch.full_like(exact, whole) / exact
    factor = torch.where(exact > 0, factor, torch.zeros_like(exact))
    codes = codes_of(groups * factor[:, :, None]).view(x.shape)
    return torch.cat([codes[:, ::2] | codes[:, 1::2] << 4, scales], 1)


def parts(rows: Tensor, hidden: int) -> Tuple[Tensor, Tensor]:
    """Return views of packed rows: codes [.., hidden / 2] uint8, of which the low four bits are the
    column before, and codes of scales
    [.., hidden / 16]."""
    return rows[..., : hidden // 2], rows[..., hidden // 2 :]


def unpack(codes: Tensor, scales: Tensor, whole: float) -> Tensor:
    """Return float32 rows: value * scale / whole."""
    values = codes.new_tensor([0, 1, 2, 3, 4, 6, 8, 12], dtype=torch.float32) / 2
    each = torch.stack([codes & 15, codes >> 4], -1).flatten(-2)
    found = values[(each & 7).long()]
    groups = each.shape[:-1] + (each.shape[-1] // GROUP, GROUP)
    found = torch.where(each >= 8, -found, found).view(groups)
    return (found * scales_from(scales.view(torch.uint8))[..., None] / whole).flatten(-2)
