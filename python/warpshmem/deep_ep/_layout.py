# SPDX-License-Identifier: BSD-3-Clause
"""How many tokens go to which rank and expert."""

from __future__ import annotations

from typing import NamedTuple, Optional

import torch

from . import _by_expert


class Layout(NamedTuple):
    """What get_dispatch_layout returns, without its event."""

    num_tokens_per_rank: torch.Tensor
    num_tokens_per_rdma_rank: Optional[torch.Tensor]
    num_tokens_per_expert: torch.Tensor
    is_token_in_rank: torch.Tensor

    @property
    def num_experts(self) -> int:
        return int(self.num_tokens_per_expert.shape[0])


class Later:
    """A Layout whose numbers are counted when they are asked for: kernels of a dispatch that tell
    them count themselves. is_token_in_rank is left out."""

    is_token_in_rank = None

    def __init__(self, topk_idx: torch.Tensor, num_experts: int, n: int) -> None:
        self.topk_idx, self.num_experts, self.n = topk_idx, num_experts, n

    def counted(self) -> Layout:
        return layout(self.topk_idx, self.num_experts, self.n)


def layout(topk_idx: torch.Tensor, num_experts: int, n: int, ranks_a_host: int = 8) -> Layout:
    """Count tokens by rank and expert. topk_idx: [T, K], -1: none."""
    several = n > ranks_a_host and n % ranks_a_host == 0
    made = _by_expert.layout(topk_idx, num_experts, n, n // ranks_a_host if several else 0)
    if made is not None:
        return Layout(*made)
    tokens, device, local = topk_idx.shape[0], topk_idx.device, num_experts // n
    numbers = topk_idx.long()  # with 1 more, so that 0 is none
    ranks = torch.div(numbers + local, local, rounding_mode="floor")
    inside = torch.zeros((tokens, n + 1), dtype=torch.bool, device=device)
    inside = inside.scatter_(1, ranks, True)[:, 1:].contiguous()
    ones = torch.ones((numbers.numel(),), dtype=torch.int32, device=device)
    per_expert = torch.zeros(num_experts + 1, dtype=torch.int32, device=device)
    per_expert.scatter_add_(0, (numbers + 1).flatten(), ones)
    hosts = None
    if several:
        hosts = (
            inside.view(tokens, n // ranks_a_host, ranks_a_host).any(2).sum(0, dtype=torch.int32)
        )
    return Layout(inside.sum(0, dtype=torch.int32), hosts, per_expert[1:], inside)
