# SPDX-License-Identifier: BSD-3-Clause
"""One of the PEs of jit_device.sh: routines in a kernel of numba-cuda, two jobs, and refusals."""
import numba_cuda
import numpy as np
from jit_device import ROUNDS, Arrays, refused
from numba import cuda

import warpshmem
import warpshmem.numba as shmem


@cuda.jit
def kernel(data, words, sums, signal, out):
    me = shmem.my_pe()
    n_pes = shmem.n_pes()
    right = (me + 1) % n_pes
    n = data.size // 4
    thread = cuda.threadIdx.x
    for i in range(thread, n, cuda.blockDim.x):
        data[i] = i + 1000 * me
        sums[i] = i + me
    shmem.barrier_all_block()  # all have written what others get
    if thread < 32:
        shmem.putmem_warp(data[n:], data, n * 4, right)
    shmem.putmem_signal_nbi_block(data[2 * n :], data, n * 4, signal, 1, shmem.SIGNAL_ADD, right)
    shmem.getmem_block(data[3 * n :], data, n * 4, right)
    if thread == 0:
        shmem.signal_op(signal, 2, shmem.SIGNAL_ADD, right)
        out[6] = shmem.signal_wait_until(signal, shmem.CMP_EQ, 3)
        shmem.p(words[1:], me + 100, right)
        out[1] = shmem.atomic_fetch_add(words[2:], 5, right)
        out[2] = shmem.atomic_swap(words[3:], me + 7, right)
        out[3] = shmem.atomic_compare_swap(words[4:], 0, me + 9, right)
        shmem.atomic_inc(words[5:], 0)
        shmem.atomic_or(words[6:], 1 << me, 0)
        shmem.atomic_set(words[7:], 42, right)
        out[7] = shmem.ptr(words, right) != 0
        shmem.peer(words, right)[0] = me + 50
    shmem.barrier_all_block()
    if thread == 0:
        out[0] = shmem.g(words[1:], right)
        out[4] = shmem.atomic_fetch(words[7:], right)
        shmem.wait_until(words[7:], shmem.CMP_EQ, 42)
        out[5] = shmem.test(words[7:], shmem.CMP_NE, 42)
    shmem.sum_reduce_block(shmem.TEAM_WORLD, sums[n:], sums, n)
    shmem.barrier_all_block()


def launch(arrays, threads):
    kernel[1, threads](*[cuda.as_cuda_array(each) for each in arrays.all])
    cuda.synchronize()


cuda.select_device(0)
spare = [cuda.to_device(np.zeros(16, kind)) for kind in ("i4", "i8", "f4", "i8", "i8")]
refused(lambda: kernel[1, 32](*spare), "call warpshmem.init() first")
for job in range(2):  # modules of the first job are there in the second one
    warpshmem.init()
    if not job:
        refused(lambda: kernel[1, 32](*spare), "no GPU is attached")
    for _ in range(ROUNDS):
        for threads in (32, 200):
            arrays = Arrays(None, lambda memory: cuda.as_cuda_array(memory).copy_to_host())
            launch(arrays, threads)
            arrays.check()
            del arrays
    me = warpshmem.my_pe()
    warpshmem.finalize()
print("PE %d: numba-cuda %s" % (me, numba_cuda.__version__))
