# SPDX-License-Identifier: BSD-3-Clause
# For the tests with python3: builds the cffi module wsh_cffi with the compiler and linker in CC and LDSHARED.
import cffi

builder = cffi.FFI()
builder.cdef("""
    typedef ... *shmem_ctx_t;
    typedef ... *shmem_team_t;
    static const shmem_ctx_t SHMEM_CTX_INVALID, SHMEM_CTX_DEFAULT;
    static const shmem_team_t SHMEM_TEAM_INVALID, SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED;
    static const int SHMEM_THREAD_MULTIPLE, SHMEM_CMP_EQ, SHMEM_SIGNAL_SET;
    static const long SHMEM_CTX_SERIALIZED;
    void shmem_init(void);
    int shmem_init_thread(int requested, int *provided);
    void shmem_query_initialized(int *initialized);
    void shmem_finalize(void);
    void start_pes(int npes);
    int shmem_my_pe(void);
    int shmem_n_pes(void);
    int shmem_team_my_pe(shmem_team_t team);
    int shmem_team_n_pes(shmem_team_t team);
    int shmem_ctx_create(long options, shmem_ctx_t *ctx);
    int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team);
    void *shmem_malloc(size_t size);
    void *shmem_calloc(size_t count, size_t size);
    void shmem_long_p(long *dest, long value, int pe);
    long shmem_long_g(const long *source, int pe);
    void shmem_ctx_long_put_signal(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, uint64_t *sig_addr,
                                   uint64_t signal, int sig_op, int pe);
    uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value);
    void shmem_long_atomic_add(long *dest, long value, int pe);
    void shmem_set_lock(long *lock);
    void shmem_clear_lock(long *lock);
    void shmem_barrier_all(void);
""")
builder.set_source("wsh_cffi", "#include <shmem.h>")
builder.compile(verbose=True)
