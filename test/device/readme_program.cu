/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of all PEs send a row to the right, and each waits for the row from the left. */
#include <shmemx.h>
#include <stdio.h>

__global__ void send(int *row, const int *mine, uint64_t *arrived, int n)
{
    int right = (shmem_my_pe() + 1) % shmem_n_pes();

    shmem_putmem_nbi_warp(row, mine, n * sizeof *row, right);
    shmem_fence_warp();
    if (threadIdx.x == 0) {
        shmem_uint64_p(arrived, 1, right);
        shmem_uint64_wait_until(arrived, SHMEM_CMP_EQ, 1);
    }
}

int main(void)
{
    int n = 1000, first = -1, gpus = 0;

    shmem_init();
    cudaGetDeviceCount(&gpus);
    if (gpus > 0)
        cudaSetDevice(shmem_my_pe() % gpus);
    int *row = (int *)shmemx_malloc_device(n * sizeof *row), *mine = (int *)shmemx_malloc_device(n * sizeof *mine);
    uint64_t *arrived = (uint64_t *)shmemx_calloc_device(1, sizeof *arrived);
    if (!arrived)
        return 1;
    cudaMemset(mine, shmem_my_pe(), n * sizeof *mine);
    shmem_barrier_all();
    send<<<1, 32>>>(row, mine, arrived, n);
    cudaMemcpy(&first, row, sizeof first, cudaMemcpyDeviceToHost);
    printf("PE %d received the row of PE %d\n", shmem_my_pe(), first & 0xff);
    shmem_finalize();
    return 0;
}
