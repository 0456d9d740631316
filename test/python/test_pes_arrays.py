# SPDX-License-Identifier: BSD-3-Clause
"""Symmetric arrays: what they are, and how long."""

import gc
import random

import numpy as np
import pytest

import warpshmem as shmem
from warpshmem.memory import view

DTYPES = (
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "bool",
    "float16",
    "complex64",
)


def address(array):
    """Return where an array lies."""
    return view(array, "test", "array").address


def same_everywhere(number):
    """Do all PEs have the same number?"""
    mine = shmem.zeros(1, "int64")
    mine[0] = number
    all_of_them = shmem.zeros(shmem.n_pes(), "int64")
    shmem.fcollect(all_of_them, mine)
    return len(set(all_of_them.tolist())) == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_zeros_of_dtype(xp, dtype):
    array = xp.zeros((3, 5), dtype)
    assert tuple(array.shape) == (3, 5) and xp.dtype(array) == dtype
    assert not any(any(row) for row in xp.list(array))


def test_bfloat16(xp):
    if xp.framework != "torch":
        pytest.skip("%s has no bfloat16" % xp.framework)
    array = xp.zeros((2, 3), "bfloat16")
    array += 1.5
    xp.ready()
    assert array.dtype is xp.torch.bfloat16 and xp.list(array) == [[1.5] * 3] * 2


def test_shapes(xp):
    for shape in (7, (7,), [2, 3], (1, 1, 4), (), np.int64(3)):
        array = xp.empty(shape, "int32")
        assert tuple(array.shape) == tuple(np.empty(shape).shape)


def test_nothing(xp):
    array = xp.zeros((0, 4), "float32")
    assert tuple(array.shape) == (0, 4)


def test_is_symmetric(xp):
    assert shmem.is_symmetric(xp.zeros(4))
    assert not shmem.is_symmetric(xp.private([1, 2]))


def test_parts_are_symmetric(xp, me, right, left):
    array = xp.zeros((4, 4))
    shmem.put(array[2], xp.private([me] * 4), right)
    shmem.barrier_all()
    assert xp.list(array) == [[0] * 4, [0] * 4, [left] * 4, [0] * 4]


def test_addresses_are_alike(host):
    assert same_everywhere(address(host.zeros(10)) - address(host.zeros(10)))


def test_a_part_keeps_the_memory(xp, me):
    array = xp.symmetric([me] * 1000)
    part = array[990:]
    where = address(array)
    del array
    gc.collect()
    others = [xp.zeros(1000) for _ in range(5)]
    assert where not in [address(other) for other in others]
    assert xp.list(part) == [me] * 10


def test_memory_is_used_again(xp):
    """More in all than the heap has."""
    seen = set()
    for _ in range(100):
        seen.add(address(xp.empty(1 << 17)))
        gc.collect(0)
    assert len(seen) < 10


def test_destructors_in_random_order(xp, me):
    """Each PE frees in an order of its own, at times of its own; addresses stay alike."""
    order = random.Random(1000 + me)
    base = address(xp.zeros(1))
    kept = []
    for step in range(300):
        kept.append(xp.empty(64 + step % 7, "int32"))
        if len(kept) > 20:
            for _ in range(order.randrange(3)):
                kept.pop(order.randrange(len(kept)))
    order.shuffle(kept)
    while kept:
        kept.pop()
    gc.collect()
    if not xp.gpu:
        assert same_everywhere(address(xp.zeros(333)) - base)


def test_a_cycle_is_collected(xp):
    class Holder:
        """Holds itself."""

    holder = Holder()
    holder.array, holder.me = xp.zeros(10), holder
    del holder
    gc.collect()
    xp.zeros(10)


def test_destructors_in_threads(xp):
    import threading

    arrays = [xp.zeros(10) for _ in range(20)]
    threads = [threading.Thread(target=arrays.pop) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    xp.zeros(10)


def test_dlpack_of_memory(host):
    memory = shmem.zeros((2, 3), "float32", like=None)
    array = np.from_dlpack(memory)
    array_2 = np.asarray(memory)
    array_2[1, 2] = 5
    assert array[1, 2] == 5 and array.shape == (2, 3)
    where = memory.address
    del memory, array_2
    gc.collect()
    assert shmem.zeros((2, 3), "float32", like=None).address != where
    assert array[1, 2] == 5


def test_dlpack_not_consumed(host):
    """A capsule that nobody has consumed keeps the memory until the next one is made."""
    from warpshmem import dlpack

    memory, other = (shmem.zeros(3, "bfloat16", like=None) for _ in range(2))
    capsule = memory.__dlpack__()
    del capsule
    with pytest.raises((BufferError, RuntimeError, TypeError)):
        np.from_dlpack(memory)  # numpy has no such type
    other.__dlpack__()
    assert not any(held[3] is memory for held in dlpack._held.values())


def test_array_interface(host):
    memory = shmem.zeros((2, 3), "int16", like=None)
    interface = memory.__array_interface__
    assert interface["shape"] == (2, 3) and interface["typestr"] == "<i2"
    assert not hasattr(memory, "__cuda_array_interface__")


def test_cuda_array_interface(xp):
    if not xp.gpu:
        pytest.skip("no memory of a GPU in this run")
    memory = shmem.zeros((2, 3), "int16", like=None, device="gpu")
    assert memory.__cuda_array_interface__["shape"] == (2, 3)
    assert not hasattr(memory, "__array_interface__")


def test_like_an_array(host):
    array = shmem.zeros(3, "int32", like=np.zeros(1))
    assert isinstance(array, np.ndarray)
    assert isinstance(shmem.zeros(3, "int32", like=np), np.ndarray)


def test_peer(loads, me, n):
    array = loads.symmetric([me] * 6).reshape(2, 3)
    shmem.barrier_all()
    for pe in range(n):
        far = shmem.peer(array, pe)
        assert tuple(far.shape) == (2, 3) and loads.list(far) == [[pe] * 3] * 2
    shmem.barrier_all()


def test_stores_to_a_peer(loads, me, right, left):
    array = loads.zeros(4, "int32")
    far = shmem.peer(array, right)
    loads.fill(far, [me + 1] * 4)
    shmem.barrier_all()
    assert loads.list(array) == [left + 1] * 4


def test_a_peer_keeps_the_memory(loads, right):
    array = loads.zeros(100)
    where, far = address(array), shmem.peer(array, right)
    del array
    gc.collect()
    assert where not in [address(loads.zeros(100)) for _ in range(3)]
    assert loads.list(far) == [0] * 100


def test_too_much_memory(host):
    with pytest.raises(shmem.WarpshmemError, match="SHMEM_SYMMETRIC_SIZE"):
        shmem.zeros(1 << 45, "uint8")
