# SPDX-License-Identifier: BSD-3-Clause
"""Sums that are rounded once: rows come back to their tokens one by one, by dispatches of their
own, and are added there in FP32, with the biases."""

from __future__ import annotations

from typing import Any, Dict, Sequence, Tuple

import torch
from warpshmem import ep

from . import _dropped
from ._pool import TOKENS_MOST

Tensor = torch.Tensor
LEAST, MOST = 1024, TOKENS_MOST  # rows of a dispatch


def fields(n: int, device: int, hidden: int, tokens: int, topk: int) -> Dict[str, int]:
    """Return the configuration of such dispatches. tokens: of a rank, at most; topk: of a token."""
    rows = min(max(LEAST, tokens), MOST)
    return dict(
        mode=ep.HIGH_THROUGHPUT,
        device=device,
        dtype=ep.BF16,
        hidden=hidden,
        experts=n,
        topk=1,
        tokens=rows,
        pe_capacity=min(n * rows, max(tokens, 1) * topk),
        handles=2,
    )


class Singly:
    """The instances for that, of one Buffer. An `expert` of theirs is a rank."""

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer
        self.instances: Dict[Tuple[int, ...], ep.ExpertParallel] = {}

    def close(self) -> None:
        """End them. Collective."""
        for one in self.instances.values():
            one.close()
        self.instances = {}

    def all(self) -> Sequence[Any]:
        """Return the instances that there are."""
        return list(self.instances.values())

    def _instance(self, x: Tensor, tokens: int, topk: int) -> ep.ExpertParallel:
        key = int(x.is_cuda), x.shape[1], tokens, topk
        if key not in self.instances:
            self.buffer.refuse_capture("combine that rounds once")
            made = fields(self.buffer.group_size, *key)
            _dropped.meet(self.buffer.agreement)
            self.instances[key] = ep.ExpertParallel(self.buffer.team, **made)
        return self.instances[key]

    def bring(
        self, x: Tensor, homes: Tensor, numbers: Tensor, own: Tuple[int, int, int, int], stream: Any
    ) -> Tensor:
        """Send row i of x to rank homes[i] (-1: to none), as number numbers[i] there.

        own: tokens of this rank, choices of a token, tokens of any rank at most, rows of any rank
        at most; a number is token * choices + choice. Returns [tokens * choices, hidden] bfloat16,
        zeros where nothing came.
        """
        tokens, topk, most_tokens, most_rows = own
        instance = self._instance(x, most_tokens, topk)
        found = x.new_zeros((tokens * topk + 1, x.shape[1]))
        step = instance.config.tokens
        for turn, first in enumerate(range(0, max(most_rows, 1), step)):
            part = slice(first, first + step)
            got = instance.received(x)._replace(counts=None, sources=None)
            got.row_topk.fill_(-1)
            instance.dispatch(
                x[part].contiguous(),
                homes[part, None].int().contiguous(),
                numbers[part, None].float().contiguous(),
                handle=turn % 2,
                received=got,
                stream=stream,
            )
            at = torch.where(got.row_topk >= 0, got.row_weights.long(), tokens * topk)
            found[at.flatten()] = got.rows
        return found[:-1]


def add(rows: Tensor, topk: int, biases: Sequence[Tensor]) -> Tensor:
    """Return [T, hidden] bfloat16: the biases, then rows [T * topk, hidden] in the order of the
    choices, added in FP32 and rounded once."""
    each = rows.view(-1, topk, rows.shape[1])
    total = torch.zeros((each.shape[0], each.shape[2]), dtype=torch.float32, device=rows.device)
    for bias in biases:
        total += bias.float()
    for k in range(topk):
        total += each[:, k].float()
    return total.to(rows.dtype)
