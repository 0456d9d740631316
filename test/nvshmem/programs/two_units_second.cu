/* SPDX-License-Identifier: BSD-3-Clause */
/* The second unit of two_units.cu. */
#include <nvshmem.h>
#include <nvshmemx.h>

__device__ void far_send(int *box, int value, int peer)
{
    nvshmem_int_p(box, value, peer);
    nvshmem_quiet();
}

__global__ void send_too(int *box)
{
    far_send(box, 20 + nvshmem_my_pe(), (nvshmem_my_pe() + 1) % nvshmem_n_pes());
}

void far_launch(int *box, cudaStream_t on)
{
    send_too<<<1, 1, 0, on>>>(box);
}
