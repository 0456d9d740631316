/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts with signal: typed, sized and of bytes, by a thread, a warp and a block, blocking and not, setting and adding.
 * Data is there when its signal is.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { KINDS = 12, PART = 64 };

__global__ void send(int *box, const int *mine, uint64_t *flags, int peer)
{
    if (threadIdx.x == 0) {
        nvshmem_int_put_signal(box, mine, PART, flags, 5, NVSHMEM_SIGNAL_SET, peer);
        nvshmem_int_put_signal_nbi(box + PART, mine, PART, flags + 1, 5, NVSHMEM_SIGNAL_ADD, peer);
        nvshmem_put32_signal(box + 2 * PART, mine, PART, flags + 2, 5, NVSHMEM_SIGNAL_SET, peer);
        nvshmem_put64_signal_nbi(box + 3 * PART, mine, PART / 2, flags + 3, 5, NVSHMEM_SIGNAL_ADD, peer);
        nvshmem_putmem_signal(box + 4 * PART, mine, PART * sizeof(int), flags + 4, 5, NVSHMEM_SIGNAL_ADD, peer);
        nvshmem_putmem_signal_nbi(box + 5 * PART, mine, PART * sizeof(int), flags + 5, 5, NVSHMEM_SIGNAL_SET, peer);
    }
    if (threadIdx.x / 32 == 1) {
        nvshmemx_int_put_signal_warp(box + 6 * PART, mine, PART, flags + 6, 5, NVSHMEM_SIGNAL_ADD, peer);
        nvshmemx_put128_signal_nbi_warp(box + 7 * PART, mine, PART / 4, flags + 7, 5, NVSHMEM_SIGNAL_SET, peer);
        nvshmemx_putmem_signal_warp(box + 8 * PART, mine, PART * sizeof(int), flags + 8, 5, NVSHMEM_SIGNAL_SET, peer);
    }
    nvshmemx_int_put_signal_block(box + 9 * PART, mine, PART, flags + 9, 5, NVSHMEM_SIGNAL_SET, peer);
    nvshmemx_float_put_signal_nbi_block((float *)box + 10 * PART, (const float *)mine, PART, flags + 10, 5,
                                        NVSHMEM_SIGNAL_ADD, peer);
    nvshmemx_putmem_signal_nbi_block(box + 11 * PART, mine, PART * sizeof(int), flags + 11, 5, NVSHMEM_SIGNAL_ADD,
                                     peer);
}

/* A warp for each kind: nothing else says that the data has come. */
__global__ void receive(const int *box, uint64_t *flags, int first, int *wrong)
{
    int kind = threadIdx.x / 32, lane = threadIdx.x % 32;

    if (lane == 0)
        nvshmem_signal_wait_until(flags + kind, NVSHMEM_CMP_EQ, 5);
    __syncwarp();
    for (int i = lane; i < PART; i += 32)
        if (box[kind * PART + i] != first + i)
            atomicAdd(wrong, 1);
}

int main(void)
{
    begin();
    int *box = symmetric<int>(KINDS * PART), *mine = symmetric<int>(PART), *wrong = symmetric<int>(1), host[PART];
    uint64_t *flags = symmetric<uint64_t>(KINDS);

    for (int i = 0; i < PART; i++)
        host[i] = 1000 * (me + 1) + i;
    to_device(mine, host, PART);
    nvshmem_barrier_all();
    send<<<1, 64, 0, stream>>>(box, mine, flags, right);
    RUN(receive<<<1, 32 * KINDS, 0, stream>>>(box, flags, 1000 * (left + 1), wrong));
    CHECK(at(wrong) == 0);
    nvshmem_barrier_all();
    nvshmem_free(flags);
    nvshmem_free(wrong);
    nvshmem_free(mine);
    nvshmem_free(box);
    return finish();
}
