# SPDX-License-Identifier: BSD-3-Clause
"""Buffers that programs have dropped without destroy(), or destroyed while they had a tensor over
their memory.

To end one is collective, and a garbage collector must not wait for other ranks: it only puts a
Buffer here. Where ranks meet anyway (before a Buffer or an instance is made, and in destroy) they
tell each other what is here, and end each Buffer that all of its ranks have dropped.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Dict, List, Sequence

from warpshmem import job
from warpshmem._tcp_store import say

from ._agree import Agreement

_dropped: Dict[int, Any] = {}  # by the numbers that all ranks have for them
_said: List[int] = []  # of the Buffer that a line was about


def put(buffer: Any) -> None:
    """Nobody has this Buffer any more. Local, by any thread; without effect where its job is over,
    and in a forked child."""
    if not job.state.live or buffer.world != job.state.world:
        return
    _dropped[buffer.number] = buffer
    if buffer.promised and not _said:
        _said.append(buffer.number)
        text = (
            "PE %d: deep_ep.%s: one with explicitly_destroy=True was dropped without destroy(), so "
            "its %d bytes of symmetric memory stay taken until its ranks make another Buffer; call "
            "destroy() on all of them"
        )
        say("warning", text % (job.state.me, buffer.name, buffer.bytes_taken()))


def keep(buffer: Any) -> None:
    """Destroy this Buffer where its ranks meet next and have no tensor over its memory. By all of
    them."""
    _dropped[buffer.number] = buffer


def told() -> List[int]:
    """Return the numbers of those that can end as far as this rank knows. One stays as long as a
    tensor is left over its memory, or where a rank has failed."""
    here = sorted(_dropped.items())
    return [number for number, one in here if not one.agreement.broken and not one.lends()]


def end(numbers: Sequence[Sequence[int]]) -> None:
    """End the Buffers that all of their ranks have told. Collective over ranks that know what each
    of them has told: they proceed in the order of numbers, so that none waits for another Buffer's.
    """
    count = Counter(number for each in numbers for number in each)
    for number in sorted(count):
        one = _dropped.get(number)
        if one is not None and count[number] == one.group_size and _dropped.pop(number, None):
            one.end(False)  # once, where threads meet for several Buffers


def meet(agreement: Agreement) -> None:
    """End what all ranks of a Buffer have dropped. Collective over the group of the agreement."""
    mine = told()
    most = max(count for (count,) in agreement.gather([len(mine)]))
    if most:
        found = agreement.gather(mine + [0] * (most - len(mine)))
        end([[number for number in each if number] for each in found])


job.at_end.append(_dropped.clear)
