# SPDX-License-Identifier: BSD-3-Clause
"""Which instance a call of normal mode has: one with space for what all PEs are about to send.

PEs take the handles of the last instance in turn, and learn from its kernels whether all of them can
(`agreed` of shmemx_ep.h). Where one cannot they gather their numbers, and make a larger instance.
"""

from __future__ import annotations

import ctypes
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

import warpshmem
from warpshmem import _lib, ep

from . import _dropped, _topk

WORD = 64
FIRST_HANDLES = 64
LEAST_TOKENS = 256
TOKENS_MOST = 65536  # of a rank and call
EXPANDS_SMS = 48  # from which on a GPU's calls expand rows sooner than passes behind them do
WORST = -1  # in the keys of instances for a number of worst tokens
SPARE = 1  # handles of an instance beside those that routings have
HANDLES_MAX = 4096 - SPARE


class Entry:
    """An instance, and which of its handles are free on this PE. It has one more, `spare`, of calls
    that are declined."""

    def __init__(self, fields: Dict[str, int], team: Any = None) -> None:
        self.fields, self.team = fields, team
        self.handles = self.spare = fields["handles"]
        self.instance = ep.ExpertParallel(team, **dict(fields, handles=self.handles + SPARE))
        self.expands = False  # its calls expand rows, too
        self.next = 0  # handle of the next dispatch, of all PEs
        self.rows = 0  # of the last one
        self.wide = 0  # its expanded rows
        self.used: Set[int] = set()  # handles that objects of this PE have
        self.turns = 0  # dispatches that took the handles in turn
        self.captured = False  # a graph has combines, whose replays the host does not see
        self.sums: Dict[int, Any] = {}  # what combines take without a copy, by address
        self.others: Dict[int, Entry] = (
            {}
        )  # by dtype: for dispatches of other rows by the same handles

    def other(self, dtype: int) -> "Entry":
        """Return the entry whose handle h is of the same routing as handle h here, for rows of
        `dtype`."""
        if dtype == self.fields["dtype"]:
            return self
        if dtype not in self.others:
            self.others[dtype] = Entry(dict(self.fields, dtype=dtype), self.team)
            self.others[dtype].expands = self.expands
        return self.others[dtype]

    def take(self, tokens: int, topk: int) -> Optional[int]:
        """Return the handle of the next dispatch; None where this PE cannot make it. By all PEs."""
        number, fields = self.next, self.fields
        self.next = (number + 1) % self.handles
        fits = tokens <= fields["tokens"] and topk <= fields["topk"]
        return number if fits and number not in self.used else None

    def holds(self, rows: int, topk: int) -> bool:
        """Whether a dispatch of so many rows and columns has room."""
        return rows <= self.fields["pe_capacity"] and topk <= self.fields["topk"]

    def room(self, tokens: int) -> int:
        """Return for how many rows a dispatch takes memory before it knows how many come: for as
        many tokens of every PE, or for what came last."""
        most = max(tokens * self.instance.n_pes, self.rows, 1)
        return min(most, self.fields["pe_capacity"])

    def wide_room(self, tokens: int, alignment: int) -> int:
        """Return the same of expanded rows: for what comes where experts are chosen alike, or for
        what came last."""
        padding = (alignment - 1) * self.instance.local_experts
        return max(tokens * int(self.fields["topk"]) + padding, self.wide, 1)

    def y(self, like: Any, rows: int) -> Any:
        """Return so many rows that the next combine takes without a copy; None where it is not known
        which ones: its memory comes in turn, which replays of graphs take too."""
        if self.captured:
            return None
        address = self.instance.buffer_address(ep.BUFFER_Y)
        if address not in self.sums:
            self.sums[address] = self.instance.buffer(ep.BUFFER_Y, like)
        return self.sums[address][:rows]

    def words(self) -> List[int]:
        """Return the handles that are free, a bit each, in words of 64 bits."""
        free = (1 << self.handles) - 1
        for number in list(self.used):
            free &= ~(1 << number)
        return [free >> at & (1 << WORD) - 1 for at in range(0, self.handles, WORD)]

    def forget(self) -> None:
        """Let go of tensors over symmetric memory."""
        self.sums = {}

    def close(self) -> None:
        for entry in self.others.values():
            entry.close()
        self.forget()
        self.instance.close()


def _power(number: int) -> int:
    """Return the least power of two that is not less."""
    return 1 << max(number - 1, 0).bit_length()


class Plan(NamedTuple):
    """What all PEs know of a dispatch: the entry, its handle, and who sends how many rows to
    whom."""

    entry: Entry
    number: int
    sent: List[List[int]]
    experts: List[int]
    topk: int  # of the ranks that have tokens, at most


class Pool:
    """The instances of one Buffer in normal mode, several for a kind of call where it has grown."""

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer
        self.entries: Dict[Any, List[Entry]] = {}
        self.first = dict(tokens=LEAST_TOKENS, pe_capacity=1, handles=FIRST_HANDLES, topk=1)

    def all(self) -> List[Entry]:
        """Return the entries that there are."""
        found = [entry for entries in self.entries.values() for entry in entries]
        return found + [other for entry in found for other in entry.others.values()]

    def close(self) -> None:
        """End all instances. Collective."""
        for entries in self.entries.values():
            for entry in entries:
                entry.close()
        self.entries = {}

    def _fields(
        self, key: Tuple[int, ...], topk: int, tokens: int, capacity: int, handles: int
    ) -> Dict[str, int]:
        device, dtype, hidden, experts = key
        return dict(
            mode=ep.HIGH_THROUGHPUT,
            device=device,
            dtype=dtype,
            hidden=hidden,
            experts=experts,
            topk=topk,
            topk_bits=64,
            tokens=tokens,
            pe_capacity=capacity,
            handles=handles,
            blocks=self.buffer.blocks(),
            fewer_blocks=1,
        )

    def _grow(
        self, key: Tuple[int, ...], topk: int, tokens: int, rows: int, common: int, idle: bool
    ) -> Entry:
        """Make a larger instance. The last one ends where no PE has a handle of it."""
        entries = self.entries.setdefault(key, [])
        last = entries[-1].fields if entries else self.first
        handles = last["handles"] * (1 if common or not entries else 4)
        if idle and entries:
            entries.pop().close()
        if tokens > last["tokens"]:
            tokens = max(last["tokens"], min(_power(tokens), TOKENS_MOST))
        else:
            tokens = last["tokens"]
        capacity = min(tokens * self.buffer.group_size, max(last["pe_capacity"], _power(rows), tokens))
        topk = min(max(last["topk"], topk), key[3])
        fields = self._fields(key, topk, tokens, capacity, min(handles, HANDLES_MAX))
        _dropped.meet(self.buffer.agreement)
        entries.append(Entry(fields, self.buffer.team))
        entries[-1].expands = self._expands(entries[-1])
        return entries[-1]

    def last(self, key: Tuple[int, ...]) -> Optional[Entry]:
        """Return the instance whose kernels say what PEs agree on; None: there is none yet."""
        entries = self.entries.get(key)
        return entries[-1] if entries else None

    def _expands(self, entry: Entry) -> bool:
        """Whether an instance's calls expand rows: all PEs reach each other's memory of it, and have
        SMs enough for that. Collective."""
        instance, blocks = entry.instance, entry.fields["blocks"]
        enough = not entry.fields["device"] or blocks == 0 or blocks >= EXPANDS_SMS
        team = warpshmem.TEAM_WORLD if self.buffer.team is None else self.buffer.team
        reach, address = _lib.core().shmem_ptr, instance.buffer_address(ep.BUFFER_X)
        reach.restype, reach.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int]
        pes = [team.translate(rank, warpshmem.TEAM_WORLD) for rank in range(instance.n_pes)]
        reached = [pe is not None and bool(reach(address, pe)) for pe in pes]
        own = [int(enough and all(reached))]
        return all(told == [1] for told in self.buffer.agreement.gather(own))

    def plan(
        self,
        key: Tuple[int, ...],
        topk: int,
        tokens: int,
        per_rank: Sequence[int],
        per_expert: Sequence[int],
    ) -> Plan:
        """Gather the numbers of all PEs; all decide alike which instance and handle the dispatch
        has."""
        n, me, entries = self.buffer.group_size, self.buffer.rank, self.entries.get(key)
        entry = entries[-1] if entries else None
        free = entry.words() if entry else []
        own = [tokens, topk]
        told = self.buffer.agreement.gather(own + free + list(per_rank) + list(per_expert))
        begin, topk = len(own) + len(free), _topk.agreed(told)
        sent = [numbers[begin : begin + n] for numbers in told]
        most = max(numbers[0] for numbers in told)
        rows = max(sum(column) for column in zip(*sent))
        common, idle = self._common(entry, [numbers[len(own) :] for numbers in told], len(free))
        if (
            entry is None
            or most > entry.fields["tokens"]
            or rows > entry.fields["pe_capacity"]
            or topk > entry.fields["topk"]
            or not common
        ):
            entry = self._grow(key, topk, most, rows, common, idle)
            common = 1
        local = len(per_expert) // n
        at = begin + n + me * local
        experts = list(map(sum, zip(*[numbers[at : at + local] for numbers in told])))
        number = (common & -common).bit_length() - 1
        entry.next = (number + 1) % entry.handles
        return Plan(entry, number, sent, experts, topk)

    @staticmethod
    def _common(entry: Optional[Entry], told: List[List[int]], words: int) -> Tuple[int, bool]:
        """Return the handles that are free on all PEs, and whether all are."""
        common = 0
        for at in range(words):
            word = (1 << WORD) - 1
            for numbers in told:
                word &= numbers[at]
            common |= word << at * WORD
        return common, entry is None or common == (1 << entry.handles) - 1

    def worst(self, key: Tuple[int, ...], topk: int, tokens: int, worst: int) -> Entry:
        """Return the instance for a number of worst tokens, which all PEs give alike: the smallest
        that has room. The first one is as large as asked for, others by powers of two."""
        n, entries = self.buffer.group_size, self.entries.setdefault(key + (WORST,), [])
        worst = min(worst, TOKENS_MOST * n)
        fitting = [one for one in entries if one.holds(worst, topk)]
        if fitting:
            return min(fitting, key=lambda one: int(one.fields["pe_capacity"]))
        self.buffer.refuse_capture("dispatch with num_worst_tokens")
        agreed = _topk.agreed(self.buffer.agreement.gather([tokens, topk]))
        topk = _topk.room(agreed, key[3])
        tokens = min(((_power(worst) if entries else worst) + n - 1) // n, TOKENS_MOST)
        capacity = tokens * n if entries else worst
        _dropped.meet(self.buffer.agreement)
        fields = self._fields(key, topk, tokens, capacity, FIRST_HANDLES)
        entries.append(Entry(fields, self.buffer.team))
        entries[-1].expands = self._expands(entries[-1])
        return entries[-1]
