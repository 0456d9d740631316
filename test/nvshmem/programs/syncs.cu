/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread, a warp or a block has stored to its own memory before a sync, its peers read after it, by g, by get
 * and by loads; and puts are complete after a quiet and a sync.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { WORDS = 512, ROUNDS = 400 };

__device__ int value(int pe, int round, int i)
{
    return pe * 1000003 + round * 1009 + i;
}

/* By the first `lanes` threads; SYNC: of these. */
template <class SYNC>
__device__ void rounds(SYNC sync, int lanes, int *own, int *put, int *got, int mype, int npes,
                       unsigned *wrong)
{
    int peer = (mype + 1) % npes, before = (mype + npes - 1) % npes;
    const int *direct = (const int *)nvshmem_ptr(own, peer);

    if (threadIdx.x >= lanes)
        return;
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = threadIdx.x; i < WORDS; i += lanes) {
            own[i] = value(mype, round, i);
            nvshmem_int_p(put + i, value(mype, -round, i), peer);
        }
        nvshmem_quiet();
        sync();
        for (int i = threadIdx.x; i < WORDS; i += lanes) {
            nvshmem_int_get(got + i, own + i, 1, peer);
            if (nvshmem_int_g(own + i, peer) != value(peer, round, i) || got[i] != value(peer, round, i) ||
                (direct && *(const volatile int *)(direct + i) != value(peer, round, i)) ||
                *(volatile int *)(put + i) != value(before, -round, i))
                atomicAdd(wrong, 1u);
        }
        sync();
    }
}

__global__ void threads(int *own, int *put, int *got, int mype, int npes, unsigned *wrong)
{
    rounds([] { nvshmem_sync_all(); }, 1, own, put, got, mype, npes, wrong);
}

__global__ void warps(int *own, int *put, int *got, int mype, int npes, unsigned *wrong)
{
    rounds([] { nvshmemx_sync_all_warp(); }, 32, own, put, got, mype, npes, wrong);
}

__global__ void blocks(int *own, int *put, int *got, int mype, int npes, unsigned *wrong)
{
    rounds([] { nvshmemx_team_sync_block(NVSHMEM_TEAM_WORLD); }, blockDim.x, own, put, got, mype, npes,
           wrong);
}

int main(void)
{
    begin();
    int *own = symmetric<int>(WORDS), *put = symmetric<int>(WORDS), *got = symmetric<int>(WORDS);
    unsigned *wrong = symmetric<unsigned>(1);

    nvshmem_barrier_all();
    RUN(threads<<<1, 32, 0, stream>>>(own, put, got, me, n, wrong));
    RUN(warps<<<1, 64, 0, stream>>>(own, put, got, me, n, wrong));
    RUN(blocks<<<1, 256, 0, stream>>>(own, put, got, me, n, wrong));
    CHECK(at(wrong) == 0);
    return finish();
}
