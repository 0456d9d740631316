# SPDX-License-Identifier: BSD-3-Clause
"""jit_triton.py [every]: Triton compiles kernels that call warpshmem.triton, without a GPU.

For sm_90. With `every` each routine of the table is in a kernel of its own; else some are.
Prints a line of TAP for each check.
"""
import importlib.util
import os
import re
import sys
import tempfile

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import warpshmem.triton as shmem
from warpshmem._routines import ROUTINES, block_symbol

POINTERS = {"float": "*fp32", "double": "*fp64"}
done = 0


def report(good, what):
    global done
    done += 1
    print(
        "%s %d - Triton %s: %s" % ("ok" if good else "not ok", done, triton.__version__, what),
        flush=True,
    )


def pointer(type_name):
    return POINTERS.get(type_name) or "*" + type_name.replace("uint", "u").replace("int", "i")


def compiled(kernel, signature, libraries=None):
    source = ASTSource(kernel, signature)
    options = {"extern_libs": shmem.extern_libs() if libraries is None else libraries}
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options).asm


def resolved(asm, symbol):
    """The routine is there, and nothing of the library is left to a linker."""
    left = set(re.findall(r"\.extern \.func[^;]*?(\w+)\s*\(", asm["ptx"])) - {
        "vprintf",
        "__assertfail",
    }
    return not left and symbol in asm["ttir"] and "wsh_device_view" in asm["ptx"]


def row_kernel(folder, routine, type_name):
    """A kernel of the one call: Triton reads the source of a kernel from a file."""
    names = [name for name, _ in routine.arguments]
    call = "shmem.%s(%s)" % (
        routine.name + ("_block" if "block" in routine.scopes else ""),
        ", ".join(names),
    )
    path = os.path.join(folder, "%s_%s.py" % (routine.name, type_name))
    keep = (
        "    tl.store(out, %s)\n" if routine.result and routine.result != "address" else "    %s\n"
    )
    with open(path, "w") as file:
        file.write(
            "import triton\nimport triton.language as tl\nimport warpshmem.triton as shmem\n\n\n"
            "@triton.jit\n"
            "def row(%s):\n" % ", ".join(names + ["out"]) + keep % call
        )
    spec = importlib.util.spec_from_file_location("row", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kinds = {
        "address": "*fp32",
        "signal": "*u64",
        "word": pointer(type_name),
        "size": "i64",
        "uint64": "i64",
        "value": pointer(type_name).lstrip("*"),
        "int": "i32",
    }
    signature = {name: kinds[kind] for name, kind in routine.arguments}
    return module.row, {**signature, "out": "*fp64" if type_name in POINTERS else "*i64"}


def rows(every):
    bad, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for routine in ROUTINES:
            for type_name in routine.types[: None if every else 1] or ("",):
                if not every and routine.name.startswith(
                    ("max", "min", "atomic_fetch_", "fcollect", "alltoall")
                ):
                    continue
                symbol = block_symbol(routine, type_name)
                kernel, signature = row_kernel(folder, routine, type_name)
                count += 1
                if not resolved(compiled(kernel, signature), symbol):
                    bad.append(symbol)
    report(not bad, "%d routines, each in a kernel %s" % (count, " ".join(bad)))


@triton.jit
def step(words, signal, n, BLOCK: tl.constexpr):
    right = (shmem.my_pe() + 1) % shmem.n_pes()
    at = tl.arange(0, BLOCK)
    tl.store(words + at, at + shmem.my_pe(), mask=at < n)
    shmem.putmem_signal_nbi_block(words + BLOCK, words, n * 4, signal, 1, shmem.SIGNAL_ADD, right)
    shmem.signal_wait_until(signal, shmem.CMP_GE, 1)
    seen = shmem.atomic_fetch_add(words, 1, right)
    mine = shmem.ptr(words, right)
    tl.store(mine, seen)
    shmem.quiet()
    shmem.barrier_all_block()


def whole():
    source = ASTSource(
        step, {"words": "*i32", "signal": "*u64", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 128}
    )
    asm = triton.compile(
        source, target=GPUTarget("cuda", 90, 32), options={"extern_libs": shmem.extern_libs()}
    ).asm
    report(resolved(asm, "wsh_block_int32_atomic_fetch_add"), "a kernel of many calls")
    report(asm["cubin"].find(b"wsh_device_view") >= 0, "assembled, with the view")


@triton.jit
def blocks(words):
    shmem.putmem_block(words + tl.arange(0, 32), words, 4, 0)


@triton.jit
def narrow(words):
    shmem.signal_op(words, 1, shmem.SIGNAL_ADD, 0)


@triton.jit
def other(words):
    shmem.atomic_add(words, 1, 0)


def refused():
    for kernel, libraries, pointed, says in (
        (step, {}, None, "put @warpshmem.triton.kernel above"),
        (blocks, None, "*i32", "pass a scalar"),
        (narrow, None, "*i32", "a signal has 64 bits"),
        (other, None, "*i16", "pass a scalar pointer to int32 or"),
    ):
        try:
            if pointed is None:
                source = ASTSource(
                    step,
                    {"words": "*i32", "signal": "*u64", "n": "i32", "BLOCK": "constexpr"},
                    {"BLOCK": 128},
                )
                triton.compile(source, target=GPUTarget("cuda", 90, 32))
            else:
                compiled(kernel, {"words": pointed}, libraries)
            got = "compiled"
        except Exception as error:  # Triton's own, with the text of ours
            got = "%s %s" % (error, error.__cause__)
        report(says in got, "refused: " + says)
        if says not in got:
            print("# " + got.replace("\n", "\n# "))


whole()
rows(len(sys.argv) > 1 and sys.argv[1] == "every")
refused()
print("1..%d" % done)
