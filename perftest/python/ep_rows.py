# SPDX-License-Identifier: BSD-3-Clause
"""The rows of perftest/python/ep, the lines that it writes, and the table of several sides' lines."""

from __future__ import annotations

import fnmatch
import statistics
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

DECODE, PREFILL, SECOND = "decode", "prefill", "second"
WHATS = {
    DECODE: ("dispatch", "combine", "both", "chain"),
    PREFILL: ("layout", "first", "dispatch", "combine"),
    SECOND: ("first", "expand", "dispatch", "expanded", "combine", "folded"),
}
FORMS = {
    DECODE: ("call", "event", "hook", "graph"),
    PREFILL: ("call", "event", "graph"),
    SECOND: ("call",),
}
LIKE = {  # of the C interface
    "first": "dispatch",
    "expand": "dispatch",
    "expanded": "dispatch",
    "folded": "combine",
    "chain": "both",
}
NATIVE = "native"  # the side of the C interface
FIGURES = ("called", "p50", "p99", "idle", "busy", "kernels")


class Row(NamedTuple):
    """What is timed: a call of a mode, or a pair, in a form of calling it."""

    mode: str
    dtype: str
    experts: int
    tokens: int
    what: str
    form: str

    def __str__(self) -> str:
        return ".".join(map(str, self))


def wanted(row: Row, patterns: Sequence[str]) -> bool:
    """Return whether a pattern is the row's id or one of its words. Graphs of prefill come where
    they are named in full."""
    if row.mode == PREFILL and row.form == "graph":
        patterns = [one for one in patterns if one.startswith(PREFILL) and "graph" in one]
    return any(
        fnmatch.fnmatchcase(word, one)
        for one in patterns
        for word in (str(row), *row[:2], *row[4:])
    )


def makes_sense(row: Row, gpu: bool) -> bool:
    """Return whether a row says something that no other does."""
    if not gpu and row.form in ("event", "graph"):
        return False
    if row.mode != DECODE and row.what in ("layout", "combine", "folded") and row.dtype != "bf16":
        return False  # rows that are combined are BF16
    if row.what == "chain" and row.form in ("event", "hook"):
        return False
    return not (row.what == "layout" and row.form != "call") and not (
        row.what == "first" and row.form == "graph"
    )


def rows(
    patterns: Sequence[str], experts: int, tokens: Sequence[int], prefill: int, gpu: bool
) -> Iterator[Row]:
    """The rows that are wanted, in the order in which they are timed."""
    for mode in WHATS:
        for dtype in ("fp8", "bf16"):
            for number in tokens if mode == DECODE else (prefill,):
                for what in WHATS[mode]:
                    for form in FORMS[mode]:
                        row = Row(mode, dtype, experts, number, what, form)
                        if makes_sense(row, gpu) and wanted(row, patterns):
                            yield row


def number(value: Optional[float]) -> str:
    """Return a figure as text; `-`: there is none."""
    if value is None or value != value:
        return "-"
    return "%.*f" % (2 if abs(value) < 100 else 1, value)


def line(side: str, turn: int, pes: int, row: str, figures: Dict[str, Optional[float]]) -> str:
    """Return what a side has taken for a row; read_line takes it apart."""
    words = "".join(" %9s" % number(figures.get(name)) for name in FIGURES)
    return "%-8s %2d %3d %-36s%s" % (side, turn, pes, row, words)


HEAD = "# %-6s %2s %3s %-36s" % ("side", "", "PEs", "row") + "".join(
    " %9s" % name for name in FIGURES
)


class Line(NamedTuple):
    side: str
    turn: int  # of several times that the side has run
    pes: int
    row: str
    figures: Dict[str, Optional[float]]


def read_line(text: str) -> Optional[Line]:
    """Return what `line` has written; None for other text, and for wrong data."""
    words = text.split()
    if len(words) != 4 + len(FIGURES) or words[3].count(".") != len(Row._fields) - 1:
        return None
    try:
        values = [None if word == "-" else float(word) for word in words[4:]]
        return Line(words[0], int(words[1]), int(words[2]), words[3], dict(zip(FIGURES, values)))
    except ValueError:
        return None


def read(paths: Iterable[str]) -> List[Line]:
    """Return all lines of files, of which some may not be there yet."""
    found: List[Line] = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as text:
                found += filter(None, map(read_line, text))
        except FileNotFoundError:
            pass
    return found


def native_of(row: str) -> Tuple[str, ...]:
    """Return the rows of the C interface that say what the GPU does in a row, the nearest first."""
    parts = row.split(".")
    parts[0] = PREFILL if parts[0] == SECOND else parts[0]
    parts[4] = LIKE.get(parts[4], parts[4])
    forms = ("graph", "call") if parts[5] == "graph" else ("call",)
    return tuple(".".join(parts[:5] + [form]) for form in forms)


class Table:
    """Lines of several sides side by side, medians where a side has run several times."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines = list(lines)
        self.sides = list(dict.fromkeys(one.side for one in self.lines if one.side != NATIVE))

    def figure(self, side: str, pes: int, row: str, name: str) -> Optional[float]:
        values = [
            one.figures[name]
            for one in self.lines
            if (one.side, one.pes, one.row) == (side, pes, row) and one.figures[name] is not None
        ]
        return statistics.median(values) if values else None  # type: ignore[type-var]

    def native(self, pes: int, row: str) -> Optional[float]:
        """Return the C interface's median for a row."""
        found = (self.figure(NATIVE, pes, like, "p50") for like in native_of(row))
        return next((value for value in found if value is not None), None)

    def of_row(self, pes: int, row: str) -> str:
        """Return the line of a row: a ratio to the C interface is of GPU times, one to the first side
        of calls."""
        native = self.native(pes, row)
        text = "%3d %-36s %9s" % (pes, row, number(native))
        first = self.figure(self.sides[0], pes, row, "called")
        for side in self.sides:
            got = {name: self.figure(side, pes, row, name) for name in FIGURES}
            text += " |" + "".join(" %8s" % number(got[name]) for name in FIGURES[:5])
            text += " %6s" % number(ratio(got["p50"], native))
            if side != self.sides[0]:
                text += " %6s" % number(ratio(got["called"], first))
        return text

    def __str__(self) -> str:
        seen = dict.fromkeys((one.pes, one.row) for one in self.lines if one.side != NATIVE)
        if not seen:
            return "# no rows"
        head = "# us; called: a call, from Python, one after another; p50, p99: of the GPU, the host being ahead; idle,\n"
        head += "# busy: of the host until the call has returned, the GPU having nothing or much to do; / native: of p50;\n"
        head += "# / %s: of called\n#%2s %-36s %9s" % (self.sides[0], "PEs", "row", NATIVE)
        for side in self.sides:
            head += " | %-44s %6s" % (side + ": called p50 p99 idle busy", "/nativ")
            if side != self.sides[0]:
                head += " %6s" % ("/" + self.sides[0])[:6]
        return "\n".join([head] + [self.of_row(*key) for key in seen])


def ratio(a: Optional[float], b: Optional[float]) -> Optional[float]:
    return a / b if a is not None and b else None


def as_dict(figures: Sequence[Any]) -> Dict[str, Optional[float]]:
    return dict(zip(FIGURES, figures))
