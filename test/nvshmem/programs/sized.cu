/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets by size (8 to 128 bits) and of bytes, blocking and not.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

/* 64 bytes by each routine, one after the other. */
__global__ void put_all(char *box, const char *mine, int peer)
{
    nvshmem_put8(box, mine, 64, peer);
    nvshmem_put16(box + 64, mine + 64, 32, peer);
    nvshmem_put32(box + 128, mine + 128, 16, peer);
    nvshmem_put64(box + 192, mine + 192, 8, peer);
    nvshmem_put128(box + 256, mine + 256, 4, peer);
    nvshmem_putmem(box + 320, mine + 320, 64, peer);
    nvshmem_put8_nbi(box + 384, mine + 384, 64, peer);
    nvshmem_put16_nbi(box + 448, mine + 448, 32, peer);
    nvshmem_put32_nbi(box + 512, mine + 512, 16, peer);
    nvshmem_put64_nbi(box + 576, mine + 576, 8, peer);
    nvshmem_put128_nbi(box + 640, mine + 640, 4, peer);
    nvshmem_putmem_nbi(box + 704, mine + 704, 64, peer);
    nvshmem_quiet();
}

__global__ void get_all(char *mine, const char *box, int peer)
{
    nvshmem_get8(mine, box, 64, peer);
    nvshmem_get16(mine + 64, box + 64, 32, peer);
    nvshmem_get32(mine + 128, box + 128, 16, peer);
    nvshmem_get64(mine + 192, box + 192, 8, peer);
    nvshmem_get128(mine + 256, box + 256, 4, peer);
    nvshmem_getmem(mine + 320, box + 320, 64, peer);
    nvshmem_get8_nbi(mine + 384, box + 384, 64, peer);
    nvshmem_get16_nbi(mine + 448, box + 448, 32, peer);
    nvshmem_get32_nbi(mine + 512, box + 512, 16, peer);
    nvshmem_get64_nbi(mine + 576, box + 576, 8, peer);
    nvshmem_get128_nbi(mine + 640, box + 640, 4, peer);
    nvshmem_getmem_nbi(mine + 704, box + 704, 64, peer);
    nvshmem_quiet();
}

enum { LEN = 768 };

static void fill(char *bytes, int pe)
{
    for (int i = 0; i < LEN; i++)
        bytes[i] = (char)(7 * pe + i % 101);
}

int main(void)
{
    begin();
    char *box = symmetric<char>(LEN), *mine = symmetric<char>(LEN), want[LEN], got[LEN];

    fill(want, me);
    to_device(mine, want, LEN);
    RUN(put_all<<<1, 1, 0, stream>>>(box, mine, right));
    nvshmem_barrier_all();
    to_host(got, box, LEN);
    fill(want, left);
    CHECK(!memcmp(got, want, LEN));
    CUDA(cudaMemsetAsync(mine, 0, LEN, stream));
    RUN(get_all<<<1, 1, 0, stream>>>(mine, box, right));
    to_host(got, mine, LEN);
    fill(want, me);
    CHECK(!memcmp(got, want, LEN));
    nvshmem_barrier_all();
    nvshmem_free(mine);
    nvshmem_free(box);
    return finish();
}
