# SPDX-License-Identifier: BSD-3-Clause
"""Which instance a call of normal mode has: one with room for what all PEs are about to send."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from warpshmem import ep

WORD = 64
FIRST_HANDLES = 64
LEAST_TOKENS = 256
TOKENS_MAX = 65536


class Room:
    """An instance, and which of its handles are free on this PE."""

    def __init__(self, fields: Dict[str, int]) -> None:
        self.fields = fields
        self.instance = ep.ExpertParallel(**fields)
        self.handles = fields["handles"]
        self.used: Set[int] = set()  # handles that objects of this PE have
        self.turns = 0  # dispatches that took the handles in turn
        self.others: Dict[int, Room] = (
            {}
        )  # by dtype: for dispatches of other rows by the same handles

    def other(self, dtype: int) -> "Room":
        """Return the room whose handle h is of the same routing as handle h here, for rows of
        `dtype`."""
        if dtype == self.fields["dtype"]:
            return self
        if dtype not in self.others:
            self.others[dtype] = Room(dict(self.fields, dtype=dtype))
        return self.others[dtype]

    def words(self) -> List[int]:
        """Return the handles that are free, a bit each, in words of 64 bits."""
        free = (1 << self.handles) - 1
        for number in list(self.used):
            free &= ~(1 << number)
        return [free >> at & (1 << WORD) - 1 for at in range(0, self.handles, WORD)]

    def close(self) -> None:
        for room in self.others.values():
            room.close()
        self.instance.close()


def _power(number: int) -> int:
    """Return the least power of two that is not less."""
    return 1 << max(number - 1, 0).bit_length()


class Plan(NamedTuple):
    """What all PEs know of a dispatch: the room, its handle, and who sends how many rows to
    whom."""

    room: Room
    number: int
    sent: List[List[int]]
    experts: List[int]


class Rooms:
    """The instances of one Buffer in normal mode, several for a kind of call where it has grown."""

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer
        self.rooms: Dict[Any, List[Room]] = {}

    def close(self) -> None:
        """End all instances. Collective."""
        for rooms in self.rooms.values():
            for room in rooms:
                room.close()
        self.rooms = {}

    def _fields(
        self, key: Tuple[int, ...], tokens: int, capacity: int, handles: int
    ) -> Dict[str, int]:
        device, dtype, hidden, experts, topk = key
        return dict(
            mode=ep.HIGH_THROUGHPUT,
            device=device,
            dtype=dtype,
            hidden=hidden,
            experts=experts,
            topk=topk,
            tokens=tokens,
            capacity=capacity,
            handles=handles,
            blocks=self.buffer.blocks(),
        )

    def _grow(self, key: Tuple[int, ...], tokens: int, rows: int, common: int, idle: bool) -> Room:
        """Make a larger instance. The last one ends where no PE has a handle of it."""
        rooms = self.rooms.setdefault(key, [])
        first = dict(tokens=LEAST_TOKENS, capacity=1, handles=FIRST_HANDLES)
        last = rooms[-1].fields if rooms else first
        handles = last["handles"] * (1 if common or not rooms else 4)
        if idle and rooms:
            rooms.pop().close()
        tokens = max(last["tokens"], min(_power(tokens), TOKENS_MAX))
        capacity = min(tokens * self.buffer.group_size, max(last["capacity"], _power(rows), tokens))
        rooms.append(Room(self._fields(key, tokens, capacity, min(handles, 4096))))
        return rooms[-1]

    def plan(
        self, key: Tuple[int, ...], tokens: int, per_rank: Sequence[int], per_expert: Sequence[int]
    ) -> Plan:
        """Gather the numbers of all PEs; all decide alike which instance and handle the dispatch
        has."""
        n, me, rooms = self.buffer.group_size, self.buffer.rank, self.rooms.get(key)
        room = rooms[-1] if rooms else None
        free = room.words() if room else []
        told = self.buffer.agreement.gather([tokens] + free + list(per_rank) + list(per_expert))
        begin = 1 + len(free)
        sent = [numbers[begin : begin + n] for numbers in told]
        most = max(numbers[0] for numbers in told)
        rows = max(sum(column) for column in zip(*sent))
        common, idle = self._common(room, told, len(free))
        if (
            room is None
            or most > room.fields["tokens"]
            or rows > room.fields["capacity"]
            or not common
        ):
            room = self._grow(key, most, rows, common, idle)
            common = 1
        local = len(per_expert) // n
        at = begin + n + me * local
        experts = [sum(numbers[at + i] for numbers in told) for i in range(local)]
        return Plan(room, (common & -common).bit_length() - 1, sent, experts)

    @staticmethod
    def _common(room: Optional[Room], told: List[List[int]], words: int) -> Tuple[int, bool]:
        """Return the handles that are free on all PEs, and whether all are."""
        common = 0
        for at in range(words):
            word = (1 << WORD) - 1
            for numbers in told:
                word &= numbers[1 + at]
            common |= word << at * WORD
        return common, room is None or common == (1 << room.handles) - 1

    def worst(self, key: Tuple[int, ...], worst: int) -> Room:
        """Return the instance for a number of worst tokens, which all PEs give alike."""
        named = key + (worst,)
        if named not in self.rooms:
            self.buffer.refuse_capture("dispatch with num_worst_tokens")
            n = self.buffer.group_size
            tokens = min((worst + n - 1) // n, TOKENS_MAX)
            self.rooms[named] = [
                Room(self._fields(key, tokens, min(worst, tokens * n), FIRST_HANDLES))
            ]
        return self.rooms[named][0]
