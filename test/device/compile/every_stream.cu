/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every point-to-point routine on streams with every type of its table, and every move of a collective, compiles and
 * is called with the types of its contract: nothing here runs.
 */
#include <shmemx.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct arguments {
    void *dest;
    size_t n, *counts;
    uint64_t *signal;
    const int *status;
    int cmp, op, pe;
    shmem_team_t team;
    cudaStream_t stream;
};

/* clang-format off */
#define PLAIN(TYPE) (TYPE *)a.dest, (const TYPE *)a.dest, a.n, a.pe, a.stream
#define STRIDED(TYPE) (TYPE *)a.dest, (const TYPE *)a.dest, 2, 3, a.n, a.pe, a.stream
#define SIGNAL(TYPE) (TYPE *)a.dest, (const TYPE *)a.dest, a.n, a.signal, 1, a.op, a.pe, a.stream
#define VECTOR(TYPE) a.team, (TYPE *)a.dest, a.counts, a.counts
#define MOVED(TYPE) a.team, (TYPE *)a.dest, (const TYPE *)a.dest, a.n
#define RMA(NAME, TYPE)                                                                                     \
    int rma_##NAME(struct arguments a)                                                                      \
    {                                                                                                       \
        shmemx_##NAME##_p_on_stream((TYPE *)a.dest,                                                         \
                                    shmemx_##NAME##_g_on_stream((const TYPE *)a.dest, a.pe, a.stream), a.pe, \
                                    a.stream);                                                              \
        return shmemx_##NAME##_put_on_stream(PLAIN(TYPE)) + shmemx_##NAME##_put_nbi_on_stream(PLAIN(TYPE)) + \
               shmemx_##NAME##_get_on_stream(PLAIN(TYPE)) + shmemx_##NAME##_get_nbi_on_stream(PLAIN(TYPE)) + \
               shmemx_##NAME##_iput_on_stream(STRIDED(TYPE)) +                                              \
               shmemx_##NAME##_iget_on_stream(STRIDED(TYPE)) +                                              \
               shmemx_##NAME##_put_signal_on_stream(SIGNAL(TYPE)) +                                         \
               shmemx_##NAME##_put_signal_nbi_on_stream(SIGNAL(TYPE));                                      \
    }                                                                                                       \
    int moves_##NAME(struct arguments a)                                                                    \
    {                                                                                                       \
        return shmemx_##NAME##_alltoall_on_stream(MOVED(TYPE), a.stream) +                                  \
               shmemx_##NAME##_alltoalls_on_stream(a.team, (TYPE *)a.dest, (const TYPE *)a.dest, 2, 3, a.n,     \
                                                   a.stream) +                                              \
               shmemx_##NAME##_fcollect_on_stream(MOVED(TYPE), a.stream) +                                  \
               shmemx_##NAME##_collect_on_stream(MOVED(TYPE), a.stream) +                                   \
               shmemx_##NAME##_alltoallv_on_stream(VECTOR(TYPE), (const TYPE *)a.dest, a.counts, a.counts, a.stream) + \
               shmemx_##NAME##_alltoallv_packed_nelems_on_stream(VECTOR(TYPE), a.n, 1, a.counts,                \
                                                                 (const TYPE *)a.dest, a.counts, a.counts, a.stream) + \
               shmemx_##NAME##_broadcast_on_stream(MOVED(TYPE), a.pe, a.stream);                            \
    }
WSH_DEVICE_TYPES(RMA)
WSH_HALF_TYPES(RMA)

#define SIZED(BITS)                                                                                         \
    int sized_##BITS(struct arguments a)                                                                    \
    {                                                                                                       \
        return shmemx_put##BITS##_on_stream(PLAIN(void)) + shmemx_put##BITS##_nbi_on_stream(PLAIN(void)) +  \
               shmemx_get##BITS##_on_stream(PLAIN(void)) + shmemx_get##BITS##_nbi_on_stream(PLAIN(void)) +  \
               shmemx_iput##BITS##_on_stream(STRIDED(void)) + shmemx_iget##BITS##_on_stream(STRIDED(void)) + \
               shmemx_put##BITS##_signal_on_stream(SIGNAL(void)) +                                          \
               shmemx_put##BITS##_signal_nbi_on_stream(SIGNAL(void));                                       \
    }
WSH_SIZES(SIZED)

#define WAIT(NAME, TYPE)                                                                                    \
    int wait_##NAME(struct arguments a)                                                                     \
    {                                                                                                       \
        TYPE *w = (TYPE *)a.dest;                                                                           \
                                                                                                            \
        return shmemx_##NAME##_wait_until_on_stream(w, a.cmp, 1, a.stream) +                                \
               shmemx_##NAME##_wait_until_all_on_stream(w, a.n, a.status, a.cmp, 1, a.stream) +             \
               shmemx_##NAME##_wait_until_all_vector_on_stream(w, a.n, a.status, a.cmp, w, a.stream);       \
    }
WSH_P2P_HOST_TYPES(WAIT)
/* clang-format on */

int mem(struct arguments a)
{
    return shmemx_putmem_on_stream(PLAIN(void)) + shmemx_putmem_nbi_on_stream(PLAIN(void)) +
           shmemx_getmem_on_stream(PLAIN(void)) + shmemx_getmem_nbi_on_stream(PLAIN(void)) +
           shmemx_putmem_signal_on_stream(SIGNAL(void)) + shmemx_putmem_signal_nbi_on_stream(SIGNAL(void)) +
           shmemx_signal_op_on_stream(a.signal, 1, a.op, a.pe, a.stream) +
           shmemx_signal_wait_until_on_stream(a.signal, a.cmp, 1, a.stream) + shmemx_quiet_on_stream(a.stream) +
           shmemx_alltoallmem_on_stream(MOVED(void), a.stream) +
           shmemx_alltoallsmem_on_stream(a.team, a.dest, a.dest, 2, 3, a.n, a.stream) +
           shmemx_collectmem_on_stream(MOVED(void), a.stream) + shmemx_fcollectmem_on_stream(MOVED(void), a.stream) +
           shmemx_alltoallvmem_on_stream(VECTOR(void), a.dest, a.counts, a.counts, a.stream) +
           shmemx_alltoallvmem_packed_nelems_on_stream(VECTOR(void), a.n, 1, a.counts, a.dest, a.counts, a.counts,
                                                       a.stream) +
           shmemx_broadcastmem_on_stream(MOVED(void), a.pe, a.stream);
}
