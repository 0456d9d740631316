/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets by warps and by blocks, blocking and not, of bytes and of floats, of lengths that fit nothing.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { LEN = 10007 };

__global__ void by_warps(char *to, const char *from, int peer)
{
    int warp = threadIdx.x / 32, warps = blockDim.x / 32, part = (LEN + warps - 1) / warps, at = warp * part;
    int len = at + part < LEN ? part : LEN - at;

    if (warp % 2)
        nvshmemx_putmem_warp(to + at, from + at, len, peer);
    else
        nvshmemx_putmem_nbi_warp(to + at, from + at, len, peer);
    nvshmemx_getmem_warp(to + LEN + at, from + at, len, peer);
    nvshmemx_getmem_nbi_warp(to + 2 * LEN + at, from + at, len, peer);
    __syncthreads();
    if (threadIdx.x == 0)
        nvshmem_quiet();
}

__global__ void by_blocks(float *to, const float *from, int peer)
{
    int part = LEN / gridDim.x, at = blockIdx.x * part;

    nvshmemx_float_put_block(to + at, from + at, part, peer);
    nvshmemx_float_put_nbi_block(to + LEN + at, from + at, part, peer);
    nvshmemx_float_get_block(to + 2 * LEN + at, from + at, part, peer);
    nvshmemx_float_get_nbi_block(to + 3 * LEN + at, from + at, part, peer);
    __syncthreads();
    if (threadIdx.x == 0)
        nvshmem_quiet();
}

template <class T>
static void check(const T *device, int parts, int len)
{
    T *host = (T *)malloc(parts * LEN * sizeof(T));

    to_host(host, device, parts * LEN);
    for (int part = 0; part < parts; part++)
        for (int i = 0; i < len; i++)
            CHECK(host[part * LEN + i] == (T)((part < parts - 2 ? left : right) + i % 50));
    free(host);
}

template <class T>
static T *pattern(void)
{
    T *device = symmetric<T>(LEN), *host = (T *)malloc(LEN * sizeof(T));

    for (int i = 0; i < LEN; i++)
        host[i] = (T)(me + i % 50);
    to_device(device, host, LEN);
    free(host);
    return device;
}

int main(void)
{
    begin();
    char *bytes = pattern<char>(), *to_bytes = symmetric<char>(3 * LEN);
    float *floats = pattern<float>(), *to_floats = symmetric<float>(4 * LEN);

    nvshmem_barrier_all();
    RUN(by_warps<<<1, 256, 0, stream>>>(to_bytes, bytes, right));
    RUN(by_blocks<<<4, 256, 0, stream>>>(to_floats, floats, right));
    nvshmem_barrier_all();
    check(to_bytes, 3, LEN);
    check(to_floats, 4, LEN / 4 * 4);
    nvshmem_free(to_floats);
    nvshmem_free(floats);
    nvshmem_free(to_bytes);
    nvshmem_free(bytes);
    return finish();
}
