# SPDX-License-Identifier: BSD-3-Clause
"""What all comparisons share: programs of several sides in turns, medians and ratios, and the files that keep runs."""

import argparse
import collections
import json
import os
import shlex
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAMS = os.path.dirname(os.path.abspath(sys.argv[0]))
MOVES = (0.97, 1.03)  # ratios between these are level
SIZES = {8: "8", 1024: "1Ki", 65536: "64Ki", 1 << 20: "1Mi"}

# What is run once per repetition and side; several rows may come from one of them.
Run = collections.namedtuple("Run", "program npes args")


class Side:
    """One library or path: where its programs are, how they are launched, and what went wrong."""

    def __init__(self, name, folder, launcher, env, tolerant=False, timeout=60):
        self.name, self.folder = name, folder
        self.launcher = shlex.split(launcher) if isinstance(launcher, str) else launcher
        self.env = dict(os.environ, **env)
        self.tolerant = tolerant  # results printed before a crash count
        self.timeout = timeout
        self.notes = []
        self.failed = False

    def note(self, text, failure):
        """Keeps a line for the end."""
        self.failed |= failure
        line = f"{self.name}: {text}"
        if line not in self.notes:
            self.notes.append(line)

    def execute(self, command):
        """Returns (exit status or None after a timeout, seconds, first line of stderr)."""
        start = time.monotonic()
        child = subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, start_new_session=True)
        try:
            errors = child.communicate(timeout=self.timeout)[1].decode(errors="replace")
            status = child.returncode
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGTERM)
            try:
                child.communicate(timeout=3)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.communicate()
            status, errors = None, ""
        lines = [line for line in errors.splitlines() if line.strip("- \t*")]
        return status, time.monotonic() - start, lines[0] if lines else ""

    def measure(self, run):
        """Returns {(op, bytes): us, None: the whole command's us}, empty when it gave no results."""
        program = os.path.join(self.folder, run.program)
        what = f"{run.program} {run.args}".strip() + f" on {run.npes} PEs"
        if not os.access(program, os.X_OK):
            self.note(f"no program {program}", not self.tolerant)
            return {}
        with tempfile.TemporaryDirectory(prefix="perftest-") as folder:
            path = os.path.join(folder, "result.json")
            status, seconds, error = self.execute(
                [*self.launcher, "-n", str(run.npes), program, *run.args.split(), "--json", path])
            rows = self.results(path, what)
        ended = f"no end within {self.timeout} s" if status is None else f"exit status {status}"
        if status == 77:
            return {}
        if status != 0 and not (rows and self.tolerant):
            self.note(f"{what}: {ended}: {error}", not self.tolerant)
            return {}
        if status != 0:
            self.note(f"{ended} after its results", False)
        if rows and status is not None:
            rows[None] = seconds * 1e6
        return rows

    def results(self, path, what):
        """The medians of the program's JSON, if its data were right."""
        try:
            with open(path, encoding="utf-8") as file:
                rows = json.load(file)["rows"]
        except (OSError, ValueError, KeyError):
            return {}
        if not all(row["right"] for row in rows):
            self.note(f"{what}: WRONG DATA", True)
            return {}
        return {(row["op"], row["bytes"]): row["p50"] for row in rows}


def progress(text):
    """What runs, where somebody sees it or asked for it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    elif "--progress" in sys.argv and text:
        print(f"# {text}", file=sys.stderr, flush=True)


def collect(cases, reps, results, swap=False, after=None):
    """
    A case is a tuple of (side, run), which run one after the other: A B A B …, with swap B A in every second
    turn. Fills {case: [(result of each side) of each repetition]} and returns it.
    """
    cases = list(dict.fromkeys(cases))
    for rep in range(reps):
        for case in cases:
            got = {}
            for side, run in reversed(case) if swap and rep % 2 else case:
                progress(f"{rep + 1}/{reps} {side.name}: {run.program} {run.args} -n {run.npes}")
                got[side, run] = side.measure(run)
            results.setdefault(case, []).append(tuple(got[one] for one in case))
        if after:
            after(rep)
    progress("")
    return results


def pairs(first, second):
    """Values of the repetitions in which both sides gave one."""
    both = [(a, b) for a, b in zip(first, second) if a is not None and b is not None]
    return [a for a, _ in both], [b for _, b in both]


def ratio(first, second):
    """The median of the ratios of a repetition, or None."""
    both = list(zip(*pairs(first, second)))
    return statistics.median(a / b for a, b in both) if both else None


def middle(values):
    """The median of what there is, or None."""
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def quartiles(values):
    """The first and the third."""
    if len(values) == 1:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def verdict(change, first, second):
    """first and second: (low, high); level where they overlap, or the ratio is near 1."""
    if MOVES[0] <= change <= MOVES[1] or (first[0] <= second[1] and second[0] <= first[1]):
        return "level"
    return "ahead" if change < 1 else "behind"


def shown(us, unit, size):
    """A median time in us as the unit of the row."""
    if us is None or unit == "us":
        return us
    return {"Mop/s": 1 / us, "GB/s": size / us / 1e3, "ms": us / 1e3}[unit]


def number(value, digits=None):
    """For a table."""
    if value is None:
        return "-"
    return f"{value:.{digits}f}" if digits else f"{value:.4f}" if value < 10 else f"{value:.1f}"


HelpFormatter = argparse.RawDescriptionHelpFormatter


class Parser(argparse.ArgumentParser):
    """Bad options are one line."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message} (--help)\n")


def ended(sides):
    """Prints what went wrong; the exit status."""
    for note in (note for side in sides for note in side.notes):
        print(f"# {note}", file=sys.stderr)
    return 1 if any(side.failed for side in sides) else 0


def run_main(main):
    """Ends the program, by Ctrl-C and behind a pipe that is closed too."""
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # who reads has seen enough; the interpreter flushes stdout once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)


def machine():
    """Names this machine: host, processor and how many of them this process may use."""
    model = "unknown processor"
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), model)
    except OSError:
        pass
    return f"{socket.gethostname()}, {model}, {len(os.sched_getaffinity(0))} processors"


def load(path):
    """The runs of a file of compare --history, oldest first. ValueError names a bad line."""
    runs = []
    if not os.path.exists(path):
        return runs
    with open(path, encoding="utf-8") as file:
        for line_number, line in enumerate(file, 1):
            try:
                run = json.loads(line)
                run["kind"], run["rows"], run["date"]
            except (ValueError, TypeError, KeyError):
                raise ValueError(f"{path}: line {line_number} is no run of compare; give another file or "
                                 "remove the line") from None
            runs.append(run)
    return runs


def append(path, run):
    """One more run."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(run) + "\n")


def last_of(runs, kind):
    """The newest run of this kind: the same machine, limit and settings."""
    return next((run for run in reversed(runs) if run["kind"] == kind), None)


def moved(old, new):
    """
    A line for each row whose ratio to the peer changed by more than 3 % so that the quartiles of
    the two runs do not overlap. Ratios, because times of a machine drift from hour to hour.
    """
    before = {entry["row"]: entry for entry in old["rows"]}
    lines = []
    for entry in new["rows"]:
        first, second = ([a / b for a, b in zip(*pairs(e["ours_us"], e["peer_us"]))] if e else []
                         for e in (before.get(entry["row"]), entry))
        if not first or not second:
            continue
        was, is_now = statistics.median(first), statistics.median(second)
        word = verdict(is_now / was, quartiles(second), quartiles(first))
        if word != "level":
            lines.append(f"{entry['row']:<28} {was:8.3f} -> {is_now:8.3f}  {is_now / was:6.3f} "
                         + ("better" if word == "ahead" else "worse"))
    return lines
