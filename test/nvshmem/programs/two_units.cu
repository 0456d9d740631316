/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of two units with -rdc=true: a kernel of this one calls a device function of the other, which has a
 * kernel too.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

__device__ void far_send(int *box, int value, int peer); /* two_units_second.cu */
void far_launch(int *box, cudaStream_t on);

__global__ void send(int *box)
{
    far_send(box, 10 + nvshmem_my_pe(), (nvshmem_my_pe() + 1) % nvshmem_n_pes());
}

int main(void)
{
    begin();
    int *box = symmetric<int>(2);

    RUN(send<<<1, 1, 0, stream>>>(box));
    far_launch(box + 1, stream);
    nvshmemx_barrier_all_on_stream(stream);
    CHECK(at(box) == 10 + left && at(box + 1) == 20 + left);
    nvshmem_free(box);
    return finish();
}
