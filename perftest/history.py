# SPDX-License-Identifier: BSD-3-Clause
"""A file of runs of compare, a line of JSON each, and what moved since the last one of its kind."""

import json
import os
import socket
import statistics
from typing import Any, Dict, List, Optional, Tuple

Run = Dict[str, Any]
MOVES = (0.97, 1.03)  # as the verdicts of compare


def machine() -> str:
    """Names this machine: host, processor and how many of them this process may use."""
    model = "unknown processor"
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            model = next((line.split(":", 1)[1].strip() for line in file
                          if line.startswith("model name")), model)
    except OSError:
        pass
    return f"{socket.gethostname()}, {model}, {len(os.sched_getaffinity(0))} processors"


def load(path: str) -> List[Run]:
    """The runs of `path`, oldest first; none where there is no file. ValueError names a bad line."""
    runs = []
    if not os.path.exists(path):
        return runs
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                run = json.loads(line)
                run["kind"], run["rows"], run["date"]
            except (ValueError, TypeError, KeyError):
                raise ValueError(f"{path}: line {number} is no run of compare; give another file or "
                                 "remove the line") from None
            runs.append(run)
    return runs


def append(path: str, run: Run) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(run) + "\n")


def last_of(runs: List[Run], kind: List[Any]) -> Optional[Run]:
    """The newest run of this kind: the same machine, limit and settings."""
    return next((run for run in reversed(runs) if run["kind"] == kind), None)


def _quartiles(values: List[float]) -> Tuple[float, float]:
    if len(values) == 1:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def _ratios(entry: Dict[str, Any]) -> List[float]:
    return [a / b for a, b in zip(entry["ours_us"], entry["peer_us"])
            if a is not None and b is not None]


def moved(old: Run, new: Run) -> List[str]:
    """
    A line for each row whose ratio to the peer changed by more than 3 % so that the quartiles of
    the two runs do not overlap. Ratios, because times of a machine drift from hour to hour.
    """
    before = {entry["row"]: entry for entry in old["rows"]}
    lines = []
    for entry in new["rows"]:
        first = _ratios(before[entry["row"]]) if entry["row"] in before else []
        second = _ratios(entry)
        if not first or not second:
            continue
        was, now = statistics.median(first), statistics.median(second)
        (old_low, old_high), (new_low, new_high) = _quartiles(first), _quartiles(second)
        if MOVES[0] <= now / was <= MOVES[1] or (new_low <= old_high and old_low <= new_high):
            continue
        word = "better" if now < was else "worse"
        lines.append(f"{entry['row']:<28} {was:8.3f} -> {now:8.3f}  {now / was:6.3f} {word}")
    return lines
