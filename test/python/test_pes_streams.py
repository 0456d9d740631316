# SPDX-License-Identifier: BSD-3-Clause
"""Routines on streams of a GPU."""

import numpy as np
import pytest

import warpshmem as shmem


@pytest.fixture
def stream(xp):
    """A stream of this run's framework."""
    if not xp.gpu:
        pytest.skip("no memory of a GPU in this run")
    return xp.stream()


def test_put(xp, stream, me, right, left):
    dest, source = xp.zeros(1000), xp.private([me] * 1000)
    shmem.put(dest, source, right, stream=stream)
    shmem.barrier_all(stream=stream)
    stream.synchronize()
    assert xp.list(dest) == [left] * 1000


def test_put_on_a_number(xp, stream, me, right, left):
    dest, source = xp.zeros(1000), xp.private([me] * 1000)
    number = getattr(stream, "cuda_stream", None) or stream.ptr
    shmem.put_nbi(dest, source, right, stream=number)
    shmem.quiet(stream=number)
    shmem.barrier_all(stream=number)
    stream.synchronize()
    assert xp.list(dest) == [left] * 1000


def test_get(xp, stream, me, right):
    source, dest = xp.symmetric([me] * 1000), xp.private([0] * 1000)
    shmem.barrier_all()
    shmem.get(dest, source, right, stream=stream)
    stream.synchronize()
    assert xp.list(dest) == [right] * 1000


def test_put_signal_and_wait(xp, stream, me, right, left):
    dest, source, bell = xp.zeros(100), xp.private([me] * 100), xp.zeros(1)
    for turn in range(1, 4):
        shmem.put_signal(dest, source, bell, turn, right, stream=stream)
        shmem.signal_wait_until(bell, "ge", turn, stream=stream)
    stream.synchronize()
    assert xp.list(dest) == [left] * 100 and xp.list(bell) == [3]
    shmem.barrier_all()  # the left neighbour changes the word that was looked at
    shmem.signal_update(bell, 9, right, stream=stream)
    shmem.wait_until(bell, "eq", 9, stream=stream)
    stream.synchronize()


def test_prepared(xp, stream, me, right, left):
    dest, source = xp.zeros(100), xp.private([me] * 100)
    op = shmem.prepare_put(dest, source, right, stream=stream)
    for _ in range(10):
        op()
    shmem.barrier_all(stream=stream)
    stream.synchronize()
    assert xp.list(dest) == [left] * 100


def test_p(xp, stream, me, right, left):
    dest = xp.zeros(3, "float32")
    shmem.p(dest, me + 0.5, right, index=2, stream=stream)
    shmem.barrier_all(stream=stream)
    stream.synchronize()
    assert xp.list(dest) == [0, 0, left + 0.5]


@pytest.mark.parametrize("dtype", ("float32", "float64", "int32", "int64", "float16"))
def test_reduce(xp, stream, me, n, dtype):
    dest, source = xp.zeros(100, dtype), xp.symmetric([me + 1] * 100, dtype)
    shmem.reduce(dest, source, "sum", stream=stream)
    stream.synchronize()
    assert xp.list(dest) == [n * (n + 1) // 2] * 100


def test_reduce_bfloat16(xp, stream, me, n):
    if xp.framework != "torch":
        pytest.skip("%s has no bfloat16" % xp.framework)
    dest, source = xp.zeros(100, "bfloat16"), xp.symmetric([me + 1] * 100, "bfloat16")
    shmem.reduce(dest, source, "max", stream=stream)
    stream.synchronize()
    assert xp.list(dest) == [n] * 100


def test_reducescatter(xp, stream, me, n):
    dest, source = xp.zeros(10), xp.symmetric(np.repeat(np.arange(n), 10))
    shmem.reducescatter(dest, source, stream=stream)
    stream.synchronize()
    assert xp.list(dest) == [me * n] * 10


def test_moves(xp, stream, me, n):
    source, dest = xp.symmetric([me] * n), xp.zeros(n * n)
    shmem.broadcast(dest, source, n - 1, stream=stream)
    stream.synchronize()
    assert xp.list(dest)[:n] == [n - 1] * n
    shmem.barrier_all()
    shmem.fcollect(dest, source, stream=stream)
    stream.synchronize()
    assert xp.list(dest) == [pe for pe in range(n) for _ in range(n)]
    shmem.barrier_all()
    shmem.alltoall(dest, source, stream=stream)
    stream.synchronize()
    assert xp.list(dest)[:n] == list(range(n))


def test_team(xp, stream, me, n):
    team = shmem.TEAM_WORLD.create(list(reversed(range(n))))
    dest, source = xp.zeros(n), xp.symmetric([me])
    shmem.fcollect(dest, source, team, stream=stream)
    team.sync(stream=stream)
    team.barrier(stream=stream)
    shmem.sync_all(stream=stream)
    stream.synchronize()
    assert xp.list(dest) == list(reversed(range(n)))
    team.destroy()
