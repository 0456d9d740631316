# SPDX-License-Identifier: BSD-3-Clause
"""Runs tests of deep_ep with several PEs: deep_ep_job.py N FILE [TEXT] starts N processes of FILE's
tests.

Each process is a member of a gloo group and, by the Buffer, a PE. All run the functions test_… of
FILE whose names hold TEXT, in order, or with WSH_TEST_SEED=n in another one, n's; rank 0 prints a
line of TAP for each. Under oshrun, `deep_ep_job.py launched FILE` is a PE. Under pytest each process is a PE: `PYTHONPATH=test/python
python3 -m pytest -p deep_ep_job FILE`, by RANK and WORLD_SIZE.
"""

from __future__ import annotations

import importlib.util
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
import unittest
from typing import Any, Callable, List, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "python"))


class Skipped(unittest.SkipTest):
    """A test that cannot run here; the text says why."""


class Job:
    """What tests are given: torch's group, this rank, the device that rows are on."""

    def __init__(self, rank: int, n: int, group: Any) -> None:
        import torch

        self.rank, self.n, self.group = rank, n, group
        self.hosts = int(os.environ.get("WSH_TEST_HOSTS", "1"))
        self.cuda = torch.cuda.is_available()
        self.device = (
            torch.device("cuda", torch.cuda.current_device()) if self.cuda else torch.device("cpu")
        )


def open_group(rank: int, n: int, path: str) -> Any:
    """Make the group of all ranks by a file."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    if torch.cuda.is_available():
        torch.cuda.set_device(rank % torch.cuda.device_count())
    dist.init_process_group("gloo", store=dist.FileStore(path, n), rank=rank, world_size=n)
    return dist.group.WORLD


def tests_of(path: str, text: str) -> List[Tuple[str, Callable[[Job], None]]]:
    """Return the tests of a file, in the order that they stand there."""
    spec = importlib.util.spec_from_file_location("tests", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["tests"] = module
    spec.loader.exec_module(module)
    found = [
        (name, item)
        for name, item in vars(module).items()
        if name.startswith("test_") and text in name
    ]
    return found


def run_one(job: Job, name: str, test: Callable[[Job], None]) -> str:
    """Return "" where the test has passed on this rank, "skip: why", or what went wrong."""
    try:
        test(job)
        return ""
    except Skipped as why:
        return "skip: %s" % why
    except Exception:  # every failure is a line of TAP
        return traceback.format_exc()


def report(number: int, name: str, results: List[str], seconds: float) -> bool:
    """Print the line of TAP of what all ranks found; True where none failed."""
    bad = [
        (rank, text) for rank, text in enumerate(results) if text and not text.startswith("skip: ")
    ]
    for rank, text in bad[:2]:
        print("\n".join("# rank %d: %s" % (rank, line) for line in text.rstrip().split("\n")))
    skip = "" if bad or not results[0] else " # SKIP " + results[0][len("skip: ") :]
    print(
        "%sok %d - %s, %d PEs, %.2f s%s"
        % ("not " if bad else "", number, name, len(results), seconds, skip),
        flush=True,
    )
    return not bad


def run_rank(rank: int, n: int, path: str, text: str, store: str) -> int:
    """Run the tests as one rank; a test that fails anywhere ends the job, for its ranks may wait
    for each other. With WSH_TEST_GO_ON one that fails on all ranks does not."""
    import torch.distributed as dist

    tests = [test for one in path.split(",") for test in tests_of(one, text)]
    if os.environ.get("WSH_TEST_SEED"):
        random.Random(os.environ["WSH_TEST_SEED"]).shuffle(tests)
    failed = False
    job = Job(rank, n, open_group(rank, n, store))
    for number, (name, test) in enumerate(tests, 1):
        began, results = time.monotonic(), [""] * n
        dist.all_gather_object(results, run_one(job, name, test))
        seconds = time.monotonic() - began
        if rank == 0:
            report(number, name, results, seconds)
        bad = sum(bool(found) and not found.startswith("skip: ") for found in results)
        failed = failed or bad > 0
        if bad and (bad < n or not os.environ.get("WSH_TEST_GO_ON")):
            break
    if rank == 0:
        print("1..%d" % number, flush=True)
    sys.stdout.flush()
    sys.stderr.flush()
    if failed:
        os._exit(1)
    import torch
    import warpshmem

    if torch.cuda.is_available():
        torch.cuda.synchronize()
    warpshmem.finalize()
    del job
    dist.destroy_process_group()  # ends its threads, which must not outlive the interpreter
    return 0


def start(n: int, path: str, text: str) -> int:
    """Start n ranks and wait for them; the first that fails ends the others."""
    store = os.path.join(tempfile.mkdtemp(), "store")
    command = [sys.executable, "-u", os.path.abspath(__file__), "rank", path, text, store]
    ranks = [
        subprocess.Popen(
            command,
            env=dict(os.environ, RANK=str(rank), WORLD_SIZE=str(n), GLOO_SOCKET_IFNAME="lo"),
        )
        for rank in range(n)
    ]
    until, status = time.monotonic() + float(os.environ.get("WSH_TEST_SECONDS", "240")), 0
    while any(rank.poll() is None for rank in ranks):
        codes = [rank.poll() for rank in ranks]
        if any(codes) or time.monotonic() > until:
            status = next((code for code in codes if code), 124)
            time.sleep(1)
            for rank in ranks:
                rank.kill()
            break
        time.sleep(0.05)
    return next((rank.wait() for rank in ranks if rank.wait()), status)


def main() -> int:
    what, path = sys.argv[1], sys.argv[2]
    text = sys.argv[3] if len(sys.argv) > 3 else ""
    if what == "rank":
        return run_rank(
            int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), path, text, sys.argv[4]
        )
    if what == "launched":
        import warpshmem

        warpshmem.init()
        return run_rank(warpshmem.my_pe(), warpshmem.n_pes(), path, text, sys.argv[4])
    return start(int(what), path, text)


if "pytest" in sys.modules:
    import pytest

    @pytest.fixture(scope="session", name="job")
    def _job() -> Job:
        """The PE that this process is: `pytest -p deep_ep_job`, by RANK and WORLD_SIZE, or
        alone."""
        import torch.distributed as dist

        rank, n = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
        if n == 1:
            return Job(0, 1, open_group(0, 1, os.path.join(tempfile.mkdtemp(), "store")))
        dist.init_process_group("gloo", init_method="env://")
        return Job(rank, n, dist.group.WORLD)


if __name__ == "__main__":
    sys.modules["deep_ep_job"] = sys.modules["__main__"]
    sys.exit(main())
