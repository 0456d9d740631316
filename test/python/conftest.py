# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the Python package share. Files named test_pes_* run on every PE of a job, all
tests in one order.

WSH_PY_KIND: the arrays: numpy, torch-host, torch (of a GPU), cupy. WSH_PY_RESULTS: a folder for
run.py, to which each process writes a line a test. A PE whose test fails ends: the others could
wait for it for ever.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Iterator

import pytest

import warpshmem as shmem

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kinds import Arrays  # noqa: E402

SPMD = os.environ.get("WSH_PY_SPMD") == "1"
_results = None
if os.environ.get("WSH_PY_RESULTS"):
    _path = os.path.join(os.environ["WSH_PY_RESULTS"], "results.%d" % os.getpid())
    _results = open(_path, "a", encoding="utf-8")


def _tell(**row: Any) -> None:
    if _results:
        _results.write(json.dumps(row) + "\n")
        _results.flush()


def pytest_sessionstart(session: Any) -> None:
    """Start the job."""
    if SPMD:
        shmem.init(device=0 if Arrays.of_environment().gpu else None)


def pytest_collection_finish(session: Any) -> None:
    """Tell which tests there are."""
    _tell(tests=[item.nodeid for item in session.items])


def pytest_runtest_logreport(report: Any) -> None:
    """Tell how a test ended."""
    if report.when == "call" or report.outcome != "passed":
        text = report.longreprtext
        if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
            text = str(report.longrepr[2]).replace("Skipped: ", "")
        _tell(test=report.nodeid, outcome=report.outcome, text=text)
        if SPMD and report.outcome == "failed":
            sys.stderr.write(text + "\n")
            sys.stderr.flush()
            os._exit(1)


def pytest_sessionfinish(session: Any, exitstatus: int) -> None:
    """End the job."""
    if SPMD and exitstatus in (0, 5):
        shmem.finalize()


@pytest.fixture
def xp() -> Arrays:
    """The arrays of this run."""
    return Arrays.of_environment()


@pytest.fixture
def host(xp: Arrays) -> Arrays:
    """Skip where the arrays are those of a GPU: the host does not wait there."""
    if xp.gpu:
        pytest.skip("the host does not wait in memory of a GPU")
    return xp


@pytest.fixture
def loads(xp: Arrays) -> Arrays:
    """Skip where loads and stores do not reach the arrays."""
    if xp.kind == "fake":
        pytest.skip("the driver without a GPU has no loads and stores")
    return xp


@pytest.fixture
def me() -> int:
    """This PE."""
    return shmem.my_pe()


@pytest.fixture
def n() -> int:
    """How many PEs there are."""
    return shmem.n_pes()


@pytest.fixture
def right(me: int, n: int) -> int:
    """The next PE."""
    return (me + 1) % n


@pytest.fixture
def left(me: int, n: int) -> int:
    """The PE before."""
    return (me + n - 1) % n


@pytest.fixture(autouse=True)
def together() -> Iterator[None]:
    """All PEs end a test before one begins the next."""
    yield
    if SPMD:
        shmem.barrier_all()
