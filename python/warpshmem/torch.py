# SPDX-License-Identifier: BSD-3-Clause
"""Operators of torch, which torch.compile traces without a break of the graph.

    import warpshmem as shmem
    import warpshmem.torch as ops

    box = shmem.zeros(4, "float32", like="torch")
    ops.put(box, source, pe)
    ops.barrier(box)
    total = ops.all_reduce(box * 2, "sum")

put, get and barrier say to the compiler which arrays change: `barrier` names those that others
write, which are read again after it. Symmetric arrays are inputs of a compiled function, not made
within. all_reduce and all_to_all take any tensor and return a new one. Of tensors of a GPU they
are on torch's current stream. Each is also an operator torch.ops.warpshmem.NAME, whose team is the
integer of Team.handle.

peer_pointers, Channels and mem_pool: symmetric memory for kernels of the program's own.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

import torch

from . import collectives, job, rma
from ._torch_memory import Channels, mem_pool, peer_pointers
from .arrays import empty
from .errors import WarpshmemError, refuse
from .memory import symmetric
from .teams import TEAM_WORLD, Team

Tensor = torch.Tensor
SCRATCH = 1 << 20  # bytes of symmetric memory for each of source and dest
_NARROW = (torch.float16, torch.bfloat16)  # added as float32
_SCHEMAS = {
    "put": "(Tensor(a!) dest, Tensor source, int pe) -> ()",
    "get": "(Tensor(a!) dest, Tensor source, int pe) -> ()",
    "barrier": "(Tensor(a!)[] arrays, int team) -> ()",
    "all_reduce": "(Tensor x, str op, int team) -> Tensor",
    "all_to_all": "(Tensor x, int team) -> Tensor",
}


def put(dest: Tensor, source: Tensor, pe: int) -> None:
    """Copy all of `source` to the symmetric `dest` at PE `pe`: as warpshmem.put."""
    torch.ops.warpshmem.put(dest, source, pe)


def get(dest: Tensor, source: Tensor, pe: int) -> None:
    """Fill `dest` from the symmetric `source` at PE `pe`: as warpshmem.get."""
    torch.ops.warpshmem.get(dest, source, pe)


def barrier(*arrays: Tensor, team: Team = TEAM_WORLD) -> None:
    """Complete what this PE has put, and wait until all of the team have come. `arrays`: symmetric
    ones that others have written until then. Collective over the team."""
    if arrays:
        torch.ops.warpshmem.barrier(list(arrays), team.handle)
    else:  # an operator finds its device by its tensors
        team.barrier()


def all_reduce(x: Tensor, op: str = "sum", team: Team = TEAM_WORLD) -> Tensor:
    """Return the tensors of all members, combined element by element. Collective over the team,
    with equal shapes.

    op: as warpshmem.reduce. float16 and bfloat16 are combined as float32, and rounded once. The
    first call of a job is one over all PEs, of this or all_to_all, or `prepare`.
    """
    return torch.ops.warpshmem.all_reduce(x, op, team.handle)  # type: ignore[no-any-return]


def all_to_all(x: Tensor, team: Team = TEAM_WORLD) -> Tensor:
    """Return block i of each member's x, i being this one: x has a block for each, one after
    another along the first dimension. Collective over the team, with equal shapes; first call as
    all_reduce."""
    return torch.ops.warpshmem.all_to_all(x, team.handle)  # type: ignore[no-any-return]


class _Scratch:
    """Symmetric memory that all_reduce and all_to_all take their way through, of the host and of
    the GPU."""

    world: Optional[int] = None  # the job that it is of
    memory: Dict[str, Tuple[Tensor, Tensor]] = {}


def prepare(device: str = "host") -> None:
    """Allocate what all_reduce and all_to_all need, unless it is there. Collective over all PEs:
    before the first call that is over fewer. device: "host" or "gpu", where the tensors are."""
    job.need("torch.prepare")
    if _Scratch.world != job.state.world:
        _Scratch.memory, _Scratch.world = {}, job.state.world
    if device not in _Scratch.memory:
        made = [empty(SCRATCH, "uint8", like="torch", device=device) for _ in range(2)]
        _Scratch.memory[device] = made[0], made[1]


def _scratch(call: str, team: Team, device: str) -> Tuple[Tensor, Tensor]:
    if team.handle == TEAM_WORLD.handle:
        prepare(device)
    elif _Scratch.world != job.state.world or device not in _Scratch.memory:
        cure = 'call warpshmem.torch.prepare("%s") on all PEs before' % device
        raise refuse("torch." + call, "team", team, cure)
    return _Scratch.memory[device]


def _stream(x: Tensor) -> Any:
    return torch.cuda.current_stream(x.device) if x.is_cuda else None


def _through(
    call: str, of: Tensor, team: int, blocks: int, collective: Callable[[Any, Any, Team, Any], None]
) -> Tensor:
    """Return [blocks, elements] as a collective of [blocks, some] at a time makes it.

    Members meet before each: their scratch is free then, whichever team had it last."""
    members = Team(team)
    source, dest = _scratch(call, members, "gpu" if of.is_cuda else "host")
    stream = _stream(of)
    made, each = torch.empty_like(of), SCRATCH // of.element_size() // blocks
    if not each:
        raise refuse("torch." + call, "team", members, "it has more PEs than there is room for")
    for first in range(0, of.shape[1], each):
        part = of[:, first : first + each]
        count = part.numel()
        one, two = (memory.view(of.dtype)[:count] for memory in (source, dest))
        one.view(part.shape).copy_(part)
        members.sync(stream)
        collective(two, one, members, stream)
        made[:, first : first + each] = two.view(part.shape)
    return made


# What the operators do.


def _put(dest: Tensor, source: Tensor, pe: int) -> None:
    rma.put(dest, source, pe, stream=_stream(dest))


def _get(dest: Tensor, source: Tensor, pe: int) -> None:
    rma.get(dest, source, pe, stream=_stream(dest))


def _barrier(arrays: List[Tensor], team: int) -> None:
    for array in arrays:
        symmetric(array, "torch.barrier", "arrays")
    collectives.team_barrier(Team(team), _stream(arrays[0]) if arrays else None)


def _all_reduce(x: Tensor, op: str, team: int) -> Tensor:
    wide = x.float() if x.dtype in _NARROW else x
    found = _through(
        "all_reduce",
        wide.reshape(1, -1),
        team,
        1,
        lambda dest, source, members, stream: collectives.reduce(
            dest, source, op, members, stream
        ),
    )
    return found.view(x.shape).to(x.dtype)


def _all_to_all(x: Tensor, team: int) -> Tensor:
    n = Team(team).n_pes
    if not x.dim() or x.shape[0] % max(n, 1):
        cure = "its first dimension is a multiple of the team's %d PEs" % n
        raise refuse("torch.all_to_all", "x", tuple(x.shape), cure)
    plain = x.contiguous().view(-1).view(torch.uint8).view(n, -1)
    found = _through(
        "all_to_all",
        plain,
        team,
        n,
        lambda dest, source, members, stream: collectives.alltoall(dest, source, members, stream),
    )
    return found.view(-1).view(x.dtype).view(x.shape)


_DOES: Dict[str, Callable[..., Any]] = {
    "put": _put,
    "get": _get,
    "barrier": _barrier,
    "all_reduce": _all_reduce,
    "all_to_all": _all_to_all,
}


def _nothing(*_: Any) -> None:
    """Of tensors without memory."""


def _alike(x: Tensor, *_: Any) -> Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


_library = torch.library.Library("warpshmem", "DEF")
for _name, _schema in _SCHEMAS.items():
    _library.define(_name + _schema)
    _library.impl(_name, _DOES[_name], "CPU")
    _library.impl(_name, _DOES[_name], "CUDA")
    _library.impl(_name, _alike if _schema.endswith("Tensor") else _nothing, "Meta")


# Teams.


def team_of(group: Any) -> Team:
    """Create the team of a process group: Team.from_group."""
    call = "Team.from_group"
    job.need(call)
    n, mine = job.state.n, _members(group, call)
    if any(not 0 <= pe < n for pe in mine) or (mine and job.state.me not in mine):
        mine = [-1]  # which all PEs refuse below
    row, rows = empty(n + 1, "int64", like="torch"), empty((n, n + 1), "int64", like="torch")
    row.fill_(-1)
    row[0] = len(mine)
    row[1 : 1 + len(mine)] = torch.tensor(mine, dtype=torch.int64)
    collectives.fcollect(rows, row)
    told = [tuple(each[1 : 1 + each[0]]) for each in rows.tolist()]
    for pe, pes in enumerate(told):
        if any(member < 0 or told[member] != pes for member in pes):
            raise WarpshmemError(
                "warpshmem.%s: PE %d gives a group that not all of its members give, or of processes "
                "that are no PEs; let each process give the group that it is in" % (call, pe)
            )
    made = {pes: TEAM_WORLD.create(pes) for pes in dict.fromkeys(told) if pes}
    return made.get(told[job.state.me]) or Team(0, job.state.world)


def _members(group: Any, call: str) -> List[int]:
    """Return the PEs of a group's ranks. Collective over the group."""
    from torch import distributed

    if group is None or group == distributed.GroupMember.NON_GROUP_MEMBER:
        return []
    if not isinstance(group, distributed.ProcessGroup):
        cure = "pass a group of torch.distributed, or None"
        raise refuse(call, "group", type(group).__name__, cure)
    found: List[Any] = [None] * group.size()
    distributed.all_gather_object(found, job.state.me, group)
    return [int(pe) for pe in found]
