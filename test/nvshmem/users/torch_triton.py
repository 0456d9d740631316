# SPDX-License-Identifier: BSD-3-Clause
"""torch_triton.py FILE RANK N: torch's own bindings of NVSHMEM for Triton, unmodified, in one of N PEs on a GPU.

torch.distributed._symmetric_memory._nvshmem_triton takes the bitcode from NVSHMEM_LIB_DIR and initialises each kernel by
libtorch_nvshmem, which calls libnvshmem_host: the job is started here, not by torch's allocator.
"""
import ctypes
import sys

import torch
import torch.distributed._symmetric_memory._nvshmem_triton as nvshmem
import triton
from common import Words, start


@nvshmem.requires_nvshmem
@triton.jit
def ring(dest, second, source, flag, count, nbytes, value, op, cmp):
    right = (nvshmem.my_pe() + 1) % nvshmem.n_pes()
    nvshmem.put(dest, source, count, right)
    nvshmem.quiet()
    nvshmem.putmem_signal_block(second, source, nbytes, flag, value, op, right)
    nvshmem.signal_wait_until(flag, cmp, value)


@nvshmem.requires_nvshmem
@triton.jit
def exchange(team, dest, source, count):
    nvshmem.alltoall(team, dest, source, count)


@nvshmem.requires_nvshmem
@triton.jit
def fetch(dest, source, count):
    nvshmem.get(dest, source, count, (nvshmem.my_pe() + 1) % nvshmem.n_pes())


def main(file, rank, n):
    right, left = (rank + 1) % n, (rank + n - 1) % n
    torch.cuda.init()
    torch.cuda.synchronize()
    library = ctypes.CDLL("libnvshmem_host.so.3")
    start(library, file, rank, n)
    address = library.nvshmem_malloc(32768)
    words = torch.as_tensor(Words(address, 4096, "<i4"), device="cuda")
    flag = torch.as_tensor(Words(address + 16384, 1, "<i8"), device="cuda")
    source, dest = words[:1024], words[1024:]
    source.copy_(torch.arange(1024, device="cuda", dtype=torch.int32) + 10000 * rank)
    flag.zero_()
    torch.cuda.synchronize()
    library.nvshmem_barrier_all()
    ring[(1,)](dest, dest[64:], source, flag, 64, 256, 5, 9, 0)
    torch.cuda.synchronize()
    library.nvshmem_barrier_all()
    assert dest[:128:63].tolist() == [10000 * left + i for i in (0, 63, 62)], dest[:128:63].tolist()
    library.nvshmem_barrier_all()
    exchange[(1,)](0, dest, source, 16)
    torch.cuda.synchronize()
    library.nvshmem_barrier_all()
    assert dest[: 16 * n : 16].tolist() == [10000 * i + 16 * rank for i in range(n)]
    library.nvshmem_barrier_all()
    fetch[(1,)](dest, source, 100)
    torch.cuda.synchronize()
    assert dest[99].item() == 10000 * right + 99
    library.nvshmem_barrier_all()
    library.nvshmem_free(address)
    library.nvshmem_finalize()
    print("PE %d of %d, torch %s: put, put with signal, wait, alltoall, get" % (rank, n, torch.__version__))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
