# SPDX-License-Identifier: BSD-3-Clause
"""One job of the campaign: it starts, something happens to it at its time, it ends, and leaves nothing."""
import glob
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import Tuple

from places import children, place_of
from table import NETWORKS, Row

HUNG_S = 12.0  # beyond what is allowed: then it is given up
SLACK_S = 0.2  # between an action and what the program notes
HANDLERS_OFF = ("IPATH_NO_BACKTRACE", "HFI_NO_BACKTRACE")


@dataclass(frozen=True)
class Plan:
    """All that the seed and the number of a job decide."""
    row: Row
    network: str
    pes: int
    victims: Tuple[int, ...]
    phase: str  # start, traffic, finalize
    after_s: float  # since that phase began
    stop_s: float
    traffic_s: float
    bare: bool  # the PEs do not get oshrun's variables that keep libfabric's signal handlers off

    @property
    def signals(self):
        return self.row.signals

    def __str__(self):
        whom = " of PE " + ", ".join(map(str, self.victims)) if self.victims else ""
        stop = f" for {self.stop_s * 1e3:.0f} ms" if self.row.kind.startswith("stop") else ""
        return (f"{self.network}, {self.pes} PEs: {self.row.name}{whom}{stop}, "
                f"{self.phase} + {self.after_s * 1e3:.1f} ms{', bare' if self.bare else ''}")


@dataclass
class Mark:
    when: float
    rounds: int


class Job:
    def __init__(self, number, plan, tools, control):
        self.number, self.plan, self.tools, self.control = number, plan, tools, control
        self.folder = os.path.join(tools.folder, f"job{number}")
        os.mkdir(self.folder)
        self.program = os.path.join(self.folder, "load")
        os.link(tools.program, self.program)
        self.pids = set()
        self.acted_at = self.ended_at = None
        self.reached = self.missed = False
        self.slack_s = SLACK_S
        self.status = None  # as a shell has it; None: hung
        self.left = []
        self.place = place_of(plan.row.kind)(self)
        self.tmp = self.place.make_tmp()

    def path(self, name):
        return os.path.join(self.folder, name)

    def lines(self, name):
        try:
            with open(self.path(name), errors="replace") as file:
                return file.read().splitlines()
        except OSError:
            return []

    def marks(self, what):
        """Of each PE that wrote it."""
        found = {}
        for line in self.lines("marks"):
            words = line.split()
            if len(words) == 4 and words[0] == what:
                found[int(words[1])] = Mark(float(words[2]), int(words[3]))
        return found

    def was_through(self, what):
        """True where the victims, or else all PEs, may have written that mark before the action reached them."""
        marks = self.marks(what)
        whose = self.plan.victims if self.plan.row.kind == "signal" else range(self.plan.pes)
        return all(pe in marks and marks[pe].when < self.acted_at + self.slack_s for pe in whose)

    def marks_text(self):
        """In milliseconds from the action."""
        return [f"{what} of PE {pe} at {(mark.when - self.acted_at) * 1e3:.0f} after {mark.rounds} rounds"
                for what in ("up", "down", "done") for pe, mark in self.marks(what).items()]

    def environment(self):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("SHMEM_", "FI_", "EFA_EMULATOR_", "PMIX_", "HFI_", "IPATH_"))}
        # Within the 8 MiB of locked memory that ordinary users have.
        env.update(TMPDIR=self.tmp, SHMEM_SYMMETRIC_SIZE="3M", EFA_EMULATOR_QUIET="1",
                   LD_LIBRARY_PATH=self.tools.libraries)
        env.update(NETWORKS[self.plan.network].env)
        env.update(self.place.env())
        return env

    def command(self):
        bare = ["env", *(word for name in HANDLERS_OFF for word in ("-u", name))] if self.plan.bare else []
        grow = ["grow"] if self.plan.row.kind == "memory limit" else []
        return [*self.place.words(), self.tools.oshrun, *NETWORKS[self.plan.network].options, "-n", str(self.plan.pes),
                *bare, self.program, self.path("marks"), str(int(self.plan.traffic_s * 1e3)), *grow]

    def start(self):
        self.began_at = time.monotonic()
        with open(self.path("out"), "wb") as out, open(self.path("err"), "wb") as err:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                            env=self.environment(), start_new_session=True)
        self.oshrun = self.process.pid
        self.place.started()

    def ended(self):
        return self.process.poll() is not None

    def look(self):
        self.pids.update(children(self.oshrun))

    def pe_pid(self, pe):
        """Waits until the PE has been started; None when it will not be. One that is up must be there."""
        is_up = pe in self.marks("up")
        while not self.ended():
            found = children(self.oshrun)
            self.missed |= is_up and len(found) <= pe + 1 and pe not in self.marks("done")
            if len(found) > pe + 1:
                return found[pe + 1]
            time.sleep(0.001)
        return None

    def phase_has_begun(self):
        if self.plan.phase == "start":
            return True
        if self.plan.phase == "traffic":
            return len(self.marks("up")) == self.plan.pes
        return bool(self.marks("down"))

    def phase_now(self):
        for name in ("done", "down", "up"):
            if self.marks(name):
                return {"done": "end", "down": "finalize", "up": "traffic"}[name]
        return "start"

    def await_moment(self):
        while not self.phase_has_begun() and not self.ended() and time.monotonic() < self.began_at + HUNG_S:
            self.look()
            time.sleep(0.001)
        if not hasattr(self.place, "began"):
            time.sleep(self.plan.after_s)

    def await_end(self, limit_s):
        """The limit grows with the delay that the control process sees meanwhile."""
        before = self.control.total()
        while not self.ended() and time.monotonic() < self.acted_at + limit_s + self.control.total() - before:
            self.look()
            if time.monotonic() < self.acted_at + SLACK_S:
                self.slack_s = SLACK_S + self.control.total() - before
            time.sleep(0.002)
        self.delay = self.control.total() - before
        self.ended_at = time.monotonic()

    def processes(self):
        """PEs, oshrun and its guardian have names of the job's folder in their command line."""
        found = []
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(path, "rb") as file:
                    if os.fsencode(self.folder + "/") in file.read():
                        found.append(int(path.split("/")[2]))
            except OSError:
                pass
        return found

    def leftovers(self):
        left = [f"process {pid}" for pid in self.processes()] + self.place.leftovers()
        left += glob.glob(os.path.join(self.tmp, "**"), recursive=True)[1:]
        left += ["/dev/shm/" + name for name in os.listdir("/dev/shm")
                 if any(str(pid) in name.replace("_", ":").split(":") for pid in self.pids)]
        with open("/proc/net/unix") as file:
            left += [line.split()[-1] for line in file if self.folder + "/" in line or self.tmp + "/" in line]
        return left

    def end(self):
        """Kills what is left, so that nothing of a wrong job disturbs the next."""
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.place.close()

    def run(self, allowed_s):
        self.start()
        self.await_moment()
        self.phase_reached = self.phase_now()
        self.reached_from = time.monotonic()
        self.reached = self.place.act()
        self.acted_at = time.monotonic()
        self.await_end(allowed_s + HUNG_S)
        if self.ended():
            code = self.process.returncode
            self.status = code if code >= 0 else 128 - code
            self.await_nothing(allowed_s)
        self.end()

    def await_nothing(self, allowed_s):
        """A guardian may still be at work where oshrun was killed."""
        before = self.control.total() - self.delay
        while True:
            self.left = self.leftovers()
            if not self.left or time.monotonic() > self.acted_at + allowed_s + self.control.total() - before:
                return
            time.sleep(0.05)

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)
