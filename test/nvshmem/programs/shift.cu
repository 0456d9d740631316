/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first program of every introduction: each PE stores its number at its right neighbour.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

__global__ void simple_shift(int *destination)
{
    int mype = nvshmem_my_pe();
    int npes = nvshmem_n_pes();

    nvshmem_int_p(destination, mype, (mype + 1) % npes);
}

int main(void)
{
    int *destination, major, minor;
    char name[NVSHMEM_MAX_NAME_LEN];

    CHECK(nvshmemx_init_status() == NVSHMEM_STATUS_NOT_INITIALIZED);
    begin();
    CHECK(nvshmemx_init_status() >= NVSHMEM_STATUS_IS_INITIALIZED);
    nvshmem_info_get_version(&major, &minor);
    nvshmem_info_get_name(name);
    CHECK(major == NVSHMEM_MAJOR_VERSION && minor == NVSHMEM_MINOR_VERSION && *name);
    destination = symmetric<int>(1);
    simple_shift<<<1, 1, 0, stream>>>(destination);
    nvshmemx_barrier_all_on_stream(stream);
    CHECK(at(destination) == left);
    nvshmem_free(destination);
    return finish();
}
