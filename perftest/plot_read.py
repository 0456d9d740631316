# SPDX-License-Identifier: BSD-3-Clause
"""Reads what perftest programs and scripts write: measured points, and ratios of times."""

import json
import re
import statistics
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

SIDES = {"ours": "warpshmem", "peer": "NVSHMEM"}


class Point(NamedTuple):
    """A row of a program. `high`: its p99, or p75 of rounds. None: the row has no such number."""

    library: str
    what: str
    pes: Optional[int]
    bytes: int
    tokens: Optional[int]
    us: float
    high: float
    where: str  # transport and hosts
    run: str  # the file, and which run in it


class Ratio(NamedTuple):
    """A row of compare or intranode: time of ours, or of the first path, divided by the other's."""

    name: str
    ratio: float


class Results:
    """What the files hold together; `runs` are (host, date) of the programs."""

    def __init__(self) -> None:
        self.points: List[Point] = []
        self.ratios: List[Ratio] = []
        self.runs: List[Tuple[str, str]] = []

    def read(self, path: str) -> None:
        """Raises OSError, and ValueError where the file is of no known kind."""
        text = Path(path).read_text(encoding="utf-8")
        before = len(self.points) + len(self.ratios)
        if not text.startswith("{"):
            self.points += rounds(text.splitlines())
        for number, data in enumerate(objects(text), 1):
            try:
                self.take(data, path if number == 1 else f"{path} run {number}")
            except (KeyError, TypeError) as error:
                raise ValueError(f"a run in it lacks {error}") from error
        if len(self.points) + len(self.ratios) == before and not list(objects(text)):
            raise ValueError("it holds no results")

    def take(self, data: Dict[str, Any], run: str) -> None:
        if "runs" in data:  # of efa-first-day
            for number, one in enumerate(data["runs"], 1):
                self.take(one, f"{run} run {number}")
            return
        self.runs.append((data.get("host", ""), data.get("date", "")[:10]))
        if "program" in data:
            self.points += [point(data, row, run) for row in data["rows"]]
            return
        for row in data["rows"]:
            if isinstance(row["ratio"], dict):  # of intranode: of other paths to the first
                first = next(iter(row["us"]))
                self.ratios += [
                    Ratio(f"{row['row']} {row['bytes']}: {first} / {other}", 1 / ratio)
                    for other, ratio in row["ratio"].items()
                    if other != first and ratio > 0
                ]
            elif row["ratio"] is not None:
                self.ratios.append(Ratio(row["row"], row["ratio"]))


def objects(text: str) -> Iterator[Dict[str, Any]]:
    """The JSON objects of a file, or those of runs in a report with other lines between them."""
    decoder = json.JSONDecoder()
    if text.lstrip().startswith("{"):
        yield decoder.decode(text)
        return
    at = 0
    for found in re.finditer(r'^\s*\{"program"', text, re.M):
        if found.start() < at:
            continue
        try:
            data, at = decoder.raw_decode(text, text.index("{", found.start()))
        except ValueError:  # a run that has not come to its end
            continue
        yield data


def scoped(op: str, scope: str, blocks: str, threads: str) -> str:
    return f"{op} {scope}" + (f" {blocks}x{threads}" if int(threads) else "")


def point(data: Dict[str, Any], row: Dict[str, Any], run: str) -> Point:
    """A row of a program; what it measures is its name, of kernels with scope and grid."""
    what = f"{data['program']} {row['op']}"
    if "experts" in row:
        what = "{} {} {} {} experts {}".format(
            data["program"], row["mode"], row["dtype"], row["experts"], row["what"]
        )
    elif "scope" in row:
        what = scoped(row["op"], row["scope"], row["blocks"], row["threads"])
    where = ", ".join(word for word in (data.get("transport"), data.get("hosts"), data.get("by")) if word)
    return Point(
        data.get("library", ""), what, data["npes"], row["bytes"], row.get("tokens"), row["p50"],
        row["p99"], where, run
    )  # fmt: skip


def rounds(lines: List[str]) -> List[Point]:
    """Lines of gpu/compare: round side op scope size blocks threads median p25 p75 us."""
    found: Dict[Tuple[str, str, int], List[Tuple[float, float]]] = {}
    for line in lines:
        words = line.split()
        if len(words) != 11 or words[0] == "#" or words[10] != "us" or words[7] == "-":
            continue
        side = SIDES.get(words[1]) or words[1].replace("nccl", "NCCL").replace("-", " ")
        key = (side, scoped(words[2], words[3], words[5], words[6]), int(words[4]))
        found.setdefault(key, []).append((float(words[7]), float(words[9])))
    result = []
    for (side, what, size), figures in found.items():
        us, high = (statistics.median(part) for part in zip(*figures))
        result.append(Point(side, what, None, size, None, us, high, "", ""))
    return result
