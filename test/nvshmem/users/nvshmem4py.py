# SPDX-License-Identifier: BSD-3-Clause
"""nvshmem4py.py FILE RANK N [gpu]: one of N PEs of an unmodified nvshmem4py, over the library that it finds.

Rank 0 hands the unique id round by the file. Without a GPU what the driver of test/fake_cuda does: set-up, versions,
teams, buffers, peers, puts and gets on a stream. With one also signals, collectives on buffers, and on tensors of torch.
"""
import ctypes
import sys

import nvshmem.bindings as bindings
import nvshmem.core as nvshmem
from common import shared
from cuda.core import Device

file, rank, n, gpu = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:] == ["gpu"]
right, left = (rank + 1) % n, (rank + n - 1) % n


def shared_id():
    unique = nvshmem.get_unique_id(empty=rank != 0)
    given = shared(file, rank, unique._data.tobytes())
    unique._data.view("int8")[:] = memoryview(given).cast("b")
    return unique


def library():
    """The one that nvshmem4py has loaded: single words of device memory for the checks."""
    found = ctypes.CDLL("libnvshmem_host.so.3")
    found.nvshmem_int_p.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    found.nvshmem_int_g.argtypes = [ctypes.c_void_p, ctypes.c_int]
    return found


def word(buffer, at=0, pe=None):
    """The integer there."""
    return library().nvshmem_int_g(int(buffer.handle) + 4 * at, rank if pe is None else pe)


def write(buffer, at, value):
    library().nvshmem_int_p(int(buffer.handle) + 4 * at, value, rank)


def setup():
    device = Device(rank % 2 if not gpu else 0)
    device.set_current()
    nvshmem.init(device=device, uid=shared_id(), rank=rank, nranks=n, initializer_method="uid")
    assert (nvshmem.my_pe(), nvshmem.n_pes()) == (rank, n)
    assert nvshmem.init_status() >= 2, nvshmem.init_status()
    assert nvshmem.get_version().libnvshmem_version.startswith("3.")
    world = nvshmem.Teams.TEAM_WORLD
    assert (nvshmem.team_my_pe(world), nvshmem.team_n_pes(world)) == (rank, n)
    assert nvshmem.team_n_pes(nvshmem.Teams.TEAM_NODE) == n
    assert nvshmem.team_translate_pe(world, right, nvshmem.Teams.TEAM_NODE) == right
    return device.create_stream()


def memory(stream):
    """Buffers, a peer's mapping, puts and gets on the stream; the values as the host reads them."""
    one, other = nvshmem.buffer(4096), nvshmem.buffer(4096)
    for i in range(8):
        write(one, i, 100 * rank + i)
    bindings.barrier_all()
    nvshmem.put(other, one, remote_pe=right, stream=stream)
    nvshmem.quiet(stream=stream)
    stream.sync()
    bindings.barrier_all()
    assert [word(other, i) for i in range(8)] == [100 * left + i for i in range(8)]
    nvshmem.get(one, other, remote_pe=right, stream=stream)
    stream.sync()
    assert word(one, 3) == 100 * rank + 3
    assert word(other, 5, right) == 100 * rank + 5
    peer = nvshmem.get_peer_buffer(other, right)
    assert peer.size == other.size and (int(peer.handle) == int(other.handle)) == (right == rank)
    bindings.barrier_all()
    for each in (peer, one, other):
        nvshmem.free(each)


def teams():
    """The even PEs, and a team by a list that one of them makes."""
    name = nvshmem.team_split_strided(nvshmem.Teams.TEAM_WORLD, 0, 2, (n + 1) // 2, nvshmem.TeamConfig(), 0, "even")
    if rank % 2 == 0:
        assert nvshmem.team_n_pes(nvshmem.Teams.even) == (n + 1) // 2, name
        assert nvshmem.team_my_pe(nvshmem.Teams.even) == rank // 2


def signals(stream):
    data, into, flag = nvshmem.buffer(4096), nvshmem.buffer(4096), nvshmem.buffer(8)
    write(data, 0, 7 + rank)
    for half in (0, 1):
        write(flag, half, 0)
    nvshmem.barrier_all(stream=stream)
    nvshmem.put_signal(into, data, flag, 5, nvshmem.SignalOp.SIGNAL_SET, remote_pe=right, stream=stream)
    nvshmem.signal_wait(flag, 5, nvshmem.ComparisonType.CMP_GE, stream=stream)
    stream.sync()
    assert word(into) == 7 + left
    nvshmem.signal_op(flag, 3, nvshmem.SignalOp.SIGNAL_ADD, right, stream=stream)
    nvshmem.signal_wait(flag, 8, nvshmem.ComparisonType.CMP_EQ, stream=stream)
    nvshmem.barrier_all(stream=stream)
    stream.sync()
    for each in (data, into, flag):
        nvshmem.free(each)


def on_buffers(stream):
    """Collectives of nvshmem4py's own buffers."""
    world, source, dest = nvshmem.Teams.TEAM_WORLD, nvshmem.buffer(64 * n), nvshmem.buffer(64 * n)
    for i in range(16 * n):
        write(source, i, 1000 * rank + i)
    nvshmem.barrier_all(stream=stream)
    nvshmem.collective_on_buffer("reduce", world, dest, source, dtype="int32", op="sum", stream=stream)
    nvshmem.sync_all(stream=stream)
    stream.sync()
    assert word(dest, 9) == 1000 * n * (n - 1) // 2 + 9 * n
    nvshmem.barrier_all(stream=stream)
    nvshmem.collective_on_buffer("alltoall", world, dest, source, dtype="int32", stream=stream)
    nvshmem.barrier(world, stream=stream)
    stream.sync()
    assert [word(dest, 16 * i) for i in range(n)] == [1000 * i + 16 * rank for i in range(n)]
    bindings.barrier_all()
    nvshmem.collective_on_buffer("broadcast", world, dest, source, dtype="int32", root=n - 1, stream=stream)
    nvshmem.barrier(world, stream=stream)
    stream.sync()
    assert word(dest, 3) == 1000 * (n - 1) + 3
    for each in (source, dest):
        nvshmem.free(each)


def on_tensors(stream):
    """As programs of torch call it."""
    import torch

    world = nvshmem.Teams.TEAM_WORLD
    source, dest = nvshmem.tensor((256,), dtype=torch.float32), nvshmem.tensor((256 * n,), dtype=torch.float32)
    short = nvshmem.tensor((256,), dtype=torch.float32)
    source.fill_(rank + 1)
    torch.cuda.synchronize()
    nvshmem.barrier_all(stream=stream)
    nvshmem.fcollect(world, dest, source, stream=stream)
    nvshmem.reduce(world, short, source, "max", stream=stream)
    nvshmem.barrier_all(stream=stream)
    stream.sync()
    assert dest.view(n, 256)[:, 0].tolist() == [i + 1.0 for i in range(n)]
    assert bool((short == n).all())
    nvshmem.reducescatter(world, source, dest, "sum", stream=stream)
    nvshmem.barrier_all(stream=stream)
    stream.sync()
    assert bool((source == n * (rank + 1.0)).all())
    peer = nvshmem.get_peer_tensor(short, right)
    assert bool((peer == n).all())
    for kind in (torch.bfloat16, torch.float16, torch.int64):
        each = nvshmem.tensor((64,), dtype=kind)
        each.fill_(2)
        torch.cuda.synchronize()
        nvshmem.barrier_all(stream=stream)
        nvshmem.reduce(world, each, each, "sum", stream=stream)
        stream.sync()
        assert bool((each == 2 * n).all()), kind
        nvshmem.free_tensor(each)
    for each in (peer, source, dest, short):
        nvshmem.free_tensor(each)


def main():
    stream = setup()
    memory(stream)
    teams()
    done = "set-up, memory, teams"
    if gpu:
        signals(stream)
        on_buffers(stream)
        on_tensors(stream)
        done += ", signals, collectives, tensors"
    bindings.barrier_all()
    nvshmem.finalize()
    print("PE %d of %d, nvshmem4py %s: %s" % (rank, n, nvshmem.get_version().nvshmem4py_version, done))


main()
