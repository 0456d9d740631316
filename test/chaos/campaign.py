#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs jobs to which something happens at a random time, and judges each by the table.

campaign.py --build FOLDER --program PROGRAM [--jobs N] [--seed N] [--only K] [--rows WORD,…] [--networks NAME,…]
The same seed gives the same plans; --only runs one of them.
"""
import argparse
import collections
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

from control import Control
from job import Job, Plan
from judge import allowed_s, wrong_with
from places import missing
from table import NETWORKS, TABLE


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--only", type=int)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--slow", type=float, default=1, help="multiplies the time limit")
    parser.add_argument("--no-emulator", default="", metavar="REASON", help="leaves out the emulated networks")
    parser.add_argument("--rows", default="", help="words that the names of the rows have")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--keep", action="store_true", help="keeps the folders of jobs that went wrong")
    return parser.parse_args()


def pairs(args):
    """Each row with each of its networks."""
    return [(row, name) for row in TABLE for name in row.networks if name in args.networks.split(",")
            and any(word in row.name for word in args.rows.split(","))]


def reasons(args, combinations):
    """What this machine cannot do, and why: rows by their kind, networks by their names."""
    why = {row.kind: missing(row.kind) for row, _ in combinations}
    why.update({name: args.no_emulator for _, name in combinations if NETWORKS[name].emulated})
    return {what: reason for what, reason in why.items() if reason}


def draw(seed, number, combinations):
    """The plan of one job. All combinations come, in an order that the seed decides, before one comes twice."""
    turn, index = divmod(number, len(combinations))
    order = list(range(len(combinations)))
    random.Random(f"{seed}/{turn}").shuffle(order)
    row, network = combinations[order[index]]
    rng = random.Random(f"{seed}:{number}")
    pes = rng.choice(NETWORKS[network].pes)
    traffic_s = rng.uniform(0.1, 0.6)
    phase = rng.choice(("start", "traffic", "traffic", "finalize"))
    after_s = {"start": rng.uniform(0, 0.25), "traffic": rng.uniform(0, traffic_s), "finalize": rng.uniform(0, 0.01)}
    if row.kind.startswith("fault"):
        phase, after_s = "start", {"start": rng.uniform(0, traffic_s + 0.2)}
    if row.kind == "memory limit":
        phase = "traffic"
    n_victims = 0 if row.kind.endswith(("oshrun", "launcher", "disk", "limit")) else max(1, len(row.signals))
    return Plan(row, network, pes, tuple(rng.sample(range(pes), n_victims)), phase, after_s[phase],
                rng.uniform(0.05, 0.8), traffic_s, rng.random() < 0.5)


class Campaign:
    def __init__(self, args, combinations, skipped):
        self.args = args
        numbers = [args.only] if args.only is not None else range(args.jobs)
        plans = ((number, draw(args.seed, number, combinations)) for number in numbers)
        self.plans = collections.deque((number, plan) for number, plan in plans
                                       if plan.row.kind not in skipped and plan.network not in skipped)
        self.folder = tempfile.mkdtemp(prefix="chaos.")
        self.program = os.path.join(self.folder, "load")
        shutil.copy(args.program, self.program)
        self.oshrun = os.path.join(args.build, "oshrun")
        self.libraries = os.path.join(args.build, ".libs")
        self.control = Control()
        self.lock = threading.Lock()
        self.done = collections.Counter()
        self.phases = collections.Counter()
        self.wrong = []

    def run_one(self, number, plan):
        job = Job(number, plan, self, self.control)
        job.run(allowed_s(plan, self.args.slow))
        self.note(job, wrong_with(job, self.args.slow))

    def note(self, job, wrong):
        with self.lock:
            self.done[job.plan.row.name] += 1
            self.phases[job.phase_reached] += 1
            if wrong:
                self.wrong.append(f"job {job.number}: {job.plan}: {wrong}")
            if wrong or self.args.only is not None:
                self.describe(job, wrong or "as expected")
        if not wrong or not self.args.keep:
            job.remove()

    def describe(self, job, verdict):
        print(f"# job {job.number}: {job.plan}: {verdict}")
        took = job.ended_at - job.acted_at
        print(f"#   reached in {job.phase_reached}; exit status {job.status} after {took:.2f} s; "
              f"again: {self.again(job)}")
        for line in job.marks_text() + job.lines("err")[:20]:
            print("#   " + line)
        sys.stdout.flush()

    def again(self, job):
        rows = f" --rows '{self.args.rows}'" if self.args.rows else ""
        networks = f" --networks {self.args.networks}" if self.args.networks != ",".join(NETWORKS) else ""
        return f"--seed {self.args.seed} --only {job.number}{rows}{networks}"

    def work(self):
        while True:
            with self.lock:
                if not self.plans:
                    return
                number, plan = self.plans.popleft()
            self.run_one(number, plan)

    def run(self):
        began = time.monotonic()
        threads = [threading.Thread(target=self.work) for _ in range(self.args.at_once)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.control.end()
        if not self.wrong or not self.args.keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        n = sum(self.done.values())
        print(f"# seed {self.args.seed}: {n - len(self.wrong)} of {n} jobs as expected, "
              f"{time.monotonic() - began:.0f} s; reached in " +
              ", ".join(f"{name} {count}" for name, count in sorted(self.phases.items())))
        print("# " + ", ".join(f"{name} {count}" for name, count in sorted(self.done.items())))
        # Once more, so that whoever sees the last lines alone sees which.
        for wrong in self.wrong:
            print(f"# wrong: {wrong}")


def main():
    # In the background of a shell SIGINT is ignored, which the jobs would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    args = parse_arguments()
    args.build = os.path.abspath(args.build)
    if args.seed is None:
        args.seed = int.from_bytes(os.urandom(4), "little")
    print(f"# seed {args.seed}", flush=True)
    combinations = pairs(args)
    skipped = reasons(args, combinations)
    for what, reason in skipped.items():
        print(f"skipped {what.replace(':', '')}: {reason}")
    campaign = Campaign(args, combinations, skipped)
    campaign.run()
    return 1 if campaign.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
