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


def _block(pe, to, n):
    """What `pe` has for `to`."""
    return [1000 * pe + 10 * to + i for i in range((pe + 2 * to) % 4)]


def test_alltoallv(xp, stream, me, n):
    """Twice, with other counts in the same arrays: they are read when the stream comes there."""
    dest = xp.zeros(4 * n)
    blocks = [_block(me, pe, n) for pe in range(n)]
    source = xp.symmetric([x for block in blocks for x in block + [0] * (4 - len(block))])
    counts = xp.private([len(block) for block in blocks])
    expected = [_block(pe, me, n) for pe in range(n)]
    dest_counts = xp.private([len(block) for block in expected])
    offsets = xp.private([4 * pe for pe in range(n)])
    shmem.alltoallv(dest, dest_counts, offsets, source, counts, offsets, stream=stream)
    stream.synchronize()
    assert xp.list(dest) == [x for block in expected for x in block + [0] * (4 - len(block))]
    shmem.barrier_all()
    number = getattr(stream, "cuda_stream", None) or stream.ptr
    none = xp.private([0] * n)
    shmem.alltoallv(dest, none, offsets, source, none, offsets, stream=number)
    stream.synchronize()
    assert xp.list(dest) == [x for block in expected for x in block + [0] * (4 - len(block))]


@pytest.mark.parametrize("length", (3, 3000, 300000))
def test_alltoallv_packed(xp, stream, me, n, length):
    counts = [length * ((me + pe) % 3) for pe in range(n)]
    expected = [length * ((me + pe) % 3) for pe in range(n)]
    source = xp.symmetric([me + 1] * (2 * length * n))
    dest, need = xp.zeros(2 * length * n), xp.private([0])
    found, places = xp.private([0] * n), xp.private([0] * n)
    given = xp.private(counts), xp.private([2 * length * pe for pe in range(n)])
    shmem.alltoallv_packed_on_stream(dest, found, places, need, source, *given, stream)
    stream.synchronize()
    assert xp.list(found) == expected and xp.list(need) == [sum(expected)]
    assert xp.list(places) == [sum(expected[:pe]) for pe in range(n)]
    want = np.repeat(np.arange(1, n + 1), expected)
    assert xp.list(dest) == want.tolist() + [0] * (2 * length * n - len(want))


def test_alltoallv_packed_too_small(xp, stream, me, n):
    dest, source, need = xp.zeros(n), xp.symmetric([me] * (2 * n)), xp.private([0])
    found, places = xp.private([0] * n), xp.private([0] * n)
    given = xp.private([2] * n), xp.private([2 * pe for pe in range(n)])
    shmem.alltoallv_packed_on_stream(dest, found, places, need, source, *given, stream)
    stream.synchronize()
    assert xp.list(need) == [2 * n] and xp.list(found) == [2] * n and xp.list(dest) == [0] * n


def test_alltoallv_refused(xp, stream, me, n):
    dest, source, words = xp.zeros(n), xp.zeros(n), xp.private([0] * n)
    few, floats = xp.private([0] * (n - 1) if n > 1 else []), xp.private([0.0] * n, "float32")
    for wrong in (few, floats, np.zeros(n, "int64")):
        with pytest.raises(shmem.ArgumentError, match="source_counts"):
            shmem.alltoallv(dest, words, words, source, wrong, words, stream=stream)


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
