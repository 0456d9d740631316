/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layer of moe.c in memory of the GPU: router, dispatch, grouped matrix product and combine follow each other on a
 * stream, and the host waits for the result alone. The product is a plain kernel; a program that is to be fast calls a
 * grouped GEMM there.
 *
 *   oshnvcc -O2 -o moe_gpu moe.cu -lwarpshmem-ep && oshrun -n 4 ./moe_gpu
 */
#include "layer.h"

#include "../gpu.cuh"

#include <shmemx_ep.h>

#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 3, MATRIX_BLOCKS = 16 };

/* All in memory of the GPU. */
struct moe {
    shmemx_ep_t ep;
    cudaStream_t stream;
    int me, mine, capacity; /* PE; experts of a PE; rows that one may be given */
    uint16_t *x, *out;      /* [TOKENS][HIDDEN] BF16 */
    int32_t *topk;          /* [TOKENS][TOPK] */
    float *weights;
    uint16_t *rows, *y; /* [mine][capacity][HIDDEN] */
    int32_t *counts;    /* [mine] */
    float *matrices;    /* [mine][HIDDEN][HIDDEN] */
};

template <class T> static void take(T **memory, size_t count)
{
    cuda(cudaMalloc(memory, count * sizeof(T)));
}

static __global__ void fill(struct moe moe)
{
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < moe.mine * HIDDEN * HIDDEN;
         i += blockDim.x * gridDim.x)
        moe.matrices[i] =
            layer_matrix(moe.me * moe.mine + i / HIDDEN / HIDDEN, i / HIDDEN % HIDDEN, i % HIDDEN);
}

/* A block a token, a thread an expert. */
static __global__ void route(struct moe moe, int call)
{
    __shared__ float logits[EXPERTS];
    uint16_t *x = moe.x + blockIdx.x * HIDDEN;

    for (int column = threadIdx.x; column < HIDDEN; column += blockDim.x)
        x[column] = layer_x(moe.me, call * TOKENS + blockIdx.x, column);
    __syncthreads();
    logits[threadIdx.x] = layer_logit(threadIdx.x, x);
    __syncthreads();
    if (threadIdx.x == 0)
        layer_choose(logits, moe.topk + blockIdx.x * TOPK, moe.weights + blockIdx.x * TOPK);
}

/* The grouped matrix product: blocks (i, expert) take every MATRIX_BLOCKS-th row, a thread a column of the result. */
static __global__ void apply_experts(struct moe moe)
{
    const float *matrix = moe.matrices + ((size_t)blockIdx.y * HIDDEN + threadIdx.x) * HIDDEN;

    for (int i = blockIdx.x; i < moe.counts[blockIdx.y]; i += MATRIX_BLOCKS) {
        size_t at = ((size_t)blockIdx.y * moe.capacity + i) * HIDDEN;
        float sum = 0;
        for (int from = 0; from < HIDDEN; from++)
            sum += matrix[from] * from_bf16(moe.rows[at + from]);
        moe.y[at + threadIdx.x] = to_bf16(sum);
    }
}

static void open_layer(struct moe *moe, int n)
{
    shmemx_ep_config_t config = SHMEMX_EP_CONFIG_INITIALIZER;

    config.mode = SHMEMX_EP_LOW_LATENCY;
    config.dtype = SHMEMX_EP_BF16;
    config.device = 1;
    config.hidden = HIDDEN;
    config.experts = EXPERTS;
    config.topk = TOPK;
    config.tokens = TOKENS;
    config.expert_capacity = moe->capacity =
        n * TOKENS;    /* all tokens of all PEs may choose the same expert */
    config.blocks = 8; /* SMs of a call: PEs may share a GPU here */
    if (shmemx_ep_create(SHMEM_TEAM_WORLD, &config, &moe->ep))
        shmem_global_exit(1); /* a line says why */
    moe->mine = EXPERTS / n;
    cuda(cudaStreamCreateWithFlags(&moe->stream, cudaStreamNonBlocking));
    take(&moe->x, TOKENS * HIDDEN);
    take(&moe->out, TOKENS * HIDDEN);
    take(&moe->topk, TOKENS * TOPK);
    take(&moe->weights, TOKENS * TOPK);
    take(&moe->rows, (size_t)moe->mine * moe->capacity * HIDDEN);
    take(&moe->y, (size_t)moe->mine * moe->capacity * HIDDEN);
    take(&moe->counts, moe->mine);
    take(&moe->matrices, (size_t)moe->mine * HIDDEN * HIDDEN);
    fill<<<64, 256, 0, moe->stream>>>(*moe);
}

/* Puts the layer into the stream. */
static int layer(struct moe *moe, int call)
{
    shmemx_ep_dispatch_t dispatch = {};
    shmemx_ep_combine_t combine = {};

    dispatch.version = combine.version = SHMEMX_EP_CALL_VERSION;
    dispatch.halves = combine.halves = SHMEMX_EP_BOTH;
    dispatch.stream = combine.stream = moe->stream;
    dispatch.tokens = TOKENS;
    dispatch.x = moe->x;
    dispatch.topk = moe->topk;
    dispatch.weights = moe->weights;
    dispatch.by_expert.rows = moe->rows;
    dispatch.by_expert.counts = moe->counts;
    combine.y = moe->y;
    combine.out = moe->out;
    route<<<TOKENS, EXPERTS, 0, moe->stream>>>(*moe, call);
    if (shmemx_ep_dispatch(moe->ep, &dispatch))
        return 1;
    apply_experts<<<dim3(MATRIX_BLOCKS, moe->mine), HIDDEN, 0, moe->stream>>>(*moe);
    return shmemx_ep_combine(moe->ep, &combine);
}

int main(void)
{
    static uint16_t x[TOKENS * HIDDEN], out[TOKENS * HIDDEN];
    static long wrong, all;
    int n;
    struct moe moe = {};

    gpu_init();
    moe.me = shmem_my_pe();
    n = shmem_n_pes();
    open_layer(&moe, n);
    for (int call = 0; call < CALLS; call++) {
        if (layer(&moe, call))
            shmem_global_exit(1);
        cuda(cudaMemcpyAsync(x, moe.x, sizeof x, cudaMemcpyDeviceToHost, moe.stream));
        cuda(cudaMemcpyAsync(out, moe.out, sizeof out, cudaMemcpyDeviceToHost, moe.stream));
        cuda(cudaStreamSynchronize(moe.stream));
        for (int token = 0; token < TOKENS; token++)
            wrong += layer_wrong(x + token * HIDDEN, out + token * HIDDEN);
    }
    shmemx_ep_destroy(moe.ep);

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &wrong, 1);
    if (moe.me == 0)
        printf("moe_gpu: %d PEs, %d experts, %d calls, %ld wrong\n", n, EXPERTS, CALLS, all);
    shmem_finalize();
    return all != 0;
}
