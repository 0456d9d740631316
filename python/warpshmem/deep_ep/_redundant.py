# SPDX-License-Identifier: BSD-3-Clause
"""Redundant experts: copies of other ranks' experts, whose weights are fetched before a step, and
whose gradients are added to the experts' own after it."""

from __future__ import annotations

from typing import Any, List, Sequence, Tuple, Union

import torch
import warpshmem

from . import _elastic_checks as checks
from .errors import shown, wrong
from .utils.event import EventOverlap, Launch

Tensor = torch.Tensor
Tensors = Union[Tensor, Sequence[Tensor]]
EXTENT_MOST = 1 << 48  # of what can be asked for
_WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


class BufferAllocator:
    """Allocates what other ranks read in lb_prefetch_weights and lb_reduce_grads."""

    def allocate(self, shape: Any, dtype: torch.dtype) -> Tensor:
        """Return a tensor in symmetric memory, of the GPU where there is one, not initialized.

        Collective over all PEs, with equal arguments; after the first Buffer. It is given back when
        no tensor over it is left.
        """
        device = "gpu" if torch.cuda.is_available() else "host"
        if not isinstance(dtype, torch.dtype):
            text = "is %s; give a type of torch"
            raise wrong("BufferAllocator.allocate", "dtype", text % shown(dtype))
        like = torch.empty(_sizes(shape), dtype=dtype, device="meta")
        size = max(like.numel(), 1) * like.element_size()
        made = warpshmem.empty(size, "uint8", like="torch", device=device)
        return made.view(dtype)[: like.numel()].view(like.shape)


def _sizes(shape: Any) -> List[int]:
    """Return the extents of a shape: a whole number, or several."""
    call, found = "BufferAllocator.allocate", [shape] if hasattr(shape, "__index__") else shape
    if not isinstance(found, (tuple, list)):
        text = "is %s; give whole numbers, one for each dimension"
        raise wrong(call, "shape", text % shown(shape))
    return [checks.whole(call, "shape", one, 0, EXTENT_MOST) for one in found]


class Redundant:
    """The calls, for a Buffer of the second interface. All are collective over its group.

    redundancy_mapping: a whole number for each redundant expert, of which expert (of all ranks) it
    is a copy, -1: none; [R] of this rank, or [ranks, R] of all, equal on all, in which case ranks
    need not tell each other. Tensors come alone or several in a list, of any type: a row for each
    expert. The host reads the mapping.
    """

    def lb_prefetch_weights(
        self,
        redundant: Tensors,
        weights: Tensors,
        redundancy_mapping: Any,
        previous_event: Any = None,
    ) -> EventOverlap:
        """Fill `redundant` [R, …] with the rows of the experts that it has copies of.

        weights: [local experts, …], of BufferAllocator; each rank's have been written before, and
        may be written again afterwards.
        """
        call = "lb_prefetch_weights"
        inner, pairs, local = _begin(self, call, redundant, weights, previous_event)
        _shared(self, call, "weights", [pair[1] for pair in pairs])
        slots = _own(self, call, redundancy_mapping, pairs[0][0].shape[0], local)
        launch = Launch(inner._stream(pairs[0][0]), previous_event, False)
        with launch:
            _meet(inner, launch.stream)
            for at, expert in enumerate(slots):
                for to, of in pairs if expert >= 0 else ():
                    _fetch(self, to, at, of, expert % local, expert // local, launch.stream)
            _meet(inner, launch.stream)
        return launch.finish([pair[1] for pair in pairs], [pair[0] for pair in pairs])

    def lb_reduce_grads(
        self,
        redundant: Tensors,
        grads: Tensors,
        redundancy_mapping: Any,
        previous_event: Any = None,
    ) -> EventOverlap:
        """Add the rows of all ranks' `redundant` [R, …], of BufferAllocator, to those of `grads`
        [local experts, …] that they are copies of: in FP32 in the order of ranks, rounded once."""
        call = "lb_reduce_grads"
        inner, pairs, local = _begin(self, call, redundant, grads, previous_event)
        _shared(self, call, "redundant", [pair[0] for pair in pairs])
        given = _all(self, call, redundancy_mapping, pairs[0][0].shape[0], local)
        launch = Launch(inner._stream(pairs[0][0]), previous_event, False)
        with launch:
            _meet(inner, launch.stream)
            for at in range(local):
                expert = self.rank_idx * local + at  # type: ignore[attr-defined]
                copies = [
                    (rank, slot)
                    for rank, slots in enumerate(given)
                    for slot, of in enumerate(slots)
                    if of == expert
                ]
                for of, to in pairs if copies else ():
                    _add(self, to, at, of, copies, launch.stream)
            _meet(inner, launch.stream)
        return launch.finish([pair[0] for pair in pairs], [pair[1] for pair in pairs])


def _meet(inner: Any, stream: Any) -> None:
    """Wait for all ranks, and for what this one has asked for."""
    team = inner.team if inner.team is not None else warpshmem.TEAM_WORLD
    team.barrier(stream)


def _bytes(tensor: Tensor, at: int) -> Tensor:
    return tensor[at : at + 1].reshape(-1).view(torch.uint8)


def _fetch(buffer: Any, to: Tensor, at: int, of: Tensor, row: int, rank: int, stream: Any) -> None:
    """Begin to copy a rank's row to a row here."""
    if not to[at : at + 1].numel():
        return
    if rank == buffer.rank_idx:
        to[at].copy_(of[row])
    else:
        pe = _pe(buffer._inner, rank)
        warpshmem.get_nbi(_bytes(to, at), _bytes(of, row), pe, stream=stream)


def _add(
    buffer: Any, to: Tensor, at: int, of: Tensor, copies: List[Tuple[int, int]], stream: Any
) -> None:
    """Add ranks' rows to a row here."""
    total, one = to[at].float(), torch.empty_like(of[:1])
    for rank, slot in copies:
        _fetch(buffer, one, 0, of, slot, rank, stream)
        warpshmem.quiet(stream)
        total += one[0].float()
    to[at] = total.to(to.dtype)


def _pe(inner: Any, rank: int) -> int:
    """Return the PE that a rank is."""
    if inner.team is None:
        return rank
    return int(inner.team.translate(rank, warpshmem.TEAM_WORLD))


# What is refused.


def _begin(buffer: Any, call: str, redundant: Any, others: Any, previous: Any) -> Any:
    """Return the Buffer below, pairs of tensors, and the experts of a rank."""
    inner, place = buffer._need(call), "%s.%s" % (buffer._name, call)
    checks.event(place, previous, True)
    one, two = _list(redundant), _list(others)
    name = "weights" if call == "lb_prefetch_weights" else "grads"
    if len(one) != len(two) or not one:
        text = "has %d tensors, and %s %d; give as many"
        raise wrong(place, "redundant", text % (len(one), name, len(two)))
    for copy, own in zip(one, two):
        checks.tensor(place, "redundant", copy)
        checks.tensor(place, name, own, copy.device)
        if copy.dim() < 1 or copy.shape[1:] != own.shape[1:] or copy.dtype != own.dtype:
            text = "has shape %s of %s, and %s %s of %s; rows are alike"
            found = tuple(copy.shape), copy.dtype, name, tuple(own.shape), own.dtype
            raise wrong(place, "redundant", text % found)
        if not copy.is_contiguous() or not own.is_contiguous():
            raise wrong(place, "redundant", "or %s is not contiguous; give contiguous ones" % name)
        if copy.shape[0] != one[0].shape[0] or own.shape[0] != two[0].shape[0]:
            raise wrong(place, name, "have different numbers of rows; give one for each expert")
    if not two[0].shape[0]:
        raise wrong(place, name, "has no rows; give one for each expert of this rank")
    return inner, list(zip(one, two)), two[0].shape[0]


def _shared(buffer: Any, call: str, name: str, given: List[Tensor]) -> None:
    """Refuse what other ranks cannot read."""
    for one in given:
        if one.numel() and not warpshmem.is_symmetric(one):
            text = "is memory of this rank alone; allocate it by BufferAllocator().allocate"
            raise wrong("%s.%s" % (buffer._name, call), name, text)


def _list(given: Any) -> List[Any]:
    return list(given) if isinstance(given, (tuple, list)) else [given]


def _numbers(buffer: Any, call: str, given: Any, rows: int, local: int) -> Any:
    """Return a mapping as lists, checked."""
    name, place = "redundancy_mapping", "%s.%s" % (buffer._name, call)
    n = buffer.num_ranks
    try:
        found = torch.as_tensor(given).cpu()
    except (RuntimeError, TypeError, ValueError):
        text = "is %s; give whole numbers, one for each redundant expert"
        raise wrong(place, name, text % shown(given)) from None
    whole = found.dtype in _WHOLE or not found.numel()
    if tuple(found.shape) not in ((rows,), (n, rows)) or not whole:
        text = "has shape %s of %s; it is [%d], or [%d, %d], of whole numbers"
        raise wrong(place, name, text % (tuple(found.shape), found.dtype, rows, n, rows))
    if found.numel() and not (-1 <= int(found.min()) and int(found.max()) < n * local):
        low = int(found.min()) if int(found.min()) < -1 else int(found.max())
        text = "has %d; experts are 0 to %d, and -1 is none"
        raise wrong(place, name, text % (low, n * local - 1))
    return found.tolist(), found.dim() == 2


def _own(buffer: Any, call: str, given: Any, rows: int, local: int) -> List[int]:
    """Return this rank's mapping."""
    found, of_all = _numbers(buffer, call, given, rows, local)
    return found[buffer.rank_idx] if of_all else found  # type: ignore[no-any-return]


def _all(buffer: Any, call: str, given: Any, rows: int, local: int) -> List[List[int]]:
    """Return the mappings of all ranks, which they tell each other where only their own is
    given."""
    found, of_all = _numbers(buffer, call, given, rows, local)
    if of_all:
        return found  # type: ignore[no-any-return]
    inner = buffer._inner
    inner.refuse_capture(call)
    if any(numbers != [rows] for numbers in inner.agreement.gather([rows])):
        text = "has %d rows, and another rank's a different number; give as many on all"
        raise wrong("%s.%s" % (buffer._name, call), "redundant", text % rows)
    told = inner.agreement.gather([expert + 1 for expert in found])
    return [[expert - 1 for expert in numbers] for numbers in told]
