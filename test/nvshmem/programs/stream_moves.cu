/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts, gets, signals, waits and quiet on a stream, between kernels of the program and without a word of the host.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { COUNT = 5000 };

__global__ void scale(float *values, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < COUNT)
        values[i] *= factor;
}

int main(void)
{
    begin();
    float *values = symmetric<float>(COUNT), *box = symmetric<float>(3 * COUNT);
    float *host = (float *)malloc(3 * COUNT * sizeof *host);
    uint64_t *flags = symmetric<uint64_t>(3);

    for (int i = 0; i < COUNT; i++)
        host[i] = 100 * me + i % 10;
    to_device(values, host, COUNT);
    nvshmem_barrier_all();
    scale<<<(COUNT + 255) / 256, 256, 0, stream>>>(values, 2);
    nvshmemx_float_put_on_stream(box, values, COUNT, right, stream);
    nvshmemx_quiet_on_stream(stream);
    nvshmemx_signal_op_on_stream(flags, 1, NVSHMEM_SIGNAL_SET, right, stream);
    nvshmemx_putmem_signal_on_stream(box + COUNT, values, COUNT * sizeof(float), flags + 1, 1, NVSHMEM_SIGNAL_ADD,
                                     right, stream);
    nvshmemx_signal_wait_until_on_stream(flags, NVSHMEM_CMP_EQ, 1, stream);
    nvshmemx_uint64_wait_until_on_stream(flags + 1, NVSHMEM_CMP_GE, 1, stream);
    scale<<<(COUNT + 255) / 256, 256, 0, stream>>>(box, 0.5f);
    scale<<<(COUNT + 255) / 256, 256, 0, stream>>>(box + COUNT, 0.5f);
    nvshmemx_getmem_on_stream(box + 2 * COUNT, values, COUNT * sizeof(float), right, stream);
    scale<<<(COUNT + 255) / 256, 256, 0, stream>>>(box + 2 * COUNT, 0.5f);
    to_host(host, box, 3 * COUNT);
    for (int i = 0; i < 3 * COUNT; i++)
        CHECK(host[i] == 100 * (i < 2 * COUNT ? left : right) + i % 10);
    nvshmem_barrier_all();
    nvshmemx_float_iput_on_stream(box + 1, values, 2, 1, 10, right, stream);
    nvshmemx_put64_nbi_on_stream(box + 100, values, 20, right, stream);
    nvshmemx_float_put_signal_nbi_on_stream(box + 200, values, 40, flags + 2, 7, NVSHMEM_SIGNAL_SET, right, stream);
    nvshmemx_barrier_all_on_stream(stream);
    to_host(host, box, 240);
    CHECK(host[1] == 200 * left && host[19] == 200 * left + 18);
    for (int i = 0; i < 40; i++)
        CHECK(host[100 + i] == 200 * left + 2 * (i % 10) && host[200 + i] == host[100 + i]);
    CHECK(at(flags + 2) == 7);
    nvshmem_barrier_all();
    nvshmem_free(values);
    return finish();
}
