# SPDX-License-Identifier: BSD-3-Clause
"""Calls of Buffer that are not offered, and arguments of other versions of DeepEP that are not."""

from __future__ import annotations

from typing import Any

import torch

from .errors import not_offered

DISPATCH = {
    "x_global_scale": "leave it out, or set use_nvfp4=True",
    "use_ue8m0_for_sf": "leave it False: scales of NVFP4 are float8_e4m3fn",
}
_MASKS = "there are no masks: a rank that dies ends the job"


class Refused:
    """What Buffer has by name alone."""

    def low_latency_update_mask_buffer(self, rank_to_mask: int, mask: bool = False) -> None:
        raise not_offered(
            "Buffer.low_latency_update_mask_buffer", "rank_to_mask", rank_to_mask, _MASKS
        )

    def low_latency_query_mask_buffer(self, mask_status: torch.Tensor) -> None:
        raise not_offered("Buffer.low_latency_query_mask_buffer", "mask_status", "a tensor", _MASKS)

    def low_latency_clean_mask_buffer(self) -> None:
        raise not_offered("Buffer.low_latency_clean_mask_buffer", "self", "Buffer", _MASKS)
