# SPDX-License-Identifier: BSD-3-Clause
"""Collectives and teams."""

import numpy as np
import pytest

import warpshmem as shmem

ORDERED = ("int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64")


@pytest.mark.parametrize("dtype", ("float16", "int32", "complex128"))
def test_broadcast(host, me, n, dtype):
    source, dest = host.symmetric([me + 1] * 30, dtype), host.zeros(30, dtype)
    shmem.broadcast(dest, source, n - 1)
    assert host.list(dest) == [n] * 30


def test_broadcast_any(xp, me, n):
    source, dest = xp.symmetric([me + 1] * 30), xp.zeros(30)
    shmem.broadcast(dest, source, 0)
    assert xp.list(dest) == [1] * 30


def test_fcollect(xp, me, n):
    dest = xp.zeros(3 * n)
    shmem.fcollect(dest, xp.symmetric([me] * 3))
    assert xp.list(dest) == [pe for pe in range(n) for _ in range(3)]


def test_collect(xp, me, n):
    dest, source = xp.zeros(n * (n + 1) // 2), xp.symmetric([me] * n)
    shmem.collect(dest, source[: me + 1])
    assert xp.list(dest) == [pe for pe in range(n) for _ in range(pe + 1)]


def test_alltoall(xp, me, n):
    dest, source = xp.zeros(2 * n), xp.symmetric(
        [100 * me + pe for pe in range(n) for _ in range(2)]
    )
    shmem.alltoall(dest, source)
    assert xp.list(dest) == [100 * pe + me for pe in range(n) for _ in range(2)]


def test_alltoalls(xp, me, n):
    dest, source = xp.zeros(2 * n), xp.symmetric(np.arange(3 * n) + 100 * me)
    shmem.alltoalls(dest, source, 2, 3, 1)
    assert xp.list(dest)[::2] == [100 * pe + 3 * me for pe in range(n)]


@pytest.mark.parametrize("dtype", ORDERED)
@pytest.mark.parametrize("op", ("sum", "prod", "min", "max"))
def test_reduce(host, me, n, op, dtype):
    dest, source = host.zeros(9, dtype), host.symmetric([me + 1] * 9, dtype)
    shmem.reduce(dest, source, op)
    numbers = np.arange(1, n + 1)
    wanted = {"sum": numbers.sum(), "prod": numbers.prod(), "min": 1, "max": n}[op]
    assert host.list(dest) == [wanted] * 9


@pytest.mark.parametrize("op", ("and", "or", "xor"))
def test_reduce_bits(host, me, n, op):
    dest, source = host.zeros(3), host.symmetric([1 << me] * 3)
    shmem.reduce(dest, source, op)
    every = (1 << n) - 1
    assert host.list(dest) == [{"and": 0, "or": every, "xor": every}[op]] * 3


def test_reduce_complex(host, me, n):
    dest, source = host.zeros(2, "complex128"), host.symmetric([1 + 1j] * 2, "complex128")
    shmem.reduce(dest, source)
    assert host.list(dest) == [n * (1 + 1j)] * 2


def test_reduce_in_place(host, me, n):
    both = host.symmetric([me] * 1000, "float32")
    shmem.reduce(both, both, "max")
    assert host.list(both) == [n - 1] * 1000


def test_scans(host, me, n):
    dest, source = host.zeros(4), host.symmetric([me + 1] * 4)
    shmem.inscan(dest, source)
    assert host.list(dest) == [(me + 1) * (me + 2) // 2] * 4
    shmem.exscan(dest, source)
    assert host.list(dest) == [me * (me + 1) // 2] * 4


def test_the_host_combines_in_its_own_memory(xp):
    if not xp.gpu:
        pytest.skip("no memory of a GPU in this run")
    for call in (shmem.reduce, shmem.inscan, shmem.exscan):
        with pytest.raises(shmem.ArgumentError, match="pass stream=, or arrays of the host"):
            call(xp.zeros(2), xp.zeros(2))


def test_syncs():
    for _ in range(20):
        shmem.sync_all()
        shmem.barrier_all()
        shmem.TEAM_WORLD.sync()
        shmem.TEAM_WORLD.barrier()


def test_teams_of_every_job(me, n):
    world, node = shmem.TEAM_WORLD, shmem.TEAM_NODE
    assert (world.my_pe, world.n_pes, world.number) == (me, n, 0)
    assert node.translate(node.my_pe, world) == me
    assert shmem.TEAM_SHARED.is_member


def test_memory_of_a_team(host, me, n):
    """PE 0 alone, then all, who know an id; the memory of a team of one is there for it alone."""
    box = host.zeros(1, "int64")
    if me == 0:
        alone = shmem.Team.by_id(shmem.Team.make_id(), 1, 0)
        mine = alone.empty(3, "int64")
        assert shmem.is_symmetric(mine) and mine.shape == (3,)
        alone.free(mine)
        alone.destroy()
        name = shmem.Team.make_id()
        for pe in range(n):
            shmem.p(box, name, pe)
    shmem.barrier_all()
    team = shmem.Team.by_id(host.list(box)[0], n, n - 1 - me)
    assert (team.n_pes, team.my_pe) == (n, n - 1 - me)
    ours = team.empty(2, "int64")
    ours[:] = me
    team.barrier()
    shmem.put(ours[:1], np.array([10 + me]), (me + 1) % n)
    team.barrier()
    assert ours.tolist() == [10 + (me - 1) % n, me]
    team.free(ours)
    with pytest.raises(shmem.ArgumentError):
        shmem.Team.by_id("a", n, 0)
    team.destroy()


def test_split_strided(xp, me, n):
    even = shmem.TEAM_WORLD.split_strided(0, 2, (n + 1) // 2)
    assert even.is_member == (me % 2 == 0)
    if even.is_member:
        dest, source = xp_pair(xp, me, even.n_pes)
    else:
        dest, source = xp_pair(xp, me, (n + 1) // 2)
    if even.is_member:
        shmem.fcollect(dest, source, even)
        assert xp.list(dest) == list(range(0, n, 2))
        assert even.translate(even.my_pe, shmem.TEAM_WORLD) == me
    even.destroy()


def xp_pair(xp, me, count):
    """Return a dest of `count` elements and a source of one, on all PEs."""
    return xp.zeros(count), xp.symmetric([me])


def test_split_2d(host, me, n):
    row, column = shmem.TEAM_WORLD.split_2d(2)
    assert (
        row.n_pes == 2 and column.n_pes == n // 2 and (row.my_pe, column.my_pe) == (me % 2, me // 2)
    )
    dest, source = host.zeros(1), host.symmetric([me])
    shmem.reduce(dest, source, team=row)
    assert host.list(dest) == [me // 2 * 4 + 1]
    row.destroy()
    column.destroy()


def test_create_in_any_order(xp, me, n):
    with shmem.TEAM_WORLD.create(list(reversed(range(n)))) as team:
        assert team.my_pe == n - 1 - me
        dest = xp.zeros(n)
        shmem.fcollect(dest, xp.symmetric([me]), team)
        assert xp.list(dest) == list(reversed(range(n)))
    assert not team.is_member


def test_a_destroyed_team(me):
    team = shmem.TEAM_WORLD.create([0])
    team.destroy()
    with pytest.raises(shmem.ArgumentError, match="no member of it, or it was destroyed"):
        team.sync()
    with pytest.raises(shmem.ArgumentError, match="stay until finalize"):
        shmem.TEAM_WORLD.destroy()


def test_no_such_team():
    with pytest.raises(shmem.WarpshmemError, match="size=1000"):
        shmem.TEAM_WORLD.split_strided(0, 1, 1000)
