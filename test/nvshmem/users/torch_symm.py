# SPDX-License-Identifier: BSD-3-Clause
"""torch_symm.py FILE RANK N: torch.distributed._symmetric_memory with the backend NVSHMEM, in one of N PEs on a GPU.

Memory, rendezvous, peers' buffers, and the operations that torch makes by routines on streams. Those of its own kernels
need NVIDIA's device code. With SHMEM_NVIDIA_DEVICE_CODE=1.
"""
import sys

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

COUNT = 1024


def meet():
    torch.cuda.synchronize()
    dist.barrier()


def tensor(fill, count=COUNT):
    made = symm_mem.empty(count, dtype=torch.float32, device="cuda:0").fill_(fill)
    return made, symm_mem.rendezvous(made, dist.group.WORLD.group_name)


def buffers(rank, n):
    made, handle = tensor(rank + 1)
    meet()
    assert (handle.rank, handle.world_size) == (rank, n)
    peer = handle.get_buffer((rank + 1) % n, (COUNT,), torch.float32)
    assert bool((peer == (rank + 1) % n + 1).all())
    meet()
    peer[:8] = 100 + rank
    meet()
    assert made[:8].tolist() == [100 + (rank + n - 1) % n] * 8


def put_and_get(rank, n):
    made, _ = tensor(rank + 1)
    meet()
    if rank == 0:
        torch.ops.symm_mem.nvshmem_put(made, 1)
    meet()
    assert made[0].item() == (1 if rank < 2 else rank + 1)
    made.fill_(rank + 10)
    meet()
    if rank == 0:
        torch.ops.symm_mem.nvshmem_get(made, 1)
    meet()
    assert made[-1].item() == (11 if rank < 2 else rank + 10)


def broadcast(rank, n):
    made, _ = tensor(rank + 1)
    meet()
    torch.ops.symm_mem.nvshmem_broadcast(made, n - 1, dist.group.WORLD.group_name)
    meet()
    assert bool((made == n).all())


def all_to_all(rank, n):
    source, _ = tensor(rank + 1, 64 * n)
    dest, _ = tensor(0, 64 * n)
    meet()
    torch.ops.symm_mem.nvshmem_all_to_all(source, dest, dist.group.WORLD.group_name)
    meet()
    assert dest[::64].tolist() == [i + 1.0 for i in range(n)]


def main(file, rank, n):
    torch.cuda.set_device(0)
    dist.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=n)
    symm_mem.set_backend("NVSHMEM")
    symm_mem.enable_symm_mem_for_group(dist.group.WORLD.group_name)
    for each in (buffers, put_and_get, broadcast, all_to_all):
        each(rank, n)
        print("PE %d of %d: torch %s, %s" % (rank, n, torch.__version__, each.__name__), flush=True)
    meet()
    print("PE %d of %d: torch's backend NVSHMEM: memory, puts, gets, broadcast, alltoall" % (rank, n), flush=True)


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
