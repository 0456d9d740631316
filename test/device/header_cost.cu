/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A unit that uses ten routines at three scopes: what header_cost.sh takes the time of. Needs no GPU. With
 * -DNVSHMEM_NAMES the same in NVSHMEM's names, for the comparison.
 */
#ifdef NVSHMEM_NAMES
#include <nvshmem.h>
#include <nvshmemx.h>
#define THREAD(name) nvshmem_##name
#define WARP(name) nvshmemx_##name##_warp
#define BLOCK(name) nvshmemx_##name##_block
#define SET NVSHMEM_SIGNAL_SET
#define ADD NVSHMEM_SIGNAL_ADD
#else
#include <shmemx.h>
#define THREAD(name) shmem_##name
#define WARP(name) shmem_##name##_warp
#define BLOCK(name) shmem_##name##_block
#define SET SHMEM_SIGNAL_SET
#define ADD SHMEM_SIGNAL_ADD
#endif

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
