/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program for NVSHMEM whose host code g++ compiles: puts, signals, waits and collectives on streams, reductions on
 * the host, and a launch of a kernel that a unit of nvcc has, all by libnvshmem_host.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2
 * timeout: 300
 */
#include <nvshmem.h>
#include <nvshmemx.h>

#include "check.h"

extern const void *const kernel_of_the_other_unit;

static cudaStream_t stream;

/* Words here that device memory shall have, and back, in the order of the stream. */
static void to_gpu(void *dest, const void *source, size_t len)
{
    CHECK_CUDA(cudaMemcpyAsync(dest, source, len, cudaMemcpyHostToDevice, stream));
}

static void from_gpu(void *dest, const void *source, size_t len)
{
    CHECK_CUDA(cudaMemcpyAsync(dest, source, len, cudaMemcpyDeviceToHost, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
}

static void check_puts()
{
    enum { N = 1 << 18 };
    int me = nvshmem_my_pe(), npes = nvshmem_n_pes(), right = (me + 1) % npes, left = (me + npes - 1) % npes;
    int *source = (int *)nvshmem_malloc(N * sizeof(int)), *dest = (int *)nvshmem_malloc(N * sizeof(int)), got[4];
    uint64_t *flag = (uint64_t *)nvshmem_calloc(2, sizeof *flag);

    for (int len : {3, 1000, +N}) {
        int last = 100 * me + len % 7;

        to_gpu(source + len - 1, &last, sizeof last);
        nvshmemx_int_put_signal_on_stream(dest, source, (size_t)len, flag, 1, NVSHMEM_SIGNAL_ADD, right, stream);
        nvshmemx_signal_wait_until_on_stream(flag, NVSHMEM_CMP_GT, 0, stream);
        from_gpu(got, dest + len - 1, sizeof *got);
        CHECK(got[0] == 100 * left + len % 7);
        nvshmemx_uint64_p_on_stream(flag, 0, me, stream);
        nvshmemx_barrier_all_on_stream(stream);
    }
    nvshmemx_int_iput_on_stream(dest + 10, source + N - 1, 2, 1, 1, right, stream);
    nvshmemx_half_p_on_stream((half *)(dest + 20), __float2half(1.5f), right, stream);
    nvshmemx_barrier_all_on_stream(stream);
    CHECK(nvshmemx_int_g_on_stream(dest + 10, me, stream) == 100 * left + N % 7);
    CHECK(__half2float(nvshmemx_half_g_on_stream((half *)(dest + 20), left, stream)) == 1.5f);
    nvshmemx_getmem_on_stream(dest, source, N * sizeof(int), right, stream);
    from_gpu(got, dest + N - 1, sizeof *got);
    CHECK(got[0] == 100 * right + N % 7);
    nvshmemx_uint64_p_on_stream(flag + 1, 7, right, stream);
    nvshmem_uint64_wait_until(flag + 1, NVSHMEM_CMP_EQ, 7);
    nvshmem_barrier_all();
    nvshmem_free(flag);
    nvshmem_free(dest);
    nvshmem_free(source);
}

/* Small, and by several blocks; signs matter to the smallest and the largest. */
template <class T>
static void check_sums(int (*sum)(nvshmem_team_t, T *, const T *, size_t, cudaStream_t),
                       int (*least)(nvshmem_team_t, T *, const T *, size_t, cudaStream_t), bool has_sign)
{
    enum { N = 40000 };
    int me = nvshmem_my_pe(), npes = nvshmem_n_pes();
    T *source = (T *)nvshmem_malloc(N * sizeof(T)), *dest = (T *)nvshmem_malloc(N * sizeof(T));
    T *here = (T *)malloc(N * sizeof(T));

    for (size_t len : {(size_t)1, (size_t)100, (size_t)N}) {
        for (size_t i = 0; i < len; i++)
            here[i] = (T)((int)(i % 5) + me);
        to_gpu(source, here, len * sizeof(T));
        CHECK(!sum(NVSHMEM_TEAM_WORLD, dest, source, len, stream));
        from_gpu(here, dest, len * sizeof(T));
        for (size_t i = 0; i < len; i++)
            CHECK(here[i] == (T)((int)(i % 5) * npes + npes * (npes - 1) / 2));
        for (size_t i = 0; i < len; i++)
            here[i] = (T)(has_sign ? me - 1 : me + 1);
        to_gpu(source, here, len * sizeof(T));
        CHECK(!least(NVSHMEM_TEAM_WORLD, dest, source, len, stream));
        from_gpu(here, dest, len * sizeof(T));
        for (size_t i = 0; i < len; i++)
            CHECK(here[i] == (T)(has_sign ? -1 : 1));
    }
    nvshmem_barrier_all();
    free(here);
    nvshmem_free(dest);
    nvshmem_free(source);
}

static void check_collectives()
{
    int me = nvshmem_my_pe(), npes = nvshmem_n_pes(), mine = me + 1, got[64];
    int *words = (int *)nvshmem_calloc(256, sizeof *words);
    half *halves = (half *)(words + 128), part = __float2half(0.5f), whole;

    to_gpu(words, &mine, sizeof mine);
    to_gpu(halves, &part, sizeof part);
    CHECK(!nvshmemx_int_fcollect_on_stream(NVSHMEM_TEAM_WORLD, words + 1, words, 1, stream));
    CHECK(!nvshmemx_int_broadcast_on_stream(NVSHMEM_TEAM_WORLD, words + 100, words, 1, npes - 1, stream));
    CHECK(!nvshmemx_half_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, halves + 1, halves, 1, stream));
    CHECK(!nvshmemx_barrier_on_stream(NVSHMEM_TEAM_WORLD, stream));
    from_gpu(got, words + 1, sizeof(int) * (size_t)npes);
    for (int i = 0; i < npes; i++)
        CHECK(got[i] == i + 1);
    from_gpu(got, words + 100, sizeof *got);
    from_gpu(&whole, halves + 1, sizeof whole);
    CHECK(got[0] == npes && __half2float(whole) == 0.5f * (float)npes);
    CHECK(!nvshmem_int_max_reduce(NVSHMEM_TEAM_WORLD, words + 101, words, 1));
    from_gpu(got, words + 101, sizeof *got);
    CHECK(got[0] == npes);
    nvshmem_barrier_all();
    nvshmem_free(words);
    check_sums<signed char>(nvshmemx_schar_sum_reduce_on_stream, nvshmemx_schar_min_reduce_on_stream, true);
    check_sums<unsigned short>(nvshmemx_ushort_sum_reduce_on_stream, nvshmemx_ushort_min_reduce_on_stream, false);
    check_sums<int>(nvshmemx_int_sum_reduce_on_stream, nvshmemx_int_min_reduce_on_stream, true);
    check_sums<uint64_t>(nvshmemx_uint64_sum_reduce_on_stream, nvshmemx_uint64_min_reduce_on_stream, false);
    check_sums<long>(nvshmemx_long_sum_reduce_on_stream, nvshmemx_long_min_reduce_on_stream, true);
    check_sums<float>(nvshmemx_float_sum_reduce_on_stream, nvshmemx_float_min_reduce_on_stream, true);
    check_sums<double>(nvshmemx_double_sum_reduce_on_stream, nvshmemx_double_min_reduce_on_stream, true);
}

static void check_launch()
{
    int *target = (int *)nvshmem_calloc(1, sizeof *target), add = 5, got, grid = 0;
    void *args[] = {&target, &add};

    CHECK(nvshmemx_collective_launch_query_gridsize(kernel_of_the_other_unit, dim3(64), args, 0, &grid) ==
              NVSHMEMX_SUCCESS &&
          grid > 0);
    CHECK(nvshmemx_collective_launch(kernel_of_the_other_unit, dim3(2), dim3(64), args, 0, stream) ==
          NVSHMEMX_SUCCESS);
    nvshmemx_barrier_all_on_stream(stream);
    from_gpu(&got, target, sizeof got);
    CHECK(got == 5 + (nvshmem_my_pe() + nvshmem_n_pes() - 1) % nvshmem_n_pes());
    nvshmem_barrier_all();
    nvshmem_free(target);
}

int main()
{
    int devices;

    setenv("CUDA_MODULE_LOADING", "EAGER", 1); /* as programs do whose own kernels wait */
    nvshmem_init();
    CHECK_CUDA(cudaGetDeviceCount(&devices));
    CHECK_CUDA(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    check_puts();
    check_collectives();
    check_launch();
    CHECK_CUDA(cudaStreamDestroy(stream));
    nvshmem_finalize();
    return 0;
}
