# SPDX-License-Identifier: BSD-3-Clause
"""What a call of the Python package costs, beside the same routine called by a loop in C.

overhead.py [--uid N] [--like numpy|torch-host|torch|cupy] [--calls N] [--bytes N]
overhead.py --deep-ep [--calls N]

PE 0 puts --bytes (8) bytes to PE 1, gets them, puts them with a signal, and waits for a word that
has come. Each of --calls (100,000) calls is timed alone, in parts that come in turn; printed are
median and spread (10th and 90th percentile) in microseconds, after the clock's own cost was taken
off: by C (where a C compiler is), by the package with the extension module, and by ctypes. Starts
two processes by a unique id with --uid 2, else runs under a launcher. Exit status 1 where a
prepared operation costs more than 3 us beyond C, or a put in memory of the host by the extension
more than 0.6.

--deep-ep: one process, on a GPU where torch has one: deep_ep's low-latency dispatch and combine,
and those of normal mode, of Buffer and EPBuffer, with routines of C that do nothing in the place of
the library's, so what is left is of the host.
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
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

import warpshmem as shmem
from warpshmem import _lib, _quick
from warpshmem.memory import view

LIMIT_US, PUT_LIMIT_US = 3.0, 0.6
PARTS = 10
LOOP = r"""
#include <stddef.h>
#include <stdint.h>
#include <time.h>
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}
#define LOOP(name, call)                                                                       \
    void name(void *routine, void *a, void *b, size_t n, uint64_t *word, double *ns, int calls) \
    {                                                                                          \
        for (int i = 0; i < calls; i++) {                                                      \
            double began = now();                                                              \
            call;                                                                              \
            ns[i] = now() - began;                                                             \
        }                                                                                      \
    }
LOOP(idle, (void)0)
LOOP(move, ((void (*)(void *, void *, size_t, int))routine)(a, b, n, 1))
LOOP(signal_, ((void (*)(void *, void *, size_t, uint64_t *, uint64_t, int, int))routine)(a, b, n, word, 1, 0, 1))
LOOP(wait_, ((void (*)(uint64_t *, int, uint64_t))routine)(word, 5, 0))
int nothing(void *ep, const void *call)
{
    return 0;
}
int32_t come;
int counted(void *ep, int handle, int32_t *numbers, int32_t *rows)
{
    *rows = come;
    return 0;
}
"""


class Kind(NamedTuple):
    """A routine: C's, the loop that calls it, and the package's."""

    name: str
    routine: str
    loop: str
    call: Callable[[], Any]


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


def compiled() -> Optional[ctypes.CDLL]:
    """Compile the loops; None where there is no compiler."""
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "loop.c"), os.path.join(folder, "loop.so")
        with open(source, "w", encoding="utf-8") as out:
            out.write(LOOP)
        command = compiler.split() + ["-O2", "-shared", "-fPIC", "-o", library, source]
        return None if subprocess.run(command).returncode else ctypes.CDLL(library)


class Ctypes:
    """A context in which calls go by ctypes."""

    def __init__(self, instances: Tuple[Any, ...] = ()) -> None:
        self.instances = instances  # whose plans are made anew

    def _forget(self) -> None:
        for one in self.instances:
            one.plans.clear()

    def __enter__(self) -> None:
        names = _quick.ROUTINES + ("module",)
        self.kept = {name: getattr(_quick, name) for name in names}
        vars(_quick).update((name, lambda *_: None) for name in names)
        _quick.module = None
        self._forget()

    def __exit__(self, *_: Any) -> None:
        vars(_quick).update(self.kept)
        self._forget()


def in_turn(calls: Dict[str, Callable[[int], Any]], n: int) -> Dict[str, Any]:
    """Time each of several, n calls in parts that come in turn."""
    found: Dict[str, List[Any]] = {name: [] for name in calls}
    for _ in range(PARTS):
        for name, call in calls.items():
            found[name].append(call(n // PARTS))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def by_ctypes(call: Callable[[], Any], instances: Tuple[Any, ...], n: int) -> Any:
    """Time calls by ctypes."""
    with Ctypes(instances):
        return again(call, n)


def again(call: Callable[[], Any], n: int) -> Any:
    """Time calls after one that is not."""
    getattr(call, "first", call)()
    return timed(call, n)


class Rows:
    """What is printed."""

    def __init__(self, head: str) -> None:
        print("# " + head)
        print("# %-44s %10s %10s %10s   us" % ("", "median", "10 %", "90 %"))

    def add(self, name: str, ns: Any, idle: float) -> float:
        """Print a row and return its median."""
        values = summary(ns, idle)
        print("  %-44s %10.3f %10.3f %10.3f" % ((name,) + values), flush=True)
        return values[0]


def arrays(like: str, nbytes: int) -> Tuple[Any, Any, Any]:
    """Return a symmetric array, a private one, and a symmetric word on the host."""
    framework, gpu = like.partition("-")[0], like in ("torch", "cupy")
    dest = shmem.zeros(nbytes, "uint8", like=framework, device="gpu" if gpu else "host")
    word = shmem.zeros(1, "int64", like=None if gpu else framework)
    if framework == "numpy":
        return dest, np.ones(nbytes, "uint8"), word
    module = __import__(framework)
    if framework == "cupy":
        return dest, module.ones(nbytes, dtype="uint8"), word
    device = "cuda" if gpu else "cpu"
    return dest, module.ones(nbytes, dtype=module.uint8, device=device), word


def measure(like: str, nbytes: int, calls: int) -> int:
    """Measure and print, on PE 0."""
    dest, source, word = arrays(like, nbytes)
    core, to, of, bell = (
        _lib.core(),
        view(dest, "", ""),
        view(source, "", ""),
        view(word, "", "").address,
    )
    op = shmem.prepare_put(dest, source, 1)
    pointer = ctypes.c_void_p
    raw = functools.partial(
        core.shmem_putmem,
        pointer(to.address),
        pointer(of.address),
        ctypes.c_size_t(nbytes),
        ctypes.c_int(1),
    )
    kinds = (
        Kind("put", "shmem_putmem", "move", lambda: shmem.put(dest, source, 1)),
        Kind("get", "shmem_getmem", "move", lambda: shmem.get(source, dest, 1)),
        Kind(
            "put_signal",
            "shmem_putmem_signal",
            "signal_",
            lambda: shmem.put_signal(dest, source, word, 1, 1),
        ),
        Kind(
            "wait_until", "shmem_int64_wait_until", "wait_", lambda: shmem.wait_until(word, "ge", 0)
        ),
    )
    loops = compiled()
    idle, idle_c = clock_cost(calls), 0.0

    def by_c(loop: str, routine: str, swap: bool, n: int) -> Any:
        ns, first, second = np.zeros(n), to.address, of.address
        given = ctypes.cast(getattr(core, routine), pointer) if routine else None
        pair = (second, first) if swap else (first, second)
        arguments = [pointer(one) for one in pair] + [ctypes.c_size_t(nbytes), pointer(bell)]
        getattr(loops, loop)(given, *arguments, pointer(ns.ctypes.data), ctypes.c_int(n))
        return ns

    if loops is not None:
        idle_c = float(np.median(by_c("idle", "", False, calls)))
    rows = Rows("%d bytes, %s, Python %s, %d calls" % (nbytes, like, sys.version.split()[0], calls))
    medians: Dict[Tuple[str, str], float] = {}
    for kind in kinds:
        ways: Dict[str, Callable[[int], Any]] = {}
        if loops is not None:
            ways["C, a loop"] = functools.partial(by_c, kind.loop, kind.routine, kind.name == "get")
        if _quick.module is not None:
            ways["Python, by the extension"] = functools.partial(again, kind.call)
        ways["Python, by ctypes"] = functools.partial(by_ctypes, kind.call, ())
        if kind.name == "put":
            ways["ctypes, arguments prepared"] = functools.partial(timed, raw)
            ways["a prepared operation"] = functools.partial(timed, op)
        for way, ns in in_turn(ways, calls).items():
            spent = idle_c if way.startswith("C,") else idle
            medians[kind.name, way] = rows.add("%s: %s" % (kind.name, way), ns, spent)
    return judge(medians, like)


def judge(medians: Dict[Tuple[str, str], float], like: str) -> int:
    """Compare puts with C's; return the exit status."""
    base = medians.get(("put", "C, a loop"))
    if base is None:
        base = medians["put", "ctypes, arguments prepared"]
    bad = 0
    limits = [("a prepared operation", LIMIT_US)]
    if like in ("numpy", "torch-host"):
        limits.append(("Python, by the extension", PUT_LIMIT_US))
    for way, limit in limits:
        if ("put", way) in medians:
            more = medians["put", way] - base
            print("# put, %s: %.3f us more than C's; the limit is %g" % (way, more, limit))
            bad += more > limit
    return 1 if bad else 0


def deep_ep(calls: int) -> int:
    """Measure deep_ep's calls without the library's."""
    import torch
    import torch.distributed as dist

    from warpshmem import deep_ep, ep

    torch.set_num_threads(1)
    store = dist.FileStore(os.path.join(tempfile.mkdtemp(), "store"), 1)
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    loops = compiled()
    if loops is None:
        sys.exit("overhead.py: --deep-ep needs a C compiler")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tokens, hidden, experts, k = 8, 512, 8, 4
    ctypes.c_int32.in_dll(loops, "come").value = tokens
    x = torch.randn(tokens, hidden).bfloat16().to(device)
    topk = torch.rand(tokens, experts).topk(k, 1)[1].to(device)
    weights, out = torch.rand(tokens, k).to(device), torch.empty_like(x)
    y = torch.zeros(experts, tokens, hidden, device=device).bfloat16()
    buffer = deep_ep.Buffer(dist.group.WORLD, low_latency_mode=True, explicitly_destroy=True)
    fp8 = hasattr(torch, "float8_e4m3fn")

    def dispatch(**more: Any) -> Any:
        return buffer.low_latency_dispatch(x, topk, tokens, experts, use_fp8=fp8, **more)

    def combine(handle: Any, **more: Any) -> Any:
        return buffer.low_latency_combine(y, topk, weights, handle, out=out, **more)

    def silence(instance: Any) -> None:
        told, told.argtypes = loops["counted"], instance._counts.argtypes
        instance._counts = told
        for name, struct in (("_dispatch", ep.Dispatch), ("_combine", ep.Combine)):
            routine = loops["nothing"]  # an object of its own
            arguments = [ctypes.c_void_p, ctypes.POINTER(struct)]
            routine.restype, routine.argtypes = ctypes.c_int, arguments
            setattr(instance, name, routine)

    normal = again_in_normal_mode(buffer, deep_ep, x, topk, weights, experts, silence)
    first = dispatch()[2]
    combine(first)
    entry = first.entry
    silence(entry.instance)
    buffer._low.plans.clear()
    entry.plans.clear()

    def hooked() -> None:
        got = dispatch(return_recv_hook=True)
        got[4]()
        combine(got[2], return_recv_hook=True)[2]()

    idle = clock_cost(calls)
    where = "%s, torch %s, Python %s" % (device.type, torch.__version__, sys.version.split()[0])
    rows = Rows("deep_ep, %s, %s, %d calls" % ("FP8" if fp8 else "BF16", where, calls))
    held = {"handle": first}

    def combined() -> None:
        combine(held["handle"])

    combined.first = lambda: held.update(handle=dispatch()[2])  # type: ignore[attr-defined]
    pairs = (
        ("dispatch", dispatch),
        ("combine", combined),
        ("both with hooks", hooked),
    )
    for name, call in pairs:
        ways: Dict[str, Callable[[int], Any]] = {}
        if _quick.module is not None:
            ways["by the extension"] = functools.partial(again, call)
        ways["by ctypes"] = functools.partial(by_ctypes, call, (entry, buffer._low))
        for way, ns in in_turn(ways, calls).items():
            rows.add("%s: %s" % (name, way), ns, idle)
    turns = {name: functools.partial(again, call) for name, call in normal}
    for name, ns in in_turn(turns, calls).items():
        rows.add(name, ns, idle)
    sys.stdout.flush()
    os._exit(0)  # the instance has lost its routines


def again_in_normal_mode(
    buffer: Any,
    deep_ep: Any,
    x: Any,
    topk: Any,
    weights: Any,
    experts: int,
    silence: Callable[[Any], None],
) -> Tuple[Tuple[str, Callable[[], Any]], ...]:
    """Return calls of Buffer and of EPBuffer: of a new routing, and by handles."""
    per_rank, _, per_expert, inside, _ = buffer.get_dispatch_layout(topk, experts)
    routing = dict(
        num_tokens_per_rank=per_rank,
        is_token_in_rank=inside,
        num_tokens_per_expert=per_expert,
        topk_idx=topk,
        topk_weights=weights,
    )
    got = buffer.dispatch(x, **routing)
    second = deep_ep.EPBuffer(
        buffer.group, num_max_tokens_per_rank=x.shape[0], num_topk=topk.shape[1]
    )
    count = dict(num_experts=experts)
    more = second.dispatch(x, topk, weights, **count)
    for handle in (got[4], more[3]._inner):
        silence(handle.entry.instance)
        handle.entry.instance._plans.clear()
    return (
        ("Buffer.dispatch, a new routing", lambda: buffer.dispatch(x, **routing)),
        ("EPBuffer.dispatch, a new routing", lambda: second.dispatch(x, topk, weights, **count)),
        ("Buffer.dispatch, a handle", lambda: buffer.dispatch(x, handle=got[4])),
        ("EPBuffer.dispatch, a handle", lambda: second.dispatch(x, handle=more[3])),
        ("Buffer.combine", lambda: buffer.combine(got[0], got[4])),
        ("EPBuffer.combine", lambda: second.combine(more[0], more[3])),
    )


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
    parser.add_argument("--deep-ep", action="store_true")
    options = parser.parse_args()
    if options.deep_ep:
        return deep_ep(options.calls)
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
