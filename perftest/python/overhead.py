# SPDX-License-Identifier: BSD-3-Clause
"""What a call of the Python package costs, beside the same routine called through its C interface.

overhead.py [--uid N] [--like numpy|torch-host|torch|cupy] [--calls N] [--bytes N]

PE 0 puts --bytes (8) bytes to PE 1: by a C loop (compiled where a C compiler is there), by ctypes
with prepared arguments, by a prepared operation, and by put() with arrays. Each of --calls
(100,000) calls is timed alone; printed are median and spread (10th and 90th percentile) in
microseconds, after the clock's own cost was taken off. Starts two processes by a unique id with
--uid 2, else runs under a launcher. Exit status 1 where the prepared operation costs more than 3 us
beyond C.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, List, Optional, Tuple

import numpy as np

import warpshmem as shmem
from warpshmem import _lib
from warpshmem.memory import view

LIMIT_US = 3.0
LOOP = r"""
#include <stddef.h>
#include <time.h>
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}
typedef void put_t(void *, const void *, size_t, int);
void loop(put_t *put, void *dest, const void *source, size_t n, int pe, double *ns, int calls)
{
    for (int i = 0; i < calls; i++) {
        double began = now();
        if (put)
            put(dest, source, n, pe);
        ns[i] = now() - began;
    }
}
"""


def summary(ns: Any, idle: float) -> Tuple[float, float, float]:
    """Return median, 10th and 90th percentile in microseconds."""
    low, middle, high = np.percentile(np.asarray(ns), (10, 50, 90))
    return max(middle - idle, 0) / 1000, max(low - idle, 0) / 1000, max(high - idle, 0) / 1000


def timed(call: Callable[[], Any], calls: int) -> Any:
    """Time each call."""
    clock, ns = time.perf_counter_ns, np.zeros(calls)
    for i in range(calls):
        began = clock()
        call()
        ns[i] = clock() - began
    return ns


def clock_cost(calls: int) -> float:
    """Return what two looks at the clock take."""
    clock, ns = time.perf_counter_ns, np.zeros(calls)
    for i in range(calls):
        began = clock()
        ns[i] = clock() - began
    return float(np.median(ns))


def c_loop() -> Optional[Any]:
    """Compile the loop; None where there is no compiler."""
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "loop.c"), os.path.join(folder, "loop.so")
        with open(source, "w", encoding="utf-8") as out:
            out.write(LOOP)
        if subprocess.run(
            compiler.split() + ["-O2", "-shared", "-fPIC", "-o", library, source]
        ).returncode:
            return None
        return ctypes.CDLL(library).loop


def arrays(like: str, nbytes: int) -> Tuple[Any, Any]:
    """Return a symmetric array, and a private one."""
    framework, gpu = like.partition("-")[0], like in ("torch", "cupy")
    dest = shmem.zeros(nbytes, "uint8", like=framework, device="gpu" if gpu else "host")
    if framework == "numpy":
        return dest, np.ones(nbytes, "uint8")
    module = __import__(framework)
    if framework == "cupy":
        return dest, module.ones(nbytes, dtype="uint8")
    return dest, module.ones(nbytes, dtype=module.uint8, device="cuda" if gpu else "cpu")


def measure(like: str, nbytes: int, calls: int) -> int:
    """Measure and print, on PE 0."""
    dest, source = arrays(like, nbytes)
    core, to, of = _lib.core(), view(dest, "", ""), view(source, "", "")
    op = shmem.prepare_put(dest, source, 1)
    raw = functools.partial(
        core.shmem_putmem,
        ctypes.c_void_p(to.address),
        ctypes.c_void_p(of.address),
        ctypes.c_size_t(nbytes),
        ctypes.c_int(1),
    )
    rows: List[Tuple[str, Tuple[float, float, float]]] = []
    loop = c_loop()
    if loop is not None:
        ns, put = np.zeros(calls), ctypes.cast(core.shmem_putmem, ctypes.c_void_p)
        common = (
            ctypes.c_void_p(to.address),
            ctypes.c_void_p(of.address),
            ctypes.c_size_t(nbytes),
            ctypes.c_int(1),
            ctypes.c_void_p(ns.ctypes.data),
            ctypes.c_int(calls),
        )
        loop(None, *common)
        idle = float(np.median(ns))
        loop(put, *common)
        rows.append(("C, a loop", summary(ns, idle)))
    idle = clock_cost(calls)
    rows.append(("ctypes, arguments prepared", summary(timed(raw, calls), idle)))
    rows.append(("a prepared operation", summary(timed(op, calls), idle)))
    rows.append(
        ("put(dest, source, pe)", summary(timed(lambda: shmem.put(dest, source, 1), calls), idle))
    )
    print(
        "# put of %d bytes, %s, Python %s, %d calls" % (nbytes, like, sys.version.split()[0], calls)
    )
    print("# %-28s %10s %10s %10s   us" % ("", "median", "10 %", "90 %"))
    for name, values in rows:
        print("  %-28s %10.3f %10.3f %10.3f" % ((name,) + values))
    base = rows[0][1][0]
    more = rows[-2][1][0] - base
    print(
        "# a prepared operation costs %.3f us more than %s; the limit is %g"
        % (more, rows[0][0], LIMIT_US)
    )
    return 0 if more <= LIMIT_US else 1


def start(n: int) -> int:
    """Start n processes by a unique id."""
    unique = shmem.get_unique_id()
    command = [sys.executable] + sys.argv
    environment = dict(os.environ, WSH_OVERHEAD_ID=unique.hex())
    running = [
        subprocess.Popen(command, env=dict(environment, RANK=str(rank), WORLD_SIZE=str(n)))
        for rank in range(n)
    ]
    return max(process.wait() for process in running)


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--uid", type=int, default=0)
    parser.add_argument("--like", default="numpy", choices=("numpy", "torch-host", "torch", "cupy"))
    parser.add_argument("--calls", type=int, default=100000)
    parser.add_argument("--bytes", type=int, default=8)
    options = parser.parse_args()
    if options.uid and "WSH_OVERHEAD_ID" not in os.environ:
        return start(options.uid)
    unique = os.environ.get("WSH_OVERHEAD_ID")
    shmem.init(uid=bytes.fromhex(unique) if unique else None)
    if shmem.n_pes() < 2:
        sys.exit("overhead.py: needs 2 PEs: oshrun -n 2 python3 overhead.py, or --uid 2")
    status = 0
    if shmem.my_pe() == 0:
        status = measure(options.like, options.bytes, options.calls)
        sys.stdout.flush()
    else:
        arrays(options.like, options.bytes)
    shmem.finalize()
    return status


if __name__ == "__main__":
    sys.exit(main())
