/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A distributed histogram: each PE owns a range of the bins; counts are gathered in shared memory and added once a
 * block.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { BINS = 128, VALUES = 1 << 14, BLOCKS = 4 };

__global__ void histogram(unsigned *bins, const int *values)
{
    __shared__ unsigned counts[BINS];
    int npes = nvshmem_n_pes(), each = (BINS + npes - 1) / npes;

    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        counts[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < VALUES; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[values[i] % BINS], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        if (counts[i])
            nvshmem_uint_atomic_add(bins + i % each, counts[i], i / each);
    nvshmem_quiet();
}

int main(void)
{
    begin();
    int each = (BINS + n - 1) / n, *values = symmetric<int>(VALUES), *host = (int *)malloc(VALUES * sizeof(int));
    unsigned *bins = symmetric<unsigned>(BINS), got[BINS], want[BINS] = {0};

    for (int pe = 0; pe < n; pe++)
        for (int i = 0; i < VALUES; i++) {
            int value = (int)(((unsigned)i * 2654435761u >> 7) + 31 * pe);

            want[value % BINS]++;
            if (pe == me)
                host[i] = value;
        }
    to_device(values, host, VALUES);
    nvshmem_barrier_all();
    RUN(histogram<<<BLOCKS, 128, 0, stream>>>(bins, values));
    nvshmem_barrier_all();
    to_host(got, bins, BINS);
    for (int i = 0; i < each && me * each + i < BINS; i++)
        CHECK(got[i] == want[me * each + i]);
    nvshmem_barrier_all();
    free(host);
    nvshmem_free(bins);
    nvshmem_free(values);
    return finish();
}
