# SPDX-License-Identifier: BSD-3-Clause
"""triton_extern.py FOLDER [FILE RANK N]: kernels of Triton that call functions of NVSHMEM by their C names, out of the
bitcode in FOLDER: what torch's and Triton-distributed's bindings do. Without FILE they are compiled, for GPUs of four
architectures; with it this is one of N PEs on a GPU, to which rank 0 hands the unique id round by the file.
"""
import ctypes
import os
import sys

import triton
import triton.language as tl
from common import Words, start
from triton.language import core

folder = sys.argv[1]
INT, LONG, ULONG = core.dtype("int32"), core.dtype("int64"), core.dtype("uint64")


def bitcode(arch):
    return {"libnvshmem_device": os.path.join(folder, "libnvshmem_device_sm_%d.bc" % arch)}


def call(symbol, result, given, types, _semantic):
    values = [core.cast(each, kind, _semantic=_semantic) for each, kind in zip(given, types)]
    return core.extern_elementwise(
        "libnvshmem_device", "", values, {tuple(types): (symbol, result)}, is_pure=False, _semantic=_semantic
    )


@core.extern
def my_pe(_semantic=None):
    return call("nvshmem_my_pe", INT, [], [], _semantic)


@core.extern
def n_pes(_semantic=None):
    return call("nvshmem_n_pes", INT, [], [], _semantic)


@core.extern
def putmem_signal_block(dest, source, nbytes, signal, value, op, pe, _semantic=None):
    given = [dest, source, nbytes, signal, value, op, pe]
    return call("nvshmemx_putmem_signal_block", INT, given, [LONG, LONG, LONG, LONG, ULONG, INT, INT], _semantic)


@core.extern
def signal_wait_until(signal, cmp, value, _semantic=None):
    return call("nvshmem_signal_wait_until", ULONG, [signal, cmp, value], [LONG, INT, ULONG], _semantic)


@core.extern
def int32_sum_reduce_block(team, dest, source, nreduce, _semantic=None):
    return call("nvshmemx_int32_sum_reduce_block", INT, [team, dest, source, nreduce], [INT, LONG, LONG, LONG], _semantic)


@core.extern
def barrier_all_block(_semantic=None):
    return call("nvshmemx_barrier_all_block", INT, [], [], _semantic)


@core.extern
def qp_putmem_block(dest, source, nelems, pe, queue, _semantic=None):
    return call("nvshmemx_qp_int32_put_block", INT, [dest, source, nelems, pe, queue], [LONG, LONG, LONG, INT, INT], _semantic)


@triton.jit
def step(words, sums, signal, n, BLOCK: tl.constexpr):
    pe = my_pe()
    right = (pe + 1) % n_pes()
    at = tl.arange(0, BLOCK)
    tl.store(words + at, at + 1000 * pe, mask=at < n)
    putmem_signal_block(words + BLOCK, words, n * 4, signal, 1, 10, right)
    signal_wait_until(signal, 0, 1)
    barrier_all_block()
    int32_sum_reduce_block(0, sums, words, n)
    barrier_all_block()


@triton.jit
def queued(words, n, BLOCK: tl.constexpr):
    qp_putmem_block(words + BLOCK, words, n, (my_pe() + 1) % n_pes(), 1)
    barrier_all_block()


def compiled():
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kernels = (
        (step, {"words": "*i32", "sums": "*i32", "signal": "*u64", "n": "i32", "BLOCK": "constexpr"}),
        (queued, {"words": "*i32", "n": "i32", "BLOCK": "constexpr"}),
    )
    for arch in (80, 89, 90, 100):
        for kernel, signature in kernels:
            source = ASTSource(kernel, signature, {"BLOCK": 128})
            asm = triton.compile(source, target=GPUTarget("cuda", arch, 32), options={"extern_libs": bitcode(arch)}).asm
            assert "wsh_device_view" in asm["ptx"] and len(asm["cubin"]), (arch, kernel)
            assert ("fence.release.sys" in asm["ptx"]) == (arch >= 90), arch
        print("Triton %s: kernels for sm_%d" % (triton.__version__, arch), flush=True)


def run(file, rank, n):
    import torch

    torch.cuda.init()
    torch.cuda.synchronize()
    nv = ctypes.CDLL("libnvshmem_host.so.3")
    start(nv, file, rank, n)
    memory = nv.nvshmem_malloc(8192)
    arch = 10 * torch.cuda.get_device_capability()[0] + torch.cuda.get_device_capability()[1]
    places = ((memory, 512, "<i4"), (memory + 2048, 512, "<i4"), (memory + 4096, 1, "<i8"))
    words, sums, signal = (torch.as_tensor(Words(*each), device="cuda") for each in places)
    for each in (words, sums, signal):
        each.zero_()
    torch.cuda.synchronize()
    for kernel, given in ((step, (words, sums, signal, 100)), (queued, (words, 100))):
        made = kernel.warmup(*given, BLOCK=128, grid=(1,), extern_libs=bitcode(arch))
        made._init_handles()
        assert nv.nvshmemx_cumodule_init(made.module) == 0
        nv.nvshmem_barrier_all()
        kernel[(1,)](*given, BLOCK=128, extern_libs=bitcode(arch))
        torch.cuda.synchronize()
        nv.nvshmem_barrier_all()
        left = (rank + n - 1) % n
        assert nv.nvshmem_int_g(memory + 4 * (128 + 99), rank) == 99 + 1000 * left
    assert nv.nvshmem_int_g(memory + 2048 + 4 * 7, rank) == 7 * n + 1000 * n * (n - 1) // 2
    nv.nvshmem_barrier_all()
    nv.nvshmem_free(memory)
    nv.nvshmem_finalize()
    print("PE %d of %d, Triton %s: put with signal, wait, reduction, barrier, queue" % (rank, n, triton.__version__))


if len(sys.argv) > 2:
    run(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
else:
    compiled()
