/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels as programs for NVSHMEM have them: a ring, puts with signal and their waits, atomics, exchanges by a block,
 * reductions at each scope, teams in device code, a barrier by a warp group, queues. Called by streams.cu.
 */
#include "nvshmem.h"
#include "nvshmemx.h"

#include "check.h"

/* NVSHMEM's own performance tests have enumerators of these names. */
enum types { NVSHMEM_INT, NVSHMEM_LONG, NVSHMEM_SIZE, NVSHMEM_PTRDIFF };
enum ops { NVSHMEM_SUM, NVSHMEM_MIN, NVSHMEM_AND };
enum scopes { NVSHMEM_THREAD, NVSHMEM_WARP, NVSHMEM_BLOCK, NVSHMEM_ALL_SCOPES };

__global__ void simple_shift(int *destination)
{
    int mype = nvshmem_my_pe();
    int npes = nvshmem_n_pes();
    int peer = (mype + 1) % npes;

    nvshmem_int_p(destination, mype, peer);
}

/* Each block sends its part; the block that comes last announces all of them. */
__global__ void ring_put(const float *source, float *dest, size_t nelems, uint64_t *flag, unsigned *done)
{
    int peer = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
    size_t part = nelems / gridDim.x, from = blockIdx.x * part;

    nvshmemx_float_put_nbi_block(dest + from, source + from, part, peer);
    __syncthreads();
    if (threadIdx.x == 0) {
        nvshmem_quiet();
        if (atomicAdd(done, 1) == gridDim.x - 1)
            nvshmemx_signal_op(flag, 1, NVSHMEM_SIGNAL_SET, peer);
    }
}

__global__ void ring_signal(const double *source, double *dest, size_t nelems, uint64_t *flag)
{
    int peer = (nvshmem_my_pe() + 1) % nvshmem_n_pes();

    nvshmemx_double_put_signal_block(dest, source, nelems, flag, 5, NVSHMEM_SIGNAL_ADD, peer);
    if (threadIdx.x == 0)
        nvshmem_signal_wait_until(flag, NVSHMEM_CMP_GE, 5);
    __syncthreads();
}

__global__ void wait_for(uint64_t *flag, uint64_t value)
{
    nvshmem_uint64_wait_until(flag, NVSHMEM_CMP_EQ, value);
}

struct sums {
    unsigned long long count;
    float real;
    __half halves[2];
    int bits;
    short small;
    double wide;
    uint64_t counted;
};

__global__ void atomics(struct sums *sums)
{
    nvshmem_ulonglong_atomic_fetch_add(&sums->count, 2, 0);
    nvshmem_ulonglong_atomic_inc(&sums->count, 0);
    nvshmemx_float_atomic_add(&sums->real, 0.5f, 0);
    nvshmemx_double_atomic_fetch_add(&sums->wide, 0.25, 0);
    nvshmemx_half_atomic_add(&sums->halves[1], __float2half(1.0f), 0);
    nvshmem_uint_atomic_or((unsigned *)&sums->bits, 1u << nvshmem_my_pe(), 0);
    nvshmem_quiet();
    nvshmem_short_p(&sums->small, 7, (nvshmem_my_pe() + 1) % nvshmem_n_pes());
    nvshmem_short_wait_until(&sums->small, NVSHMEM_CMP_EQ, 7);
    nvshmemx_barrier_warp(NVSHMEM_TEAM_WORLD);
    nvshmemx_putmem_signal_counted_nbi_block(&sums->bits, &sums->bits, 0, &sums->counted, nvshmem_my_pe());
    nvshmemx_putmem_signal_counted_nbi_block(&sums->small, &sums->small, sizeof sums->small, &sums->counted,
                                             nvshmem_my_pe());
    nvshmemx_signal_counted_wait_until(&sums->counted, 2);
}

__global__ void exchange(nvshmem_team_t team, int *dest, const int *source, int *sum, int *numbers)
{
    nvshmemx_int_alltoall_block(team, dest, source, 4);
    nvshmemx_int_sum_reduce_block(team, sum, source, 1);
    nvshmemx_barrier_block(team);
    if (threadIdx.x < 128)
        nvshmemx_barrier_warpgroup(team);
    __syncthreads();
    if (threadIdx.x < 32)
        nvshmemx_half_put_nbi_warp((half *)numbers + 8, (const half *)source, 2, nvshmem_my_pe());
    if (threadIdx.x == 0) {
        numbers[0] = nvshmem_team_my_pe(team);
        numbers[1] = nvshmem_team_n_pes(team);
        numbers[2] = nvshmem_team_translate_pe(team, 0, NVSHMEM_TEAM_WORLD);
        nvshmem_fence();
    }
}

/* By a queue of the program. */
__global__ void queued(int *dest, const int *source, uint64_t *flag, nvshmemx_qp_handle_t queue)
{
    int peer = (nvshmem_my_pe() + 1) % nvshmem_n_pes();

    nvshmemx_qp_int_put_nbi_block(dest, source, 16, peer, queue);
    if (threadIdx.x == 0) {
        nvshmemx_qp_fence(peer, &queue, 1);
        nvshmemx_qp_signal_op(flag, 1, NVSHMEM_SIGNAL_SET, peer, queue);
        nvshmemx_qp_quiet(peer, &queue, 1);
    }
}

static void check_ring(void)
{
    int mype = nvshmem_my_pe(), npes = nvshmem_n_pes(), got;
    int *destination = (int *)nvshmem_malloc(sizeof(int));

    simple_shift<<<1, 1>>>(destination);
    nvshmemx_barrier_all_on_stream(0);
    CHECK_CUDA(cudaStreamSynchronize(0));
    CHECK_CUDA(cudaMemcpy(&got, destination, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got == (mype + npes - 1) % npes);
    nvshmem_free(destination);
}

static void check_signals(void)
{
    enum { N = 1 << 16 };
    int left = (nvshmem_my_pe() + nvshmem_n_pes() - 1) % nvshmem_n_pes();
    float *source = (float *)nvshmem_malloc(N * sizeof *source), *dest = (float *)nvshmem_malloc(N * sizeof *dest);
    uint64_t *flag = (uint64_t *)nvshmem_calloc(2, sizeof *flag);
    unsigned *done;
    float first[N];

    for (float &value : first)
        value = 1000.0f + nvshmem_my_pe();
    CHECK_CUDA(cudaMalloc(&done, sizeof *done));
    CHECK_CUDA(cudaMemset(done, 0, sizeof *done));
    CHECK_CUDA(cudaMemcpy(source, first, sizeof first, cudaMemcpyHostToDevice));
    nvshmem_barrier_all();
    ring_put<<<4, 256>>>(source, dest, N, flag, done);
    wait_for<<<1, 1>>>(flag, 1);
    CHECK_CUDA(cudaStreamSynchronize(0));
    CHECK_CUDA(cudaMemcpy(first, dest, sizeof first, cudaMemcpyDeviceToHost));
    CHECK(first[0] == 1000.0f + left && first[N - 1] == 1000.0f + left);
    nvshmem_barrier_all();
    ring_signal<<<1, 128>>>((const double *)source, (double *)dest, N / 2, flag + 1);
    CHECK_CUDA(cudaStreamSynchronize(0));
    nvshmem_barrier_all();
    nvshmem_free(flag);
    nvshmem_free(dest);
    nvshmem_free(source);
    cudaFree(done);
}

static void check_atomics(void)
{
    int npes = nvshmem_n_pes();
    struct sums *sums = (struct sums *)nvshmem_calloc(1, sizeof *sums), got;

    atomics<<<1, 32>>>(sums);
    CHECK_CUDA(cudaStreamSynchronize(0));
    nvshmem_barrier_all();
    nvshmem_getmem(&got, sums, sizeof got, 0);
    CHECK(got.count == 96ull * npes);
    CHECK(got.real == 16.0f * npes && got.wide == 8.0 * npes && got.counted == 2);
    CHECK(__half2float(got.halves[1]) == 32.0f * npes && __half2float(got.halves[0]) == 0.0f);
    CHECK(got.bits == (1 << npes) - 1);
    nvshmem_barrier_all();
    nvshmem_free(sums);
}

static void check_team(nvshmem_team_t team, int *words, int *got)
{
    int mine[4], n = nvshmem_team_n_pes(team), me = nvshmem_team_my_pe(team);

    for (int &value : mine)
        value = 10 + me;
    CHECK_CUDA(cudaMemset(words, 0, 1024 * sizeof *words));
    for (int i = 0; i < n; i++)
        CHECK_CUDA(cudaMemcpy(words + 4 * i, mine, sizeof mine, cudaMemcpyHostToDevice));
    nvshmem_barrier(team);
    exchange<<<1, 256>>>(team, words + 256, words, words + 512, words + 520);
    CHECK_CUDA(cudaStreamSynchronize(0));
    CHECK_CUDA(cudaMemcpy(got, words, 1024 * sizeof *words, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4 * n; i++)
        CHECK(got[256 + i] == 10 + i / 4);
    CHECK(got[512] == 10 * n + n * (n - 1) / 2);
    CHECK(got[520] == me && got[521] == n);
    CHECK(got[522] == nvshmem_team_translate_pe(team, 0, NVSHMEM_TEAM_WORLD));
    CHECK(got[524] == 10 + me);
    nvshmem_barrier(team);
}

static void check_teams(void)
{
    int *words = (int *)nvshmem_malloc(1024 * sizeof *words), got[1024];
    nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
    nvshmem_team_t odd = NVSHMEM_TEAM_INVALID, row, column;
    int half = nvshmem_my_pe() & 1, npes = nvshmem_n_pes();

    check_team(NVSHMEM_TEAM_WORLD, words, got);
    check_team(NVSHMEMX_TEAM_NODE, words, got);
    for (int i = 0; i < 2 && i < npes; i++) {
        nvshmem_team_t team;

        CHECK(!nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, i, 2, (npes + 1 - i) / 2, &config, 0, &team));
        odd = i == half ? team : odd;
    }
    check_team(odd, words, got);
    nvshmem_team_destroy(odd);
    CHECK(!nvshmem_team_split_2d(NVSHMEM_TEAM_WORLD, 2, &config, 0, &row, &config, 0, &column));
    check_team(row, words, got);
    check_team(column, words, got);
    nvshmem_team_destroy(column);
    nvshmem_team_destroy(row);
    nvshmem_free(words);
}

static void check_queue(void)
{
    int *words = (int *)nvshmem_calloc(32, sizeof *words), got[32];
    uint64_t *flag = (uint64_t *)nvshmem_calloc(1, sizeof *flag);
    nvshmemx_qp_handle_t *queues;

    CHECK(!nvshmemx_qp_create(2, &queues));
    CHECK_CUDA(cudaMemset(words, 1, 64));
    nvshmem_barrier_all();
    queued<<<1, 64>>>(words + 16, words, flag, queues[1]);
    wait_for<<<1, 1>>>(flag, 1);
    CHECK_CUDA(cudaStreamSynchronize(0));
    CHECK_CUDA(cudaMemcpy(got, words, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got[31] == 0x01010101);
    free(queues);
    nvshmem_barrier_all();
    nvshmem_free(flag);
    nvshmem_free(words);
}

void check_kernels(void)
{
    check_ring();
    check_signals();
    check_atomics();
    check_teams();
    check_queue();
}
