# SPDX-License-Identifier: BSD-3-Clause
"""Expert parallelism: shmemx_ep.h for torch tensors and numpy arrays.

An ExpertParallel holds what calls need. Rows lie in memory of the host (device=False: numpy arrays
or torch CPU tensors) or of the GPU (device=True: torch CUDA tensors). BF16 is torch.bfloat16, or
uint16 in numpy; e4m3 is torch.float8_e4m3fn, or uint8. Arrays are contiguous. What is wrong raises
WarpshmemError, and nothing is sent.
"""

from __future__ import annotations

import ctypes
import warnings
import weakref
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import _ep_arrays as arrays
from . import _ep_plans as plans
from . import _lib, errors, job
from ._ep_structs import (
    Bytes,
    Combine,
    Config,
    Dispatch,
    DispatchByExpert,
    DispatchBySource,
    RowsExpanded,
    Statistics,
)
from .errors import ArgumentError
from .job import check_int
from .teams import TEAM_WORLD, member

LOW_LATENCY, HIGH_THROUGHPUT = 0, 1
BF16, FP8, FP8_UE8M0, BYTES, NVFP4 = 0, 1, 2, 3, 4
AUTO, DIRECT, ONE_COPY = 0, 1, 2
SEND, RECEIVE, BOTH = 1, 2, 3
AGREES, DECLINES = 1, 2
BUFFER_X, BUFFER_Y = 0, 1
CONFIG_VERSION, CALL_VERSION = 1, 2
PLANS = 16  # of calls with rows_most, about

_pointer = ctypes.c_void_p
_int = ctypes.c_int


_PROTOTYPES: Dict[str, Tuple[Any, List[Any]]] = {
    "shmemx_ep_bytes": (_int, [ctypes.POINTER(Config), _int, _int, ctypes.POINTER(Bytes)]),
    "shmemx_ep_create": (_int, [_pointer, ctypes.POINTER(Config), ctypes.POINTER(_pointer)]),
    "shmemx_ep_destroy": (_int, [_pointer]),
    "shmemx_ep_dispatch": (_int, [_pointer, ctypes.POINTER(Dispatch)]),
    "shmemx_ep_combine": (_int, [_pointer, ctypes.POINTER(Combine)]),
    "shmemx_ep_buffer": (_pointer, [_pointer, _int]),
    "shmemx_ep_counts": (
        _int,
        [_pointer, _int, ctypes.POINTER(ctypes.c_int32), ctypes.POINTER(ctypes.c_int32)],
    ),
    "shmemx_ep_statistics": (_int, [_pointer, ctypes.POINTER(Statistics)]),
    "shmemx_ep_mask_update": (_int, [_pointer, _int, _int]),
    "shmemx_ep_mask_query": (_int, [_pointer, ctypes.POINTER(ctypes.c_int32)]),
    "shmemx_ep_mask_clean": (_int, [_pointer]),
    "shmemx_ep_error_last": (ctypes.c_char_p, []),
}


def _routine(name: str) -> Any:
    _lib.hold_errors()
    routine = getattr(_lib.ep(), name)
    routine.restype, routine.argtypes = _PROTOTYPES[name]
    return routine


def _last_line() -> str:
    """Return, once, the last line of this library about a refusal in this thread, or ""."""
    text: bytes = _routine("shmemx_ep_error_last")()
    return text.decode(errors="replace")


def check(status: int, call: str) -> None:
    """Raise WarpshmemError with the library's line where `status` of `call` is not 0."""
    errors.check(status, call, _last_line)


def config(**fields: int) -> Config:
    """Return a configuration: the fields of shmemx_ep_config_t by name; those left out are 0,
    which chooses."""
    made = Config(version=CONFIG_VERSION)
    for name, value in fields.items():
        if name in ("version", "unused") or not hasattr(made, name):
            raise ArgumentError(
                "warpshmem.ep.config: %s is no field of a configuration; there are: %s"
                % (name, ", ".join(field for field, _ in Config._fields_[1:-1]))
            )
        if name == "capacity":
            warnings.warn(
                "warpshmem.ep.config: capacity is deprecated; give expert_capacity in low latency, "
                "pe_capacity in high throughput",
                DeprecationWarning,
                stacklevel=2,
            )
        setattr(made, name, check_int("ep.config", name, value))
    return made


def bytes_of(configuration: Config, n_pes: int, pes_per_host: int) -> Bytes:
    """Return what an instance takes of a PE (shmemx_ep_bytes). Local; before `init` too."""
    result = Bytes()
    check(
        _routine("shmemx_ep_bytes")(configuration, n_pes, pes_per_host, result), "shmemx_ep_bytes"
    )
    return result


class Received(NamedTuple):
    """What a dispatch has received; ExpertParallel.dispatch says the shapes."""

    rows: Any
    row_scales: Any
    counts: Any
    sources: Any
    row_topk: Any
    row_weights: Any
    ranges: Any = None
    row_sources: Any = None
    totals: Any = None


_NONE = (None,) * len(Received._fields)


class Expanded(NamedTuple):
    """Rows expert by expert, as shmemx_ep_rows_expanded_t has them; row_scales may lie by columns.
    What is None, but rows and ends, is not written."""

    rows: Any  # [E, hidden]
    row_scales: Any
    weights: Any  # [E]
    ends: Any  # [local experts]
    places: Any  # [received rows, K]
    sources: Any  # [E]
    experts: Any  # [E]
    alignment: int = 1
    zero: bool = False  # padding is zeros


class ExpertParallel:
    """An instance of expert parallelism (shmemx_ep_create).

    Collective over the team, with equal arguments. `team` is a Team of which this PE is a member;
    None: all PEs. The rest are the fields of shmemx_ep_config_t: mode LOW_LATENCY or
    HIGH_THROUGHPUT, dtype BF16, FP8, FP8_UE8M0, in low latency NVFP4 and BYTES (rows of row_bytes
    bytes as the program packs them), hidden columns, experts of all PEs, topk, tokens
    of a PE and call at most; window, handles, blocks, route, and the rows that are received at
    most, of each local expert (low latency: expert_capacity) or in all (high throughput:
    pe_capacity): 0 chooses. The attribute `capacity` is that number. As a context manager it is
    closed at the end.
    """

    def __init__(self, team: Any = None, **fields: int) -> None:
        self.config = config(**fields)
        self._ep = _pointer()
        team = TEAM_WORLD if team is None else team
        handle = member(team, "ep.ExpertParallel")
        check(
            _routine("shmemx_ep_create")(handle, self.config, ctypes.byref(self._ep)),
            "shmemx_ep_create",
        )
        self.n_pes = team.n_pes
        self.local_experts = self.config.experts // self.n_pes
        self.capacity = self._capacity()
        low = self.config.mode == LOW_LATENCY
        self._struct = DispatchByExpert if low else DispatchBySource
        self._kept: Dict[int, int] = {}  # tokens of the routing that each handle has
        self._forms = self.forms()
        self._known_forms: Dict[Any, Any] = {}  # of what `received` has made
        self._wide = RowsExpanded()  # of the last dispatch that had it
        self._plans: Dict[Any, Any] = {}  # of calls as `dispatch` and `combine` make them
        self.made_plans: List[Any] = []  # all that there are
        self._dispatch, self._combine, self._buffer, self._counts = (
            _routine("shmemx_ep_" + name) for name in ("dispatch", "combine", "buffer", "counts")
        )
        self.lent: Any = weakref.WeakSet()  # what arrays of `buffer` hold as long as they are there
        _open.add(self)

    def __enter__(self) -> "ExpertParallel":
        return self

    def __exit__(self, error: Any, *_: Any) -> None:
        if error is None:  # else the others are not met: the exception is shown, and ends the job
            self.close()

    def _capacity(self) -> int:
        """Return the rows that are received at most; without a number as shmemx_ep.h has it."""
        given = self.config
        low = given.mode == LOW_LATENCY
        senders = self.n_pes if low else min(self.n_pes, given.topk)
        chosen = given.capacity or (given.expert_capacity if low else given.pe_capacity)
        return int(chosen or given.tokens * senders)

    def close(self) -> None:
        """End the instance (shmemx_ep_destroy). Collective over the team; a second call does
        nothing, nor does one after `finalize`."""
        if self._ep:
            check(_routine("shmemx_ep_destroy")(self._ep), "shmemx_ep_destroy")
        self._forget()

    def _forget(self) -> Any:
        """Let no call reach the library's instance any more; return it."""
        made, self._ep = self._ep, _pointer()
        for plan in self.made_plans:
            plan.close()
        self._plans, self.made_plans = {}, []
        return made

    def received(
        self,
        like: Any,
        rows: Optional[int] = None,
        rows_only: bool = False,
        expanded: bool = False,
        numbers: bool = True,
    ) -> Received:
        """Allocate what a dispatch writes, of the framework and on the device that `like` is.

        `rows`: how many are expected in high throughput, where the caller knows; otherwise
        capacity. rows_only: only rows and their scales. expanded: these lie elsewhere. numbers:
        counts and sources, too.
        """
        key = rows, rows_only, expanded, numbers
        forms = self._known_forms.get(key)
        if forms is None:
            forms = self.forms(rows)
            if not numbers:
                forms = forms[:2] + _NONE[2:4] + forms[4:]
            if rows_only:
                forms = forms[:2] + _NONE[2:]
            if expanded:
                forms = _NONE[:2] + forms[2:]
            if len(self._known_forms) >= PLANS:
                self._known_forms.clear()
            self._known_forms[key] = forms
        return Received(*arrays.made(like, forms))

    def expanded(
        self,
        like: Any,
        rows: int,
        received: int,
        alignment: int = 1,
        zero: bool = False,
        weights: bool = True,
        experts: bool = True,
    ) -> Expanded:
        """Allocate what a dispatch writes for `rows` rows, expert by expert, of so many received
        ones."""
        new, given, many = arrays.maker(like), self.config, max(rows, 1)
        scaled = given.dtype in (FP8, FP8_UE8M0)
        return Expanded(
            new((many, given.hidden), self._sent()[0]),
            new((many, given.hidden // 128), "float32") if scaled else None,
            new((many,), "float32") if weights else None,
            new((self.local_experts,), "int32"),
            new((max(received, 1), given.topk), "int32"),
            new((many,), "int32"),
            new((many,), "int32") if experts else None,
            alignment,
            zero,
        )

    def _expand(self, expanded: Expanded, like: Any) -> int:
        """Return the address of the struct that says where rows go, expert by expert."""
        where = arrays.Where("dispatch", bool(self.config.device), like)
        made, given, scales = self._wide, self.config, expanded.row_scales
        made.rows = where.pointer("expanded.rows", expanded.rows, self._sent()[0], (-1, given.hidden))
        made.scales_row_step = made.scales_column_step = 0
        if scales is not None and not _is_dense(scales):
            made.scales_row_step, made.scales_column_step = scales.stride()
            made.row_scales = scales.data_ptr()
        else:
            columns = given.hidden // 128
            made.row_scales = where.pointer("expanded.row_scales", scales, "float32", (-1, columns))
        made.weights = where.pointer("expanded.weights", expanded.weights, "float32", (-1,))
        made.ends = where.pointer("expanded.ends", expanded.ends, "int32", (self.local_experts,))
        made.places = where.pointer("expanded.places", expanded.places, "int32", (-1, given.topk))
        made.sources = where.pointer("expanded.sources", expanded.sources, "int32", (-1,))
        made.experts = where.pointer("expanded.experts", expanded.experts, "int32", (-1,))
        made.room, made.alignment = expanded.rows.shape[0], expanded.alignment
        made.zero = int(expanded.zero)
        return ctypes.addressof(made)

    def _lead(self, rows: Optional[int]) -> Tuple[int, ...]:
        """Return the first dimensions of received rows."""
        if self.config.mode == LOW_LATENCY:
            return self.local_experts, self.capacity
        return (self.capacity if rows is None else max(rows, 1),)

    def _lines(self, rows: Optional[int]) -> Tuple[Optional[Tuple[Any, ...]], ...]:
        """Return shape and type of received rows and of their scales, None without any."""
        lead, (kind, width) = self._lead(rows), self._sent()
        scaled = self.config.dtype in (FP8, FP8_UE8M0, NVFP4)
        return (lead + (width,), kind), self._scales_of(lead)[::-1] if scaled else None

    def forms(self, rows: Optional[int] = None) -> Tuple[Optional[Tuple[Any, ...]], ...]:
        """Return shape and type of what `received` makes; None for what it leaves out."""
        given = self.config
        low, lead = given.mode == LOW_LATENCY, self._lead(rows)
        return self._lines(rows) + (
            ((self.local_experts,), "int32"),
            (((self.local_experts,) if low else ()) + (self.n_pes, 2), "int32"),
            None if low else (lead + (given.topk,), self._number()),
            None if low else (lead + (given.topk,), "float32"),
            None,
            None,
            None,
        )

    def dispatch(
        self,
        x: Any,
        topk: Any = None,
        weights: Any = None,
        *,
        x_scales: Any = None,
        handle: int = 0,
        halves: int = BOTH,
        received: Optional[Received] = None,
        stream: Any = None,
        rows_most: int = 0,
        agreed: int = 0,
        row_sums: Any = None,
        global_scale: Any = None,
        expanded: Optional[Expanded] = None,
    ) -> Received:
        """Send tokens to the PEs of their experts, and receive those for this PE's
        (shmemx_ep_dispatch).

        x: [T, hidden] BF16; or e4m3 with x_scales [T, hidden / 128] float32. topk: [T, K] int32
        (int64 with topk_bits=64), different experts of a token, -1: none; None: the routing that
        `handle` has. weights: [T, K] float32; None: ones, or those of the handle. Returns `received`, or a new one: rows,
        row_scales, counts [local experts], sources [.., n, 2]; high throughput also row_topk,
        row_weights [capacity, K] and, where `received` has it, row_sources [capacity]; low latency, where
        `received` has them, ranges [local experts, n] int64, row_sources [local experts, capacity]
        and totals [local experts] int32. Both
        halves are given the same. Entries of `received` that are None, but rows, are not written. stream: the GPU's; None: torch's current one.
        global_scale: [1] float32, of NVFP4, whose rows are codes [.., hidden / 2] and scales [.., hidden / 16] uint8.
        High throughput, as shmemx_ep.h says: rows_most, rows that `received` has room for; agreed, 0, AGREES or DECLINES;
        row_sums [n, n] int32, written; on one host expanded, where rows and row_scales go instead of `received`.
        """
        given = self.config
        if received is None and expanded is not None:
            received = self.received(x, expanded=True)
        makes = received is None
        numbers = agreed, rows_most
        wide = 0 if expanded is None else self._expand(expanded, x)
        plan = self._plan(self._struct, x, x_scales is not None, makes, numbers, wide)
        if plan is not None:
            at = plans.stream(self, stream, x)
            outputs = *(received or _NONE), row_sums, global_scale
            found = plan.call(halves, handle, at, -1, -1, 0, x, x_scales, topk, weights, *outputs)
            if found is not None:
                self._kept[handle] = found[0]
                return self._received(found) if received is None else received
        job.need("ep.dispatch")
        _lib.hold_errors()
        _check_numbers("ep.dispatch", halves=halves, handle=handle, agreed=agreed)
        kind, width = self.given_row(x_scales is not None)
        tokens = arrays.tokens_of(x, width)
        if received is None:
            received = self.received(x)
        where = arrays.Where("dispatch", bool(given.device), x)
        columns = self._columns(topk if topk is not None else weights)
        topk_at = where.pointer("topk", topk, self._number(), (tokens, columns))
        call = self._struct(
            version=CALL_VERSION,
            halves=halves,
            handle=handle,
            tokens=tokens,
            columns=columns,
            topk=topk_at,
            x=where.pointer("x", x, kind, (tokens, width)),
            x_scales=where.pointer("x_scales", x_scales, "float32", (tokens, given.hidden // 128)),
            weights=where.pointer("weights", weights, "float32", (tokens, columns)),
            stream=arrays.stream_of(stream, x) if given.device else None,
            rows_most=rows_most,
            agreed=agreed,
            row_sums=where.pointer("row_sums", row_sums, "int32", (self.n_pes, self.n_pes)),
            global_scale=where.pointer("global_scale", global_scale, "float32", ()),
            expanded=wide or None,
        )
        for name, value in received._asdict().items():
            setattr(call, name, where.pointer(name, value, *self._form(name)))
        check(self._dispatch(self._ep, call), "shmemx_ep_dispatch")
        self._kept[handle] = tokens
        return received

    def _scales_of(self, lead: Tuple[int, ...] = (-1,)) -> Tuple[str, Tuple[int, ...]]:
        """Return type and shape of the scales of received rows."""
        given = self.config
        if given.dtype == NVFP4:
            return "uint8", lead + (given.hidden // 16,)
        return "float32", lead + (given.hidden // 128,)

    def _sent(self) -> Tuple[str, int]:
        """Return the type and extent of a row as it is sent."""
        given = self.config
        if given.dtype == BYTES:
            return "uint8", given.row_bytes
        if given.dtype == NVFP4:
            return "uint8", given.hidden // 2
        return "e4m3" if given.dtype else "bf16", given.hidden

    def given_row(self, scaled: bool) -> Tuple[str, int]:
        """Return the same of x, with or without scales."""
        if self.config.dtype == NVFP4:
            return "bf16", self.config.hidden
        if scaled or self.config.dtype == BYTES:
            return ("e4m3", self.config.hidden) if scaled else self._sent()
        return "bf16", self.config.hidden

    def _received(self, found: Tuple[Any, ...]) -> Received:
        """Return the arrays that a plan has made, in their places."""
        made = iter(found[1:])
        return Received(*(form and next(made) for form in self._forms))

    def _plan(
        self,
        struct: Any,
        like: Any,
        scaled: bool = False,
        makes: bool = False,
        numbers: Tuple[int, int] = (0, 0),
        wide: int = 0,
    ) -> Any:
        """Return the plan of a call with arrays as `like`; None where there is none. makes: it
        allocates as `like` is. numbers: agreed and rows_most; plans of some are kept. wide: the
        address of what says where expanded rows go."""
        key = struct, scaled, makes and type(like), numbers, wide
        if key not in self._plans:
            if not plans.fits(self, like) or (numbers[1] and len(self._plans) >= PLANS):
                return None
            make = plans.combine if struct is Combine else plans.dispatch
            begin = struct(version=CALL_VERSION)
            if numbers != (0, 0):
                begin.agreed, begin.rows_most = numbers
            if wide:
                begin.expanded = wide
            self._plans[key] = make(self, begin, scaled, makes, like)
        return self._plans[key]

    def _columns(self, given: Any) -> int:
        """Return the columns of a call's topk or weights: topk of the configuration or fewer."""
        shape = tuple(getattr(given, "shape", ()))
        most = self.config.topk
        return shape[1] if len(shape) == 2 and 0 < shape[1] < most else most

    def _number(self) -> str:
        """Return the type of experts' numbers in topk and row_topk."""
        return "int64" if self.config.topk_bits == 64 else "int32"

    def _form(self, name: str) -> Tuple[str, Tuple[int, ...]]:
        """Return the type and the last dimensions of an output of dispatch."""
        given = self.config
        each = (self.local_experts,) if given.mode == LOW_LATENCY else ()
        kind, (scales,) = self._scales_of(())
        return {
            "rows": (self._sent()[0], self._rows(self._sent()[1])),
            "row_scales": (kind, self._rows(scales)),
            "counts": ("int32", (self.local_experts,)),
            "sources": ("int32", each + (self.n_pes, 2)),
            "row_topk": (self._number(), (-1, given.topk)),
            "row_weights": ("float32", (-1, given.topk)),
            "ranges": ("int64", (self.local_experts, self.n_pes)),
            "row_sources": ("int32", self._rows()),
            "totals": ("int32", (self.local_experts,)),
        }[name]

    def _rows(self, *columns: int) -> Tuple[int, ...]:
        """Return the last dimensions of received rows of so many columns. In high throughput the
        caller may know that fewer come than there is capacity for."""
        if self.config.mode == LOW_LATENCY:
            return (self.local_experts, self.capacity) + columns
        return (-1,) + columns

    def results(self) -> Tuple[int, ...]:
        """Return the last dimensions of what combine brings back."""
        return self._rows(self.config.hidden)

    def combine(
        self,
        y: Any,
        *,
        handle: int = 0,
        halves: int = BOTH,
        y_weights: Any = None,
        weights: Any = None,
        out: Any = None,
        out_weights: Any = None,
        stream: Any = None,
        places: Any = None,
    ) -> Any:
        """Bring results back to the tokens of the dispatch with `handle` and add them up
        (shmemx_ep_combine).

        y: BF16, as `rows` of the dispatch. y_weights: [capacity, K] float32, high throughput:
        added over PEs into out_weights [T, K]. weights: [T, K] float32, low latency; None: those of
        the dispatch. out: [T, hidden] BF16; None: a new one. places: [received rows, K] int32, as
        Expanded has them: y has expanded rows, which are added up first. Returns out.
        """
        given, tokens = self.config, self._kept.get(handle, 0)
        if out is None:
            out = arrays.maker(y)((tokens, given.hidden), "bf16")
        plan = self._plan(Combine, y)
        if plan is not None:
            at = plans.stream(self, stream, y)
            arguments = y, y_weights, weights, out, out_weights, places
            if plan.call(halves, handle, at, tokens, -1, 0, *arguments) is not None:
                return out
        job.need("ep.combine")
        _check_numbers("ep.combine", halves=halves, handle=handle)
        where = arrays.Where("combine", bool(given.device), y)
        columns = self._columns(weights)
        call = Combine(
            version=CALL_VERSION,
            halves=halves,
            handle=handle,
            columns=columns,
            weights=where.pointer("weights", weights, "float32", (tokens, columns)),
            y=where.pointer("y", y, "bf16", self.results()),
            y_weights=where.pointer("y_weights", y_weights, "float32", (-1, given.topk)),
            out=where.pointer("out", out, "bf16", (tokens, given.hidden)),
            out_weights=where.pointer("out_weights", out_weights, "float32", (tokens, given.topk)),
            stream=arrays.stream_of(stream, y) if given.device else None,
            places=where.pointer("places", places, "int32", (-1, given.topk)),
        )
        check(self._combine(self._ep, call), "shmemx_ep_combine")
        return out

    def start_dispatch(self, call: Dispatch) -> None:
        """Make the call of a struct as it is (shmemx_ep_dispatch)."""
        job.need("ep.dispatch")
        _lib.hold_errors()
        if self._dispatch(self._ep, call):
            check(1, "shmemx_ep_dispatch")

    def start_combine(self, call: Combine) -> None:
        """Make the call of a struct as it is (shmemx_ep_combine)."""
        job.need("ep.combine")
        _lib.hold_errors()
        if self._combine(self._ep, call):
            check(1, "shmemx_ep_combine")

    def buffer_address(self, which: int) -> int:
        """Return the address of what `buffer` returns."""
        job.need("ep.buffer")
        return int(self._buffer(self._ep, which) or 0)

    def buffer(self, which: int, like: Any) -> Any:
        """Return the buffer that x (BUFFER_X) or y (BUFFER_Y) may be written to so that it is not
        copied.

        An array of the framework that `like` is, over symmetric memory of the instance
        (shmemx_ep_buffer): x [tokens, hidden] of dtype, y as `rows`, BF16. Two come in turn, but
        in low latency on one host, or over memory of the host: ask again for each call.
        """
        job.need("ep.buffer")
        address = _routine("shmemx_ep_buffer")(self._ep, check_int("ep.buffer", "which", which))
        if not address:
            raise ArgumentError(_last_line() or "shmemx_ep_buffer returned NULL")
        given, lead = self.config, (self.capacity,)
        if which == BUFFER_X:
            kind, width = self._sent()
            shape: Tuple[int, ...] = (given.tokens, width)
        else:
            lead = ((self.local_experts,) if given.mode == LOW_LATENCY else ()) + lead
            shape, kind = lead + (given.hidden,), "bf16"
        holder = _Holder(self)
        self.lent.add(holder)
        return arrays.over_memory(address, shape, kind, like, holder)

    def counts(self, handle: int = 0) -> Tuple[List[int], int]:
        """Wait on the host for the last dispatch with `handle` (shmemx_ep_counts).

        Returns the rows of each local expert, and all rows (low latency: of the fullest expert); -1
        rows of a call that a PE has declined.
        """
        job.need("ep.counts")
        numbers, rows = (ctypes.c_int32 * self.local_experts)(), ctypes.c_int32()
        _lib.hold_errors()
        if self._counts(self._ep, check_int("ep.counts", "handle", handle), numbers, rows):
            check(1, "shmemx_ep_counts")
        return list(numbers), rows.value

    def statistics(self) -> Statistics:
        """Return what this PE has sent since create (shmemx_ep_statistics)."""
        job.need("ep.statistics")
        result = Statistics()
        check(_routine("shmemx_ep_statistics")(self._ep, result), "shmemx_ep_statistics")
        return result

    def mask_update(self, pe: int, masked: bool) -> None:
        """Mask number `pe` of the team, or take it back (shmemx_ep_mask_update)."""
        job.need("ep.mask_update")
        number = check_int("ep.mask_update", "pe", pe)
        check(
            _routine("shmemx_ep_mask_update")(self._ep, number, int(masked)),
            "shmemx_ep_mask_update",
        )

    def mask_query(self) -> List[int]:
        """Return 1 for each PE of the team that calls go on without, else 0
        (shmemx_ep_mask_query)."""
        job.need("ep.mask_query")
        masked = (ctypes.c_int32 * self.n_pes)()
        check(_routine("shmemx_ep_mask_query")(self._ep, masked), "shmemx_ep_mask_query")
        return list(masked)

    def mask_clean(self) -> None:
        """Take all PEs back (shmemx_ep_mask_clean)."""
        job.need("ep.mask_clean")
        check(_routine("shmemx_ep_mask_clean")(self._ep), "shmemx_ep_mask_clean")


class _Holder:
    """Of an array over an instance's memory: keeps the instance, and goes with the array."""

    def __init__(self, instance: ExpertParallel) -> None:
        self.instance = instance


_open: Any = weakref.WeakSet()  # instances of the job


def _end() -> None:
    """The job ends, and its instances with it."""
    for one in list(_open):
        one._forget()
    _open.clear()


job.at_end.append(_end)


def _is_dense(array: Any) -> bool:
    """Whether an array lies in C order: one of a tensor may lie by columns."""
    return not arrays.is_tensor(array) or bool(array.is_contiguous())


def _check_numbers(call: str, **numbers: Any) -> None:
    for name, value in numbers.items():
        check_int(call, name, value)
