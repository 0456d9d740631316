# SPDX-License-Identifier: BSD-3-Clause
"""warpshmem.torch: values of the operators, their graphs, and teams of process groups."""

from __future__ import annotations

import os
import sys
from typing import Any, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import buffer_of, refused, same  # noqa: E402
from deep_ep_job import Job, Skipped  # noqa: E402

import warpshmem  # noqa: E402
import warpshmem.torch as ops  # noqa: E402


def started(job: Job) -> None:
    """Let the job's processes be PEs, in the order of its ranks."""
    buffer_of(job)
    if job.cuda:
        raise Skipped("operators are there for tensors of the CPU")


def own(job: Job, rank: int, count: int, dtype: Any = torch.float32) -> torch.Tensor:
    made = torch.Generator().manual_seed(rank)
    return torch.randint(-50, 50, (count,), generator=made).to(dtype)


def shift(box: torch.Tensor, back: torch.Tensor, x: torch.Tensor, right: int) -> torch.Tensor:
    """What several operators do in one graph."""
    ops.put(box, x * 2, right)
    ops.barrier(box)
    first = box + 1
    ops.get(back, box, right)
    ops.barrier(box)
    return ops.all_reduce(first + back, "sum") + ops.all_to_all(x)


def wanted(job: Job, count: int) -> torch.Tensor:
    parts = [own(job, rank, count) for rank in range(job.n)]
    total = torch.zeros(count)
    for rank in range(job.n):
        total += 2 * parts[rank - 1] + 1 + 2 * parts[rank]
    each = count // job.n
    return total + torch.cat([part[each * job.rank : each * (job.rank + 1)] for part in parts])


def shifted(job: Job, call: Any, count: int) -> None:
    box, back = warpshmem.zeros(count, "float32", like="torch"), torch.zeros(count)
    x = own(job, job.rank, count)
    for _ in range(2):
        same(call(box, back, x, (job.rank + 1) % job.n), wanted(job, count))
        same(back, 2 * x)
        same(box, 2 * own(job, (job.rank - 1) % job.n, count))
        warpshmem.barrier_all()


def test_torch_values(job: Job) -> None:
    """Of each operator, more than the scratch memory takes at a time too."""
    started(job)
    shifted(job, shift, 4 * job.n)
    for dtype in (torch.int32, torch.float64, torch.bfloat16, torch.float16):
        for op, combine in (("sum", torch.sum), ("max", torch.amax), ("prod", torch.prod)):
            parts = torch.stack([own(job, rank, 6, dtype) for rank in range(job.n)]).double()
            found = ops.all_reduce(own(job, job.rank, 6, dtype).view(2, 3), op)
            same(found, combine(parts, 0).to(dtype).view(2, 3))
    many = (ops.SCRATCH // 8 + 5) // job.n * job.n * 2
    x = torch.arange(many, dtype=torch.float64)
    same(ops.all_reduce(x.view(2, -1), "sum"), (x * job.n).view(2, -1))
    found = ops.all_to_all((x + job.rank).view(job.n, -1))
    block = x.view(job.n, -1)[job.rank]
    same(found, torch.stack([block + rank for rank in range(job.n)]))
    strided = torch.arange(4.0 * job.n).view(2, -1).t()
    same(ops.all_reduce(strided), strided * job.n)
    assert ops.all_reduce(torch.zeros(0, 3)).shape == (0, 3)


def test_torch_compile(job: Job) -> None:
    """One graph without a break, and the same values."""
    started(job)
    if not hasattr(torch, "compile"):
        raise Skipped("torch %s has no torch.compile" % torch.__version__)
    graphs: List[Any] = []

    def noted(graph: Any, _: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    for backend in ("eager", noted):
        torch._dynamo.reset()
        shifted(job, torch.compile(shift, backend=backend, fullgraph=True), 4 * job.n)
    assert len(graphs) == 1
    called = " ".join(str(node.target) for node in graphs[0].graph.nodes)
    for name, times in zip(ops._SCHEMAS, (1, 1, 2, 1, 1)):
        assert called.count("warpshmem.%s" % name) == times, called


def test_torch_teams(job: Job) -> None:
    """Teams of groups, in their order; a PE in none; what is wrong is refused on all PEs."""
    started(job)
    ops.prepare()
    n = job.n
    ranks = list(range(n))
    for sides in ([ranks], [[pe] for pe in ranks], [ranks[: n // 2], ranks[n // 2 :]]):
        groups = [torch.distributed.new_group(side) if side else None for side in sides]
        at = next(i for i, side in enumerate(sides) if job.rank in side)
        team = warpshmem.Team.from_group(groups[at])
        assert (team.n_pes, team.my_pe) == (len(sides[at]), sides[at].index(job.rank))
        assert team.translate(0, warpshmem.TEAM_WORLD) == sides[at][0]
        total = ops.all_reduce(torch.tensor([job.rank + 1]), "sum", team)
        assert int(total) == sum(pe + 1 for pe in sides[at])
        x = torch.arange(len(sides[at])) + 10 * job.rank
        same(ops.all_to_all(x, team), torch.tensor([10 * pe + team.my_pe for pe in sides[at]]))
        team.destroy()
    if n > 1:
        group = torch.distributed.new_group(list(range(n - 1)))
        team = warpshmem.Team.from_group(group)
        assert team.is_member == (job.rank < n - 1)
        team.destroy()
        theirs = torch.distributed.new_group([0])  # of rank 0 alone
        team = warpshmem.Team.from_group(theirs if job.rank == 0 else None)
        assert team.is_member == (job.rank == 0)
        team.destroy()


def test_torch_wrong(job: Job) -> None:
    started(job)
    plain = torch.zeros(4)
    refused(lambda: ops.put(plain, plain, 0), "dest", "symmetric")
    refused(lambda: ops.barrier(plain), "arrays", "symmetric")
    refused(lambda: ops.all_reduce(plain, "mean"), "op", "mean")
    refused(lambda: ops.all_to_all(torch.zeros(job.n + 1) if job.n > 1 else torch.zeros(())), "x")
    refused(lambda: warpshmem.Team.from_group("a"), "Team.from_group: group", "torch.distributed")
