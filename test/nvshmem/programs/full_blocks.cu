/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of 1024 threads without launch bounds call puts, gets and collectives by the block and by its warps; they
 * start, by a collective launch too, whose query says that there is room.
 * paths: gpu:2,4 gpu1:2 gpumixed:2
 * timeout: 120
 */
#include "program.cuh"

enum { FULL = 1024, WORDS = 8192 };

__global__ void moves(int *box, const int *source, uint64_t *arrived, int to, int words)
{
    int warp = threadIdx.x / 32, part = words / 32;

    nvshmemx_int_put_block(box, source, words, to);
    nvshmemx_int_put_nbi_warp(box + words + warp * part, source + warp * part, part, to);
    nvshmem_quiet();
    nvshmemx_int_put_signal_block(box + 2 * words, source, words, arrived, 1, NVSHMEM_SIGNAL_ADD, to);
    nvshmem_signal_wait_until(arrived, NVSHMEM_CMP_GE, 1);
    __syncthreads();
    nvshmemx_int_get_block(box + 3 * words, box + 2 * words, words, to);
    nvshmemx_int_get_nbi_warp(box + 4 * words + warp * part, box + 2 * words + warp * part, part, to);
    nvshmem_quiet();
    nvshmemx_barrier_all_block();
}

__global__ void collectives(int *box, const int *source, int words, int npes)
{
    nvshmemx_int_fcollect_block(NVSHMEM_TEAM_WORLD, box, source, words / npes);
    nvshmemx_int_alltoall_block(NVSHMEM_TEAM_WORLD, box + words, source, words / npes);
    nvshmemx_int_broadcast_block(NVSHMEM_TEAM_WORLD, box + 2 * words, source, words, 0);
    nvshmemx_int_sum_reduce_block(NVSHMEM_TEAM_WORLD, box + 3 * words, source, words);
    nvshmemx_barrier_all_block();
}

static int word(int pe, int i)
{
    return pe * 100000 + i;
}

static void check_moves(const int *host)
{
    for (int i = 0; i < WORDS; i++)
        CHECK(host[i] == word(left, i) && host[WORDS + i] == word(left, i) && host[2 * WORDS + i] == word(left, i) &&
              host[3 * WORDS + i] == word(me, i) && host[4 * WORDS + i] == word(me, i));
}

static void check_collectives(const int *host)
{
    int each = WORDS / n;

    for (int i = 0; i < each * n; i++)
        CHECK(host[i] == word(i / each, i % each) && host[WORDS + i] == word(i / each, me * each + i % each));
    for (int i = 0; i < WORDS; i++)
        CHECK(host[2 * WORDS + i] == word(0, i) && host[3 * WORDS + i] == n * i + n * (n - 1) / 2 * 100000);
}

int main(void)
{
    int words = WORDS, blocks = 0, *host = (int *)malloc(5 * WORDS * sizeof(int));

    begin();
    int *box = symmetric<int>(5 * WORDS), *source = symmetric<int>(WORDS), to = right, npes = n;
    uint64_t *arrived = symmetric<uint64_t>(1);
    void *args[] = {&box, &source, &words, &npes}, *of_moves[] = {&box, &source, &arrived, &to, &words};

    for (int i = 0; i < WORDS; i++)
        host[i] = word(me, i);
    to_device(source, host, WORDS);
    nvshmem_barrier_all();
    RUN(moves<<<1, FULL, 0, stream>>>(box, source, arrived, to, words));
    to_host(host, box, 5 * WORDS);
    check_moves(host);
    nvshmem_barrier_all();
    CHECK(!nvshmemx_collective_launch_query_gridsize((const void *)collectives, dim3(FULL), args, 0, &blocks));
    CHECK(blocks > 0);
    RUN(CHECK(!nvshmemx_collective_launch((const void *)collectives, dim3(1), dim3(FULL), args, 0, stream)));
    to_host(host, box, 4 * WORDS);
    check_collectives(host);
    CUDA(cudaMemsetAsync(arrived, 0, sizeof *arrived, stream));
    CUDA(cudaStreamSynchronize(stream));
    nvshmem_barrier_all();
    RUN(CHECK(!nvshmemx_collective_launch((const void *)moves, dim3(1), dim3(FULL), of_moves, 0, stream)));
    to_host(host, box, 5 * WORDS);
    check_moves(host);
    free(host);
    return finish();
}
