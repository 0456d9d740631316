# SPDX-License-Identifier: BSD-3-Clause
"""Redundant experts: weights that are fetched, gradients that are added, what is refused."""

from __future__ import annotations

import os
import sys
from typing import Any, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import refused, same  # noqa: E402
from deep_ep_job import Job  # noqa: E402

import deep_ep  # noqa: E402

LOCAL, COPIES, SHAPE = 3, 5, (4, 6)


def row(kind: int, expert: int, rank: int = 0) -> torch.Tensor:
    """Row of an expert, such that sums of several ranks' rows need rounding in BF16."""
    made = torch.Generator().manual_seed(1000 * kind + 10 * expert + rank)
    return torch.randn(SHAPE, generator=made)


def mapping_of(job: Job) -> torch.Tensor:
    """[ranks, COPIES]: some slots have none, some experts several copies, also of the rank's
    own."""
    made = torch.Generator().manual_seed(7)
    return torch.randint(-1, job.n * LOCAL, (job.n, COPIES), generator=made)


def filled(job: Job, kind: int, dtype: torch.dtype, rank: int) -> torch.Tensor:
    rows = [row(kind, rank * LOCAL + at) for at in range(LOCAL)]
    return torch.stack(rows).to(dtype)


def test_redundant_weights(job: Job) -> None:
    """Copies are the experts' rows, bit for bit, of two tensors at once; others stay."""
    buffer = deep_ep.EPBuffer(job.group, explicitly_destroy=True)
    allocator, mapping = deep_ep.BufferAllocator(), mapping_of(job)
    kinds = torch.bfloat16, torch.float32
    weights = [allocator.allocate((LOCAL,) + SHAPE, dtype) for dtype in kinds]
    for given in (mapping, mapping[job.rank], mapping[job.rank].tolist(), mapping.int()):
        copies = [
            torch.full((COPIES,) + SHAPE, 9, dtype=dtype, device=job.device) for dtype in kinds
        ]
        for kind, own in enumerate(weights):
            own.copy_(filled(job, kind, own.dtype, job.rank))
        event = buffer.lb_prefetch_weights(copies, weights, given, previous_event=buffer.capture())
        assert event.event is None
        for own in weights:
            own.zero_()  # at once: all ranks have read it
        for kind, copy in enumerate(copies):
            for at, expert in enumerate(mapping[job.rank].tolist()):
                found = filled(job, kind, copy.dtype, max(expert, 0) // LOCAL)[expert % LOCAL]
                same(copy[at], found if expert >= 0 else torch.full_like(found, 9))
    buffer.lb_prefetch_weights(torch.empty((0,) + SHAPE, device=job.device), weights[1], [])
    del weights, own
    buffer.destroy()


def test_redundant_grads(job: Job) -> None:
    """An expert's gradient and those of its copies, in FP32 in the order of ranks."""
    buffer = deep_ep.ElasticBuffer(job.group, explicitly_destroy=True)
    allocator, mapping = deep_ep.BufferAllocator(), mapping_of(job)
    for dtype, given in ((torch.bfloat16, mapping), (torch.float32, mapping[job.rank])):
        copies = allocator.allocate((COPIES,) + SHAPE, dtype)
        for at, expert in enumerate(mapping[job.rank].tolist()):
            copies[at] = row(5, at, job.rank)
        grads = filled(job, 3, dtype, job.rank).to(job.device)
        buffer.lb_reduce_grads([copies], [grads], given)
        copies.zero_()
        for at in range(LOCAL):
            total = filled(job, 3, dtype, job.rank)[at].float()
            for rank in range(job.n):
                for slot, expert in enumerate(mapping[rank].tolist()):
                    if expert == job.rank * LOCAL + at:
                        total += row(5, slot, rank).to(dtype).float()
            same(grads[at], total.to(dtype))
        del copies
    buffer.destroy()


def test_redundant_allocator(job: Job) -> None:
    """Any shape and type, in symmetric memory."""
    import warpshmem

    plan: Any = dict(lb_allocation_plan_or_num_bytes=64, explicitly_destroy=True)
    buffer, found = deep_ep.EPBuffer(job.group, **plan), []  # type: Any, List[torch.Tensor]
    forms = ((2, 3), torch.float32), ((0, 4), torch.int64), ((), torch.uint8), (5, torch.int16)
    for shape, dtype in forms:
        found.append(deep_ep.BufferAllocator().allocate(shape, dtype))
        like = torch.empty(shape, dtype=dtype)
        assert found[-1].shape == like.shape and found[-1].dtype == dtype
        assert not like.numel() or warpshmem.is_symmetric(found[-1])
    del found
    buffer.destroy()


def test_redundant_wrong(job: Job) -> None:
    """Refused by name, on all ranks."""
    buffer = deep_ep.EPBuffer(job.group, explicitly_destroy=True)
    own = deep_ep.BufferAllocator().allocate((LOCAL,) + SHAPE, torch.float32)
    copies = torch.zeros((COPIES,) + SHAPE, device=job.device)
    plain, none = torch.zeros_like(copies)[:LOCAL], [-1] * COPIES
    call, back = buffer.lb_prefetch_weights, buffer.lb_reduce_grads
    refused(lambda: call(copies, plain, none), "weights", "BufferAllocator")
    refused(lambda: back(copies, plain, none), "redundant", "BufferAllocator")
    refused(lambda: call(copies, own, [0]), "redundancy_mapping", "shape")
    refused(lambda: call(copies, own, [job.n * LOCAL] * COPIES), "redundancy_mapping", "experts")
    refused(lambda: call(copies, own, [-2] * COPIES), "redundancy_mapping", "experts")
    refused(lambda: call(copies, own, [0.0] * COPIES), "redundancy_mapping", "whole numbers")
    refused(lambda: call(copies.bfloat16(), own, none), "redundant", "rows are alike")
    refused(lambda: call([copies], [own, own], none), "redundant", "give as many")
    refused(lambda: call(copies[:, :2], own[:, :2], none), "not contiguous")
    refused(lambda: call(3, own, none), "redundant", "tensor")
    refused(lambda: call(copies, own, none, previous_event=3), "previous_event")
    refused(lambda: call(copies[:, :0], own[:0, :0], none), "weights", "no rows")
    buffer.destroy()
    refused(lambda: call(copies, own, none), "destroyed")
