/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each routine at each scope in a kernel of its own, without launch bounds: registers.sh asks the assembler whether a
 * block of 1024 threads can start each. Nothing here runs.
 */
#include <shmemx.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct args {
    char *dest;
    const char *source;
    size_t n;
    uint64_t *signal;
    shmem_team_t team;
    const int *status;
    size_t *indices;
    shmemx_counter_t counter;
    const shmemx_put_t *puts;
    int cmp, op, pe;
};

/* clang-format off */
/* Of the parts those that are defined: WSH_FULL_MOVES, _LISTS, _WAITS, _COLLECTIVES, _REDUCTIONS and its _TYPES. */
#define KERNEL(NAME, ...)                                 \
    __global__ void NAME(struct args a)                   \
    {                                                     \
        __VA_ARGS__;                                      \
    }
#define SCOPES(X) X(thread, ) X(warp, _warp) X(block, _block)

#ifdef WSH_FULL_MOVES
#define MOVES(SCOPE, S)                                                                                     \
    KERNEL(putmem_##SCOPE, shmem_putmem##S(a.dest, a.source, a.n, a.pe))                                    \
    KERNEL(putmem_nbi_##SCOPE, shmem_putmem_nbi##S(a.dest, a.source, a.n, a.pe))                            \
    KERNEL(getmem_##SCOPE, shmem_getmem##S(a.dest, a.source, a.n, a.pe))                                    \
    KERNEL(getmem_nbi_##SCOPE, shmem_getmem_nbi##S(a.dest, a.source, a.n, a.pe))                            \
    KERNEL(put_##SCOPE, shmem_float_put##S((float *)a.dest, (const float *)a.source, a.n, a.pe))            \
    KERNEL(put_nbi_##SCOPE, shmem_float_put_nbi##S((float *)a.dest, (const float *)a.source, a.n, a.pe))    \
    KERNEL(get_##SCOPE, shmem_float_get##S((float *)a.dest, (const float *)a.source, a.n, a.pe))            \
    KERNEL(get_nbi_##SCOPE, shmem_float_get_nbi##S((float *)a.dest, (const float *)a.source, a.n, a.pe))    \
    KERNEL(iput_##SCOPE, shmem_float_iput##S((float *)a.dest, (const float *)a.source, 2, 3, a.n, a.pe))    \
    KERNEL(iget_##SCOPE, shmem_float_iget##S((float *)a.dest, (const float *)a.source, 2, 3, a.n, a.pe))    \
    KERNEL(iput128_##SCOPE, shmem_iput128##S(a.dest, a.source, 2, 3, a.n, a.pe))                            \
    KERNEL(iget128_##SCOPE, shmem_iget128##S(a.dest, a.source, 2, 3, a.n, a.pe))                            \
    KERNEL(put_signal_##SCOPE, shmem_putmem_signal##S(a.dest, a.source, a.n, a.signal, 1, a.op, a.pe))      \
    KERNEL(put_signal_nbi_##SCOPE, shmem_putmem_signal_nbi##S(a.dest, a.source, a.n, a.signal, 1, a.op, a.pe)) \
    KERNEL(put_counted_##SCOPE, shmemx_putmem_counted_nbi##S(a.dest, a.source, a.n, a.counter, a.pe))       \
    KERNEL(put_bulk_##SCOPE, extern __shared__ char scratch[];                                              \
           shmemx_putmem_bulk##S(a.dest, a.source, a.n, a.pe, scratch, 8192))                               \
    KERNEL(get_bulk_##SCOPE, extern __shared__ char scratch[];                                              \
           shmemx_getmem_bulk##S(a.dest, a.source, a.n, a.pe, scratch, 8192))                               \
    KERNEL(queue_put_##SCOPE, shmemx_queue_putmem_nbi##S(a.dest, a.source, a.n, a.pe, a.op))                \
    KERNEL(queue_get_##SCOPE, shmemx_queue_getmem##S(a.dest, a.source, a.n, a.pe, a.op))                    \
    KERNEL(queue_put_signal_##SCOPE,                                                                        \
           shmemx_queue_putmem_signal_nbi##S(a.dest, a.source, a.n, a.signal, 1, a.op, a.pe, a.cmp))        \
    KERNEL(queue_quiet_##SCOPE, shmemx_queue_quiet##S(a.status, (int)a.n))                                  \
    KERNEL(quiet_##SCOPE, shmem_quiet##S())                                                                 \
    KERNEL(fence_##SCOPE, shmem_fence##S())
SCOPES(MOVES)
#define WORDS(TYPE, NAME)                                                                                   \
    KERNEL(p_##NAME, shmem_##NAME##_p((TYPE *)a.dest, (TYPE)a.n, a.pe))                                     \
    KERNEL(g_##NAME, *(TYPE *)a.dest = shmem_##NAME##_g((const TYPE *)a.source, a.pe))                      \
    KERNEL(amo_##NAME, *(TYPE *)a.dest = shmem_##NAME##_atomic_fetch_add((TYPE *)a.source, (TYPE)a.n, a.pe)) \
    KERNEL(cas_##NAME, *(TYPE *)a.dest = shmem_##NAME##_atomic_compare_swap((TYPE *)a.source, 1, 2, a.pe))  \
    KERNEL(inc_##NAME, shmem_##NAME##_atomic_inc((TYPE *)a.dest, a.pe))
WORDS(int, int)
WORDS(uint64_t, uint64)
KERNEL(add_float, shmemx_float_atomic_add((float *)a.dest, 1, a.pe))
KERNEL(signal_op, shmemx_signal_op(a.signal, a.n, a.op, a.pe))

/* Loops that ask for values, of which several are to be on their way at once. */
KERNEL(g_again, uint64_t sum = 0; for (size_t i = 0; i < a.n; i++) sum += shmem_uint64_g(a.signal, a.pe);
       *a.indices = sum)
KERNEL(adds_unused, for (size_t i = 0; i < a.n; i++) shmem_uint64_atomic_fetch_add(a.signal, i, a.pe); shmem_quiet())

/* As in a loop of many threads, each with an element for each PE. */
KERNEL(puts_of_elements, for (size_t i = threadIdx.x; i < a.n; i += blockDim.x)
       for (int pe = 0; pe < a.pe; pe++) {
           float value = (float)i;
           shmem_float_put_nbi((float *)a.dest + (size_t)a.op * a.n + i, &value, 1, pe);
       })
KERNEL(puts_of_blocks, for (int pe = 0; pe < a.pe; pe++)
       shmem_putmem_signal_nbi_block(a.dest + (size_t)a.op * a.n, a.source + (size_t)pe * a.n, a.n, a.signal, 1,
                                     SHMEM_SIGNAL_ADD, pe);
       shmem_signal_wait_until_block(a.signal, SHMEM_CMP_GE, (uint64_t)a.pe))
#endif

#ifdef WSH_FULL_LISTS
#define LISTS(SCOPE, S) KERNEL(put_list_##SCOPE, shmemx_putmem_list_nbi##S(a.puts, a.n))
SCOPES(LISTS)
#endif

#ifdef WSH_FULL_WAITS
#define WAITS(SCOPE, S)                                                                                     \
    KERNEL(signal_wait_##SCOPE, *a.indices = shmem_signal_wait_until##S(a.signal, a.cmp, 1))                \
    KERNEL(wait_##SCOPE, shmem_int_wait_until##S((int *)a.dest, a.cmp, 1))                                  \
    KERNEL(test_##SCOPE, *a.indices = (size_t)shmem_int_test##S((int *)a.dest, a.cmp, 1))                   \
    KERNEL(wait_all_##SCOPE, shmem_int_wait_until_all##S((int *)a.dest, a.n, a.status, a.cmp, 1))           \
    KERNEL(wait_any_##SCOPE, *a.indices = shmem_int_wait_until_any##S((int *)a.dest, a.n, a.status, a.cmp, 1)) \
    KERNEL(wait_some_##SCOPE,                                                                               \
           a.indices[a.n] = shmem_int_wait_until_some##S((int *)a.dest, a.n, a.indices, a.status, a.cmp, 1)) \
    KERNEL(counter_wait_##SCOPE, shmemx_counter_wait_until##S(a.counter, a.n))
SCOPES(WAITS)
#endif

#ifdef WSH_FULL_COLLECTIVES
#define COLLECTIVES(SCOPE, S)                                                                               \
    KERNEL(barrier_all_##SCOPE, shmem_barrier_all##S())                                                     \
    KERNEL(sync_all_##SCOPE, shmem_sync_all##S())                                                           \
    KERNEL(team_barrier_##SCOPE, shmemx_team_barrier##S(a.team))                                            \
    KERNEL(team_sync_##SCOPE, shmem_team_sync##S(a.team))                                                   \
    KERNEL(alltoall_##SCOPE, shmem_alltoallmem##S(a.team, a.dest, a.source, a.n))                           \
    KERNEL(alltoalls_##SCOPE,                                                                               \
           shmem_float_alltoalls##S(a.team, (float *)a.dest, (const float *)a.source, 2, 3, a.n))           \
    KERNEL(fcollect_##SCOPE, shmem_fcollectmem##S(a.team, a.dest, a.source, a.n))                           \
    KERNEL(collect_##SCOPE, shmem_collectmem##S(a.team, a.dest, a.source, a.n))                             \
    KERNEL(broadcast_##SCOPE, shmem_broadcastmem##S(a.team, a.dest, a.source, a.n, a.pe))
SCOPES(COLLECTIVES)
KERNEL(alltoallv_block, shmemx_alltoallvmem_block(a.team, a.dest, a.indices, a.indices, a.source, a.indices, a.indices))
KERNEL(alltoallv_packed_block,
       shmemx_alltoallvmem_packed_nelems_block(a.team, a.dest, a.indices, a.indices, a.n, 1, a.indices, a.source,
                                               a.indices, a.indices))
KERNEL(alltoallv_grid, shmemx_alltoallvmem_grid(a.team, a.dest, a.indices, a.indices, a.source, a.indices, a.indices))
#endif

#ifdef WSH_FULL_REDUCTIONS
#define REDUCE(SCOPE, S, NAME, TYPE, OP)                                                                    \
    KERNEL(NAME##_##OP##_##SCOPE,                                                                           \
           shmem_##NAME##_##OP##_reduce##S(a.team, (TYPE *)a.dest, (const TYPE *)a.source, a.n))            \
    KERNEL(NAME##_##OP##scatter_##SCOPE,                                                                    \
           shmemx_##NAME##_##OP##_reducescatter##S(a.team, (TYPE *)a.dest, (const TYPE *)a.source, a.n))
#define SCAN(SCOPE, S, NAME, TYPE)                                                                          \
    KERNEL(NAME##_scan_##SCOPE,                                                                             \
           shmem_##NAME##_sum_inscan##S(a.team, (TYPE *)a.dest, (const TYPE *)a.source, a.n))
#define REDUCTIONS(SCOPE, S)                    \
    REDUCE(SCOPE, S, float, float, sum)         \
    SCAN(SCOPE, S, float, float)
#define MORE(SCOPE, S)                          \
    REDUCE(SCOPE, S, uchar, unsigned char, xor) \
    REDUCE(SCOPE, S, short, short, prod)        \
    REDUCE(SCOPE, S, int, int, max)             \
    REDUCE(SCOPE, S, double, double, min)       \
    REDUCE(SCOPE, S, int64, int64_t, and)       \
    REDUCE(SCOPE, S, half, __half, sum)         \
    REDUCE(SCOPE, S, bfloat16, __nv_bfloat16, sum) \
    SCAN(SCOPE, S, int64, int64_t)              \
    SCAN(SCOPE, S, half, __half)
SCOPES(REDUCTIONS)
#ifdef WSH_FULL_TYPES
SCOPES(MORE)
#endif
#endif
