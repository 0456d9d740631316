# SPDX-License-Identifier: BSD-3-Clause
"""The table of the routines that kernels in Python call: numba.py and triton.py are made of it.

A row is `name(argument: kind, ...) -> kind : types | scopes`. Kinds:

address     memory of any type
signal      a signal, of 8 bytes
word        memory of the type of the row's T
value       a number of that type
size        a number of 8 bytes
uint64      the same, as a value of a signal
int         a number of 4 bytes: a PE, a team, a comparison, an operation

Types: the row is there for each of them, by the type of what `word` points to. Scopes: "each" asks
for a value and may be called by any threads; "once" acts for one thread; thread, warp and block are
the threads that make the call together.
"""
from __future__ import annotations

import re
from typing import Dict, List, NamedTuple, Tuple

_SETS = {
    "integers": "int32 int64 uint32 uint64",
    "words": "int32 int64 uint32 uint64 float double",
    "numbers": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float double",
}

_EVERY = "thread warp block"
_MEM = "dest: address, source: address, nbytes: size"
_SIG = "sig_addr: signal, signal: uint64, sig_op: int"
_ROWS = f"""
my_pe() -> int | each
n_pes() -> int | each
team_my_pe(team: int) -> int | each
team_n_pes(team: int) -> int | each
team_translate_pe(team: int, pe: int, dest_team: int) -> int | each
ptr(dest: address, pe: int) -> address | each
putmem({_MEM}, pe: int) | {_EVERY}
putmem_nbi({_MEM}, pe: int) | {_EVERY}
getmem({_MEM}, pe: int) | {_EVERY}
getmem_nbi({_MEM}, pe: int) | {_EVERY}
putmem_signal({_MEM}, {_SIG}, pe: int) | {_EVERY}
putmem_signal_nbi({_MEM}, {_SIG}, pe: int) | {_EVERY}
signal_op({_SIG}, pe: int) | once
signal_fetch(sig_addr: signal) -> uint64 | once
signal_wait_until(sig_addr: signal, cmp: int, cmp_value: uint64) -> uint64 | once
fence() | once
quiet() | once
barrier_all() | {_EVERY}
barrier(team: int) -> int | {_EVERY}
sync_all() | {_EVERY}
team_sync(team: int) -> int | {_EVERY}
broadcastmem(team: int, {_MEM}, root: int) -> int | {_EVERY}
fcollectmem(team: int, {_MEM}) -> int | {_EVERY}
alltoallmem(team: int, {_MEM}) -> int | {_EVERY}
sum_reduce(team: int, dest: word, source: word, nreduce: size) -> int : numbers | {_EVERY}
max_reduce(team: int, dest: word, source: word, nreduce: size) -> int : numbers | {_EVERY}
min_reduce(team: int, dest: word, source: word, nreduce: size) -> int : numbers | {_EVERY}
p(dest: word, value: value, pe: int) : words | once
g(source: word, pe: int) -> value : words | once
wait_until(ivar: word, cmp: int, cmp_value: value) : integers | once
test(ivar: word, cmp: int, cmp_value: value) -> int : integers | once
atomic_fetch(source: word, pe: int) -> value : words | once
atomic_set(dest: word, value: value, pe: int) : words | once
atomic_swap(dest: word, value: value, pe: int) -> value : words | once
atomic_compare_swap(dest: word, cond: value, value: value, pe: int) -> value : integers | once
atomic_add(dest: word, value: value, pe: int) : words | once
atomic_fetch_add(dest: word, value: value, pe: int) -> value : words | once
atomic_inc(dest: word, pe: int) : integers | once
atomic_fetch_inc(dest: word, pe: int) -> value : integers | once
atomic_and(dest: word, value: value, pe: int) : integers | once
atomic_fetch_and(dest: word, value: value, pe: int) -> value : integers | once
atomic_or(dest: word, value: value, pe: int) : integers | once
atomic_fetch_or(dest: word, value: value, pe: int) -> value : integers | once
atomic_xor(dest: word, value: value, pe: int) : integers | once
atomic_fetch_xor(dest: word, value: value, pe: int) -> value : integers | once
"""

# NVSHMEM's numbers, which the routines take.
CONSTANTS = {
    "CMP_EQ": 0,
    "CMP_NE": 1,
    "CMP_GT": 2,
    "CMP_LE": 3,
    "CMP_LT": 4,
    "CMP_GE": 5,
    "SIGNAL_SET": 9,
    "SIGNAL_ADD": 10,
    "TEAM_WORLD": 0,
    "TEAM_SHARED": 1,
    "TEAM_NODE": 2,
}


class Routine(NamedTuple):
    """A row of the table."""

    name: str
    arguments: Tuple[Tuple[str, str], ...]  # (name, kind)
    result: str  # a kind, or "" for none
    types: Tuple[str, ...]  # those of T, in NVSHMEM's names; empty where the row has no T
    scopes: Tuple[str, ...]


def _parse(row: str) -> Routine:
    match = re.fullmatch(r"(\w+)\((.*)\)(?: -> (\w+))?(?: : (\w+))? \| (.+)", row)
    assert match, row
    name, arguments, result, types, scopes = match.groups()
    pairs = tuple(tuple(each.split(": ")) for each in arguments.split(", ") if each)
    return Routine(
        name,
        pairs,
        result or "",
        tuple(_SETS[types].split()) if types else (),  # type: ignore[arg-type]
        tuple(scopes.split()),
    )


ROUTINES: List[Routine] = [_parse(row) for row in _ROWS.strip().splitlines()]
_EXTENSIONS = {"signal_op"} | {
    f"{t}_atomic_{op}" for t in ("float", "double") for op in ("add", "fetch_add")
}


def thread_symbol(routine: Routine, scope: str = "", type_name: str = "") -> str:
    """Return the symbol of what each thread calls for itself, or a warp or a block together."""
    name = f"{type_name}_{routine.name}" if type_name else routine.name
    if scope in ("warp", "block"):
        return f"nvshmemx_{name}_{scope}"
    return ("nvshmemx_" if name in _EXTENSIONS else "nvshmem_") + name


def block_symbol(routine: Routine, type_name: str = "") -> str:
    """Return the symbol of what all threads of a block call together and get the result of."""
    if "each" in routine.scopes:
        return thread_symbol(routine)
    if "block" in routine.scopes:
        return thread_symbol(routine, "block", type_name)
    return "wsh_block_" + (f"{type_name}_{routine.name}" if type_name else routine.name)


def symbols() -> Dict[str, Routine]:
    """Return all symbols that the table names."""
    found = {}
    for routine in ROUTINES:
        for type_name in routine.types or ("",):
            found[block_symbol(routine, type_name)] = routine
            for scope in routine.scopes:
                found[thread_symbol(routine, scope, type_name)] = routine
    return found


def describe(routine: Routine) -> str:
    """Return a line of documentation: the call as it is written, with what it takes."""
    arguments = ", ".join(f"{name}: {kind}" for name, kind in routine.arguments)
    types = " for " + ", ".join(routine.types) if routine.types else ""
    return (
        f"{routine.name}({arguments})" + (f" -> {routine.result}" if routine.result else "") + types
    )
