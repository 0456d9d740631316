/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pipeline through all PEs: each adds its number to a chunk and passes it on by a put with signal; a window of
 * chunks is in flight, and the receiver gives places back.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { CHUNKS = 64, CHUNK = 512, WINDOW = 4 };

/* arrived: chunks in my box; taken: chunks that my successor has taken. */
__global__ void stage(int *box, int *out, int *results, uint64_t *arrived, uint64_t *taken)
{
    int mype = nvshmem_my_pe(), npes = nvshmem_n_pes();

    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        int place = chunk % WINDOW * CHUNK;

        if (mype > 0 && threadIdx.x == 0)
            nvshmem_signal_wait_until(arrived, NVSHMEM_CMP_GE, chunk + 1);
        if (mype < npes - 1 && chunk >= WINDOW && threadIdx.x == 0)
            nvshmem_signal_wait_until(taken, NVSHMEM_CMP_GE, chunk - WINDOW + 1);
        __syncthreads();
        for (int i = threadIdx.x; i < CHUNK; i += blockDim.x) {
            int value = mype ? box[place + i] + mype : 1000 * chunk + i;

            (mype == npes - 1 ? results + chunk * CHUNK : out + place)[i] = value;
        }
        __syncthreads();
        if (mype > 0 && threadIdx.x == 0)
            nvshmemx_signal_op(taken, 1, NVSHMEM_SIGNAL_ADD, mype - 1);
        if (mype < npes - 1)
            nvshmemx_int_put_signal_nbi_block(box + place, out + place, CHUNK, arrived, 1, NVSHMEM_SIGNAL_ADD,
                                              mype + 1);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        nvshmem_quiet();
}

int main(void)
{
    begin();
    int *box = symmetric<int>(WINDOW * CHUNK), *out = symmetric<int>(WINDOW * CHUNK);
    int *results = symmetric<int>(CHUNKS * CHUNK), *host = (int *)malloc(CHUNKS * CHUNK * sizeof(int));
    uint64_t *words = symmetric<uint64_t>(2);

    nvshmem_barrier_all();
    RUN(stage<<<1, 128, 0, stream>>>(box, out, results, words, words + 1));
    nvshmem_barrier_all();
    if (me == n - 1) {
        to_host(host, results, CHUNKS * CHUNK);
        for (int i = 0; i < CHUNKS * CHUNK; i++)
            CHECK(host[i] == 1000 * (i / CHUNK) + i % CHUNK + n * (n - 1) / 2);
    }
    free(host);
    nvshmem_free(words);
    nvshmem_free(results);
    nvshmem_free(out);
    nvshmem_free(box);
    return finish();
}
