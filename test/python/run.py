# SPDX-License-Identifier: BSD-3-Clause
"""Runs pytest files and prints TAP, one line a test, at once.

run.py --launcher oshrun|uid|mpirun|none --pes N [--kind KIND] [--limit SECONDS] [--from NUMBER]
FILE...

One pytest for each PE runs all files. A test has passed when it has on all PEs; where one fails,
its PE ends, and with it the job: what was to come is "not run". The last line is "# next NUMBER",
for a script that prints more lines.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List

HERE = os.path.dirname(os.path.abspath(__file__))
PYTEST = [
    sys.executable,
    "-m",
    "pytest",
    "-q",
    "-p",
    "no:cacheprovider",
    "--rootdir",
    HERE,
    "-c",
    os.devnull,
]


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def commands(options: Any, environment: Dict[str, str]) -> List[Any]:
    """Return what to start: commands and their environments."""
    pytest = PYTEST + options.files
    n = str(options.pes)
    if options.launcher == "oshrun":
        return [([os.environ["WSH_PY_OSHRUN"], "-n", n] + pytest, environment)]
    if options.launcher == "mpirun":
        root = ["--allow-run-as-root"] if os.getuid() == 0 else []
        return [(["mpirun"] + root + ["--oversubscribe", "-n", n] + pytest, environment)]
    if options.launcher == "none":
        return [(pytest, dict(environment, WSH_PY_SPMD="0"))]
    world = dict(environment, WORLD_SIZE=n, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
    return [(pytest, dict(world, RANK=str(rank))) for rank in range(options.pes)]


class Report:
    """Reads what processes tell, and prints a line for each test that has ended in all of them."""

    def __init__(self, folder: str, options: Any) -> None:
        self.folder, self.pes = folder, options.pes
        self.suffix = ", %d PEs, %s, %s" % (options.pes, options.launcher, options.kind)
        if options.launcher == "none":
            self.suffix = ""
        self.number, self.failed = options.first, 0
        self.tests: List[str] = []
        self.rows: Dict[str, List[Dict[str, Any]]] = {}
        self.read: Dict[str, int] = {}
        self.done = 0

    def line(self, good: bool, test: str, more: str = "") -> None:
        """Print a line of TAP."""
        name = (
            test.replace("test_pes_", "")
            .replace("test_", "")
            .replace(".py::", ": ")
            .replace("#", "")
        )
        print(
            "%s %d - python %s%s%s"
            % ("ok" if good else "not ok", self.number, name, self.suffix, more)
        )
        sys.stdout.flush()
        self.number += 1
        self.failed += not good

    def look(self) -> None:
        """Read what is new."""
        for name in os.listdir(self.folder):
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                file.seek(self.read.get(name, 0))
                for text in iter(file.readline, ""):
                    if text.endswith("\n"):
                        self.read[name] = file.tell()
                        self.take(json.loads(text))
        while self.done < len(self.tests) and self.tell(self.tests[self.done]):
            self.done += 1

    def take(self, row: Dict[str, Any]) -> None:
        """Take note of a line."""
        if "tests" in row:
            self.tests = row["tests"]
        else:
            self.rows.setdefault(row["test"], []).append(row)

    def tell(self, test: str) -> bool:
        """Print the line of a test if it has ended."""
        rows = self.rows.get(test, [])
        bad = [row for row in rows if row["outcome"] == "failed"]
        if bad:
            print("\n".join("# " + text for text in bad[0]["text"].split("\n")))
            self.line(False, test)
            return True
        if len(rows) < self.pes:
            return False
        skipped = [row["text"] for row in rows if row["outcome"] == "skipped"]
        self.line(True, test, " # SKIP " + skipped[0].replace("\n", " ") if skipped else "")
        return True


def finish(running: List[Any]) -> int:
    """End what still runs, and return the first status that is not 0."""
    for process in running:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
    for process in running:
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return next((process.returncode for process in running if process.returncode), 0)


def run(options: Any) -> int:
    """Run the tests; return how many lines are not ok."""
    with tempfile.TemporaryDirectory() as scratch:
        results, output = os.path.join(scratch, "results"), os.path.join(scratch, "output")
        os.mkdir(results)
        environment = dict(
            os.environ,
            WSH_PY_RESULTS=results,
            WSH_PY_KIND=options.kind,
            WSH_PY_SPMD="1",
            PYTHONDONTWRITEBYTECODE="1",
            PYTHONUNBUFFERED="1",
        )
        report = Report(results, options)
        until = time.monotonic() + options.limit
        with open(output, "wb") as out:
            running = [
                subprocess.Popen(
                    command, env=env, cwd=HERE, stdin=subprocess.DEVNULL, stdout=out, stderr=out
                )
                for command, env in commands(options, environment)
            ]
            while any(process.poll() is None for process in running) and time.monotonic() < until:
                time.sleep(0.05)
                report.look()
            late = any(process.poll() is None for process in running)
            status = finish(running)
        report.look()
        left = report.tests[report.done :] or ([] if report.done else ["no test was collected"])
        if left or status:
            with open(output, encoding="utf-8", errors="replace") as out:
                print(
                    "".join("# " + text.rstrip("\n") + "\n" for text in out.readlines()[-60:]),
                    end="",
                )
        for test in left:
            report.line(
                False, test, " (%s)" % ("not ended in %g s" % options.limit if late else "not run")
            )
        if status and not report.failed:
            report.line(False, "the job ends with status 0", " (%d)" % status)
        print("# next %d" % report.number)
        return report.failed


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--launcher", required=True, choices=("oshrun", "uid", "mpirun", "none"))
    parser.add_argument("--pes", type=int, default=1)
    parser.add_argument(
        "--kind", default="numpy", choices=("numpy", "torch-host", "torch", "cupy", "fake")
    )
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.add_argument("files", nargs="+")
    return 1 if run(parser.parse_args()) else 0


if __name__ == "__main__":
    sys.exit(main())
