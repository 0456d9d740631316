/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What header_cost.sh takes the time of; needs no GPU. -D says which routines the unit names: ONE_PUT, ONE_REDUCTION,
 * ONE_ON_STREAM, TEN_ROUTINES, TWENTY_COLLECTIVES; without, it includes the headers alone. With -DNVSHMEM_NAMES the
 * same in NVSHMEM's names, for the comparison.
 */
#ifdef NVSHMEM_NAMES
#include <nvshmem.h>
#include <nvshmemx.h>
#define THREAD(name) nvshmem_##name
#define WARP(name) nvshmemx_##name##_warp
#define BLOCK(name) nvshmemx_##name##_block
#define STREAM(name) nvshmemx_##name##_on_stream
#define SET NVSHMEM_SIGNAL_SET
#define ADD NVSHMEM_SIGNAL_ADD
#define WORLD NVSHMEM_TEAM_WORLD
#else
#include <shmemx.h>
#define THREAD(name) shmem_##name
#define WARP(name) shmem_##name##_warp
#define BLOCK(name) shmem_##name##_block
#define STREAM(name) shmemx_##name##_on_stream
#define SET SHMEM_SIGNAL_SET
#define ADD SHMEM_SIGNAL_ADD
#define WORLD SHMEM_TEAM_WORLD
#endif

#ifdef ONE_PUT
__global__ void one_put(int *dest, int *source, size_t n, int pe)
{
    THREAD(int_put)(dest, source, n, pe);
}
#endif

#ifdef ONE_REDUCTION
__global__ void one_reduction(int *dest, int *source, size_t n)
{
    THREAD(int_sum_reduce)(WORLD, dest, source, n);
}
#endif

#ifdef ONE_ON_STREAM
int one_on_stream(int *dest, int *source, size_t n, cudaStream_t stream)
{
    return STREAM(int_sum_reduce)(WORLD, dest, source, n, stream);
}
#endif

#ifdef TEN_ROUTINES
/* NAMES: the names at one scope. */
#define KERNEL(kernel, NAMES)                                                                 \
    __global__ void kernel(int *dest, int *source, size_t n, uint64_t *signal, int pe)        \
    {                                                                                         \
        NAMES(putmem)(dest, source, n, pe);                                                   \
        NAMES(int_put)(dest, source, n, pe);                                                  \
        NAMES(int_put_nbi)(dest, source, n, pe);                                              \
        NAMES(getmem)(dest, source, n, pe);                                                   \
        NAMES(int_get_nbi)(dest, source, n, pe);                                              \
        NAMES(int_iput)(dest, source, 2, 1, n, pe);                                           \
        NAMES(int_iget)(dest, source, 1, 2, n, pe);                                           \
        NAMES(putmem_signal)(dest, source, n, signal, 1, SET, pe);                            \
        NAMES(int_put_signal)(dest, source, n, signal, 1, SET, pe);                           \
        NAMES(int_put_signal_nbi)(dest, source, n, signal, 1, ADD, pe);                       \
    }

KERNEL(thread_scope, THREAD)
KERNEL(warp_scope, WARP)
KERNEL(block_scope, BLOCK)
#endif

#ifdef TWENTY_COLLECTIVES
#define KERNEL(NAME, TYPE)                                                    \
    __global__ void NAME##_collectives(TYPE *dest, TYPE *source, size_t n)    \
    {                                                                         \
        BLOCK(NAME##_sum_reduce)(WORLD, dest, source, n);                     \
        BLOCK(NAME##_max_reduce)(WORLD, dest, source, n);                     \
        BLOCK(NAME##_fcollect)(WORLD, dest, source, n);                       \
        BLOCK(NAME##_broadcast)(WORLD, dest, source, n, 0);                   \
        BLOCK(NAME##_alltoall)(WORLD, dest, source, n);                       \
    }

KERNEL(int, int)
KERNEL(long, long)
KERNEL(float, float)
KERNEL(double, double)
#endif
