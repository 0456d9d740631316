# SPDX-License-Identifier: BSD-3-Clause
"""What all comparisons share: programs of several sides in turns, medians, ratios, verdicts, files that keep runs."""

import argparse
import contextlib
import json
import math
import os
import shlex
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAMS = os.path.dirname(os.path.abspath(sys.argv[0]))
MOVES = (0.97, 1.03)  # ratios between these are level


class UsageError(Exception):
    """What the command line asks for is not there: one line, exit status 2."""


class Side:
    """One library or path: where its programs are, how they are launched, and what went wrong."""

    timeout = 120  # s, of one command

    def __init__(self, name, folder, launcher, env, tolerant=False):
        self.name, self.folder = name, folder
        self.launcher = shlex.split(launcher) if isinstance(launcher, str) else launcher
        self.env = dict(os.environ, **env)
        self.tolerant = tolerant  # results printed before a crash count
        self.notes, self.failed = [], False

    def note(self, text, failure):
        """Keeps a line for the end."""
        self.failed |= failure
        if f"{self.name}: {text}" not in self.notes:
            self.notes.append(f"{self.name}: {text}")

    def execute(self, command):
        """Returns (exit status, 124 after a timeout; seconds; first line of stderr)."""
        start = time.monotonic()
        done = subprocess.run(["timeout", "-k", "3", str(self.timeout), *command], env=self.env, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        lines = [line for line in done.stderr.decode(errors="replace").splitlines() if line.strip("- \t*")]
        return done.returncode, time.monotonic() - start, lines[0] if lines else ""

    def measure(self, run):
        """Returns {(op, bytes): median us, None: the whole command's us}, empty without results or with wrong data."""
        program = os.path.join(self.folder, run.program)
        what = f"{run.program} {run.args}".strip() + f" on {run.npes} PEs"
        if not os.access(program, os.X_OK):
            self.note(f"no program {program}", not self.tolerant)
            return {}
        rows = []
        with tempfile.TemporaryDirectory(prefix="perftest-") as folder:
            path = os.path.join(folder, "result.json")
            status, seconds, error = self.execute(
                [*self.launcher, "-n", str(run.npes), program, *run.args.split(), "--json", path])
            with contextlib.suppress(OSError, ValueError, KeyError), open(path, encoding="utf-8") as file:
                rows = json.load(file)["rows"]
        if not all(row["right"] for row in rows):
            self.note(f"{what}: WRONG DATA", True)
            rows = []
        ended = f"no end within {self.timeout} s" if seconds > self.timeout else f"exit status {status}"
        if status == 77:
            return {}
        if status != 0 and not (rows and self.tolerant):
            self.note(f"{what}: {ended}: {error}", not self.tolerant)
            return {}
        if status != 0:
            self.note(f"{ended} after its results", False)
        whole = {None: seconds * 1e6} if rows and seconds < self.timeout else {}
        return {**{(row["op"], row["bytes"]): row["p50"] for row in rows}, **whole}


def progress(text):
    """What runs, where somebody sees it or asked for it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    elif "--progress" in sys.argv and text:
        print(f"# {text}", file=sys.stderr, flush=True)


def collect(cases, reps, results, swap=False):
    """A case is a tuple of (side, run), which run one after the other: A B A B …, with swap B A in every second turn.
    Fills {case: [(result of each side) of each repetition]}."""
    for rep in range(reps):
        for case in cases:
            got = {}
            for side, run in reversed(case) if swap and rep % 2 else case:
                progress(f"{rep + 1}/{reps} {side.name}: {run.program} {run.args} -n {run.npes}")
                got[side, run] = side.measure(run)
            results.setdefault(case, []).append(tuple(got[one] for one in case))
    progress("")


def pairs(first, second):
    """Values of the repetitions in which both sides gave one."""
    both = [(a, b) for a, b in zip(first, second) if a is not None and b is not None]
    return [a for a, _ in both], [b for _, b in both]


def ratio(first, second):
    """The median of the ratios of a repetition, or None."""
    return middle([a / b for a, b in zip(*pairs(first, second))])


def middle(values):
    """The median of what there is, or None."""
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def quartiles(values):
    """The first and the third."""
    low, _, high = statistics.quantiles(values if len(values) > 1 else values * 2, n=4, method="inclusive")
    return low, high


def interval(values):
    """The sorted values between which the median lies in at least 95 of 100 cases (binomial, by rank)."""
    n, tail, rank = len(values), 0.0, 0
    while rank < n // 2 and tail + math.comb(n, rank) / 2 ** n <= 0.025:
        tail += math.comb(n, rank) / 2 ** n
        rank += 1
    return values[max(rank - 1, 0)], values[n - max(rank, 1)]


def verdict(change, first, second):
    """first and second: (low, high); level where they overlap, or the ratio is near 1."""
    if MOVES[0] <= change <= MOVES[1] or (first[0] <= second[1] and second[0] <= first[1]):
        return "level"
    return "ahead" if change < 1 else "behind"


def number(value, digits=None):
    """For a table."""
    if value is None:
        return "-"
    return f"{value:.{digits}f}" if digits else f"{value:.4f}" if value < 10 else f"{value:.1f}"


def say(line, path=None):
    """A line of the table, at once also in the file."""
    print(line, flush=True)
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(line + "\n")


HelpFormatter = argparse.RawDescriptionHelpFormatter


class Parser(argparse.ArgumentParser):
    """Bad options are one line."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message} (--help)\n")


def counts(text):
    """Of an option: whole numbers of at least 1 with commas between."""
    if not all(word.isdecimal() and int(word) for word in text.split(",")):
        raise argparse.ArgumentTypeError(f"'{text}': numbers of at least 1 are expected, as 2,4")
    return [int(word) for word in text.split(",")]


def run_main(main):
    """Ends the program, by Ctrl-C, behind a pipe that is closed and where an error is one line too."""
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # who reads has seen enough; the interpreter flushes stdout once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except (OSError, UsageError) as error:
        print(f"{os.path.basename(sys.argv[0])}: {error}", file=sys.stderr)
        sys.exit(2)


def machine():
    """Names this machine: host, processor and how many of them this process may use."""
    model = []
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        model = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return f"{socket.gethostname()}, {(model or ['unknown processor'])[0]}, {len(os.sched_getaffinity(0))} processors"


def load(path):
    """The runs of a file of compare --history, oldest first. UsageError names a bad line."""
    runs = []
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
        for line_number, line in enumerate(file, 1):
            try:
                runs.append(json.loads(line))
                runs[-1]["kind"], runs[-1]["rows"], runs[-1]["date"]
            except (ValueError, TypeError, KeyError):
                raise UsageError(f"{path}: line {line_number} is no run of compare; give another file or "
                                 "remove the line") from None
    return runs


def last_of(runs, kind):
    """The newest run of this kind: the same machine, limit and settings."""
    return next((run for run in reversed(runs) if run["kind"] == kind), None)


def moved(old, new):
    """A line for each row whose ratio to the peer changed by more than 3 % so that the quartiles of the two runs do not
    overlap. Ratios, because times of a machine drift from hour to hour."""
    before = {entry["row"]: entry for entry in old["rows"]}
    lines = []
    for entry in new["rows"]:
        first, second = ([a / b for a, b in zip(*pairs(e["ours_us"], e["peer_us"]))] if e else []
                         for e in (before.get(entry["row"]), entry))
        was, is_now = middle(first), middle(second)
        word = verdict(is_now / was, quartiles(second), quartiles(first)) if first and second else "level"
        if word != "level":
            lines.append(f"{entry['row']:<28} {was:8.3f} -> {is_now:8.3f}  {is_now / was:6.3f} "
                         + ("better" if word == "ahead" else "worse"))
    return lines
