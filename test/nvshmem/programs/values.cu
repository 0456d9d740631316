/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of peers' words in loops: sums of g, atomics whose old value nobody uses, or some; and loops that wait for a
 * word of a peer by g and by an atomic fetch, which see it change.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { THREADS = 256, TURNS = 37 };

/* Elements of the right one, many in a loop: one word again and again, and others in turn. */
__global__ void sums(const unsigned long long *words, const double *reals, const signed char *bytes,
                     double *out, int pe)
{
    unsigned long long sum = 0;
    double real = 0;
    int letters = 0;

    for (int i = 0; i < TURNS; i++) {
        sum += nvshmem_ulonglong_g(words + threadIdx.x, pe);
        real += nvshmem_double_g(reals + i * THREADS + threadIdx.x, pe);
        letters += nvshmem_schar_g(bytes + threadIdx.x, pe);
    }
    out[threadIdx.x] = (double)sum + real + letters;
}

/* Old values: none used, each used, the last one used. */
__global__ void changes(unsigned long long *words, int *ints, unsigned *turn, int pe, int npes)
{
    unsigned long long old = 0;

    for (int i = 0; i < TURNS; i++)
        (void)nvshmem_ulonglong_atomic_fetch_add(words, 1 + i, pe);
    for (int i = 0; i < TURNS; i++)
        old +=
            nvshmem_ulonglong_atomic_fetch_inc(words + 1, pe) >= (unsigned long long)(THREADS * TURNS * npes);
    if (old)
        (void)nvshmem_ulonglong_atomic_fetch_add(words + 2, old, pe); /* never */
    (void)nvshmem_int_atomic_swap(ints + threadIdx.x, 7, pe);
    for (int i = 7; i < 7 + TURNS; i++)
        (void)nvshmem_int_atomic_compare_swap(ints + threadIdx.x, i, i + 1, pe);
    nvshmem_uint_atomic_fetch_or(turn + 1, 1u << threadIdx.x % 32, pe);
    nvshmem_uint_atomic_fetch_xor(turn + 2, 0, pe);
    nvshmem_uint_atomic_fetch_and(turn + 3, ~(1u << threadIdx.x % 32), pe);
    nvshmem_quiet();
}

/* Each polls the word of the one before it, and then sets its own. */
__global__ void turns(unsigned *turn, int mype, int npes)
{
    int before = (mype + npes - 1) % npes;

    for (unsigned round = 1; round <= TURNS; round++) {
        if (mype && round % 2)
            while (nvshmem_uint_g(turn, before) < round)
                ;
        else if (mype)
            while (nvshmem_uint_atomic_fetch(turn, before) < round)
                ;
        else if (round > 1)
            while (nvshmem_uint_g(turn, before) < round - 1)
                ;
        nvshmem_uint_atomic_set(turn, round, mype);
    }
}

int main(void)
{
    begin();
    unsigned long long *words = symmetric<unsigned long long>(THREADS), word_host[THREADS];
    double *reals = symmetric<double>(TURNS * THREADS), *out = symmetric<double>(THREADS), out_host[THREADS];
    double *real_host = (double *)malloc(sizeof(double) * TURNS * THREADS);
    signed char *bytes = symmetric<signed char>(THREADS), byte_host[THREADS];
    int *ints = symmetric<int>(THREADS), int_host[THREADS];
    unsigned *turn = symmetric<unsigned>(4), bits[4] = {0, 0, 0, ~0u};

    for (int i = 0; i < THREADS; i++) {
        word_host[i] = me * 1000 + i;
        byte_host[i] = (signed char)(me - i);
    }
    for (int i = 0; i < TURNS * THREADS; i++)
        real_host[i] = me + i;
    to_device(words, word_host, THREADS);
    to_device(reals, real_host, TURNS * THREADS);
    to_device(bytes, byte_host, THREADS);
    to_device(turn, bits, 4);
    nvshmem_barrier_all();
    RUN(sums<<<1, THREADS, 0, stream>>>(words, reals, bytes, out, right));
    to_host(out_host, out, THREADS);
    for (int i = 0; i < THREADS; i++) {
        double real = 0;

        for (int j = 0; j < TURNS; j++)
            real += right + j * THREADS + i;
        CHECK(out_host[i] == TURNS * (right * 1000.0 + i) + real + TURNS * (signed char)(right - i));
    }
    nvshmem_barrier_all();
    CUDA(cudaMemsetAsync(words, 0, 3 * sizeof *words, stream));
    nvshmemx_barrier_all_on_stream(stream);
    RUN(changes<<<1, THREADS, 0, stream>>>(words, ints, turn, right, n));
    nvshmem_barrier_all();
    to_host(word_host, words, 3);
    to_host(int_host, ints, THREADS);
    to_host(bits, turn, 4);
    CHECK(word_host[0] == THREADS * TURNS * (TURNS + 1) / 2 && word_host[1] == THREADS * TURNS &&
          !word_host[2]);
    CHECK(bits[1] == ~0u && !bits[2] && !bits[3]);
    for (int i = 0; i < THREADS; i++)
        CHECK(int_host[i] == 7 + TURNS);
    RUN(turns<<<1, 1, 0, stream>>>(turn, me, n));
    CHECK(at(turn) == TURNS);
    free(real_host);
    return finish();
}
