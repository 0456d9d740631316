# SPDX-License-Identifier: BSD-3-Clause
"""Runs pytest files and prints TAP, one line a test, at once.

run.py --launcher oshrun|uid|mpirun|none --pes N [--kind KIND] [--limit SECONDS] [--from NUMBER]
FILE...

One pytest for each PE runs all files. A test has passed when it has on all PEs; where one fails,
its PE ends, and with it the job, and another one runs what was to come. The last line is
"# next NUMBER", for a script that prints more lines.
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

TRIES = 6  # jobs, where tests fail
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
        if os.environ.get("WARPSHMEM_PYTHON_CALLS") == "ctypes":
            self.suffix += ", by ctypes"
        if options.launcher == "none":
            self.suffix = ""
        self.number, self.failed, self.late = options.first, 0, False
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


def job(options: Any, scratch: str, report: Report) -> int:
    """Run one job, until it ends or the limit has passed; return its status."""
    environment = dict(
        os.environ,
        WSH_PY_RESULTS=report.folder,
        WSH_PY_KIND=options.kind,
        WSH_PY_SPMD="1",
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONUNBUFFERED="1",
    )
    until = time.monotonic() + options.limit
    with open(os.path.join(scratch, "output"), "wb") as out:
        running = [
            subprocess.Popen(
                command, env=env, cwd=HERE, stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )
            for command, env in commands(options, environment)
        ]
        while any(process.poll() is None for process in running) and time.monotonic() < until:
            time.sleep(0.05)
            report.look()
        report.late = any(process.poll() is None for process in running)
        status = finish(running)
    report.look()
    return status


def explain(report: Report, scratch: str, options: Any, status: int) -> List[str]:
    """Print what a job printed that did not end well; return the tests that are still to run."""
    left = report.tests[report.done :] or ([] if report.done else ["no test was collected"])
    if left or status:
        with open(os.path.join(scratch, "output"), encoding="utf-8", errors="replace") as out:
            print(
                "".join("# " + text.rstrip("\n") + "\n" for text in out.readlines()[-60:]), end=""
            )
    if left and (report.late or not report.failed):
        why = "not ended in %g s" % options.limit if report.late else "the job ended in it"
        report.line(False, left.pop(0), " (%s)" % why)
    if status and not report.failed:
        report.line(False, "the job ends with status 0", " (%d)" % status)
    return left


def run(options: Any) -> int:
    """Run the tests; return how many lines are not ok."""
    first, failed, tries = options.first, 0, 0
    while options.files:
        with tempfile.TemporaryDirectory() as scratch:
            results = os.path.join(scratch, "results")
            os.mkdir(results)
            options.first, tries = first, tries + 1
            report = Report(results, options)
            status = job(options, scratch, report)
            options.files = explain(report, scratch, options, status)
            if tries == TRIES or not report.tests:
                for test in options.files:
                    report.line(False, test, " (not run)")
                options.files = []
            first, failed = report.number, failed + report.failed
    print("# next %d" % first)
    return failed


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
