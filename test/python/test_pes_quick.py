# SPDX-License-Identifier: BSD-3-Clause
"""The extension module: plain calls go through it, all others do what they do by ctypes."""

import contextlib
import ctypes
import gc
import random
import sys
import threading

import numpy as np
import pytest

import warpshmem as shmem
from warpshmem import _quick, dtypes, memory

NONE = lambda *_: None  # noqa: E731


@pytest.fixture(autouse=True)
def extension():
    """Skip where calls go by ctypes."""
    if _quick.module is None:
        pytest.skip("no extension module in this run")
    _quick.meet()


@contextlib.contextmanager
def by_ctypes():
    """All calls inside go by ctypes."""
    kept = {name: getattr(_quick, name) for name in _quick.ROUTINES}
    vars(_quick).update((name, NONE) for name in kept)
    try:
        yield
    finally:
        vars(_quick).update(kept)


def taken(name, *args):
    """Does the extension take this call?"""
    return bool(getattr(_quick.module, name)(*args))


def seen(array):
    """What the extension sees, as memory.view has it; None where it sees nothing."""
    found = _quick.module.look(array)
    if found is None:
        return None
    address, name, shape, gpu, readonly = found
    size = int(np.prod(shape, dtype=np.int64))
    return memory.View(address, size, dtypes.TYPES[name], bool(gpu), bool(readonly))


def test_plain_calls_are_taken(host, me, right):
    dest, source, word = host.zeros(4), host.private([1, 2, 3, 4]), host.zeros(1)
    shmem.put(dest, source, right)  # from here on it knows the framework
    for name in ("put", "put_nbi"):
        assert taken(name, dest, source, right)
    for name in ("get", "get_nbi"):
        assert taken(name, source, dest, right)
    shmem.quiet()
    assert taken("put_signal", dest, source, word, 7, me, "set", False, 0)
    shmem.quiet()
    assert _quick.module.signal_wait(word, "eq", 7, 0) == 7
    assert _quick.module.wait(word, "ge", 7, 0) is True
    assert _quick.module.test(word, ">", 7, 0) is False
    shmem.barrier_all()


@pytest.mark.parametrize("dtype", [name for name in dtypes.TYPES])
def test_sees_what_python_sees(xp, dtype):
    """Address, elements, type of arrays of all types and of random slices of them."""
    try:
        whole = xp.zeros((3, 4, 5), dtype)
    except shmem.ArgumentError as why:
        pytest.skip(str(why))
    if xp.framework not in ("numpy", "torch"):
        pytest.skip("arrays of numpy and torch alone")
    draw = random.Random(dtype)
    dense = 0
    for _ in range(60):
        part = whole
        for _ in range(draw.randrange(3)):
            begin, step = draw.randrange(3), draw.choice((1, 1, 1, 2))
            part = part[begin : begin + draw.randrange(4) : step] if part.ndim else part
            if part.ndim and draw.random() < 0.3 and part.shape[0]:
                part = part[0]
        found = seen(part)
        try:
            wanted = memory.view(part, "put", "dest")
        except shmem.ArgumentError:
            assert found is None
            continue
        if wanted.size or found is not None:
            assert found is not None and found[1:] == wanted[1:]
            assert found.address == wanted.address or not wanted.size
            dense += 1
    assert dense > 10 and seen(whole) == memory.view(whole, "put", "dest")


class Sub(np.ndarray):
    """A class of the user's own, which may change anything."""


def test_streams_wait_by_the_driver():
    """By the addresses of its routines, in order; what it refuses is left to Python."""
    told, status = [], [0]

    def routine(name, *args):
        def note(*given):
            told.append((name,) + tuple(one or 0 for one in given))
            return status[0]

        return ctypes.CFUNCTYPE(ctypes.c_int, *args)(note)

    record = routine("record", ctypes.c_void_p, ctypes.c_void_p)
    wait = routine("wait", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint)
    module = _quick.module
    assert not _quick.driver and not module.event_mark(1, 2)
    module.driver(_quick.address(record), _quick.address(wait))
    try:
        assert module.stream_follow(1 << 40, 7, 0) and module.event_mark(3, 5) and module.event_wait(3, 6)
        assert told == [("record", 1 << 40, 7), ("wait", 0, 1 << 40, 0), ("record", 3, 5), ("wait", 6, 3, 0)]
        assert not any((module.event_mark("3", 5), module.event_mark(3), module.event_wait(3.0, 5)))
        status[0], told[:] = 400, []
        assert not any((module.stream_follow(1, 2, 3), module.event_mark(3, 5), module.event_wait(3, 6)))
        assert told == [("record", 1, 2), ("record", 3, 5), ("wait", 6, 3, 0)]
    finally:
        module.driver(0, 0)


def test_what_is_not_plain_is_left_alone(me):
    dest, source, word = shmem.zeros(8), np.ones(8, "float32"), shmem.zeros(1, "uint64")
    others = (
        source.view(Sub),
        np.ones((8, 8), "float32")[:, 0],
        source.astype(">f4"),
        source.astype("float64"),
        np.ones(9, "float32"),
        np.ones(8, "longdouble"),
        np.zeros(8, "M8[s]"),
        np.zeros(8, [("a", "f4")]),
        memoryview(source),
        [1.0] * 8,
        None,
        shmem.zeros(8, like=None),
    )
    for other in others:
        assert not taken("put", dest, other, me), other
    assert not taken("put", source, dest, me)  # not symmetric
    source.flags.writeable = False
    assert taken("put", dest, source, me) and not taken("get", source, dest, me)
    for pe in (-1, shmem.n_pes(), 0.0, True, "0", None, np.int64(0), 1 << 70):
        assert not taken("put", dest, source, pe), pe
    for arguments in ((dest, source), (dest, source, me, None), ()):
        assert not taken("put", *arguments)
    for value in (-1, 1 << 64, 0.5, "1", None):
        assert not taken("put_signal", dest, source, word, value, me, "set", False, 0)
        assert _quick.module.wait(word, "eq", value, 0) is None
    for op, nbi, index in (
        ("mul", False, 0),
        (0, False, 0),
        ("set", 0, 0),
        ("set", False, 1),
        ("add", True, -1),
    ):
        assert not taken("put_signal", dest, source, word, 1, me, op, nbi, index)
    for cmp in ("eqq", "", 0, None, b"eq"):
        assert _quick.module.wait(word, cmp, 0, 0) is None
        assert _quick.module.signal_wait(word, cmp, 0, 0) is None
    small = shmem.zeros(1, "int32")
    assert _quick.module.wait(small, "eq", 1 << 31, 0) is None
    assert _quick.module.wait(shmem.zeros(1, "int16"), "eq", 0, 0) is None
    assert _quick.module.test(small, "eq", 0, 1) is None
    shmem.put(dest, source, np.int64(me))  # by ctypes, as ever
    assert dest.tolist() == [1.0] * 8


def test_the_largest_values(me):
    big, word = shmem.zeros(1, "uint64"), shmem.zeros(2, "uint64")
    shmem.put_signal(big, np.array([3], "uint64"), word, 2**64 - 1, me, index=1)
    assert shmem.signal_wait_until(word, "eq", 2**64 - 1, index=1) == 2**64 - 1
    shmem.wait_until(word, "ge", 2**63, index=1)
    for dtype in ("int32", "int64", "uint32", "uint64"):
        array, info = shmem.zeros(1, dtype), np.iinfo(dtype)
        for value in (int(info.min), int(info.max)):
            array[0] = value
            shmem.wait_until(array, "eq", value)
            assert shmem.test(array, "eq", value) is True


def wrong_calls(xp, n):
    """Calls that raise."""
    dest, source, word = xp.zeros(4), xp.private([1, 2, 3, 4]), xp.zeros(1)
    wide = xp.zeros((4, 4))
    for pe in (-1, n, "0", None, 0.5):
        yield lambda pe=pe: shmem.put(dest, source, pe)
        yield lambda pe=pe: shmem.get(source, dest, pe)
    yield lambda: shmem.put(source, dest, 0)
    yield lambda: shmem.put_nbi(dest, xp.private([0] * 5), 0)
    yield lambda: shmem.put(dest, xp.private([0] * 4, "int32"), 0)
    yield lambda: shmem.put(dest, wide[:, 1], 0)
    yield lambda: shmem.get_nbi(wide[:, 1], dest, 0)
    yield lambda: shmem.put([1], source, 0)
    yield lambda: shmem.put(dest, None, 0)
    yield lambda: shmem.put_signal(dest, source, word, -1, 0)
    yield lambda: shmem.put_signal(dest, source, word, 1, 0, op="mul")
    yield lambda: shmem.put_signal(dest, source, word, 1, 0, index=1)
    yield lambda: shmem.put_signal(dest, source, dest[:0], 1, n)
    yield lambda: shmem.wait_until(word, "eqq", 0)
    yield lambda: shmem.wait_until(word, "eq", 0, index=1)
    yield lambda: shmem.wait_until(word, "eq", 1 << 70)
    yield lambda: shmem.wait_until(xp.zeros(1, "float32"), "eq", 0)
    yield lambda: shmem.test(word, None, 0)
    yield lambda: shmem.signal_wait_until(word, "eq", "1")
    yield lambda: shmem.signal_wait_until(source, "eq", 1)


def raised(call):
    """What a call raises: type and text, but for addresses."""
    with pytest.raises(Exception) as caught:
        call()
    return type(caught.value), str(caught.value)


def test_wrong_calls_raise_alike(xp, n):
    for call in wrong_calls(xp, n):
        with by_ctypes():
            wanted = raised(call)
        assert raised(call) == wanted


def test_no_references_are_left(host, me):
    dest, source, word = host.zeros(4), host.private([1, 2, 3, 4]), host.zeros(1)
    value = 1 << 40
    things = (dest, source, word, value, None, True)

    def calls():
        for _ in range(1000):
            shmem.put(dest, source, me)
            shmem.get(source, dest, me)
            shmem.put_signal(dest, source, word, value, me)
            shmem.wait_until(word, "ge", 0)
            shmem.signal_wait_until(word, "ge", 0)
            _quick.module.put(dest, word[:0].reshape(0, 1), "no")

    calls()
    gc.collect()
    before = [sys.getrefcount(thing) for thing in things]
    calls()
    gc.collect()
    after = [sys.getrefcount(thing) for thing in things]
    assert all(abs(a - b) < 50 for a, b in zip(before, after)), (before, after)


def test_memory_that_is_resized_or_freed_is_looked_at_anew(me):
    dest, source = shmem.zeros(4, "int64"), np.arange(4)
    shmem.put(dest, source, me)
    source.resize(2, refcheck=False)
    source[:] = 9
    shmem.put(dest, source, me)
    assert dest.tolist() == [9, 9, 2, 3]
    for number in range(50):  # the allocator gives the address again
        shmem.put(dest, np.full(4, number), me)
        assert dest.tolist() == [number] * 4


def test_the_lock_is_free_while_a_call_waits(host, me):
    """A thread waits in a call, and another one brings what it waits for."""
    word = host.zeros(2)
    waiter = threading.Thread(target=lambda: shmem.wait_until(word, "eq", 5, index=1))
    waiter.start()
    source = host.private([0, 5])
    shmem.put(word, source, me)
    waiter.join(30)
    assert not waiter.is_alive()


def test_many_threads(host, me, right):
    """Threads put to parts of their own, with signals."""
    threads, rounds = 4, 200
    box, bell = host.zeros((threads, 16)), host.zeros(threads)

    def work(number):
        letter = host.private([number] * 16)
        for _ in range(rounds):
            shmem.put_signal(box[number], letter, bell, 1, right, op="add", index=number)

    running = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    for number in range(threads):
        shmem.wait_until(bell, "eq", rounds, index=number)
    assert host.list(box) == [[number] * 16 for number in range(threads)]


def test_kinds_are_those_of_dtypes():
    assert set(_quick.module.KINDS) == set(dtypes.TYPES)
