# SPDX-License-Identifier: BSD-3-Clause
"""A ring in a kernel of numba-cuda: each PE puts values and a signal to the next, and waits.

oshrun -n 4 python3 numba_ring.py
Needs numba-cuda, and libnvshmem_device.ltoir (make device-library). All PEs may share one GPU.
"""
import os

os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")  # before CUDA: a kernel waits for peers

import numpy as np
from numba import cuda

import warpshmem
import warpshmem.numba as shmem

N = 10000


@cuda.jit
def ring(inbox, outbox, arrived, count):
    me = shmem.my_pe()
    right = (me + 1) % shmem.n_pes()
    for i in range(cuda.threadIdx.x, outbox.size, cuda.blockDim.x):
        outbox[i] = i + 100000 * me
    cuda.syncthreads()
    # By all threads of the block; the signal is there after the values.
    shmem.putmem_signal_block(inbox, outbox, outbox.size * 4, arrived, 1, shmem.SIGNAL_ADD, right)
    if cuda.threadIdx.x == 0:  # by one thread
        shmem.signal_wait_until(arrived, shmem.CMP_GE, 1)
        shmem.atomic_add(count, me + 1, 0)
        count[2] = shmem.atomic_fetch_add(count[1:], 1, right)
    cuda.syncthreads()
    for i in range(cuda.threadIdx.x, outbox.size, cuda.blockDim.x):
        outbox[i] = inbox[i] + me
    shmem.barrier_all_block()


def main() -> int:
    warpshmem.init()
    me, n_pes = warpshmem.my_pe(), warpshmem.n_pes()
    cuda.select_device(warpshmem.TEAM_SHARED.my_pe % len(cuda.gpus))
    inbox = warpshmem.zeros(N, "int32", like=None, device="gpu")
    outbox = warpshmem.zeros(N, "int32", like=None, device="gpu")
    arrived = warpshmem.zeros(1, "uint64", like=None, device="gpu")
    count = warpshmem.zeros(3, "int64", like=None, device="gpu")
    warpshmem.barrier_all()

    arrays = [cuda.as_cuda_array(each) for each in (inbox, outbox, arrived, count)]
    ring[1, 256](*arrays)
    cuda.synchronize()

    left = (me + n_pes - 1) % n_pes
    expected = np.arange(N, dtype=np.int32) + 100000 * left
    got, sent, signal, sums = [each.copy_to_host() for each in arrays]
    wrong = int((got != expected).sum()) + int((sent != expected + me).sum())
    wrong += int(sums[1] != 1) + int(sums[2] != 0) + int(signal[0] != 1)
    wrong += int(me == 0 and sums[0] != n_pes * (n_pes + 1) // 2)
    print("PE %d of %d: %d of %d values from PE %d wrong" % (me, n_pes, wrong, 2 * N + 4, left))
    warpshmem.barrier_all()
    warpshmem.finalize()
    return wrong != 0


if __name__ == "__main__":
    raise SystemExit(main())
