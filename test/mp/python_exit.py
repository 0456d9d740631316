# SPDX-License-Identifier: BSD-3-Clause
# For python_exit.sh: a program over the cffi module that leaves finalizing to the interpreter's end.
import atexit
import os
import sys

from wsh_cffi import ffi, lib

mode = os.environ["WSH_PYTHON_MODE"]
flag = ffi.new("int *", -1)
lib.shmem_query_initialized(flag)
assert flag[0] == 0, "importing has started the library"


def initialized():
    lib.shmem_query_initialized(flag)
    return flag[0] != 0


def at_exit():
    me = lib.shmem_my_pe()
    if mode != "start_pes":
        lib.shmem_finalize()
        assert not initialized()
    print("handler of PE %d" % me, flush=True)


atexit.register(at_exit)
if mode == "start_pes":
    lib.start_pes(0)
else:
    level = ffi.new("int *")
    assert lib.shmem_init_thread(lib.SHMEM_THREAD_MULTIPLE, level) == 0
    assert level[0] == lib.SHMEM_THREAD_MULTIPLE
assert initialized()
me, npes = lib.shmem_my_pe(), lib.shmem_n_pes()
right, left = (me + 1) % npes, (me - 1) % npes

# Handles are values: compared, stored, passed.
teams = [lib.SHMEM_TEAM_WORLD, lib.SHMEM_TEAM_SHARED]
assert lib.SHMEM_TEAM_INVALID == ffi.NULL and lib.SHMEM_CTX_INVALID == ffi.NULL
assert lib.shmem_team_n_pes(teams[0]) == npes
assert lib.shmem_team_my_pe(lib.SHMEM_TEAM_INVALID) == -1
ctx = ffi.new("shmem_ctx_t *")
assert lib.shmem_ctx_create(lib.SHMEM_CTX_SERIALIZED, ctx) == 0
team = ffi.new("shmem_team_t *")
assert lib.shmem_ctx_get_team(ctx[0], team) == 0 and team[0] == lib.SHMEM_TEAM_WORLD

# Blocks, one element, an atomic, a signal, a wait, a lock.
block = ffi.cast("long *", lib.shmem_calloc(16, 8))
signal = ffi.cast("uint64_t *", lib.shmem_calloc(2, 8))
lock = ffi.cast("long *", lib.shmem_calloc(1, 8))
mine = ffi.new("long[8]", [me * 10 + i for i in range(8)])
lib.shmem_ctx_long_put_signal(ctx[0], block, mine, 8, signal, 1, lib.SHMEM_SIGNAL_SET, right)
assert lib.shmem_signal_wait_until(signal, lib.SHMEM_CMP_EQ, 1) == 1
assert [block[i] for i in range(8)] == [left * 10 + i for i in range(8)]
lib.shmem_long_atomic_add(block + 8, 5, 0)
lib.shmem_set_lock(lock)
lib.shmem_long_p(block + 9, lib.shmem_long_g(block + 9, 0) + 1, 0)
lib.shmem_clear_lock(lock)
lib.shmem_barrier_all()
assert me or (block[8], block[9]) == (5 * npes, npes)
if mode == "exit":
    sys.exit(3)
if mode == "raise":
    raise RuntimeError("a program that fails")
