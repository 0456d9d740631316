# SPDX-License-Identifier: BSD-3-Clause
"""Puts, gets, signals, waits."""

import ctypes

import numpy as np
import pytest

import warpshmem as shmem

DTYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "float16", "complex64")


@pytest.mark.parametrize("dtype", DTYPES)
def test_put(xp, me, right, left, dtype):
    dest = xp.zeros(100, dtype)
    shmem.put(dest, xp.private(np.full(100, me + 1), dtype), right)
    shmem.barrier_all()
    assert xp.list(dest) == [left + 1] * 100


@pytest.mark.parametrize("dtype", DTYPES)
def test_get(xp, me, right, dtype):
    source = xp.symmetric(np.full(100, me + 1), dtype)
    shmem.barrier_all()
    dest = xp.private(np.zeros(100), dtype)
    shmem.get(dest, source, right)
    assert xp.list(dest) == [right + 1] * 100


@pytest.mark.parametrize("count", (1, 1000, 100000))
def test_put_nbi(xp, me, right, left, count):
    dest, source = xp.zeros(count), xp.private(np.arange(count) + me)
    shmem.put_nbi(dest, source, right)
    shmem.quiet()
    shmem.barrier_all()
    assert xp.list(dest) == (np.arange(count) + left).tolist()


def test_get_nbi(xp, me, right):
    source, dest = xp.symmetric(np.arange(50) * me), xp.private(np.zeros(50))
    shmem.barrier_all()
    shmem.get_nbi(dest, source, right)
    shmem.quiet()
    assert xp.list(dest) == (np.arange(50) * right).tolist()


def test_put_less_than_dest(xp, me, right, left):
    dest = xp.zeros(10)
    shmem.put(dest, xp.private([me, me]), right)
    shmem.barrier_all()
    assert xp.list(dest) == [left, left] + [0] * 8


def test_put_nothing(xp, right):
    dest = xp.zeros(4)
    shmem.put(dest, xp.private(np.zeros(0)), right)
    shmem.barrier_all()
    assert xp.list(dest) == [0] * 4


def test_iput(host, me, right, left):
    dest = host.zeros(10, "int32")
    shmem.iput(dest, host.private(np.arange(10) + me, "int32"), 2, 3, 4, right)
    shmem.barrier_all()
    assert (
        host.list(dest)[:8:2] == [left + i for i in (0, 3, 6, 9)]
        and host.list(dest)[1::2] == [0] * 5
    )


def test_iget(host, me, right):
    source, dest = host.symmetric(np.arange(10) + me, "float64"), host.private(
        np.zeros(10), "float64"
    )
    shmem.barrier_all()
    shmem.iget(dest, source, 1, 2, 5, right)
    assert host.list(dest) == [right + i for i in (0, 2, 4, 6, 8)] + [0] * 5


@pytest.mark.parametrize("dtype", ("int8", "uint16", "int32", "uint64", "float32", "float64"))
def test_p_and_g(host, me, right, left, dtype):
    array = host.zeros(5, dtype)
    shmem.p(array, me + 3, right, index=4)
    shmem.barrier_all()
    assert host.list(array) == [0] * 4 + [left + 3]
    assert shmem.g(array, right, index=4) == me + 3


def test_put_signal(xp, me, right, left):
    dest, bell = xp.zeros(1000), shmem.zeros(2, "uint64")
    shmem.put_signal(dest, xp.private(np.full(1000, me)), bell, 7, right, index=1)
    assert shmem.signal_wait_until(bell, "eq", 7, index=1) == 7
    assert xp.list(dest) == [left] * 1000
    assert bell[0] == 0


def test_put_signal_adds(xp, me, n):
    dest, bell = xp.zeros(n), shmem.zeros(1, "uint64")
    for pe in range(n):
        shmem.put_signal(dest[me : me + 1], xp.private([me + 1]), bell, 1, pe, op="add", nbi=True)
    shmem.quiet()
    shmem.signal_wait_until(bell, "ge", n)
    assert xp.list(dest) == [pe + 1 for pe in range(n)] and shmem.signal_fetch(bell) == n


def test_signal_update(me, n, right):
    bell = shmem.zeros(1, "int64")
    shmem.signal_update(bell, 5, right)
    shmem.signal_wait_until(bell, "==", 5)
    shmem.barrier_all()
    for pe in range(n):
        shmem.signal_update(bell, 2, pe, op="add")
    shmem.signal_wait_until(bell, "eq", 5 + 2 * n)


@pytest.mark.parametrize("dtype", ("int32", "int64", "uint32", "uint64"))
def test_wait_until(me, right, dtype):
    words = shmem.zeros(3, dtype)
    shmem.p(words, 9, right, index=2)
    shmem.wait_until(words, "gt", 8, index=2)
    assert shmem.test(words, "eq", 9, index=2) and not shmem.test(words, "ne", 0)


def test_wait_until_sets(me, n):
    words = shmem.zeros(n, "int32")
    for pe in range(n):
        shmem.p(words, me + 1, pe, index=me)
    assert shmem.wait_until_any(words, "ne", 0) in range(n)
    assert set(shmem.wait_until_some(words, "ne", 0)) <= set(range(n))
    shmem.wait_until_all(words, "gt", 0)
    assert words.tolist() == [pe + 1 for pe in range(n)]
    assert shmem.test_all(words, "gt", 0) and shmem.test_some(words, "gt", 0) == list(range(n))
    assert shmem.test_any(words, "lt", 0) is None
    assert shmem.wait_until_any(words, "eq", 0, status=[1] * n) is None
    assert shmem.wait_until_timeout(words, "gt", 0, 60) == 0
    assert shmem.wait_until_timeout(words, "eq", 0, 0.01) == 1


def test_fence(xp, me, right, left):
    words = shmem.zeros(1, "int64")
    dest = xp.zeros(5000)
    shmem.put(dest, xp.private([me] * 5000), right)
    shmem.fence()
    shmem.p(words, 1, right)
    shmem.wait_until(words, "eq", 1)
    assert xp.list(dest) == [left] * 5000


def test_prepared_put(xp, me, right, left):
    dest, source = xp.zeros(8), xp.private(np.full(8, me))
    op = shmem.prepare_put(dest, source, right)
    op()
    shmem.barrier_all()
    assert xp.list(dest) == [left] * 8
    shmem.barrier_all()
    xp.fill(source, np.full(8, me + 50))
    op()
    shmem.barrier_all()
    assert xp.list(dest) == [left + 50] * 8


def test_prepared_get(xp, me, right):
    source, dest = xp.symmetric(np.full(8, me)), xp.private(np.zeros(8))
    shmem.barrier_all()
    shmem.prepare_get(dest, source, right)()
    assert xp.list(dest) == [right] * 8


def test_prepared_put_signal(xp, me, right, left):
    dest, bell = xp.zeros(8), shmem.zeros(1, "uint64")
    op = shmem.prepare_put_signal(dest, xp.private(np.full(8, me)), bell, 1, right, op="add")
    op()
    op()
    shmem.signal_wait_until(bell, "eq", 2)
    assert xp.list(dest) == [left] * 8


def test_prepared_keeps_the_arrays(xp, me, right):
    op = shmem.prepare_put(xp.zeros(100), xp.private(np.full(100, me)), right)
    others = [xp.zeros(100) for _ in range(4)]
    op()
    shmem.barrier_all()
    assert all(xp.list(other) == [0] * 100 for other in others)


def test_the_lock_of_the_interpreter_is_released(me):
    """A thread counts while this one waits in the library for the last PE."""
    import threading
    import time

    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    shmem.barrier_all()
    thread.start()
    before = counted[0]
    if me == shmem.n_pes() - 1:
        time.sleep(0.3)
    shmem.barrier_all()
    gained = counted[0] - before
    stop.set()
    thread.join()
    assert gained > 1000


def test_threads(xp, me, right, left):
    """Threads of a PE put at the same time."""
    import threading

    dest = xp.zeros((4, 100))
    sources = [xp.private([me + 10 * i] * 100) for i in range(4)]
    threads = [
        threading.Thread(target=shmem.put, args=(dest[i], sources[i], right)) for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shmem.barrier_all()
    assert xp.list(dest) == [[left + 10 * i] * 100 for i in range(4)]


def test_memory_of_ctypes_is_no_array(xp, right):
    with pytest.raises(shmem.ArgumentError, match="source is 'c_long_Array_4'"):
        shmem.put(xp.zeros(4), (ctypes.c_long * 4)(), right)
