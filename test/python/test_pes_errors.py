# SPDX-License-Identifier: BSD-3-Clause
"""Wrong arguments: an exception that names argument, value and cure, and a job that goes on."""

import numpy as np
import pytest

import warpshmem as shmem


def refused(call, text):
    """`call` raises ArgumentError with `text` in it."""
    with pytest.raises(shmem.ArgumentError) as caught:
        call()
    assert text in str(caught.value), str(caught.value)
    assert str(caught.value).startswith("warpshmem.")
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, shmem.WarpshmemError)


def test_pe_out_of_range(xp, n):
    array = xp.zeros(4)
    for pe in (-1, n, "0", None, 0.0):
        refused(
            lambda: shmem.put(array, array, pe), "pe is %r; there are PEs 0 to %d" % (pe, n - 1)
        )


def test_read_only(xp):
    """Bytes that nobody may change, and views of symmetric memory, are no dest."""
    there, text = shmem.zeros(8, "uint8"), b"unchanged"
    array = np.frombuffer(text, "uint8")[:8]
    view = shmem.zeros(8, "uint8")
    view.flags.writeable = False
    for call in (shmem.get, shmem.get_nbi):
        refused(lambda: call(array, there, 0), "dest is 'read-only'; pass an array that may")
    refused(lambda: shmem.iget(array, there, 1, 1, 8, 0), "dest is 'read-only'")
    refused(lambda: shmem.prepare_get(array, there, 0), "dest is 'read-only'")
    refused(lambda: shmem.broadcast(view, there, 0), "dest is 'read-only'")
    shmem.put(there, array, shmem.my_pe())
    assert text == b"unchanged"


class Negative:
    """An array interface with a shape that no array has."""

    __array_interface__ = {"shape": (-1,), "typestr": "<f4", "data": (4096, False), "version": 3}


def test_negative_shape(xp):
    refused(lambda: shmem.put(xp.zeros(4), Negative(), 0), "no extent of a shape is below 0")


def test_translate_of_no_team():
    refused(lambda: shmem.TEAM_WORLD.translate(0, None), "team is None; pass a warpshmem.Team")


def test_dest_not_symmetric(xp):
    refused(lambda: shmem.put(xp.private([1]), xp.private([1]), 0), "it is not in symmetric memory")


def test_source_of_get_not_symmetric(xp):
    refused(lambda: shmem.get(xp.private([1]), xp.private([1]), 0), "it is not in symmetric memory")


def test_source_too_long(xp):
    refused(
        lambda: shmem.put(xp.zeros(2), xp.private([1, 2, 3]), 0),
        "source is '3 elements'; dest has 2",
    )


def test_types_differ(xp):
    refused(
        lambda: shmem.put(xp.zeros(2, "int32"), xp.private([1]), 0),
        "its dtype must be that of dest, int32",
    )


def test_strided(xp):
    array = xp.zeros((4, 4))
    refused(lambda: shmem.put(array[:, 1], xp.private([1] * 4), 0), "contiguous")
    refused(lambda: shmem.put(array, array.T, 0), "contiguous")


def test_not_an_array(xp):
    refused(lambda: shmem.put([1, 2], xp.private([1]), 0), "pass an array of numpy, torch or cupy")


def test_unknown_dtype():
    refused(lambda: shmem.zeros(1, "float128"), "dtype is 'float128'; use one of float32")


def test_bad_shape():
    refused(lambda: shmem.zeros(-1), "shape is -1")
    refused(lambda: shmem.zeros((2, "x")), "shape is (2, 'x')")


def test_bad_like_and_device():
    refused(lambda: shmem.zeros(1, like="jax"), "like is 'jax'")
    refused(lambda: shmem.zeros(1, device="tpu"), "device is 'tpu'; use")
    refused(lambda: shmem.zeros(1, like="numpy", device="gpu"), "numpy has no arrays there")


def test_bad_signal(xp):
    array = xp.zeros(2)
    refused(
        lambda: shmem.put_signal(array, array, xp.zeros(2, "int32"), 1, 0), "a signal is an element"
    )
    word = shmem.zeros(1, "uint64")
    refused(lambda: shmem.put_signal(array, array, word, -1, 0), "value is -1; uint64 goes from 0")
    refused(lambda: shmem.put_signal(array, array, word, 1, 0, op="mul"), "op is 'mul'")
    refused(lambda: shmem.put_signal(array, array, word, 1, 0, index=1), "a signal is an element")


def test_bad_wait():
    word = shmem.zeros(1, "int32")
    refused(
        lambda: shmem.wait_until(word, "eqq", 0), "cmp is 'eqq'; use one of eq, ne, gt, ge, lt, le"
    )
    refused(lambda: shmem.wait_until(word, "eq", 1 << 40), "int32 goes from")
    refused(lambda: shmem.wait_until(word, "eq", 0, index=1), "ivar has 1 elements")
    refused(lambda: shmem.wait_until_all(word, "eq", 0, status=[0, 0]), "one is needed for each")


def test_wait_on_a_gpu(xp):
    if not xp.gpu:
        pytest.skip("no memory of a GPU in this run")
    refused(lambda: shmem.wait_until(xp.zeros(1), "eq", 1), "pass stream=")


def test_bad_collectives(xp, n):
    words, reals = shmem.zeros(1, "int64"), shmem.zeros(1, "float32")
    refused(lambda: shmem.fcollect(xp.zeros(1), xp.zeros(1)), "it needs %d" % n)
    refused(
        lambda: shmem.alltoall(xp.zeros(n + 1), xp.zeros(n + 1)),
        "multiple of the team's %d PEs" % n,
    )
    refused(lambda: shmem.broadcast(xp.zeros(1), xp.zeros(1), n), "root is %d" % n)
    refused(lambda: shmem.reduce(words, words, "mean"), "op is 'mean'; use one of sum")
    refused(
        lambda: shmem.reduce(reals, reals, "xor"),
        "there for int8",
    )
    refused(lambda: shmem.reduce(words, words, team=0), "team is 0; pass a warpshmem.Team")
    refused(lambda: shmem.TEAM_WORLD.create([0, 0]), "each once")
    refused(lambda: shmem.TEAM_WORLD.create([n]), "pes is %d" % n)


def test_bad_strides(host):
    array = host.zeros(10)
    refused(lambda: shmem.iput(array, array, 0, 1, 1, 0), "dest_stride is 0")
    refused(lambda: shmem.iput(array, array, 3, 1, 5, 0), "nelems is 5; dest has 10")


def test_numbers_beyond_32_bits():
    """ctypes would drop their upper bits, and take 2**32 for 0."""
    world = shmem.TEAM_WORLD
    refused(lambda: world.translate(1 << 32, world), "pe is 4294967296; pass one of 32 bits")
    refused(lambda: world.split_strided(1 << 32, 1, 1), "start is 4294967296")
    refused(lambda: world.split_2d((1 << 32) + 1), "xrange is 4294967297")
    refused(lambda: shmem.Team.by_id(1, (1 << 32) + 1, 0), "n_pes is 4294967297")
    refused(lambda: shmem.Team.by_id(1 << 64, 1, 0), "pass what make_id has returned")
    refused(lambda: shmem.global_exit(1 << 32), "status is 4294967296")


def test_a_tensor_without_memory(host):
    """One on meta has a null address."""
    torch = pytest.importorskip("torch")
    empty, word = torch.zeros(4, device="meta"), host.zeros(4)
    for call in (shmem.put, shmem.put_nbi, shmem.get):
        refused(lambda: call(empty, word, 0), "dest is 'on meta'")
        refused(lambda: call(word, empty, 0), "source is 'on meta'")


def test_bad_stream(xp):
    array = xp.zeros(1)
    refused(lambda: shmem.put(array, array, 0, stream="s"), "stream is 's'")


def test_the_library_refuses():
    """A line of the library becomes the exception's text."""
    from warpshmem import _lib, errors

    assert errors.last_line() == ""
    with pytest.raises(
        shmem.WarpshmemError, match="there is no rank 5 of 2; ranks are 0 to n_ranks - 1"
    ):
        import ctypes

        unique, attributes = (ctypes.c_ubyte * 128)(), (ctypes.c_ubyte * 256)(1)
        status = _lib.core().shmemx_set_attr_uniqueid_args(5, 2, unique, attributes)
        errors.check(status, "shmemx_set_attr_uniqueid_args")
    assert errors.last_line() == ""


def test_init_again(n):
    shmem.init()
    assert shmem.initialized()
    shmem.finalize()
    assert shmem.initialized() and shmem.n_pes() == n


def test_every_routine_says_what_it_does():
    for name in shmem.__all__:
        routine = getattr(shmem, name)
        if callable(routine):
            assert routine.__doc__, name


def test_info():
    from warpshmem import info

    rows = info.report()
    assert rows["specification"].startswith("OpenSHMEM 1.6, warpshmem")
    assert rows["numpy"] == np.__version__
