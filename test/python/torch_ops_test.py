# SPDX-License-Identifier: BSD-3-Clause
"""warpshmem.torch: values of the operators, their graphs, and teams of process groups."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from typing import Any, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import buffer_of, refused, same  # noqa: E402
from deep_ep_job import Job, Skipped  # noqa: E402

import warpshmem  # noqa: E402
import warpshmem.torch as ops  # noqa: E402
from warpshmem import _quick  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
zeros, arange, full, tensor = (
    functools.partial(getattr(torch, name), device=DEVICE)
    for name in ("zeros", "arange", "full", "tensor")
)


def started(job: Job) -> None:
    """Let the job's processes be PEs, in the order of its ranks."""
    buffer_of(job)


def place(job: Job) -> str:
    """Where tensors are, as warpshmem says it."""
    return "gpu" if job.cuda else "host"


def meet(job: Job) -> None:
    """Wait for all PEs, and for what this one has asked its GPU for."""
    if job.cuda:
        torch.cuda.synchronize()
    warpshmem.barrier_all()


def own(job: Job, rank: int, count: int, dtype: Any = torch.float32) -> torch.Tensor:
    made = torch.Generator("cpu").manual_seed(rank)
    found = torch.randint(-50, 50, (count,), generator=made, device="cpu")
    return found.to(job.device, dtype)


def few(job: Job, rank: int, op: str) -> torch.Tensor:
    """Six values, of which any type holds what 8 ranks make exactly: bfloat16 has 8 bits."""
    made = own(job, rank, 6)
    return made.remainder(2) + 1 if op == "prod" else made.div(4, rounding_mode="floor")


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
    total = zeros(count)
    for rank in range(job.n):
        total += 2 * parts[rank - 1] + 1 + 2 * parts[rank]
    each = count // job.n
    return total + torch.cat([part[each * job.rank : each * (job.rank + 1)] for part in parts])


def shifted(job: Job, call: Any, count: int) -> None:
    box = warpshmem.zeros(count, "float32", like="torch", device=place(job))
    back = zeros(count)
    x = own(job, job.rank, count)
    for _ in range(2):
        same(call(box, back, x, (job.rank + 1) % job.n), wanted(job, count))
        same(back, 2 * x)
        same(box, 2 * own(job, (job.rank - 1) % job.n, count))
        meet(job)


def test_torch_values(job: Job) -> None:
    """Of each operator, more than the scratch memory takes at a time too."""
    started(job)
    shifted(job, shift, 4 * job.n)
    for dtype in (torch.int32, torch.float64, torch.bfloat16, torch.float16):
        for op, combine in (("sum", torch.sum), ("max", torch.amax), ("prod", torch.prod)):
            each = [few(job, rank, op).to(dtype) for rank in range(job.n)]
            found = ops.all_reduce(each[job.rank].view(2, 3), op)
            same(found, combine(torch.stack(each).double(), 0).to(dtype).view(2, 3))
    many = (ops.SCRATCH // 8 + 5) // job.n * job.n * 2
    x = arange(many, dtype=torch.float64)
    same(ops.all_reduce(x.view(2, -1), "sum"), (x * job.n).view(2, -1))
    found = ops.all_to_all((x + job.rank).view(job.n, -1))
    block = x.view(job.n, -1)[job.rank]
    same(found, torch.stack([block + rank for rank in range(job.n)]))
    strided = arange(4.0 * job.n).view(2, -1).t()
    same(ops.all_reduce(strided), strided * job.n)
    assert ops.all_reduce(zeros(0, 3)).shape == (0, 3)


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
    ops.prepare(place(job))
    n = job.n
    ranks = list(range(n))
    for sides in ([ranks], [[pe] for pe in ranks], [ranks[: n // 2], ranks[n // 2 :]]):
        groups = [torch.distributed.new_group(side) if side else None for side in sides]
        at = next(i for i, side in enumerate(sides) if job.rank in side)
        team = warpshmem.Team.from_group(groups[at])
        assert (team.n_pes, team.my_pe) == (len(sides[at]), sides[at].index(job.rank))
        assert team.translate(0, warpshmem.TEAM_WORLD) == sides[at][0]
        total = ops.all_reduce(tensor([job.rank + 1]), "sum", team)
        assert int(total) == sum(pe + 1 for pe in sides[at])
        x = arange(len(sides[at])) + 10 * job.rank
        same(ops.all_to_all(x, team), tensor([10 * pe + team.my_pe for pe in sides[at]]))
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
    plain = zeros(4)
    refused(lambda: ops.put(plain, plain, 0), "dest", "symmetric")
    refused(lambda: ops.barrier(plain), "arrays", "symmetric")
    refused(lambda: ops.all_reduce(plain, "mean"), "op", "mean")
    refused(lambda: ops.all_to_all(zeros(job.n + 1) if job.n > 1 else zeros(())), "x")
    refused(lambda: warpshmem.Team.from_group("a"), "Team.from_group: group", "torch.distributed")


def test_torch_pointers(job: Job) -> None:
    """Addresses of copies, of all PEs and of a team's members."""
    started(job)
    box = warpshmem.empty(4, "int32", like="torch", device=place(job))
    box.fill_(job.rank)
    meet(job)
    found = ops.peer_pointers(box)
    assert found.dtype == torch.int64 and found.device == box.device
    assert int(found[job.rank]) == box.data_ptr() and len(found) == job.n
    assert job.hosts > 1 or all(found.tolist())
    for rank, address in enumerate(found.tolist()):
        if address and not job.cuda:
            assert ctypes.c_int32.from_address(address + 12).value == rank
    team = warpshmem.TEAM_WORLD.create([job.n - 1, 0][: min(job.n, 2)])
    if team.is_member:
        same(ops.peer_pointers(box, team), found[[job.n - 1, 0][: min(job.n, 2)]])
    team.destroy()
    meet(job)
    refused(lambda: ops.peer_pointers(zeros(4)), "tensor", "symmetric")


def test_torch_channels(job: Job) -> None:
    """Each wait takes one signal of its sender and channel; other channels stay apart."""
    started(job)
    stream = torch.cuda.current_stream() if job.cuda else None
    left, right = (job.rank - 1) % job.n, (job.rank + 1) % job.n
    box = warpshmem.zeros((3, 4, 1000), "float32", like="torch", device=place(job))
    channels = ops.Channels(3, device=place(job))
    for turn in range(4):
        for channel in range(3):
            values = full((1000,), 100.0 * turn + 10 * channel + job.rank)
            channels.put_signal(box[channel, turn], values, right, channel, stream)
            if job.cuda:
                torch.cuda.synchronize()
    for channel in (2, 0, 1):
        for turn in range(4):
            channels.wait(left, channel, stream)
            wanted = full((1000,), 100.0 * turn + 10 * channel + left)
            same(box[channel, turn], wanted)
    refused(lambda: channels.wait(left, 3), "channel", "0 to 2")
    refused(lambda: channels.wait(job.n), "member")
    refused(lambda: ops.Channels(0), "number")
    meet(job)
    channels.close()
    channels.close()
    refused(lambda: channels.wait(left), "closed")
    refused(lambda: channels.put_signal(box[0, 0], box[0, 0], right), "closed")
    ops.barrier()


def test_torch_pool(job: Job) -> None:
    """Tensors that torch allocates are symmetric; other PEs reach them."""
    started(job)
    if not job.cuda:
        refused(ops.mem_pool, "no GPU", "warpshmem.empty")
        raise Skipped("no GPU")
    if not hasattr(torch.cuda, "MemPool"):
        raise Skipped("torch %s has no MemPool" % torch.__version__)
    if _quick.module is None:
        refused(ops.mem_pool, "no extension module")
        raise Skipped("no extension module")
    pool, right = ops.mem_pool(), (job.rank + 1) % job.n
    for _ in range(2):
        with torch.cuda.use_mem_pool(pool):
            box = zeros(3 << 20)
            small = zeros(5)
        assert warpshmem.is_symmetric(box) and warpshmem.is_symmetric(small)
        assert not warpshmem.is_symmetric(zeros(5))
        meet(job)
        ops.put(box, full((3 << 20,), float(job.rank)), right)
        ops.barrier(box)
        same(box, full((3 << 20,), float((job.rank - 1) % job.n)))
        assert all(ops.peer_pointers(box).tolist()) or job.hosts > 1
        meet(job)
        del box, small
    del pool
    meet(job)
