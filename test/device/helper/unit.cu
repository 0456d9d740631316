/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second translation unit with device code, linked into view_units and, as a shared object, loaded by it: puts this
 * PE's number plus `add` into word `shmem_my_pe()` of every PE.
 */
#include <shmemx.h>

static __global__ void put_number(int *words, int add)
{
    for (int pe = 0; pe < shmem_n_pes(); pe++)
        shmem_int_p(words + shmem_my_pe(), shmem_my_pe() + add, pe);
    shmem_quiet();
}

/* Launches it; the CUDA error, 0 for none. */
extern "C" int UNIT_NAME(int *words, int add)
{
    put_number<<<1, 1>>>(words, add);
    return (int)cudaGetLastError();
}
