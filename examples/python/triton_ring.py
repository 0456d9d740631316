# SPDX-License-Identifier: BSD-3-Clause
"""A ring in a kernel of Triton: each PE puts values and a signal to the next, waits, adds its own.

oshrun -n 4 python3 triton_ring.py
Needs torch and Triton 3.6 or newer. All PEs may share one GPU.
"""
import os

os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")  # before CUDA: a kernel waits for peers

import torch
import triton
import triton.language as tl

import warpshmem
import warpshmem.triton as shmem

N = 10000


@shmem.kernel
@triton.jit
def ring(inbox, outbox, arrived, count, n, BLOCK: tl.constexpr):
    me = shmem.my_pe()
    right = (me + 1) % shmem.n_pes()
    at = tl.arange(0, BLOCK)
    for begin in range(0, n, BLOCK):
        tl.store(outbox + begin + at, begin + at + 100000 * me, mask=begin + at < n)
    # The signal is there after the values; outbox may be written again.
    shmem.putmem_signal_block(inbox, outbox, n * 4, arrived, 1, shmem.SIGNAL_ADD, right)
    shmem.signal_wait_until(arrived, shmem.CMP_GE, 1)
    for begin in range(0, n, BLOCK):
        got = tl.load(inbox + begin + at, mask=begin + at < n)
        tl.store(outbox + begin + at, got + me, mask=begin + at < n)
    shmem.atomic_add(count, me + 1, 0)
    seen = shmem.atomic_fetch_add(count + 1, 1, right)  # by one thread, known to all
    tl.store(count + 2, seen)
    shmem.barrier_all_block()


def main() -> int:
    warpshmem.init()
    me, n_pes = warpshmem.my_pe(), warpshmem.n_pes()
    torch.cuda.set_device(warpshmem.TEAM_SHARED.my_pe % torch.cuda.device_count())
    torch.zeros(1, device="cuda")  # the context
    inbox = warpshmem.zeros(N, torch.int32, like=torch, device="gpu")
    outbox = warpshmem.zeros(N, torch.int32, like=torch, device="gpu")
    arrived = warpshmem.zeros(1, torch.int64, like=torch, device="gpu")
    count = warpshmem.zeros(3, torch.int64, like=torch, device="gpu")
    warpshmem.barrier_all()

    ring[(1,)](inbox, outbox, arrived, count, N, BLOCK=1024, num_warps=8)
    torch.cuda.synchronize()

    left = (me + n_pes - 1) % n_pes
    expected = torch.arange(N, dtype=torch.int32, device="cuda") + 100000 * left
    wrong = int((inbox != expected).sum()) + int((outbox != expected + me).sum())
    wrong += int(count[1] != 1) + int(count[2] != 0) + int(arrived[0] != 1)
    wrong += int(me == 0 and int(count[0]) != n_pes * (n_pes + 1) // 2)
    print("PE %d of %d: %d of %d values from PE %d wrong" % (me, n_pes, wrong, 2 * N + 4, left))
    warpshmem.barrier_all()
    warpshmem.finalize()
    return wrong != 0


if __name__ == "__main__":
    raise SystemExit(main())
