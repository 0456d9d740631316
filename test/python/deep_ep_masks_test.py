# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep's enable_shrink: low-latency calls go on without a rank that is late, and it comes back.
Launched as a program by oshrun --on-pe-failure continue, with a store's path: a rank dies."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from deep_ep_common import (  # noqa: E402
    buffer_of,
    case_of,
    check_packed,
    expert_scaled,
    mine,
    near,
    refused,
    run_experts,
)
from deep_ep_job import Job, open_group  # noqa: E402
import deep_ep_reference as reference  # noqa: E402

import deep_ep  # noqa: E402

LIMIT = 2.0 * float(os.environ.get("WSH_TEST_SLOW", "1"))


def masks_of(buffer: deep_ep.Buffer) -> List[int]:
    found = torch.full((buffer.group_size,), 7, dtype=torch.int32)
    buffer.low_latency_query_mask_buffer(found)
    return found.tolist()


def one_round(job: Job, buffer: deep_ep.Buffer, seed: int, absent: int, hook: bool) -> None:
    """A dispatch and its combine; absent: a rank that is not there, or -1."""
    case = case_of(job, seed=seed, empty=absent)
    given, most = mine(job, case), case.tokens + 3
    rows, counts, handle, _, receive = buffer.low_latency_dispatch(
        given.x, given.topk, most, case.n * case.local, use_fp8=False, return_recv_hook=hook
    )
    receive() if hook else None
    check_packed(job, case, rows, counts, handle)
    out, _, receive = buffer.low_latency_combine(
        run_experts(job, case, rows), given.topk, given.weights, handle, return_recv_hook=hook
    )
    receive() if hook else None

    def scale(expert: int) -> Any:
        return 0.0 if expert // case.local == absent else expert_scaled(expert)

    near(out, reference.low_sum(case, job.rank, scale))


def shrinking(job: Job, limit: float) -> deep_ep.Buffer:
    buffer = deep_ep.Buffer(
        job.group, low_latency_mode=True, explicitly_destroy=True, enable_shrink=True
    )
    buffer.low_latency_limit_secs = limit
    return buffer


def test_masks(job: Job) -> None:
    late = job.n - 1
    buffer = shrinking(job, LIMIT)
    assert buffer.enable_shrink and masks_of(buffer) == [0] * job.n
    one_round(job, buffer, 70, -1, False)
    if job.rank != late:
        for seed in range(3):
            one_round(job, buffer, 71 + seed, late, seed == 2)
        assert masks_of(buffer) == [0] * late + [1]
    dist.barrier(job.group)
    if job.rank in (0, late):
        buffer.low_latency_clean_mask_buffer()
    else:
        buffer.low_latency_update_mask_buffer(late, False)
    dist.barrier(job.group)
    for seed in range(3):
        one_round(job, buffer, 75 + seed, -1, seed == 1)
    assert masks_of(buffer) == [0] * job.n
    buffer.destroy()


def test_masks_refused(job: Job) -> None:
    buffer, plain = shrinking(job, LIMIT), buffer_of(job)
    refused(lambda: plain.low_latency_clean_mask_buffer(), "enable_shrink=True")
    refused(lambda: plain.low_latency_query_mask_buffer(torch.zeros(1)), "enable_shrink=True")
    refused(lambda: buffer.low_latency_update_mask_buffer(job.rank, True), "another rank")
    refused(lambda: buffer.low_latency_update_mask_buffer(job.n), "rank_to_mask")
    refused(lambda: buffer.low_latency_query_mask_buffer(torch.zeros(job.n)), "int32")
    buffer.destroy()


def survive(path: str) -> None:
    """The last rank but one dies, by itself."""
    import warpshmem

    warpshmem.init()
    n = warpshmem.n_pes()
    job = Job(warpshmem.my_pe(), n, open_group(warpshmem.my_pe(), n, path))
    dead, buffer = n - 2, shrinking(job, 2 if job.cuda else 60)
    one_round(job, buffer, 80, -1, False)
    if job.rank == dead:
        os.kill(os.getpid(), signal.SIGKILL)
    for seed in range(4):
        one_round(job, buffer, 81 + seed, dead, seed % 2 == 1)
    assert masks_of(buffer) == [int(rank == dead) for rank in range(n)]
    warpshmem.TEAM_WORLD.shrink()
    buffer.destroy()
    warpshmem.finalize()
    os.write(1, b"went on\n")
    os._exit(0)


if __name__ == "__main__":
    survive(sys.argv[1])
