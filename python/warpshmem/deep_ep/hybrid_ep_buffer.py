# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep.hybrid_ep_buffer: where DeepEP's hybrid branch has HybridEPBuffer, and the maps that it
takes."""

from __future__ import annotations

from typing import Optional, Tuple

import torch

from . import _hybrid_checks as checks
from .errors import wrong
from .hybrid import HybridEPBuffer

__all__ = ["HybridEPBuffer", "indices_to_map"]


def indices_to_map(
    topk_idx: torch.Tensor,
    topk_weights: Optional[torch.Tensor],
    num_of_tokens: int,
    num_of_experts: int,
) -> Tuple[torch.Tensor, Optional[torch.Tensor]]:
    """Return the routing_map [tokens, experts] bool of topk_idx [tokens, top-k], and the probs
    [tokens, experts] float32 of topk_weights, or None without; on topk_idx's device. A number below
    0 is no expert."""
    call = "hybrid_ep_buffer.indices_to_map"
    checks.indices(call, topk_idx, topk_weights, num_of_experts, num_of_tokens)
    if not topk_idx.is_cuda and topk_idx.numel() and int(topk_idx.max()) >= num_of_experts:
        text = "has expert %d; there are num_of_experts, %d"
        raise wrong(call, "topk_idx", text % (int(topk_idx.max()), num_of_experts))
    places = torch.where(topk_idx < 0, num_of_experts, topk_idx).long()
    routing = places.new_zeros((num_of_tokens, num_of_experts + 1), dtype=torch.bool)
    routing.scatter_(1, places, True)
    if topk_weights is None:
        return routing[:, :-1].contiguous(), None
    probs = topk_weights.new_zeros(routing.shape, dtype=torch.float32)
    probs.scatter_(1, places, topk_weights.float())
    return routing[:, :-1].contiguous(), probs[:, :-1].contiguous()
