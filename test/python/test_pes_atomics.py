# SPDX-License-Identifier: BSD-3-Clause
"""Atomics, each by all PEs on one word."""

import pytest

import warpshmem as shmem

WORDS = ("int32", "int64", "uint32", "uint64")


@pytest.mark.parametrize("dtype", WORDS)
def test_add(xp, me, n, dtype):
    word = xp.zeros(2, dtype)
    for _ in range(10):
        shmem.atomic_add(word, me + 1, 0, index=1)
        shmem.atomic_inc(word, 0)
    shmem.barrier_all()
    assert shmem.atomic_fetch(word, 0) == 10 * n
    assert shmem.atomic_fetch(word, 0, index=1) == 10 * n * (n + 1) // 2


@pytest.mark.parametrize("dtype", WORDS)
def test_fetch_inc_gives_each_number_once(xp, me, n, dtype):
    word, seen = xp.zeros(1, dtype), shmem.zeros(5 * n, "int32")
    for _ in range(5):
        number = shmem.atomic_fetch_inc(word, 0)
        shmem.p(seen, me + 1, 0, index=number)
    shmem.barrier_all()
    if me == 0:
        assert sorted(seen.tolist()) == sorted([pe + 1 for pe in range(n)] * 5)


def test_fetch_add(xp, n):
    word = xp.zeros(1)
    last = [shmem.atomic_fetch_add(word, -3, n - 1) for _ in range(4)]
    assert last == sorted(last, reverse=True)
    shmem.barrier_all()
    assert shmem.atomic_fetch(word, n - 1) == -12 * n


@pytest.mark.parametrize("dtype", WORDS + ("float32", "float64"))
def test_set_and_swap(xp, me, right, left, dtype):
    word = xp.zeros(1, dtype)
    shmem.atomic_set(word, me + 2, right)
    shmem.barrier_all()
    assert xp.list(word) == [left + 2]
    shmem.barrier_all()
    assert shmem.atomic_swap(word, 100, right) == me + 2
    assert shmem.atomic_fetch(word, right) == 100


def test_compare_swap_has_one_winner(xp, me, n):
    word = xp.zeros(1)
    won = shmem.atomic_compare_swap(word, 0, me + 1, 0) == 0
    shmem.barrier_all()
    assert won == (shmem.atomic_fetch(word, 0) == me + 1)


@pytest.mark.parametrize("dtype", WORDS)
def test_bits(xp, me, n, dtype):
    word = xp.zeros(3, dtype)
    shmem.atomic_or(word, 1 << me, 0)
    shmem.atomic_xor(word, 1 << me, 0, index=1)
    shmem.barrier_all()
    assert shmem.atomic_fetch_and(word, (1 << n) - 1, 0) == (1 << n) - 1
    assert shmem.atomic_fetch_xor(word, 0, 0, index=1) == (1 << n) - 1
    assert shmem.atomic_fetch_or(word, 0, 0, index=2) == 0
    shmem.atomic_and(word, (1 << n) - 1, 0, index=2)


def test_types_that_there_are_not(xp):
    with pytest.raises(
        shmem.ArgumentError, match="dtype is 'int16'; this routine is there for int32"
    ):
        shmem.atomic_add(xp.zeros(1, "int16"), 1, 0)
    with pytest.raises(shmem.ArgumentError, match="there for int32"):
        shmem.atomic_add(xp.zeros(1, "float32"), 1, 0)


def test_values_that_do_not_fit(xp):
    with pytest.raises(shmem.ArgumentError, match="uint32 goes from 0 to 4294967295"):
        shmem.atomic_add(xp.zeros(1, "uint32"), -1, 0)
    with pytest.raises(shmem.ArgumentError, match="pass a whole number"):
        shmem.atomic_add(xp.zeros(1, "int64"), 1.5, 0)
