/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of a unit that g++ compiles, which calls the host routines, and one that nvcc compiles, which has the
 * kernels.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

void launch_sum(int *box, const int *mine, int count, cudaStream_t on); /* mixed_kernels.cu */

int main()
{
    begin();
    enum { COUNT = 1000 };
    int *mine = symmetric<int>(COUNT), *box = symmetric<int>(COUNT), host[COUNT];

    for (int i = 0; i < COUNT; i++)
        host[i] = me + i;
    nvshmem_int_put(mine, host, COUNT, me);
    nvshmem_barrier_all();
    launch_sum(box, mine, COUNT, stream);
    CUDA(cudaStreamSynchronize(stream));
    nvshmem_barrier_all();
    nvshmem_int_get(host, box, COUNT, me);
    for (int i = 0; i < COUNT; i++)
        CHECK(host[i] == left + right + 2 * i);
    nvshmem_barrier_all();
    nvshmem_free(box);
    nvshmem_free(mine);
    return finish();
}
