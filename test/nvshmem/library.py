# SPDX-License-Identifier: BSD-3-Clause
"""library.py LIBRARY FILE RANK N GPU: one of N PEs that start by a unique id, which rank 0 writes to FILE.

Calls libnvshmem_host by ctypes as Python packages do; with GPU 1 also a barrier and a reduction on a stream.
"""
import ctypes
import os
import sys
import time

library, file, rank, n, gpu = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5] == '1'
nv = ctypes.CDLL(library)
nv.nvshmem_malloc.restype = ctypes.c_void_p
pointer, integer, size = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t

unique = ctypes.create_string_buffer(128)
if rank == 0:
    assert nv.nvshmemx_get_uniqueid(unique) == 0
    with open(file + '.part', 'wb') as out:
        out.write(unique.raw)
    os.rename(file + '.part', file)
else:
    for _ in range(1000):
        if os.path.exists(file):
            break
        time.sleep(0.01)
    with open(file, 'rb') as given:
        unique.raw = given.read()

attributes = ctypes.create_string_buffer(144)
assert nv.nvshmemx_set_attr_uniqueid_args(rank, n, unique, attributes) == 0
assert nv.nvshmemx_hostlib_init_attr(1 << 3, attributes) == 0
assert (nv.nvshmem_my_pe(), nv.nvshmem_n_pes()) == (rank, n)

words = nv.nvshmem_malloc(size(64))
assert words
right, left = (rank + 1) % n, (rank + n - 1) % n
nv.nvshmem_float_p.argtypes = [pointer, ctypes.c_float, integer]
nv.nvshmem_float_g.argtypes, nv.nvshmem_float_g.restype = [pointer, integer], ctypes.c_float
mine = (ctypes.c_float * 4)(rank + 0.5, 1, 2, 3)
nv.nvshmem_putmem(pointer(words), mine, size(16), right)
nv.nvshmem_barrier_all()
assert nv.nvshmem_float_g(words, rank) == left + 0.5
assert nv.nvshmem_float_g(words + 12, right) == 3
if gpu:
    nv.nvshmemx_barrier_all_on_stream(pointer(None))
    assert nv.nvshmemx_float_sum_reduce_on_stream(0, pointer(words + 32), pointer(words), size(4), pointer(None)) == 0
    nv.nvshmemx_float_g_on_stream.argtypes = [pointer, integer, pointer]
    nv.nvshmemx_float_g_on_stream.restype = ctypes.c_float
    assert nv.nvshmemx_float_g_on_stream(words + 32, rank, None) == sum(i + 0.5 for i in range(n))
    assert nv.nvshmemx_float_g_on_stream(words + 44, rank, None) == 3 * n
nv.nvshmem_barrier_all()
nv.nvshmem_free(pointer(words))
nv.nvshmem_finalize()
print('PE %d of %d' % (rank, n))
