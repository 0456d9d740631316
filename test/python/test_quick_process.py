# SPDX-License-Identifier: BSD-3-Clause
"""The extension module in processes: with and without it, before and after a job, beside a fork."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Any

import pytest

from warpshmem import _quick

LIBRARIES = os.environ["WARPSHMEM_LIBRARY_DIR"]
BUILT = os.path.exists(os.path.join(LIBRARIES, _quick.FILE))
needs = pytest.mark.skipif(not BUILT, reason="no extension module is built (configure says why)")
PUT = """
import sys
import numpy as np
import warpshmem as shmem
from warpshmem import _quick
shmem.init()
box = shmem.zeros(2, "int64")
shmem.put(box, np.array([3, 4]), 0)
assert box.tolist() == [3, 4]
print("extension" if _quick.module else "ctypes")
shmem.finalize()
"""


def run(program: str, **environment: Any) -> subprocess.CompletedProcess:
    """Run a program in a job of its own; a value of None removes a variable."""
    given = dict(os.environ, WARPSHMEM_PYTHON_CALLS=None, **environment)
    return subprocess.run(
        [sys.executable, "-c", program],
        env={name: value for name, value in given.items() if value is not None},
        capture_output=True,
        text=True,
        timeout=100,
    )


def without(tmp_path: Any) -> str:
    """Return a folder of the libraries that has no extension module."""
    for name in os.listdir(LIBRARIES):
        if ".so" in name and name != _quick.FILE:
            os.symlink(os.path.join(LIBRARIES, name), str(tmp_path / name))
    return str(tmp_path)


@needs
def test_with_it() -> None:
    done = run(PUT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "extension\n", "")


def test_ctypes_that_is_asked_for() -> None:
    """No line says so."""
    given = dict(os.environ, WARPSHMEM_PYTHON_CALLS="ctypes")
    done = subprocess.run(
        [sys.executable, "-c", PUT], env=given, capture_output=True, text=True, timeout=100
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ctypes\n", "")


def test_without_it(tmp_path: Any) -> None:
    """Calls go by ctypes, and one line of the job says why and what to do."""
    folder = without(tmp_path)
    done = run(PUT, WARPSHMEM_LIBRARY_DIR=folder)
    assert (done.returncode, done.stdout) == (0, "ctypes\n"), done.stderr
    line = "warpshmem: Python calls go by ctypes, which takes longer: there is no %s/%s; "
    assert done.stderr.startswith(line % (folder, _quick.FILE)), done.stderr
    assert "python3-dev" in done.stderr and done.stderr.count("\n") == 1
    twice = PUT + PUT.replace("import sys", "")
    assert run(twice, WARPSHMEM_LIBRARY_DIR=folder).stderr == done.stderr


def test_one_line_a_job(tmp_path: Any) -> None:
    unique = (
        "import warpshmem as s, sys; sys.stdout.write(s.get_unique_id().hex()); sys.stdin.read()"
    )
    given = dict(os.environ, WARPSHMEM_LIBRARY_DIR=without(tmp_path))
    given.pop("WARPSHMEM_PYTHON_CALLS", None)
    pe = "import sys, warpshmem as s; s.init(int(sys.argv[1]), 3, bytes.fromhex(sys.argv[2])); s.finalize()"
    pipe = subprocess.PIPE
    maker = subprocess.Popen(
        [sys.executable, "-c", unique], env=given, stdin=pipe, stdout=pipe, text=True
    )
    assert maker.stdin is not None and maker.stdout is not None
    text = maker.stdout.read(256)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", pe, str(rank), text], env=given, stderr=pipe, text=True
        )
        for rank in range(3)
    ]
    lines = [process.communicate(timeout=60)[1] for process in running]
    maker.stdin.close()
    maker.stdout.close()
    assert maker.wait(60) == 0 and [process.returncode for process in running] == [0, 0, 0]
    assert [line.count("ctypes, which") for line in lines] == [1, 0, 0], lines


def test_it_is_asked_for_and_not_there(tmp_path: Any) -> None:
    given = dict(
        os.environ, WARPSHMEM_LIBRARY_DIR=without(tmp_path), WARPSHMEM_PYTHON_CALLS="extension"
    )
    done = subprocess.run(
        [sys.executable, "-c", PUT], env=given, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 1
    assert "WARPSHMEM_PYTHON_CALLS is extension, and there is no" in done.stderr, done.stderr


def test_a_file_that_is_none(tmp_path: Any) -> None:
    folder = without(tmp_path)
    (tmp_path / _quick.FILE).write_bytes(b"no module")
    done = run(PUT, WARPSHMEM_LIBRARY_DIR=folder)
    assert (done.returncode, done.stdout) == (0, "ctypes\n")
    assert "which takes longer" in done.stderr and done.stderr.count("\n") == 1, done.stderr


@needs
def test_another_version(tmp_path: Any) -> None:
    folder = without(tmp_path)
    shutil.copy(os.path.join(LIBRARIES, _quick.FILE), folder)
    newer = "from warpshmem import _quick; _quick.VERSION += 1\n"
    done = run(newer + PUT, WARPSHMEM_LIBRARY_DIR=folder)
    assert (done.returncode, done.stdout) == (0, "ctypes\n")
    assert "is of another version of the package; install" in done.stderr, done.stderr


def test_a_python_without_the_stable_abi() -> None:
    """A free-threaded one, or PyPy."""
    other = "import importlib.machinery as m; m.EXTENSION_SUFFIXES[:] = ['.so']\n"
    done = run(other + PUT)
    assert (done.returncode, done.stdout) == (0, "ctypes\n")
    assert "this Python loads no modules of CPython's stable ABI" in done.stderr, done.stderr


STATES = """
import os
import numpy as np
import warpshmem as shmem
from warpshmem import _quick
source = np.ones(2, "int64")
def told():
    try:
        shmem.put(box, source, 0)
    except shmem.WarpshmemError as error:
        return str(error).split(";")[0]
    return "done"
box = source
print(told())
for _ in range(2):
    shmem.init()
    box = shmem.zeros(2, "int64")
    print(told())
    shmem.init()
    shmem.finalize()
    print(told())
    read, write = os.pipe()
    if not os.fork():
        os.write(write, told().replace(str(os.getpid()), "N").encode())
        os._exit(0)
    os.wait()
    print(os.read(read, 999).decode())
    print(told())
    shmem.finalize()
    print(told())
"""


def test_before_between_and_after_jobs() -> None:
    """Calls outside of a job are refused by the same texts, in a forked child too."""
    made = [
        "done",
        "done",
        "warpshmem.put: this process (pid N) is a forked child of PE 0 and no PE itself",
    ]
    made += ["done", "warpshmem.put: the library has been finalized"]
    wanted = ["warpshmem.put: the library has not been started"] + 2 * made
    for calls in ("ctypes", "extension") if BUILT else ("ctypes",):
        given = dict(os.environ, WARPSHMEM_PYTHON_CALLS=calls)
        done = subprocess.run(
            [sys.executable, "-c", STATES], env=given, capture_output=True, text=True, timeout=100
        )
        assert done.stdout.split("\n") == wanted + [""], done.stdout + done.stderr


INTERRUPTED = """
import os, signal, threading, time
import numpy as np
import warpshmem as shmem
shmem.init()
word = shmem.zeros(1, "int64")
shmem.put(word, np.zeros(1, "int64"), 0)
def later():
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=later, daemon=True).start()
shmem.signal_wait_until(word, "eq", 1)
"""


def test_an_interrupt_ends_a_wait() -> None:
    done = run(INTERRUPTED)
    assert done.returncode == 130, done.stderr
    assert "SIGINT while it waits in warpshmem.signal_wait_until (<string>:" in done.stderr
