# SPDX-License-Identifier: BSD-3-Clause
"""jit_numba.py [every]: numba-cuda compiles kernels that call warpshmem.numba, without a GPU.

For sm_90, and nvJitLink links them. With `every` each routine of the table is in a kernel, else
some.
Prints a line of TAP for each check.
"""
import sys

import numba_cuda
from cuda.bindings import nvjitlink
from cuda.core import Linker, LinkerOptions, ObjectCode
from numba import cuda
from numba.cuda import types

import warpshmem.numba as shmem
from warpshmem._lib import library_path
from warpshmem._routines import ROUTINES, thread_symbol

NUMBERS = {
    "int": types.int32,
    "size": types.int64,
    "uint64": types.uint64,
    "float": types.float32,
    "double": types.float64,
}
done = 0


def report(good, what):
    global done
    done += 1
    print(
        "%s %d - numba-cuda %s: %s"
        % ("ok" if good else "not ok", done, numba_cuda.__version__, what),
        flush=True,
    )


def compiled(function, arguments, output="ltoir"):
    return cuda.compile(function, arguments, device=False, abi="numba", cc=(9, 0), output=output)[0]


def linked(codes):
    """The cubin of kernels with the device code, by nvJitLink."""
    with open(library_path("libnvshmem_device.ltoir"), "rb") as file:
        codes = [*codes, file.read()]
    linker = Linker(
        *[ObjectCode.from_ltoir(bytes(code)) for code in codes],
        options=LinkerOptions(arch="sm_90", link_time_optimization=True),
    )
    return linker.link("cubin").code


def step(words, signal, n):
    right = (shmem.my_pe() + 1) % shmem.n_pes()
    at = cuda.threadIdx.x
    if at < n:
        words[at] = at + shmem.my_pe()
    shmem.putmem_signal_nbi_block(words[n:], words, n * 4, signal, 1, shmem.SIGNAL_ADD, right)
    if at == 0:
        shmem.signal_wait_until(signal, shmem.CMP_GE, 1)
        shmem.peer(words, right)[n] += shmem.atomic_fetch_add(words, 1, right)
    shmem.quiet()
    shmem.barrier_all_block()


def whole():
    code = compiled(step, (types.int32[::1], types.uint64[::1], types.int32))
    cubin = linked([code])
    report(
        b"wsh_device_view" in cubin and b"step" in cubin,
        "a kernel of many calls, linked by nvJitLink %d.%d" % nvjitlink.version(),
    )
    ptx = compiled(step, (types.int32[::1], types.uint64[::1], types.int32), "ptx")
    report("nvshmemx_putmem_signal_nbi_block" in ptx, "the routine in PTX by its name")


def row(routine, scope, type_name):
    """A kernel of one call; numba reads no source, so it is made of text."""
    names = [name for name, _ in routine.arguments]
    name = routine.name + ("_" + scope if scope in ("warp", "block") else "")
    value = NUMBERS.get(type_name) or getattr(types, type_name or "int32")
    kinds = {
        "address": types.float32[::1],
        "signal": types.uint64[::1],
        "word": value[::1],
        "value": value,
        **NUMBERS,
    }
    text = "def row(%s):\n    %sshmem.%s(%s)\n" % (
        ", ".join(names + ["out"]),
        "out[0] = " if routine.result else "",
        name,
        ", ".join(names),
    )
    scope_of_text = {"shmem": shmem}
    exec(text, scope_of_text)
    arguments = tuple(kinds[kind] for _, kind in routine.arguments)
    return compiled(scope_of_text["row"], (*arguments, types.float64[::1]), "ptx")


def rows(every):
    bad, count = [], 0
    for routine in ROUTINES:
        for type_name in routine.types[: None if every else 1] or ("",):
            for scope in routine.scopes if every else routine.scopes[-1:]:
                symbol = thread_symbol(routine, scope, type_name)
                count += 1
                if symbol not in row(routine, scope, type_name):
                    bad.append(symbol)
    report(not bad, "%d routines, each in a kernel %s" % (count, " ".join(bad)))


def no_memory(n):
    shmem.putmem(1.5, n, 8, 0)


def narrow(words):
    shmem.signal_op(words, 1, shmem.SIGNAL_ADD, 0)


def other(words):
    shmem.atomic_add(words, 1, 0)


def few(words):
    shmem.putmem(words, words, 0)


def refused():
    for kernel, argument, says in (
        (no_memory, types.int64, "pass an array in symmetric memory, or an address"),
        (narrow, types.int32[::1], "a signal has 64 bits"),
        (other, types.int16[::1], "pass an array of int32 or"),
        (few, types.int16[::1], "putmem takes 4 arguments, and got 3"),
    ):
        try:
            compiled(kernel, (argument,))
            got = "compiled"
        except Exception as error:
            got = str(error)
        report(says in got, "refused: " + says)
        if says not in got:
            print("# " + got.replace("\n", "\n# "))


whole()
rows(len(sys.argv) > 1 and sys.argv[1] == "every")
refused()
print("1..%d" % done)
