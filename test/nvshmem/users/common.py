# SPDX-License-Identifier: BSD-3-Clause
"""What the programs of this folder share that call libnvshmem_host by ctypes: the start by a unique id, and memory."""
import ctypes
import os
import time


def shared(file, rank, data):
    """Rank 0's bytes, by way of the file."""
    if rank == 0:
        with open(file + ".part", "wb") as out:
            out.write(data)
        os.rename(file + ".part", file)
    for _ in range(3000):
        if os.path.exists(file):
            break
        time.sleep(0.01)
    with open(file, "rb") as given:
        return given.read()


def start(library, file, rank, n):
    """This becomes PE `rank` of `n`."""
    unique, attributes = ctypes.create_string_buffer(128), ctypes.create_string_buffer(144)
    if rank == 0:
        assert library.nvshmemx_get_uniqueid(unique) == 0
    unique.raw = shared(file, rank, unique.raw)
    assert library.nvshmemx_set_attr_uniqueid_args(rank, n, unique, attributes) == 0
    assert library.nvshmemx_hostlib_init_attr(1 << 3, attributes) == 0
    assert library.nvshmemx_init_status() >= 2 and library.nvshmem_n_pes() == n
    library.nvshmem_malloc.argtypes, library.nvshmem_malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
    library.nvshmem_free.argtypes = [ctypes.c_void_p]
    library.nvshmem_int_p.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    library.nvshmem_int_g.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.nvshmemx_cumodule_init.argtypes = [ctypes.c_void_p]


class Words:
    """Symmetric memory as torch and cupy take it."""

    def __init__(self, address, count, kind):
        self.__cuda_array_interface__ = {"data": (address, False), "shape": (count,), "typestr": kind, "version": 3}
