/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every routine of the device API with every type of its table, at each scope, compiles and is called with the types
 * of its contract: nothing here runs.
 */
#include <shmemx.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct arguments {
    shmem_ctx_t ctx;
    void *dest, *scratch;
    size_t n;
    uint64_t *signal;
    const int *status;
    size_t *indices;
    int cmp, op, pe;
};

/* clang-format off */
#define MOVES(P, A, NAME, TYPE, S)                                                                          \
    shmem_##P##NAME##_put##S(A(TYPE)), shmem_##P##NAME##_put_nbi##S(A(TYPE));                               \
    shmem_##P##NAME##_get##S(A(TYPE)), shmem_##P##NAME##_get_nbi##S(A(TYPE));
#define PLAIN(TYPE) (TYPE *)a.dest, (const TYPE *)a.dest, a.n, a.pe
#define IN_CTX(TYPE) a.ctx, PLAIN(TYPE)
#define STRIDED(P, C, NAME, TYPE, S)                                                                        \
    shmem_##P##NAME##_iput##S(C (TYPE *)a.dest, (const TYPE *)a.dest, 2, 3, a.n, a.pe);                     \
    shmem_##P##NAME##_iget##S(C (TYPE *)a.dest, (const TYPE *)a.dest, 2, 3, a.n, a.pe);
#define SIGNALS(P, C, NAME, TYPE, S)                                                                        \
    shmem_##P##NAME##_put_signal##S(C (TYPE *)a.dest, (const TYPE *)a.dest, a.n, a.signal, 1, a.op, a.pe);  \
    shmem_##P##NAME##_put_signal_nbi##S(C (TYPE *)a.dest, (const TYPE *)a.dest, a.n, a.signal, 1, a.op, a.pe);
#define NONE
#define CTX a.ctx,
#define AT_SCOPE(NAME, TYPE, S)                                                                             \
    MOVES(, PLAIN, NAME, TYPE, S) MOVES(ctx_, IN_CTX, NAME, TYPE, S)                                        \
    STRIDED(, NONE, NAME, TYPE, S) STRIDED(ctx_, CTX, NAME, TYPE, S)                                        \
    SIGNALS(, NONE, NAME, TYPE, S) SIGNALS(ctx_, CTX, NAME, TYPE, S)
#define ONE(NAME, TYPE)                                                                                     \
    shmem_##NAME##_p((TYPE *)a.dest, shmem_##NAME##_g((const TYPE *)a.dest, a.pe), a.pe);                   \
    shmem_ctx_##NAME##_p(a.ctx, (TYPE *)a.dest, shmem_ctx_##NAME##_g(a.ctx, (const TYPE *)a.dest, a.pe), a.pe);

/* One kernel a type, to keep each small. */
#define RMA(NAME, TYPE)                                                                                     \
    __global__ void rma_##NAME(struct arguments a)                                                          \
    {                                                                                                       \
        AT_SCOPE(NAME, TYPE, ) AT_SCOPE(NAME, TYPE, _warp) AT_SCOPE(NAME, TYPE, _block) ONE(NAME, TYPE)     \
    }
WSH_DEVICE_TYPES(RMA)
WSH_HALF_TYPES(RMA)

#define SIZED_AT(BITS, S)                                                                                   \
    shmem_put##BITS##S(PLAIN(void)), shmem_put##BITS##_nbi##S(PLAIN(void));                                 \
    shmem_get##BITS##S(PLAIN(void)), shmem_get##BITS##_nbi##S(PLAIN(void));                                 \
    shmem_ctx_put##BITS##S(IN_CTX(void)), shmem_ctx_get##BITS##_nbi##S(IN_CTX(void));                       \
    shmem_iput##BITS##S(a.dest, a.dest, 2, 3, a.n, a.pe), shmem_iget##BITS##S(a.dest, a.dest, 2, 3, a.n, a.pe); \
    shmem_put##BITS##_signal##S(a.dest, a.dest, a.n, a.signal, 1, a.op, a.pe);                              \
    shmem_ctx_put##BITS##_signal_nbi##S(a.ctx, a.dest, a.dest, a.n, a.signal, 1, a.op, a.pe);
#define SIZED(BITS)                                                                                         \
    __global__ void sized_##BITS(struct arguments a)                                                        \
    {                                                                                                       \
        SIZED_AT(BITS, ) SIZED_AT(BITS, _warp) SIZED_AT(BITS, _block)                                       \
    }
WSH_SIZES(SIZED)

#define MEM_AT(S)                                                                                           \
    shmem_putmem##S(PLAIN(void)), shmem_putmem_nbi##S(PLAIN(void)), shmem_getmem##S(PLAIN(void));           \
    shmem_getmem_nbi##S(PLAIN(void)), shmem_ctx_putmem##S(IN_CTX(void)), shmem_ctx_getmem_nbi##S(IN_CTX(void)); \
    shmem_putmem_signal##S(a.dest, a.dest, a.n, a.signal, 1, a.op, a.pe);                                   \
    shmem_ctx_putmem_signal_nbi##S(a.ctx, a.dest, a.dest, a.n, a.signal, 1, a.op, a.pe);                    \
    shmemx_putmem_bulk##S(PLAIN(void), a.scratch, 1024), shmemx_getmem_bulk##S(PLAIN(void), a.scratch, 1024); \
    shmem_fence##S(), shmem_quiet##S(), shmem_ctx_fence##S(a.ctx), shmem_ctx_quiet##S(a.ctx);               \
    a.signal[0] += shmem_signal_wait_until##S(a.signal, a.cmp, 1);

__global__ void mem(struct arguments a)
{
    MEM_AT() MEM_AT(_warp) MEM_AT(_block)
    shmem_signal_set(a.signal, 1, a.pe), shmem_signal_add(a.signal, 1, a.pe), shmemx_signal_op(a.signal, 1, a.op, a.pe);
    shmem_ctx_signal_set(a.ctx, a.signal, shmem_signal_fetch(a.signal), a.pe);
    shmem_ctx_signal_add(a.ctx, a.signal, 1, a.pe);
    shmem_pe_quiet(a.status, a.n), shmem_ctx_pe_quiet(a.ctx, a.status, a.n);
    if (!a.n)
        shmem_global_exit(a.pe);
    a.indices[0] = (size_t)shmem_ptr(a.dest, a.pe) + (size_t)shmem_team_ptr(SHMEM_TEAM_SHARED, a.dest, a.pe);
}

#define QUEUE_AT(S)                                                                                          \
    shmemx_queue_putmem##S(PLAIN(void), 2), shmemx_queue_putmem_nbi##S(PLAIN(void), 2);                     \
    shmemx_queue_getmem##S(PLAIN(void), 2), shmemx_queue_getmem_nbi##S(PLAIN(void), 2);                     \
    shmemx_queue_putmem_signal##S(a.dest, a.dest, a.n, a.signal, 1, a.op, a.pe, 2);                         \
    shmemx_queue_putmem_signal_nbi##S(a.dest, a.dest, a.n, a.signal, 1, a.op, a.pe, 2);                     \
    shmemx_queue_quiet##S(a.status, 1), shmemx_queue_fence##S(a.status, SHMEMX_QUEUE_ALL);
#define QUEUE_ONE(TYPE)                                                                                      \
    shmemx_queue_p((TYPE *)a.dest, shmemx_queue_g((const TYPE *)a.dest, a.pe, 2), a.pe, 2);                  \
    shmemx_queue_p_behind((TYPE *)a.dest, (TYPE)1, a.pe, 2);
#define QUEUE_ADD(TYPE)                                                                                      \
    shmemx_queue_atomic_add((TYPE *)a.dest, 1, a.pe, 2), shmemx_queue_atomic_add_behind((TYPE *)a.dest, 1, a.pe, 2); \
    shmemx_queue_atomic_fetch_add((TYPE *)a.dest, 1, a.pe, 2);

__global__ void queued(struct arguments a)
{
    QUEUE_AT() QUEUE_AT(_warp) QUEUE_AT(_block)
    QUEUE_ONE(char) QUEUE_ONE(short) QUEUE_ONE(float) QUEUE_ONE(uint64_t)
    QUEUE_ADD(int) QUEUE_ADD(uint64_t)
    shmemx_queue_signal_op(a.signal, 1, a.op, a.pe, shmemx_queue_number(3));
    a.indices[0] = (size_t)shmemx_device_heap_peer_bases()[a.pe] + (size_t)shmemx_device_heap_base() +
                   (size_t)shmemx_queue_count();
    shmemx_float_atomic_add((float *)a.dest, 1, a.pe), shmemx_double_atomic_add((double *)a.dest, 1, a.pe);
    *(float *)a.scratch = shmemx_float_atomic_fetch_add((float *)a.dest, 1, a.pe) +
                          (float)shmemx_double_atomic_fetch_add((double *)a.dest, 1, a.pe);
}

#define SETS(NAME, TYPE, END, VALUE)                                                                        \
    shmem_##NAME##_wait_until_all##END(w, a.n, a.status, a.cmp, VALUE);                                     \
    r += shmem_##NAME##_wait_until_any##END(w, a.n, a.status, a.cmp, VALUE);                                \
    r += shmem_##NAME##_wait_until_some##END(w, a.n, a.indices, a.status, a.cmp, VALUE);                    \
    r += (size_t)shmem_##NAME##_test_all##END(w, a.n, a.status, a.cmp, VALUE);                              \
    r += shmem_##NAME##_test_any##END(w, a.n, a.status, a.cmp, VALUE);                                      \
    r += shmem_##NAME##_test_some##END(w, a.n, a.indices, a.status, a.cmp, VALUE);
#define WAITS_AT(NAME, TYPE, S)                                                                             \
    shmem_##NAME##_wait_until##S(w, a.cmp, 1), r += (size_t)shmem_##NAME##_test##S(w, a.cmp, 1);            \
    SETS(NAME, TYPE, S, (TYPE)1) SETS(NAME, TYPE, _vector##S, w)
#define WAITS(NAME, TYPE)                                                                                   \
    __global__ void wait_##NAME(struct arguments a)                                                         \
    {                                                                                                       \
        TYPE *w = (TYPE *)a.dest;                                                                           \
        size_t r = 0;                                                                                       \
        WAITS_AT(NAME, TYPE, ) WAITS_AT(NAME, TYPE, _warp) WAITS_AT(NAME, TYPE, _block)                     \
        *a.indices = r;                                                                                     \
    }
WSH_P2P_HOST_TYPES(WAITS)

#define TIMED_SETS(NAME, TYPE, FORM, S, VALUE)                                                              \
    r += shmemx_##NAME##_wait_until_all##FORM##_timeout##S(w, a.n, a.status, a.cmp, VALUE, 1.0);            \
    r += shmemx_##NAME##_wait_until_any##FORM##_timeout##S(w, a.n, a.status, a.cmp, VALUE, 1.0, a.indices); \
    r += shmemx_##NAME##_wait_until_some##FORM##_timeout##S(w, a.n, a.indices, a.status, a.cmp, VALUE, 1.0, a.indices);
#define TIMED_AT(NAME, TYPE, S)                                                                             \
    r += shmemx_##NAME##_wait_until_timeout##S(w, a.cmp, 1, 1.0);                                           \
    TIMED_SETS(NAME, TYPE, , S, (TYPE)1) TIMED_SETS(NAME, TYPE, _vector, S, w)                              \
    r += shmemx_signal_wait_until_timeout##S(a.signal, a.cmp, 1, 1.0, a.signal);                            \
    r += shmemx_counter_wait_until_timeout##S(SHMEMX_COUNTER_INVALID, 1, 1.0);
#define TIMED(NAME, TYPE)                                                                                   \
    __global__ void timed_##NAME(struct arguments a)                                                        \
    {                                                                                                       \
        TYPE *w = (TYPE *)a.dest;                                                                           \
        int r = shmemx_pe_failed(a.pe) + shmemx_team_broken(SHMEM_TEAM_WORLD);                              \
        TIMED_AT(NAME, TYPE, ) TIMED_AT(NAME, TYPE, _warp) TIMED_AT(NAME, TYPE, _block)                     \
        *a.indices = (size_t)r + shmemx_failure_generation();                                               \
    }
WSH_P2P_TYPES(TIMED)

#define VECTORS(NAME, TYPE)                                                                                 \
    __global__ void vector_##NAME(struct arguments a)                                                       \
    {                                                                                                       \
        TYPE *d = (TYPE *)a.dest;                                                                           \
        size_t *c = a.indices;                                                                              \
        int r = shmemx_##NAME##_alltoallv_block(SHMEM_TEAM_WORLD, d, c, c, d, c, c) +                       \
                shmemx_##NAME##_alltoallv_packed_nelems_block(SHMEM_TEAM_WORLD, d, c, c, a.n, 1, c, d, c, c) + \
                shmemx_##NAME##_alltoallv_grid(SHMEM_TEAM_WORLD, d, c, c, d, c, c) +                        \
                shmemx_##NAME##_alltoallv_packed_nelems_grid(SHMEM_TEAM_WORLD, d, c, c, a.n, 1, c, d, c, c); \
        *a.indices = (size_t)r;                                                                             \
    }
WSH_DEVICE_TYPES(VECTORS)
WSH_HALF_TYPES(VECTORS)
/* clang-format on */

/* Host code of the same source calls the library's functions, whose addresses these are. */
void (*host_put)(int *, const int *, size_t, int) = shmem_int_put;
int (*host_pe)(void) = shmem_my_pe;
