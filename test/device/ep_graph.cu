/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CUDA graph of dispatch, experts and combine, replayed many times: as one launch each, and in halves. Rows differ
 * from replay to replay, for kernels count the rounds; what combine gives is kept and compared at the end.
 * paths: gpu:2,4 gpu1:1,2,4,8 gpumixed:2,4 gpuhmemefa:4 gpugda:4
 * timeout: 600
 */
#include "test/device/ep.cuh"

#include <stdlib.h>

enum { TOKENS = 6, HIDDEN = 256, TOPK = 4 };

struct log {
    int *round;
    uint16_t *rows, *outs; /* [rounds][TOKENS][HIDDEN]: what is dispatched, and what came of it */
};

/* Rows of a round, from those of all rounds. */
static __global__ void next_rows(struct log log, uint16_t *x)
{
    size_t round = (size_t)*log.round * TOKENS * HIDDEN;

    for (int i = (int)threadIdx.x; i < TOKENS * HIDDEN; i += (int)blockDim.x)
        x[i] = log.rows[round + (size_t)i];
}

static __global__ void keep_sums(struct log log, const uint16_t *out)
{
    size_t round = (size_t)*log.round * TOKENS * HIDDEN;

    for (int i = (int)threadIdx.x; i < TOKENS * HIDDEN; i += (int)blockDim.x)
        log.outs[round + (size_t)i] = out[i];
    __syncthreads();
    if (threadIdx.x == 0)
        ++*log.round;
}

static bool must(cudaError_t status, const char *what)
{
    mp_check(status == cudaSuccess, "%s: %s", what, cudaGetErrorString(status));
    if (status)
        shmem_global_exit(MP_FAILED);
    return true;
}

static struct log log_of(const struct ref_job *job, int rounds)
{
    size_t each = (size_t)TOKENS * HIDDEN, bytes = each * (size_t)rounds * sizeof(uint16_t);
    uint16_t *rows = (uint16_t *)malloc(bytes);
    struct log log = {};

    for (int round = 0; round < rounds; round++)
        for (int token = 0; token < TOKENS; token++)
            ref_row(job->seed, mp_me, round + 2, token, HIDDEN, rows + (size_t)round * each + (size_t)token * HIDDEN);
    must(cudaMalloc((void **)&log.round, sizeof *log.round), "cudaMalloc");
    must(cudaMemset(log.round, 0, sizeof *log.round), "cudaMemset");
    must(cudaMalloc((void **)&log.rows, bytes), "cudaMalloc");
    must(cudaMalloc((void **)&log.outs, bytes), "cudaMalloc");
    dev_upload(log.rows, rows, bytes);
    free(rows);
    return log;
}

/* A call is one kernel, halves apart are two; three more are the test's own. */
static void count_kernels(cudaGraph_t graph, bool apart)
{
    cudaGraphNode_t nodes[32];
    size_t n = 32, kernels = 0;

    must(cudaGraphGetNodes(graph, nodes, &n), "cudaGraphGetNodes");
    for (size_t i = 0; i < n; i++) {
        cudaGraphNodeType type;

        must(cudaGraphNodeGetType(nodes[i], &type), "cudaGraphNodeGetType");
        kernels += type == cudaGraphNodeTypeKernel;
    }
    mp_check(n == kernels && kernels == (apart ? 7 : 5), "%zu nodes, %zu kernels", n, kernels);
}

static void capture(struct ep_world *world, const struct log &log, bool apart, cudaGraphExec_t *graph)
{
    cudaGraph_t made;

    must(cudaStreamBeginCapture(world->stream, cudaStreamCaptureModeThreadLocal), "capture");
    next_rows<<<1, 256, 0, world->stream>>>(log, (uint16_t *)world->x);
    for (int halves = apart ? SHMEMX_EP_SEND : SHMEMX_EP_BOTH; halves <= (apart ? SHMEMX_EP_RECEIVE : SHMEMX_EP_BOTH);
         halves++)
        ep_start_dispatch(world, halves);
    ep_start_experts(world);
    for (int halves = apart ? SHMEMX_EP_SEND : SHMEMX_EP_BOTH; halves <= (apart ? SHMEMX_EP_RECEIVE : SHMEMX_EP_BOTH);
         halves++)
        ep_start_combine(world, halves);
    keep_sums<<<1, 256, 0, world->stream>>>(log, (const uint16_t *)world->a.out);
    must(cudaStreamEndCapture(world->stream, &made), "end of capture");
    count_kernels(made, apart);
    must(cudaGraphInstantiate(graph, made, 0), "instantiation");
    must(cudaGraphDestroy(made), "cudaGraphDestroy");
}

/* The routing is that of the call which was captured. */
static void check(struct ep_world *world, const struct log &log, int rounds)
{
    size_t each = (size_t)TOKENS * HIDDEN;
    uint16_t *outs = (uint16_t *)malloc(each * (size_t)rounds * sizeof *outs), expected[HIDDEN];
    int64_t captured = world->job.call;
    int wrong = 0;

    dev_download(outs, log.outs, each * (size_t)rounds * sizeof *outs);
    world->of.options |= EP_CACHED;
    for (int round = 0; round < rounds && !wrong; round++) {
        ep_set_call(world, round + 2);
        for (int token = 0; token < TOKENS; token++) {
            ref_combined_row(&world->job, world->of.mode, world->route, mp_me, token, expected);
            wrong += memcmp(expected, outs + (size_t)round * each + (size_t)token * HIDDEN, sizeof expected) != 0;
        }
        mp_check(!wrong, "%s: replay %d of %d: %d of %d sums are wrong", ep_case_name(&world->of), round, rounds, wrong,
                 TOKENS);
    }
    ep_set_call(world, captured);
    free(outs);
}

static void run(enum ref_mode mode, bool apart)
{
    struct ep_case of = ep_case_of(mode, REF_BF16, REF_UNIFORM);
    int rounds = (int)mp_rounds(1000, 1000);
    struct ep_world world;
    cudaGraphExec_t graph;
    struct log log;
    double began;

    of.hidden = HIDDEN;
    of.topk = TOPK;
    of.mine = 4;
    of.tokens = TOKENS;
    dev_case("graph%s: %s", apart ? ", halves apart" : "", ep_case_name(&of));
    ep_open(&world, &of);
    ep_call(&world, 1); /* the routing, and origins of rows */
    log = log_of(&world.job, rounds);
    capture(&world, log, apart, &graph);
    began = mp_now();
    for (int i = 0; i < rounds; i++)
        must(cudaGraphLaunch(graph, world.stream), "cudaGraphLaunch");
    must(cudaStreamSynchronize(world.stream), "replays");
    mp_note("%d replays, %.1f us each", rounds, (mp_now() - began) / rounds * 1e6);
    check(&world, log, rounds);
    must(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy");
    must(cudaFree(log.round), "cudaFree");
    must(cudaFree(log.rows), "cudaFree");
    must(cudaFree(log.outs), "cudaFree");
    ep_close(&world);
}

int main(void)
{
    dev_begin();
    for (int mode = 0; mode < REF_MODES; mode++)
        for (int apart = 0; apart < 2; apart++)
            run((enum ref_mode)mode, apart);
    return dev_end();
}
