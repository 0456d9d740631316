# SPDX-License-Identifier: BSD-3-Clause
"""Rows of NVFP4 in low latency, which the library packs: values of e2m1, two in a byte, an e4m3 scale
for each 16 of them, and one FP32 scale for all rows."""

from __future__ import annotations

from typing import Any, Dict, Tuple

import torch
import warpshmem

from ._elastic_checks import flag, tensor
from .errors import not_offered, wrong

GROUP = 16
E4M3 = getattr(torch, "float8_e4m3fn", torch.uint8)
CALL = "Buffer.low_latency_dispatch"
KEPT = 64  # scales that are numbers, as tensors
_made: Dict[Tuple[float, torch.device], torch.Tensor] = {}


def forms(lead: Tuple[int, ...], hidden: int) -> Tuple[Tuple[Any, ...], Tuple[Any, ...]]:
    """Return shape and type of received codes, of which the low four bits are the column before,
    and of scales."""
    return (lead + (hidden // 2,), torch.uint8), (lead + (hidden // GROUP,), E4M3)


def wanted(given: Any) -> bool:
    """Return whether rows of NVFP4 are asked for."""
    flag(CALL, "use_nvfp4", given)
    return bool(given)


def asked(given: Any, use_fp8: bool, x: Any, buffer: Any) -> torch.Tensor:
    """Return the scale of all rows of a dispatch with use_nvfp4, one float32 where x lies."""
    if use_fp8:
        raise wrong(CALL, "use_fp8", "is True, and so is use_nvfp4; choose one")
    tensor(CALL, "x", x)
    if x.is_cuda:
        _offered(buffer)
    if isinstance(given, torch.Tensor) and given.numel() == 1 and given.dtype == torch.float32:
        if given.is_cuda or float(given) > 0:
            return given if given.device == x.device else given.to(x.device)
    number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not number or not 0 < given < 3e38:
        shown = given if number else getattr(given, "dtype", type(given).__name__)
        text = "is %s; give a positive number, or a tensor of one, torch.float32"
        raise wrong(CALL, "x_global_scale", text % shown)
    key = float(given), x.device
    if key not in _made:
        if len(_made) >= KEPT:
            _made.clear()
        _made[key] = torch.tensor([key[0]], dtype=torch.float32, device=x.device)
    return _made[key]


def _offered(buffer: Any) -> None:
    """Refuse rows that kernels do not have."""
    cure = "leave it out %s: there kernels have rows of bfloat16 and float8_e4m3fn"
    if buffer.enable_shrink:
        raise not_offered(CALL, "use_nvfp4", True, cure % "with enable_shrink")
    if warpshmem.TEAM_SHARED.n_pes < buffer.group_size:
        raise not_offered(CALL, "use_nvfp4", True, cure % "between hosts")
