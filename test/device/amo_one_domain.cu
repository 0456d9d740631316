/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One word in device memory is incremented, and added to by signals, at once by kernels of all PEs (their own GPU's,
 * NVLink peers' and, by the proxy, those of other hosts) and by the host API of all PEs: no increment is lost. The same
 * with a lock word, by compare and swap.
 * paths: gpu:2,4 gpuipc:2,4 gpureg:2,4 gpu1:2,4,8 gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4
 * timeout: 300
 */
#include "test/device/dev.cuh"

enum { BLOCKS = 8, THREADS = 128 };

__global__ void increment(uint64_t *word, unsigned *narrow, int pe, unsigned each)
{
    for (unsigned n = 0; n < each; n++) {
        if (n % 3 == 0)
            shmem_uint64_atomic_inc(word, pe);
        else if (n % 3 == 1)
            shmem_uint64_atomic_fetch_add(word, 1, pe);
        else
            shmemx_signal_op(word, 1, SHMEM_SIGNAL_ADD, pe);
        shmem_uint_atomic_add(narrow, 1, pe);
    }
}

/* Under the lock a plain read, add and write of a word at `pe`. */
__global__ void lock_and_add(int *lock, int *sum, int pe, unsigned each)
{
    for (unsigned n = 0; n < each; n++) {
        while (shmem_int_atomic_compare_swap(lock, 0, 1 + shmem_my_pe(), pe))
            continue;
        shmem_quiet(); /* acquires */
        shmem_int_p(sum, shmem_int_g(sum, pe) + 1, pe);
        shmem_quiet();
        shmem_int_atomic_set(lock, 0, pe);
    }
}

int main(void)
{
    unsigned each, host_each;
    uint64_t *word, all;
    unsigned *narrow;
    int *lock;

    dev_begin();
    each = (unsigned)(dev_has_other_hosts() ? mp_rounds(20, 250) : mp_rounds(500, 1000));
    host_each = (unsigned)mp_rounds(1000, 10000);
    word = (uint64_t *)dev_alloc(8);
    narrow = (unsigned *)dev_alloc(8);
    lock = (int *)dev_alloc(256);
    all = (uint64_t)mp_npes * (BLOCKS * THREADS * each + host_each);
    for (int pe = 0; pe < mp_npes; pe++) {
        dev_case("%lu increments of a word of PE %d", (unsigned long)all, pe);
        increment<<<BLOCKS, THREADS>>>(word, narrow, pe, each);
        for (unsigned n = 0; n < host_each; n++) {
            shmem_uint64_atomic_add(word, 1, pe);
            shmem_uint_atomic_inc(narrow, pe);
        }
        dev_wait();
        shmem_barrier_all();
        mp_check(shmem_uint64_g(word, pe) == all, "sum %lu, not %lu", (unsigned long)shmem_uint64_g(word, pe),
                 (unsigned long)all);
        mp_check(shmem_uint_g(narrow, pe) == (unsigned)all, "32-bit sum %u", shmem_uint_g(narrow, pe));
        shmem_barrier_all();
    }
    dev_case("a lock by compare and swap");
    lock_and_add<<<1, 1>>>(lock, lock + 32, 0, each);
    dev_wait();
    shmem_barrier_all();
    mp_check(shmem_int_g(lock + 32, 0) == mp_npes * (int)each, "%d under the lock, not %d", shmem_int_g(lock + 32, 0),
             mp_npes * (int)each);
    return dev_end();
}
