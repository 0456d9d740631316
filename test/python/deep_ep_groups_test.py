# SPDX-License-Identifier: BSD-3-Clause
"""Buffers of several groups in one process: all PEs in another order, and parts of them, at the
same time; other groups, one after another."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import _buffers, case_of, check_low, check_normal, refused  # noqa: E402
from deep_ep_elastic_test import _made, check_rows, check_sum, dispatch  # noqa: E402
from deep_ep_elastic_test import buffer_of as elastic_of  # noqa: E402
from deep_ep_job import Job  # noqa: E402

import deep_ep  # noqa: E402
import warpshmem  # noqa: E402


def calls(job: Job, kept: Dict[str, Any], seed: int) -> None:
    """Both modes of Buffer, and EPBuffer, for the processes of a job; the Buffers are `kept`."""
    for shared in (_buffers, _made):
        shared.clear()
        shared.update(kept.setdefault(str(id(shared)), {}))
    check_normal(job, case_of(job, seed=seed))
    check_low(job, case_of(job, seed=seed + 1))
    case = case_of(job, seed=seed + 2)
    got = dispatch(job, case, elastic_of(job))
    check_rows(job, case, got, True)
    check_sum(job, case, got, elastic_of(job), 1)
    for shared in (_buffers, _made):
        kept[str(id(shared))].update(shared)


def destroy(kept: Dict[str, Any]) -> None:
    for shared in kept.values():
        for buffer in shared.values():
            buffer.destroy()


class Order:
    """A group whose ranks are in another order, which groups of torch do not have."""

    def __init__(self, group: Any, ranks: List[int], mine: int) -> None:
        self.group, self.at = group, ranks.index(mine)
        self.places = [sorted(ranks).index(rank) for rank in ranks]

    def rank(self) -> int:
        return self.at

    def size(self) -> int:
        return len(self.places)

    def allgather(self, mine: Any) -> List[Any]:
        found: List[Any] = [None] * len(self.places)
        torch.distributed.all_gather_object(found, mine, self.group)
        return [found[place] for place in self.places]


def group_of(job: Job, *parts: List[int]) -> Job:
    """Groups of ranks of a job, in these orders: that of this rank, as its member sees it.
    Collective over the job; a rank that is in none gets one without a group."""
    mine = Job(job.rank, 0, None)
    for ranks in parts:
        made = torch.distributed.new_group(sorted(ranks))
        if job.rank in ranks:
            group = made if ranks == sorted(ranks) else Order(made, ranks, job.rank)
            mine = Job(ranks.index(job.rank), len(ranks), group)
    return mine


def test_groups_order(job: Job) -> None:
    """Buffers of two orders take turns."""
    ranks = [2, 0, 3, 1] if job.n == 4 else list(range(job.n))[::-1]
    other = group_of(job, ranks)
    one: Dict[str, Any] = {}
    two: Dict[str, Any] = {}
    for seed in (400, 410):
        calls(job, one, seed)
        calls(other, two, seed)
    destroy(two)
    calls(job, one, 420)
    assert warpshmem.n_pes() == job.n
    destroy(one)
    assert not warpshmem.initialized()


def test_groups_parts(job: Job) -> None:
    """Smaller groups while a Buffer of all is there: halves side by side, another order of three
    that go on alone, one process; and again all. The first Buffer of a process says who is there.
    """
    if job.n != 4:
        return
    kept: Dict[str, Any] = {}
    calls(job, kept, 500)
    half = group_of(job, [0, 1], [3, 2])
    parts: Dict[str, Any] = {}
    calls(half, parts, 510)
    calls(job, kept, 520)
    calls(half, parts, 530)
    three, alone = group_of(job, [3, 0, 2]), group_of(job, *([rank] for rank in range(4)))
    if three.n:
        more: Dict[str, Any] = {}
        one: Dict[str, Any] = {}
        calls(three, more, 540)
        calls(alone, one, 550)
        destroy(more)
        destroy(one)
    assert deep_ep.get_physical_domain_size(half.group) == (1, 2)
    destroy(parts)
    calls(job, kept, 560)
    destroy(kept)
    assert not warpshmem.initialized()


def test_groups_part_stays(job: Job) -> None:
    """Those of a smaller group go on when the Buffer of all is destroyed, which ends nothing then;
    a group of processes of two jobs is refused on all of them."""
    if job.n != 4:
        return
    kept: Dict[str, Any] = {}
    calls(job, kept, 570)
    parts: Dict[str, Any] = {}
    some = group_of(job, [1, 2, 3])
    if some.n:
        calls(some, parts, 580)
    destroy(kept)
    assert warpshmem.initialized()
    if some.n:
        calls(some, parts, 590)
        destroy(parts)
    kept = {}
    calls(job, kept, 600)
    destroy(kept)
    assert not warpshmem.initialized()
    half, parts = group_of(job, [0, 1], [2, 3]), {}
    calls(half, parts, 610)
    mixed = group_of(job, [0, 2], [1, 3])
    refused(lambda: deep_ep.EPBuffer(mixed.group), "rank 1 of 2", "destroy the Buffers")
    torch.distributed.barrier(group=job.group)
    destroy(parts)


def test_groups_one_after_another(job: Job) -> None:
    """Halves of the job side by side, other halves, one process each, then all."""
    if job.n != 4:
        return
    for turn, halves in enumerate((((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0,), (1,), (2,), (3,)))):
        groups = [torch.distributed.new_group(list(ranks)) for ranks in halves]
        at = next(i for i, ranks in enumerate(halves) if job.rank in ranks)
        part = Job(halves[at].index(job.rank), len(halves[at]), groups[at])
        kept: Dict[str, Any] = {}
        calls(part, kept, 430 + 10 * turn)
        assert warpshmem.n_pes() == part.n
        destroy(kept)
        assert not warpshmem.initialized()
    kept = {}
    calls(job, kept, 470)
    destroy(kept)


def test_groups_shrink(job: Job) -> None:
    """A group without the last rank, which goes on without a Buffer, then all again."""
    if job.n == 1:
        return
    group = torch.distributed.new_group(list(range(job.n - 1)))
    kept: Dict[str, Any] = {}
    if job.rank < job.n - 1:
        calls(Job(job.rank, job.n - 1, group), kept, 480)
        destroy(kept)
    kept = {}
    calls(job, kept, 490)
    destroy(kept)
    for shared in (_buffers, _made):
        shared.clear()
