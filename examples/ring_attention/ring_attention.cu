/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of ring_attention.c in memory of the GPU, as work of two streams: one moves blocks to the right by puts
 * with signal, the other computes. The host enters all steps into the streams and waits for the result alone.
 *
 *   oshnvcc -O2 -o ring_attention_gpu ring_attention.cu && oshrun -n 4 ./ring_attention_gpu
 */
#include "attention.h"

#include "../gpu.cuh"

#include <shmemx.h>

#include <stdio.h>
#include <stdlib.h>

static_assert(TOKENS == WIDTH, "a thread of attend() is a token first, then a column");

struct attention {
    int me, n;
    /* Symmetric: */
    float *blocks[2];    /* keys and values of even and of odd steps */
    uint64_t *arrived;   /* the step whose block has come */
    uint64_t *free_from; /* the right neighbour's buffer of step - 1 may be written in this step */
    /* This PE's alone: */
    float *queries, *out;  /* [TOKENS][WIDTH] */
    float *highest, *sums; /* [TOKENS] of a query's scores so far; of their exponentials */
    cudaStream_t moves, computes;
    cudaEvent_t block_there, block_used;
};

static __global__ void fill(struct attention a)
{
    int token = a.me * TOKENS + blockIdx.x, column = threadIdx.x, i = blockIdx.x * WIDTH + column;

    a.queries[i] = attention_number(QUERY, token, column);
    a.blocks[0][i] = attention_number(KEY, token, column);
    a.blocks[0][TOKENS * WIDTH + i] = attention_number(VALUE, token, column);
    a.out[i] = 0;
    a.highest[blockIdx.x] = -INFINITY;
    a.sums[blockIdx.x] = 0;
}

/* A block a query: its threads compute the scores of the keys, a key each, then the columns of the result. A program
   that is to be fast calls a fused attention kernel here. */
static __global__ void attend(struct attention a, const float *block, bool last)
{
    __shared__ float scores[TOKENS];
    int query = blockIdx.x, lane = threadIdx.x, i = query * WIDTH + lane;
    float score = 0, top = a.highest[query], scale, sum = 0, added = 0;

    for (int column = 0; column < WIDTH; column++)
        score += a.queries[query * WIDTH + column] * block[lane * WIDTH + column];
    scores[lane] = score * ATTENTION_SCALE;
    __syncthreads();
    for (int token = 0; token < TOKENS; token++)
        top = fmaxf(top, scores[token]);
    for (int token = 0; token < TOKENS; token++) {
        float weight = expf(scores[token] - top);
        sum += weight;
        added += weight * block[(TOKENS + token) * WIDTH + lane];
    }
    scale = expf(a.highest[query] - top);
    sum += a.sums[query] * scale;
    a.out[i] = (a.out[i] * scale + added) / (last ? sum : 1);
    __syncthreads(); /* all have read what thread 0 writes */
    if (lane == 0) {
        a.highest[query] = top;
        a.sums[query] = sum;
    }
}

/* Enters step `step` into the streams. */
static void enter(const struct attention *a, uint64_t step)
{
    float *held = a->blocks[step % 2], *next = a->blocks[(step + 1) % 2];
    bool last = step == (uint64_t)a->n - 1;

    attend<<<TOKENS, WIDTH, 0, a->computes>>>(*a, held, last);
    cuda(cudaGetLastError());
    if (last)
        return;
    cuda(cudaEventRecord(a->block_used, a->computes));
    cuda(shmemx_signal_wait_until_on_stream(a->free_from, SHMEM_CMP_GE, step, a->moves));
    cuda(shmemx_float_put_signal_on_stream(next, held, BLOCK, a->arrived, step + 1, SHMEM_SIGNAL_SET,
                                           (a->me + 1) % a->n, a->moves));
    /* The block has left, and is computed with: the left neighbour may write the next but one. */
    cuda(cudaStreamWaitEvent(a->moves, a->block_used, 0));
    cuda(shmemx_signal_op_on_stream(a->free_from, step + 1, SHMEM_SIGNAL_SET, (a->me + a->n - 1) % a->n, a->moves));
    cuda(shmemx_signal_wait_until_on_stream(a->arrived, SHMEM_CMP_GE, step + 1, a->moves));
    cuda(cudaEventRecord(a->block_there, a->moves));
    cuda(cudaStreamWaitEvent(a->computes, a->block_there, 0));
}

static void open_ring(struct attention *a)
{
    for (int i = 0; i < 2; i++)
        a->blocks[i] = (float *)shmemx_malloc_device(BLOCK * sizeof(float));
    a->arrived = (uint64_t *)shmemx_calloc_device(2, sizeof *a->arrived);
    if (!a->blocks[0] || !a->blocks[1] || !a->arrived)
        shmem_global_exit(1); /* a line says why */
    a->free_from = a->arrived + 1;
    cuda(cudaMalloc(&a->queries, TOKENS * WIDTH * sizeof(float)));
    cuda(cudaMalloc(&a->out, TOKENS * WIDTH * sizeof(float)));
    cuda(cudaMalloc(&a->highest, TOKENS * sizeof(float)));
    cuda(cudaMalloc(&a->sums, TOKENS * sizeof(float)));
    cuda(cudaStreamCreateWithFlags(&a->moves, cudaStreamNonBlocking));
    cuda(cudaStreamCreateWithFlags(&a->computes, cudaStreamNonBlocking));
    cuda(cudaEventCreateWithFlags(&a->block_there, cudaEventDisableTiming));
    cuda(cudaEventCreateWithFlags(&a->block_used, cudaEventDisableTiming));
    fill<<<TOKENS, WIDTH>>>(*a);
    cuda(cudaDeviceSynchronize());
    shmem_barrier_all();
}

int main(void)
{
    static float out[TOKENS * WIDTH];
    static long wrong, all;
    struct attention a = {};

    gpu_init();
    a.me = shmem_my_pe();
    a.n = shmem_n_pes();
    open_ring(&a);
    for (int step = 0; step < a.n; step++)
        enter(&a, step);
    cuda(cudaMemcpyAsync(out, a.out, sizeof out, cudaMemcpyDeviceToHost, a.computes));
    cuda(cudaStreamSynchronize(a.computes));
    wrong = attention_wrong(out, a.me, a.n);

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &wrong, 1);
    if (a.me == 0)
        printf("ring_attention_gpu: %d PEs, %d tokens each, %ld wrong\n", a.n, TOKENS, all);
    shmem_finalize();
    return all != 0;
}
