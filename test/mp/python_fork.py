# SPDX-License-Identifier: BSD-3-Clause
# For python_fork.sh: python3 with a cffi module over the library forks 100 times after shmem_init and goes on.
import os
import sys

from wsh_cffi import ffi, lib

FORKS = 100

lib.shmem_init()
me, npes = lib.shmem_my_pe(), lib.shmem_n_pes()
word = ffi.cast("long *", lib.shmem_malloc(8))
word[0] = 0
lib.shmem_barrier_all()
failed = 0
for n in range(1, FORKS + 1):
    pid = os.fork()
    if pid == 0:
        numbers = [i * i for i in range(1000)]
        os._exit(0 if sum(numbers) == 332833500 else 1)
    _, status = os.waitpid(pid, 0)
    failed += status != 0
    lib.shmem_long_p(word, n, (me + 1) % npes)
    lib.shmem_barrier_all()
    failed += word[0] != n
    lib.shmem_barrier_all()
lib.shmem_finalize()
if failed:
    print("PE %d: %d of %d forks or puts failed" % (me, failed, FORKS), file=sys.stderr)
sys.exit(1 if failed else 0)
