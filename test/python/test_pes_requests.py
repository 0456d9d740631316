# SPDX-License-Identifier: BSD-3-Clause
"""Nonblocking collectives: requests that are waited for, tested and awaited; alltoallv."""

import asyncio

import numpy as np
import pytest

import warpshmem as shmem


def test_alltoall_waited(host, me, n):
    source = host.symmetric([100 * me + pe for pe in range(n) for _ in range(2)])
    dest = host.zeros(2 * n)
    request = shmem.alltoall_nb(dest, source)
    request.wait()
    assert request.complete and request.test()
    assert host.list(dest) == [100 * pe + me for pe in range(n) for _ in range(2)]


def test_many_in_any_order(host, me, n):
    parts = [host.symmetric([me + k] * 5) for k in range(20)]
    sums = [host.zeros(5) for _ in range(20)]
    requests = [shmem.reduce_nb(sums[k], parts[k]) for k in range(20)]
    for k in (19, 3, 7):
        requests[k].wait()
    shmem.barrier_all()
    while not all(request.complete for request in requests):
        shmem.test_any_request(requests)
    for k in range(20):
        assert host.list(sums[k]) == [n * (n - 1) // 2 + n * k] * 5


@pytest.mark.parametrize("op", ("max", "min", "prod"))
def test_reduce(host, me, n, op):
    dest = host.zeros(300, "float64")
    shmem.reduce_nb(dest, host.symmetric([me + 1] * 300, "float64"), op).wait()
    numbers = np.arange(1, n + 1)
    assert host.list(dest) == [float({"max": n, "min": 1, "prod": numbers.prod()}[op])] * 300


def test_others(host, me, n):
    all_of, some, one = host.zeros(n), host.zeros(n), host.zeros(3)
    shmem.wait_all(
        [
            shmem.sync_nb(),
            shmem.fcollect_nb(all_of, host.symmetric([me])),
            shmem.collect_nb(some, host.symmetric([me])),
            shmem.broadcast_nb(one, host.symmetric([me] * 3), n - 1),
        ]
    )
    assert host.list(all_of) == host.list(some) == list(range(n))
    assert host.list(one) == [n - 1] * 3


def test_awaited(host, me, n):
    dest, turns = host.zeros(4 * n), []

    async def exchange():
        await shmem.alltoall_nb(dest, host.symmetric([me] * (4 * n)))
        await shmem.sync_nb()
        turns.append("end")

    async def other():
        turns.append("other")

    async def both():
        await asyncio.gather(exchange(), other())

    asyncio.run(both())
    assert sorted(turns) == ["end", "other"]
    assert host.list(dest) == [pe for pe in range(n) for _ in range(4)]


def test_alltoallv(host, me, n):
    counts = [(me + pe) % 3 for pe in range(n)]
    source = np.arange(3 * n, dtype="int64") + 1000 * me
    dest = host.zeros(4 * n)
    offsets = [3 * pe for pe in range(n)]
    shmem.alltoallv(dest, counts, [4 * pe for pe in range(n)], source, counts, offsets)
    for pe in range(n):
        block = host.list(dest)[4 * pe : 4 * pe + 4]
        assert block == [1000 * pe + 3 * me + i if i < counts[pe] else 0 for i in range(4)]


def test_alltoallv_packed(host, me, n):
    counts = [me + 1] * n
    source = np.full(n * (me + 1), me, dtype="int64")
    offsets = [pe * (me + 1) for pe in range(n)]
    dest = host.zeros(n * (n + 1) // 2)
    found = shmem.alltoallv_packed(dest, source, counts, offsets)
    assert found.fits and found.need == n * (n + 1) // 2
    assert found.counts == tuple(range(1, n + 1))
    assert host.list(dest) == [pe for pe in range(n) for _ in range(pe + 1)]
    small = host.zeros(1)
    found = shmem.alltoallv_packed(small, source, counts, offsets)
    assert found.fits == (n == 1) and found.need == n * (n + 1) // 2
    assert n == 1 or host.list(small) == [0]


def test_wrong_arguments(host, me, n):
    dest, source = host.zeros(n), host.symmetric([0] * n)
    with pytest.raises(shmem.ArgumentError, match="source_counts"):
        shmem.alltoallv(dest, [1] * n, [0] * n, source, [1] * (n + 1), [0] * n)
    with pytest.raises(shmem.ArgumentError, match="ends beyond"):
        shmem.alltoallv(dest, [2 * n] * n, [0] * n, source, [1] * n, [0] * n)
    with pytest.raises(shmem.ArgumentError, match="op"):
        shmem.reduce_nb(dest, source, "mean")
    with pytest.raises(shmem.ArgumentError, match="op"):
        shmem.reduce_nb(dest, source, ["sum"])
    numbers = [host.zeros(n) for _ in range(4)]
    with pytest.raises(shmem.ArgumentError, match="memory of the GPU"):
        shmem.alltoallv(dest, *numbers[:2], source, *numbers[2:], stream=1)
    with pytest.raises(shmem.ArgumentError, match="memory of the GPU"):
        shmem.alltoallv_packed_on_stream(dest, *numbers[:3], source, *numbers[2:], 1)
    shmem.barrier_all()


@pytest.mark.parametrize("counts", (1, None, "ab", [None, 1], [1.5, 1], [float("nan")], [[1], [1]]))
def test_counts_that_are_no_whole_numbers(host, me, n, counts):
    dest, source = host.zeros(n), host.symmetric([0] * n)
    ones, places = [1] * n, list(range(n))
    with pytest.raises(shmem.ArgumentError, match=r"warpshmem.alltoallv: dest_counts is .*whole numbers"):
        shmem.alltoallv(dest, counts, places, source, ones, places)
    with pytest.raises(shmem.ArgumentError, match="source_offsets is .*whole numbers"):
        shmem.alltoallv_packed(dest, source, ones, counts)
    with pytest.raises(shmem.ArgumentError, match="pes is .*whole numbers"):
        shmem.TEAM_WORLD.create(counts)
    shmem.barrier_all()


@pytest.mark.parametrize("align", ("1", None, 1.5, 0, -1, 1 << 60, 1 << 61, 1 << 70))
def test_alignment(host, me, n, align):
    dest, source = host.zeros(n), host.symmetric([0] * n)
    with pytest.raises(shmem.ArgumentError, match="align is "):
        shmem.alltoallv_packed(dest, source, [1] * n, list(range(n)), align=align)


@pytest.mark.parametrize("requests", (None, 1, [1], [None], [[]]))
def test_what_is_no_request(me, requests):
    for call in (shmem.wait_all, shmem.test_any_request):
        with pytest.raises(shmem.ArgumentError, match="requests is .*_nb return"):
            call(requests)
    request = shmem.sync_nb()
    with pytest.raises(shmem.ArgumentError):
        shmem.wait_all(request)
    with pytest.raises(shmem.ArgumentError):
        shmem.wait_all([request, requests])
    assert not request.complete
    request.wait()


@pytest.mark.parametrize("seconds", ("x", None, []))
def test_seconds(host, seconds):
    with pytest.raises(shmem.ArgumentError, match="seconds is"):
        shmem.wait_until_timeout(host.zeros(1), "eq", 1, seconds)


def test_a_team_with_a_request(me, n):
    team = shmem.TEAM_WORLD.split_strided(0, 1, n)
    request = shmem.sync_nb(team)
    for call in (team.destroy, team.shrink, shmem.finalize):
        with pytest.raises(shmem.WarpshmemError, match="sync_nb.* has not been waited for"):
            call()
    other = shmem.TEAM_WORLD.split_strided(0, 1, n)
    other.destroy()
    request.wait()
    team.destroy()


def test_shrink_where_a_failure_ends_the_job(n):
    if n > 1:
        with pytest.raises(shmem.WarpshmemError, match="set SHMEM_ON_PE_FAILURE=continue"):
            shmem.TEAM_WORLD.shrink()
