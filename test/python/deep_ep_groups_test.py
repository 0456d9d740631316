# SPDX-License-Identifier: BSD-3-Clause
"""Buffers of several groups in one process: all PEs in another order at the same time; other
groups, one after another."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import _buffers, case_of, check_low, check_normal, refused  # noqa: E402
from deep_ep_elastic_test import _made, check_rows, check_sum, dispatch  # noqa: E402
from deep_ep_elastic_test import buffer_of as elastic_of  # noqa: E402
from deep_ep_job import Job  # noqa: E402

import deep_ep  # noqa: E402
import warpshmem  # noqa: E402


class Order:
    """A group of the processes of another one, whose ranks are in another order."""

    def __init__(self, job: Job, rank: int) -> None:
        self.of, self.at = job, rank

    def rank(self) -> int:
        return self.at

    def size(self) -> int:
        return self.of.n


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


def test_groups_order(job: Job) -> None:
    """Buffers of two orders take turns."""
    rank = (job.rank * 3 + 1) % job.n if job.n == 4 else job.n - 1 - job.rank
    other = Job(rank, job.n, None)
    other.group = Order(other, rank)
    one: Dict[str, Any] = {}
    two: Dict[str, Any] = {}
    for seed in (400, 410):
        calls(job, one, seed)
        calls(other, two, seed)
    destroy(two)
    calls(job, one, 420)
    if job.n > 1:
        alone = [torch.distributed.new_group([rank]) for rank in range(job.n)][job.rank]
        refused(lambda: deep_ep.EPBuffer(alone), "rank 0 of 1", "destroy the Buffers")
    assert warpshmem.n_pes() == job.n
    destroy(one)
    assert not warpshmem.initialized()


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
