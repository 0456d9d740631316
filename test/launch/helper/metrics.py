#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""metrics.py FOLDER PES [COMMAND…]: reads *.prom there as fast as it can while the command runs.

Each file, once there, must be there whole at every read until the command has ended (a PE's file goes
when that PE finalizes, and none comes back), and must hold what Prometheus' text format allows. Prints
reads and rewrites, a line for each fault, and exits with 1 where there is one.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Dict, List, Set, Tuple

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*\Z")
SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)\{((?:[a-z]+="[^"\\\n]*",?)+)\} (\S+)\Z')
LABEL = re.compile(r'([a-zA-Z_]\w*)="([^"]*)"')


def check(text: str) -> List[str]:
    """What is wrong with a file; [] where nothing is."""
    faults: List[str] = []
    helped: Set[str] = set()
    types: Dict[str, str] = {}
    seen: Set[Tuple[str, str]] = set()
    if not text.endswith("\n"):
        faults.append("the last line has no end")
    for line in text.splitlines():
        words = line.split(" ", 3)
        if line.startswith("# HELP ") and len(words) == 4 and NAME.match(words[2]):
            if words[2] in helped:
                faults.append(f"second HELP of {words[2]}")
            helped.add(words[2])
            continue
        if line.startswith("# TYPE ") and words[3:] and words[3] in ("counter", "gauge"):
            if words[2] in types:
                faults.append(f"second TYPE of {words[2]}")
            types[words[2]] = words[3]
            continue
        sample = SAMPLE.match(line)
        if not sample:
            faults.append(f"no sample: {line!r}")
            continue
        name, labels, value = sample.groups()
        if name not in types or name not in helped:
            faults.append(f"{name} has no HELP and TYPE before it")
        elif (types[name] == "counter") != name.endswith("_total"):
            faults.append(f"{name} is a {types[name]}")
        if not name.startswith("warpshmem_") or {"job", "pe"} != {k for k, _ in LABEL.findall(labels)}:
            faults.append(f"{name} has not the labels job and pe, or another prefix")
        if (name, labels) in seen:
            faults.append(f"{name} twice")
        seen.add((name, labels))
        try:
            float(value)
        except ValueError:
            faults.append(f"{name} has no number: {value}")
    return faults


def main() -> int:
    folder, pes, command = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    inodes: Dict[Path, int] = {}
    reads = rewrites = lost = 0
    faults: List[str] = []
    texts: Set[str] = set()
    with subprocess.Popen(command) as job:
        while job.poll() is None:
            for path in set(folder.glob("*.prom")) | set(inodes):
                try:
                    with path.open(encoding="utf-8") as file:
                        text, inode = file.read(), path.stat().st_ino
                except FileNotFoundError:
                    lost += path in inodes
                    inodes.pop(path, None)
                    continue
                reads += 1
                rewrites += inodes.get(path) != inode
                inodes[path] = inode
                texts.add(re.sub(r" \S+$", "", text, flags=re.M))
                faults += check(text)[:1]
    if lost > pes:
        faults.append(f"{lost} reads found a file no more that was there, for {pes} PEs that end")
    if len(texts) != pes:
        faults.append(f"{len(texts)} sets of series, not {pes}")
    left = [path.name for path in folder.iterdir()]
    if left:
        faults.append(f"left behind: {left}")
    print(f"# {reads} reads, {rewrites} rewrites seen, exit status {job.returncode}")
    for fault in faults[:5]:
        print(f"# {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
