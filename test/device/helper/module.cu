/* SPDX-License-Identifier: BSD-3-Clause */
/* A module for view_module: loaded by the driver API, as a cubin or compiled by NVRTC. */
#include <shmemx.h>

extern "C" __global__ void put_number(int *words, int add)
{
    for (int pe = 0; pe < shmem_n_pes(); pe++)
        shmem_int_p(words + shmem_my_pe(), shmem_my_pe() + add, pe);
    shmem_quiet();
}
