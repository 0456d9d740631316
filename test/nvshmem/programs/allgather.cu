/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-gather by puts: each block sends its piece to a PE of its own, and waits for that PE's piece.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { PIECE = 10000 };

__global__ void gather(int *all, const int *mine, uint64_t *flags)
{
    int mype = nvshmem_my_pe(), peer = (mype + blockIdx.x) % nvshmem_n_pes();

    nvshmemx_int_put_nbi_block(all + mype * PIECE, mine, PIECE, peer);
    __syncthreads();
    if (threadIdx.x == 0) {
        nvshmem_fence();
        nvshmemx_signal_op(flags + mype, 1, NVSHMEM_SIGNAL_ADD, peer);
        nvshmem_signal_wait_until(flags + peer, NVSHMEM_CMP_EQ, 1);
        nvshmem_quiet();
    }
}

int main(void)
{
    begin();
    int *all = symmetric<int>(n * PIECE), *mine = symmetric<int>(PIECE);
    int *host = (int *)malloc(n * PIECE * sizeof(int));
    uint64_t *flags = symmetric<uint64_t>(n);

    for (int i = 0; i < PIECE; i++)
        host[i] = 1000000 * me + i;
    to_device(mine, host, PIECE);
    nvshmem_barrier_all();
    RUN(gather<<<n, 256, 0, stream>>>(all, mine, flags));
    to_host(host, all, n * PIECE);
    for (int i = 0; i < n * PIECE; i++)
        CHECK(host[i] == 1000000 * (i / PIECE) + i % PIECE);
    nvshmem_barrier_all();
    free(host);
    nvshmem_free(flags);
    nvshmem_free(mine);
    nvshmem_free(all);
    return finish();
}
