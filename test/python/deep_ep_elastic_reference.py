# SPDX-License-Identifier: BSD-3-Clause
"""What dispatch and combine of EPBuffer and ElasticBuffer should give, written down row by row."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Sequence, Tuple

import torch
from deep_ep_reference import Case, all_tokens, normal_rows, tokens_of


class Expanded(NamedTuple):
    """What a rank receives with do_expand. start and count: of each expert; row of each received
    row's choice, -1 where it is not here."""

    x: torch.Tensor
    weights: torch.Tensor
    start: List[int]
    count: List[int]
    entries: torch.Tensor
    ids: torch.Tensor


def up(number: int, alignment: int) -> int:
    return -(-number // alignment) * alignment


def metadata(case: Case, rank: int, most: int) -> torch.Tensor:
    """Columns 0 and 1 of recv_src_metadata."""
    found = []
    for source, tokens in enumerate(all_tokens(case)):
        number = 0
        for token, topk in enumerate(tokens.topk.tolist()):
            here = [k for k, e in enumerate(topk) if e >= 0 and e // case.local == rank]
            if here:
                found.append((source * most + token, number * case.topk + here[0]))
                number += 1
    return torch.tensor(found, dtype=torch.int32).view(-1, 2)


def from_each(case: Case, rank: int) -> List[int]:
    """How many rows come from each rank."""
    return [
        sum(any(e >= 0 and e // case.local == rank for e in topk) for topk in tokens.topk.tolist())
        for tokens in all_tokens(case)
    ]


def expanded(case: Case, rank: int, alignment: int) -> Expanded:
    """Rows of each expert in the order of received ones; padding is zero."""
    rows = normal_rows(case, rank)
    x, weights, start, ids = [], [], [], []
    entries = torch.full(rows.topk.shape, -1, dtype=torch.int32)
    for expert in range(case.local):
        start.append(len(x))
        for row, topk in enumerate(rows.topk.tolist()):
            if expert in topk:
                entries[row, topk.index(expert)] = len(x)
                x.append(rows.x[row])
                weights.append(float(rows.weights[row, topk.index(expert)]))
                ids.append(expert)
        while len(x) % alignment:
            x.append(torch.zeros(case.hidden, dtype=torch.bfloat16))
            weights.append(0.0)
            ids.append(-1)
    stacked = torch.stack(x) if x else torch.zeros((0, case.hidden), dtype=torch.bfloat16)
    return Expanded(
        stacked,
        torch.tensor(weights),
        start,
        rows.counts,
        entries,
        torch.tensor(ids, dtype=torch.int32),
    )


def result(x: torch.Tensor, expert: Any) -> torch.Tensor:
    """What expert `expert` makes of rows, BF16: sums of such values are inexact in BF16."""
    return (x.float() * (0.3 + 0.17 * expert) + 0.01 * expert).to(torch.bfloat16)


def combined(case: Case, rank: int, biases: Sequence[torch.Tensor], once: bool) -> torch.Tensor:
    """The sum over a token's experts, FP32 in the order of the top-k after the biases; once: not
    of sums of each rank that are rounded to BF16."""
    mine = tokens_of(case, rank)
    found = torch.zeros(mine.x.shape, dtype=torch.bfloat16)
    for token, topk in enumerate(mine.topk.tolist()):
        total = torch.zeros(case.hidden)
        for bias in biases:
            total += bias[token].float()
        for term in _terms(case, mine.x[token], topk, once):
            total += term.float()
        found[token] = total.to(torch.bfloat16)
    return found


def _terms(case: Case, x: torch.Tensor, topk: List[int], once: bool) -> List[torch.Tensor]:
    """What is added up for a token: each expert's row, or each rank's sum of them."""
    if once:
        return [result(x, e) for e in topk if e >= 0]
    sums: List[Tuple[int, torch.Tensor]] = []
    for owner in dict.fromkeys(e // case.local for e in topk if e >= 0):
        total = torch.zeros(case.hidden)
        for e in topk:
            if e >= 0 and e // case.local == owner:
                total += result(x, e).float()
        sums.append((owner, total.to(torch.bfloat16)))
    return [total for _, total in sums]
