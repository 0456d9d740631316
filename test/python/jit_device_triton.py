# SPDX-License-Identifier: BSD-3-Clause
"""One of the PEs of jit_device.sh: routines in a kernel of Triton, in two jobs, and refusals."""
import torch
import triton
import triton.language as tl
from jit_device import N, ROUNDS, Arrays, refused

import warpshmem
import warpshmem.triton as shmem


@shmem.kernel
@triton.jit
def kernel(data, words, sums, signal, out, n, BLOCK: tl.constexpr):
    me = shmem.my_pe()
    n_pes = shmem.n_pes()
    right = (me + 1) % n_pes
    at = tl.arange(0, BLOCK)
    for begin in range(0, n, BLOCK):
        tl.store(data + begin + at, begin + at + 1000 * me, mask=begin + at < n)
        tl.store(sums + begin + at, (begin + at + me).to(tl.float32), mask=begin + at < n)
    shmem.barrier_all_block()  # all have written what others get
    shmem.putmem_block(data + n, data, n * 4, right)
    shmem.putmem_signal_nbi_block(data + 2 * n, data, n * 4, signal, 1, shmem.SIGNAL_ADD, right)
    shmem.getmem_block(data + 3 * n, data, n * 4, right)
    shmem.signal_op(signal, 2, shmem.SIGNAL_ADD, right)
    tl.store(out + 6, shmem.signal_wait_until(signal, shmem.CMP_EQ, 3).to(tl.int64))
    shmem.p(words + 1, me + 100, right)
    tl.store(out + 1, shmem.atomic_fetch_add(words + 2, 5, right))
    tl.store(out + 2, shmem.atomic_swap(words + 3, me + 7, right))
    tl.store(out + 3, shmem.atomic_compare_swap(words + 4, 0, me + 9, right))
    shmem.atomic_inc(words + 5, 0)
    shmem.atomic_or(words + 6, 1 << me, 0)
    shmem.atomic_set(words + 7, 42, right)
    there = shmem.ptr(words, right)
    tl.store(out + 7, (there.to(tl.int64) != 0).to(tl.int64))
    tl.store(there, me + 50)
    shmem.barrier_all_block()
    tl.store(out, shmem.g(words + 1, right))
    tl.store(out + 4, shmem.atomic_fetch(words + 7, right))
    shmem.wait_until(words + 7, shmem.CMP_EQ, 42)
    tl.store(out + 5, shmem.test(words + 7, shmem.CMP_NE, 42).to(tl.int64))
    shmem.sum_reduce_block(shmem.TEAM_WORLD, sums + n, sums, n)
    shmem.barrier_all_block()


def launch(arrays, warps):
    kernel[(1,)](*arrays.all, N, BLOCK=1024, num_warps=warps)
    torch.cuda.synchronize()


torch.cuda.set_device(0)
spare = [torch.zeros(16, dtype=torch.int64, device="cuda") for _ in range(5)]
refused(lambda: kernel[(1,)](*spare, N, BLOCK=1024), "call warpshmem.init() first")
for job in range(2):  # modules of the first job are there in the second one
    warpshmem.init()
    if not job:
        refused(lambda: kernel[(1,)](*spare, N, BLOCK=1024), "no GPU is attached")
    for _ in range(ROUNDS):
        for warps in (1, 8):
            arrays = Arrays(torch, lambda tensor: tensor.cpu().numpy())
            launch(arrays, warps)
            arrays.check()
            del arrays
    me = warpshmem.my_pe()
    warpshmem.finalize()
print("PE %d: Triton %s" % (me, triton.__version__))
