# SPDX-License-Identifier: BSD-3-Clause
"""warpshmem.ep itself: numpy arrays and tensors, halves, buffers, counts, statistics, bytes,
refusals."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import mine, near, refused, same  # noqa: E402
from deep_ep_job import Job, Skipped  # noqa: E402
import deep_ep_reference as reference  # noqa: E402
from deep_ep_reference import Case  # noqa: E402

import deep_ep  # noqa: E402
from warpshmem import ep  # noqa: E402


def open_ep(job: Job, case: Case, **more: int) -> ep.ExpertParallel:
    """The group's PEs; a Buffer starts warpshmem where no test has done so."""
    deep_ep.Buffer(job.group)
    fields = dict(
        mode=ep.LOW_LATENCY, hidden=case.hidden, experts=case.n * case.local, topk=case.topk
    )
    fields.update(tokens=case.tokens, device=int(job.cuda), **more)
    return ep.ExpertParallel(**fields)


def a_case(job: Job, **more: Any) -> Case:
    hosts = 1 if job.cuda else job.hosts
    return Case(job.n, 128, 2, min(3, 2 * job.n), 20, 60, hosts=hosts)._replace(**more)


def test_ep_tensors_in_halves(job: Job) -> None:
    """Both modes; sending and receiving halves apart; x and y in the library's buffers; counts."""
    case = a_case(job)
    given = mine(job, case)
    topk = given.topk.int()
    with open_ep(job, case) as low:
        x = low.buffer(ep.BUFFER_X, given.x)[: len(given.x)]
        x.copy_(given.x)
        received = low.received(x)
        low.dispatch(x, topk, given.weights, halves=ep.SEND, received=received)
        got = low.dispatch(x, topk, given.weights, halves=ep.RECEIVE, received=received)
        counts, most = low.counts()
        assert counts == got.counts.tolist() and most == max(counts)
        for expert in range(case.local):
            same(
                got.rows[expert, : counts[expert]],
                reference.low_packed(case, job.rank, expert),
            )
        y = low.buffer(ep.BUFFER_Y, got.rows)
        y.copy_(got.rows)
        out = low.combine(y)
        near(out, reference.low_sum(case, job.rank, lambda expert: 1.0), 0.01)
        sent = low.statistics()
        assert sent.calls == 2, sent.calls
    with open_ep(job, case, **{"mode": ep.HIGH_THROUGHPUT}) as high:
        got = high.dispatch(given.x, topk, given.weights)
        wanted = reference.normal_rows(case, job.rank)
        assert high.counts() == (wanted.counts, len(wanted.x))
        same(got.rows[: len(wanted.x)], wanted.x)
        again = high.dispatch(given.x * 2)
        same(again.rows[: len(wanted.x)], wanted.x * 2)


def test_ep_numbers_of_64_bits(job: Job) -> None:
    """topk_bits=64: experts' numbers as routers give them, in both directions."""
    case = a_case(job)
    given = mine(job, case)
    for mode in (ep.LOW_LATENCY, ep.HIGH_THROUGHPUT):
        with open_ep(job, case, mode=mode, topk_bits=64) as one:
            refused(lambda: one.dispatch(given.x, given.topk.int(), given.weights), "topk", "int64")
            got = one.dispatch(given.x, given.topk, given.weights)
            if mode == ep.HIGH_THROUGHPUT:
                wanted = reference.normal_rows(case, job.rank)
                assert got.row_topk.dtype == torch.int64
                same(got.row_topk[: len(wanted.topk)], wanted.topk)


def test_ep_numpy(job: Job) -> None:
    """BF16 as uint16."""
    try:
        import numpy
    except ImportError:
        raise Skipped("no numpy") from None
    if job.cuda:
        raise Skipped("numpy's arrays are in memory of the host, and this job's rows on the GPU")
    case = a_case(job, seed=61)
    given = reference.tokens_of(case, job.rank)
    x = given.x.view(torch.int16).numpy().view(numpy.uint16)
    with open_ep(job, case) as low:
        got = low.dispatch(x, given.topk.numpy().astype(numpy.int32), given.weights.numpy())
        for expert, count in enumerate(got.counts):
            rows = torch.from_numpy(got.rows[expert, :count].view(numpy.int16)).view(torch.bfloat16)
            same(rows, reference.low_packed(case, job.rank, expert))
        out = low.combine(got.rows)
        total = torch.from_numpy(out.view(numpy.int16)).view(torch.bfloat16)
        near(total, reference.low_sum(case, job.rank, lambda expert: 1.0), 0.01)
        refused(lambda: low.dispatch(x[:, ::2], None), "x", "hidden")
        refused(lambda: low.dispatch(x.astype(numpy.float32), None), "x", "bfloat16")
        refused(lambda: low.dispatch(x, numpy.zeros((len(x), 17), numpy.int32)), "topk", "shape")


def test_ep_refused(job: Job) -> None:
    refused(lambda: ep.config(mode=0, colour=1), "colour", "hidden")
    refused(lambda: ep.ExpertParallel(hidden=100), "shmemx_ep_create", "hidden is 100")
    assert ep.bytes_of(ep.config(hidden=128, experts=8, topk=2, tokens=4), 4, 4).symmetric > 0
    case = a_case(job)
    given = mine(job, case)
    with open_ep(job, case) as low:  # refused on all PEs alike, or they would wait for each other
        refused(lambda: low.dispatch(given.x, given.topk), "topk", "int32")
        turned = torch.zeros((case.hidden, 2), dtype=torch.bfloat16, device=job.device).t()
        refused(lambda: low.dispatch(turned, None), "contiguous")
        new = low.received(given.x)
        refused(lambda: low.combine(new.rows, handle=1), "shmemx_ep_combine")


def test_ep_close_with_a_half_left(job: Job) -> None:
    """Refused, and nothing is lost: the half is called, and it ends. An exception in `with` is shown
    and meets nobody."""
    case = a_case(job)
    given = mine(job, case)
    low = open_ep(job, case)
    got = low.dispatch(given.x, given.topk.int(), halves=ep.SEND)
    refused(low.close, "receiving half")
    low.dispatch(given.x, given.topk.int(), halves=ep.RECEIVE, received=got)
    low.close()
    low.close()
    other = open_ep(job, case)
    if job.rank == 0:
        try:
            with other:
                raise KeyError("of this rank alone")
        except KeyError:
            pass
    other.close()


def test_ep_what_calls_write_has_room(job: Job) -> None:
    """Low latency: outputs and results of another shape are refused, and numbers that no int of C
    holds; first by Python's way, then by a plan."""
    case = a_case(job)
    given = mine(job, case)
    topk = given.topk.int()
    refused(lambda: ep.config(hidden=(1 << 32) + 128), "hidden is 4294967424", "32 bits")
    with open_ep(job, case) as low:
        new = low.received(given.x)
        cut = new.rows[:, : low.capacity - 1].contiguous()
        names = torch.zeros((1, low.capacity), dtype=torch.int32, device=job.device)
        for wrong in (
            dict(rows=cut),
            dict(rows=new.rows[1:]),
            dict(sources=new.sources[0]),
            dict(row_sources=names),
        ):
            name, outputs = next(iter(wrong)), new._replace(**wrong)
            refused(lambda: low.dispatch(given.x, topk, received=outputs), name, "has shape")
        for number in (1 << 32, -(1 << 31) - 1):
            refused(lambda: low.dispatch(given.x, topk, handle=number), "handle is %d" % number)
            refused(lambda: low.combine(new.rows, halves=number), "halves is %d" % number)
        got = low.dispatch(given.x, topk, given.weights)
        for y in (cut, new.rows[1:], given.x):
            refused(lambda: low.combine(y), "y", "has shape")
        near(low.combine(got.rows), reference.low_sum(case, job.rank, lambda expert: 1.0), 0.01)


def test_ep_ends_with_its_job(job: Job) -> None:
    """Without a job, and in the next one, calls of an instance are refused: no memory of the job
    that has ended is touched. In a process of its own."""
    if job.rank:
        return
    program = (
        "import torch, warpshmem\n"
        "from warpshmem import ep\n"
        "fields = dict(hidden=128, experts=2, topk=1, tokens=3)\n"
        "x, topk = torch.zeros((3, 128)).bfloat16(), torch.zeros((3, 1), dtype=torch.int32)\n"
        "def refused(call, text):\n"
        "    try: call()\n"
        "    except warpshmem.WarpshmemError as error: assert text in str(error), error\n"
        "    else: raise AssertionError(text)\n"
        "refused(lambda: ep.ExpertParallel(**fields), 'call warpshmem.init() first')\n"
        "warpshmem.init()\n"
        "refused(lambda: ep.ExpertParallel(-1, **fields), 'pass a warpshmem.Team')\n"
        "one = ep.ExpertParallel(**fields)\n"
        "rows = one.combine(one.dispatch(x, topk).rows)\n"
        "warpshmem.finalize()\n"
        "calls = [lambda: one.dispatch(x, topk), one.counts, one.statistics, one.mask_query]\n"
        "for call in calls: refused(call, 'has been finalized')\n"
        "one.close()\n"
        "warpshmem.init()\n"
        "for call in calls: refused(call, 'ep is NULL')\n"
        "warpshmem.finalize()\n"
    )
    environ = {name: value for name, value in os.environ.items() if not is_of_the_job(name)}
    run = subprocess.run(
        [sys.executable, "-c", program], env=environ, timeout=60, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


def is_of_the_job(name: str) -> bool:
    """Whether a launcher has set this variable for its PEs."""
    own = ("RANK", "WORLD_SIZE", "SHMEM_TRANSPORTS")
    return name.startswith(("PMIX_", "OSHRUN_", "SHMEM_OSHRUN_")) or name in own


def test_ep_tensors_without_memory(job: Job) -> None:
    """A tensor on meta has none, and no address."""
    case = a_case(job)
    given = mine(job, case)
    topk, empty = given.topk.int(), given.x.to("meta")
    with open_ep(job, case) as low:
        refused(lambda: low.dispatch(empty, topk), "x", "meta")
        refused(lambda: low.dispatch(given.x, topk.to("meta")), "topk", "meta")
        refused(lambda: low.combine(low.received(empty).rows), "y", "meta")
