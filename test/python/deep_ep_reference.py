# SPDX-License-Identifier: BSD-3-Clause
"""Tokens and routings that every rank can compute for every rank, and what dispatch and combine
should give."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Tuple

import torch


class Case(NamedTuple):
    """One call: shapes equal on all ranks."""

    n: int
    hidden: int
    local: int  # experts of a rank
    topk: int
    tokens: int  # at most
    seed: int
    empty: int = -1  # a rank without tokens
    hosts: int = 1  # in low latency rows from ranks of the own one come first


class Tokens(NamedTuple):
    """Of one rank, on the CPU."""

    x: torch.Tensor
    topk: torch.Tensor
    weights: torch.Tensor


def tokens_of(case: Case, rank: int) -> Tokens:
    """Draw the tokens of a rank: some entries are -1, and each rank has another number of
    tokens."""
    made = torch.Generator().manual_seed(1000 * case.seed + rank)
    experts, count = case.n * case.local, (
        0 if rank == case.empty else max(case.tokens - 3 * rank, 1)
    )
    x = torch.randn((count, case.hidden), generator=made).to(torch.bfloat16)
    order = torch.rand((count, experts), generator=made).argsort(1)[:, : case.topk]
    drop = torch.rand(order.shape, generator=made) < 0.15
    weights = torch.rand(order.shape, generator=made)
    return Tokens(x, torch.where(drop, torch.full_like(order, -1), order), weights)


def all_tokens(case: Case) -> List[Tokens]:
    return [tokens_of(case, rank) for rank in range(case.n)]


class Rows(NamedTuple):
    """What a rank receives in normal mode."""

    x: torch.Tensor
    topk: torch.Tensor
    weights: torch.Tensor
    counts: List[int]


def normal_rows(case: Case, rank: int) -> Rows:
    """By source rank, then token."""
    x, topk, weights = [], [], []
    for source in all_tokens(case):
        here = source.topk.div(case.local, rounding_mode="floor").eq(rank) & (source.topk >= 0)
        rows = here.any(1)
        x.append(source.x[rows])
        topk.append(
            torch.where(here, source.topk - rank * case.local, torch.full_like(source.topk, -1))[
                rows
            ]
        )
        weights.append(torch.where(here, source.weights, torch.zeros_like(source.weights))[rows])
    chosen = torch.cat(topk)
    return Rows(
        torch.cat(x),
        chosen,
        torch.cat(weights),
        [int((chosen == e).sum()) for e in range(case.local)],
    )


def normal_sum(case: Case, rank: int, scale: Any) -> torch.Tensor:
    """Combine of rows that each rank multiplied by `scale(rank)`: FP32 sums in the order of the
    top-k."""
    mine = tokens_of(case, rank)
    total = torch.zeros(mine.x.shape)
    owners = torch.where(
        mine.topk >= 0,
        mine.topk.div(case.local, rounding_mode="floor"),
        torch.full_like(mine.topk, -1),
    )
    for k in range(case.topk):
        first = owners[:, k] >= 0
        for before in range(k):
            first &= owners[:, before] != owners[:, k]
        for owner in range(case.n):
            row = (mine.x * scale(owner)).float()
            total += torch.where(
                (first & (owners[:, k] == owner))[:, None], row, torch.zeros_like(row)
            )
    return total.to(torch.bfloat16)


def low_rows(case: Case, rank: int, expert: int) -> List[torch.Tensor]:
    """The rows of a local expert, by source."""
    return [
        source.x[(source.topk == rank * case.local + expert).any(1)] for source in all_tokens(case)
    ]


def low_packed(case: Case, rank: int, expert: int) -> torch.Tensor:
    """All of them in the order in which they are received."""
    parts, near = low_rows(case, rank, expert), case.n // case.hosts
    first = rank // near * near
    return torch.cat(parts[first : first + near] + parts[:first] + parts[first + near :])


def low_sum(case: Case, rank: int, scale: Any) -> torch.Tensor:
    """Combine of rows that each expert multiplied by `scale(expert)`, in FP32: what BF16 sums
    come close to."""
    mine, total = tokens_of(case, rank), torch.zeros(tokens_of(case, rank).x.shape)
    for k in range(case.topk):
        factor = torch.tensor([scale(int(e)) if e >= 0 else 0.0 for e in mine.topk[:, k]])
        total += (
            mine.weights[:, k : k + 1]
            * (mine.x.float() * factor[:, None]).to(torch.bfloat16).float()
        )
    return total


def e4m3_values() -> torch.Tensor:
    """The 256 values of e4m3, for torch without that type."""
    values = []
    for code in range(256):
        exponent, mantissa = code >> 3 & 15, code & 7
        value = mantissa / 512.0 if exponent == 0 else (1 + mantissa / 8) * 2.0 ** (exponent - 7)
        values.append(float("nan") if code & 127 == 127 else -value if code & 128 else value)
    return torch.tensor(values)


def quantize(x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
    """Return e4m3 codes and float32 scales of BF16 rows, to the nearest value."""
    groups = x.float().view(x.shape[0], -1, 128)
    scales = groups.abs().amax(2).clamp(1e-4) / 448
    values = e4m3_values().nan_to_num(nan=1e9)
    ordered, codes = values.sort()
    at = torch.bucketize(
        (groups / scales[:, :, None]).view(x.shape), (ordered[1:] + ordered[:-1]) / 2
    )
    return codes[at].to(torch.uint8), scales


def dequantize(codes: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Return float32 rows of e4m3 codes and a scale for each 128 columns."""
    values = e4m3_values()[codes.cpu().view(torch.uint8).long()]
    return values * scales.cpu().repeat_interleave(128, dim=-1)
