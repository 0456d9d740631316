/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An alltoall by single elements: each of 512 threads puts what it has in a local variable, in shared or in constant
 * memory to each PE, one after the other; elements of 1 to 8 bytes, and a few at a stride from a local array.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { THREADS = 512, ROUNDS = 3, COUNT = THREADS * ROUNDS };

__constant__ short constant[4] = {11, 12, 13, 14};

__global__ void exchange(float *floats, char *chars, double *doubles, int mype, int npes)
{
    __shared__ double shared[THREADS];

    shared[threadIdx.x] = mype * 1000.5 + threadIdx.x;
    for (int i = threadIdx.x; i < COUNT; i += blockDim.x)
        for (int pe = 0; pe < npes; pe++) {
            float value = (float)(mype * COUNT + i);
            char letter = (char)(mype + i);

            nvshmem_float_put_nbi(floats + mype * COUNT + i, &value, 1, pe);
            nvshmem_char_put(chars + mype * COUNT + i, &letter, 1, pe);
            if (i < THREADS)
                nvshmem_double_put_nbi(doubles + mype * THREADS + i, &shared[i], 1, pe);
        }
    nvshmem_quiet();
}

/* Few elements; how many the compiler does not know. */
__global__ void few(short *shorts, int *ints, int *back, int mype, int npes, size_t n)
{
    int pe = (mype + threadIdx.x) % npes, three[4] = {mype, mype + 1, mype + 2, mype + 3}, got[4] = {}, one = 0;

    if (threadIdx.x >= npes)
        return;
    nvshmem_short_put_nbi(shorts + 4 * mype, constant, n, pe);
    nvshmem_int_iput(ints + 8 * mype, three, 2, 1, n, pe);
    nvshmem_quiet();
    nvshmem_int_iget(got, ints + 8 * mype, 1, 2, n, pe);
    nvshmem_int_get(&one, ints + 8 * mype, n / n, pe);
    for (int i = 0; i < 4; i++)
        back[4 * pe + i] = got[i] + 100 * (i == 0) * one;
}

int main(void)
{
    begin();
    float *floats = symmetric<float>(n * COUNT), *float_host = (float *)malloc(sizeof(float) * n * COUNT);
    char *chars = symmetric<char>(n * COUNT), *char_host = (char *)malloc(n * COUNT);
    double *doubles = symmetric<double>(n * THREADS), *double_host = (double *)malloc(sizeof(double) * n * THREADS);
    short *shorts = symmetric<short>(4 * n), short_host[4];
    int *ints = symmetric<int>(8 * n), *back = symmetric<int>(4 * n), host[8];

    nvshmem_barrier_all();
    RUN(exchange<<<1, THREADS, 0, stream>>>(floats, chars, doubles, me, n));
    RUN(few<<<1, 32, 0, stream>>>(shorts, ints, back, me, n, 3));
    nvshmem_barrier_all();
    to_host(float_host, floats, n * COUNT);
    to_host(char_host, chars, n * COUNT);
    to_host(double_host, doubles, n * THREADS);
    for (int pe = 0; pe < n; pe++) {
        for (int i = 0; i < COUNT; i++)
            CHECK(float_host[pe * COUNT + i] == (float)(pe * COUNT + i) && char_host[pe * COUNT + i] == (char)(pe + i));
        for (int i = 0; i < THREADS; i++)
            CHECK(double_host[pe * THREADS + i] == pe * 1000.5 + i);
        to_host(short_host, shorts + 4 * pe, 4);
        to_host(host, ints + 8 * pe, 8);
        for (int i = 0; i < 4; i++)
            CHECK(short_host[i] == (i < 3 ? 11 + i : 0) && host[2 * i] == (i < 3 ? pe + i : 0) && !host[2 * i + 1]);
        to_host(host, back + 4 * pe, 4);
        CHECK(host[0] == me + 100 * me && host[1] == me + 1 && host[2] == me + 2 && !host[3]);
    }
    free(float_host);
    free(char_host);
    free(double_host);
    return finish();
}
