# SPDX-License-Identifier: BSD-3-Clause
"""Buffers that programs drop without destroy(): their memory comes back where their ranks meet
next. Run as a program, by one process, this file drops them at its end, after the job's and in a
child."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
import tempfile
from typing import Any, Tuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import deep_ep_common as common  # noqa: E402
from deep_ep_common import case_of, mine  # noqa: E402
from deep_ep_groups_test import group_of  # noqa: E402
from deep_ep_job import Job, open_group  # noqa: E402

import deep_ep  # noqa: E402
import warpshmem  # noqa: E402
from deep_ep import _dropped  # noqa: E402

HIDDEN, TOKENS, LOCAL = 1024, 256, 2
HEAP = int(os.environ["SHMEM_SYMMETRIC_SIZE"].rstrip("M")) << 20  # as deep_ep.sh has it for these
PROMISED = dict(explicitly_destroy=True)


def inner_of(buffer: Any) -> deep_ep.Buffer:
    """The Buffer below one of the other interfaces."""
    buffer = getattr(buffer, "_rows", buffer)
    return getattr(buffer, "_inner", buffer)


def normal(job: Job, seed: int, kind: Any = deep_ep.Buffer, **more: Any) -> Any:
    """A Buffer after a dispatch in normal mode."""
    case = case_of(job, seed=seed, hidden=HIDDEN, tokens=TOKENS, local=LOCAL)
    given, experts = mine(job, case), job.n * LOCAL
    if kind is deep_ep.Buffer:
        buffer = kind(job.group, **more)
        common.check_received(job, case, common.dispatch(buffer, given, experts))
    elif kind is deep_ep.HybridEPBuffer:
        buffer = kind(job.group, HIDDEN, TOKENS, LOCAL, **more)
        how = dict(topk_idx=given.topk, topk_weights=given.weights, num_of_experts=experts)
        buffer.dispatch_with_permute(hidden=given.x, **how)
    else:
        buffer = kind(job.group, num_max_tokens_per_rank=TOKENS, num_topk=case.topk, **more)
        got = buffer.dispatch(given.x, given.topk, given.weights, num_experts=experts)
        buffer.combine(got[0], got[3], bias=given.x)
    return buffer


def low(job: Job, seed: int, **more: Any) -> Tuple[Any, torch.Tensor]:
    """A Buffer after calls in low latency, and a tensor over its memory."""
    buffer = deep_ep.Buffer(job.group, low_latency_mode=True, **more)
    case = case_of(job, seed=seed, hidden=HIDDEN, tokens=TOKENS, local=LOCAL)
    given = mine(job, case)
    got = buffer.low_latency_dispatch(given.x, given.topk, TOKENS, job.n * LOCAL, use_fp8=False)
    lent = buffer.get_next_low_latency_combine_buffer(got[2])
    lent.copy_(got[0])
    buffer.low_latency_combine(lent, given.topk, given.weights, got[2], zero_copy=True)
    return buffer, lent


def fill(job: Job, make: Any) -> None:
    """Make Buffers that have no room beside each other."""
    turn = total = 0
    while total <= HEAP:
        buffer, turn = make(turn), turn + 1
        taken = inner_of(buffer).bytes_taken()
        assert HEAP // 8 < taken < HEAP, taken
        total += taken
        del buffer


def meet(job: Job) -> None:
    """All ranks have dropped what they have dropped, and make a Buffer; the job goes on."""
    gc.collect()
    dist.barrier()
    deep_ep.get_physical_domain_size(job.group)


def end_all(job: Job) -> None:
    """End what was dropped, and the job."""
    meet(job)
    assert not _dropped._dropped
    deep_ep.Buffer(job.group, **PROMISED).destroy()
    assert not warpshmem.initialized()


def test_dropped_buffers(job: Job) -> None:
    """Of each class more than memory holds, in both modes."""
    assert not warpshmem.initialized()
    fill(job, lambda turn: normal(job, turn))
    fill(job, lambda turn: low(job, turn)[0])
    fill(job, lambda turn: normal(job, turn, deep_ep.EPBuffer))
    several = dict(allow_multiple_reduction=False)
    fill(job, lambda turn: normal(job, turn, deep_ep.ElasticBuffer, **several))
    fill(job, lambda turn: normal(job, turn, deep_ep.HybridEPBuffer))
    end_all(job)


def test_dropped_beside_another(job: Job) -> None:
    """Instances of a Buffer that stays find the memory of those that were dropped, and its
    destroy() ends the job."""
    stays = deep_ep.Buffer(job.group, **PROMISED)
    for turn in range(1, 4):
        dropped = [normal(job, turn) for _ in range(2)]
        del dropped
        gc.collect()
        assert len(_dropped.told()) == 2
        dist.barrier()
        case = case_of(job, seed=turn, hidden=128 * turn, tokens=TOKENS, local=LOCAL)
        got = common.dispatch(stays, mine(job, case), job.n * LOCAL)
        common.check_received(job, case, got)
        assert not _dropped._dropped
    dropped = normal(job, 5)
    del dropped
    gc.collect()
    dist.barrier()
    stays.destroy()
    assert not _dropped._dropped and not warpshmem.initialized()


def test_dropped_by_all(job: Job) -> None:
    """A Buffer that one rank still has stays, and so does one whose memory a program still has a
    tensor of."""
    if job.n == 1:
        return
    kept = [normal(job, 1), normal(job, 2)]
    if job.rank:
        kept.pop(0)
    meet(job)
    assert len(_dropped._dropped) == (job.rank > 0)
    kept.clear()
    meet(job)
    assert not _dropped._dropped
    buffer, lent = low(job, 3)
    row = lent[0, :1]  # of the same memory
    del buffer, lent
    first = row.clone()
    meet(job)
    assert len(_dropped._dropped) == 1
    fill(job, lambda turn: low(job, turn + 4)[0])
    common.same(row, first)
    del row
    end_all(job)


def test_dropped_by_parts(job: Job) -> None:
    """Buffers of halves end where the halves meet, or all ranks; those of all not by halves."""
    if job.n != 4:
        return
    whole = normal(job, 1)
    half = group_of(job, [0, 1], [3, 2])
    part, other = normal(half, 2), normal(half, 3)
    del whole, other
    meet(half)
    assert len(_dropped._dropped) == 1
    del part
    end_all(job)


def test_dropped_and_promised(job: Job) -> None:
    """One that was to be destroyed ends as the others, after one line a process."""
    text = io.StringIO()
    with contextlib.redirect_stderr(text):
        buffers = [normal(job, turn, deep_ep.EPBuffer, **PROMISED) for turn in range(2)]
        taken = inner_of(buffers[0]).bytes_taken()
        buffers.clear()
        meet(job)
    line = "warpshmem: warning: PE %d: deep_ep.EPBuffer: one with explicitly_destroy=True was "
    assert text.getvalue().startswith(line % warpshmem.my_pe()), text.getvalue()
    assert text.getvalue().count("\n") == 1 and " %d bytes " % taken in text.getvalue()
    end_all(job)


def drop_here(job: Job) -> None:
    """Drop Buffers in a child, of a job that is over, and at the end of the process: in silence."""
    first = normal(job, 1, **PROMISED)
    child = os.fork()
    if not child:
        del first
        gc.collect()
        os._exit(len(_dropped._dropped))
    assert os.waitpid(child, 0)[1] == 0
    warpshmem.finalize()
    other = normal(job, 2, **PROMISED)
    del first
    gc.collect()
    assert not _dropped._dropped and warpshmem.initialized()
    other.itself = other
    print("dropped", flush=True)


def main() -> int:
    path = os.path.join(tempfile.mkdtemp(), "store")
    drop_here(Job(0, 1, open_group(0, 1, path)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
