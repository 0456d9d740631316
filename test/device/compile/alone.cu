/* SPDX-License-Identifier: BSD-3-Clause */
/* The header alone, twice, and after shmem.h: no kernel, no warning. */
#include <shmem.h>

#include <shmemx.h>

#include <shmem/device.cuh>

int nothing(void)
{
    return shmem_my_pe();
}
