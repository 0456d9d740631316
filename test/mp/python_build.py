# SPDX-License-Identifier: BSD-3-Clause
# For python_fork.sh: builds the cffi module wsh_cffi with the compiler and linker in CC and LDSHARED.
import cffi

builder = cffi.FFI()
builder.cdef("""
    void shmem_init(void);
    void shmem_finalize(void);
    int shmem_my_pe(void);
    int shmem_n_pes(void);
    void *shmem_malloc(size_t size);
    void shmem_long_p(long *dest, long value, int pe);
    void shmem_barrier_all(void);
""")
builder.set_source("wsh_cffi", "#include <shmem.h>")
builder.compile(verbose=True)
