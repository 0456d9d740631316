/* SPDX-License-Identifier: BSD-3-Clause */
/* How a variant of jacobi is put into streams or into a graph, and what a whole run takes. */
#ifndef PERFTEST_DEVICE_JACOBI_RUN_CUH
#define PERFTEST_DEVICE_JACOBI_RUN_CUH

#include "perftest/device/jacobi_kernels.cuh"

#include "perftest/device/job.cuh"

extern "C" {
#include "perftest/device/jacobi.h"
}

/* Iterations of the longest graph. */
enum { JACOBI_GRAPH_MAX = 20000 };

struct jacobi {
    struct dev_job job;
    int sms, sharing; /* of the GPU; PEs on it */
    char *memory;     /* symmetric: of the largest row */
    double *gathered;    /* DEV_FIGURES of every PE */
    cudaStream_t edges, inside, sums;
    cudaEvent_t edges_done, inside_done, sums_done;
    /* of the row: */
    const struct dev_row *row;
    struct jacobi_args a;
    int iterations, count; /* sums */
    cudaGraphExec_t graph;
};

static int jacobi_most(int a, int b)
{
    return a > b ? a : b;
}

/*
 * Edges on one stream with their communication, the interior and the sums of squares beside them. A block has one tile
 * of the interior, so that soon one ends and makes room for the kernels of the other streams, which go first.
 */
static void jacobi_issue_stream(struct jacobi *j, int k)
{
    int edges = jacobi_edges(j->a.grid), tiles = jacobi_tiles(j->a.grid), n = jacobi_norm_of(k, j->a.norm);

    cudaStreamWaitEvent(j->edges, j->inside_done);
    jacobi_part<<<edges, JACOBI_THREADS, 0, j->edges>>>(j->a, k, 0, edges);
    cudaStreamWaitEvent(j->inside, j->edges_done);
    cudaEventRecord(j->edges_done, j->edges);
    jacobi_part<<<jacobi_most(1, tiles - edges), JACOBI_THREADS, 0, j->inside>>>(j->a, k, edges, tiles);
    cudaEventRecord(j->inside_done, j->inside);
    jacobi_exchange(j->a, k, j->edges);
    if (n < 0)
        return;
    cudaStreamWaitEvent(j->sums, j->edges_done);
    cudaStreamWaitEvent(j->sums, j->inside_done);
    jacobi_sum(j->a, n, j->sums);
}

#ifdef PERF_NCCL

static bool jacobi_has(const struct dev_row *row)
{
    return row->kind == JACOBI_STREAM;
}

static void jacobi_issue(struct jacobi *j, int k)
{
    jacobi_issue_stream(j, k);
}

/* One call of all that goes into streams: what a library does the first time is not for a graph. */
/* Puts the first sum and exchange of edges into the stream. */
static void jacobi_first(struct jacobi *j)
{
    jacobi_sum(j->a, 0, j->edges);
    jacobi_exchange(j->a, 0, j->edges);
}

static void jacobi_finish(struct jacobi *)
{
}

#else

static bool jacobi_has(const struct dev_row *)
{
    return true;
}

static void jacobi_issue_p(struct jacobi *j, int k)
{
    int n = jacobi_norm_of(k, j->a.norm);

    jacobi_p<<<jacobi_tiles(j->a.grid), JACOBI_THREADS, 0, j->edges>>>(j->a, k);
    if (n >= 0)
        jacobi_sum(j->a, n, j->edges);
    PERF_X(barrier_all_on_stream)(j->edges);
}

/* All blocks run at once, on the PE's part of the GPU. */
static void jacobi_issue_all(struct jacobi *j)
{
    void *arguments[] = {&j->a, &j->iterations};
    int each = 0, most;

    dev_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, jacobi_persistent, JACOBI_THREADS, 0), "occupancy");
    most = jacobi_most(1, each * j->sms / j->sharing);
    dev_cuda(cudaLaunchCooperativeKernel((const void *)jacobi_persistent,
                                         most < jacobi_tiles(j->a.grid) ? most : jacobi_tiles(j->a.grid),
                                         JACOBI_THREADS, arguments, 0, j->edges),
             "the cooperative kernel");
}

/* Iteration k. */
static void jacobi_issue(struct jacobi *j, int k)
{
    if (j->row->kind == JACOBI_P)
        jacobi_issue_p(j, k);
    else if (j->row->kind == JACOBI_NBI)
        jacobi_nbi<<<jacobi_tiles(j->a.grid), JACOBI_THREADS, 0, j->edges>>>(j->a, k);
    else if (j->row->kind == JACOBI_STREAM)
        jacobi_issue_stream(j, k);
    else if (k == 0)
        jacobi_issue_all(j);
}

/* Puts the first sum and exchange of edges into the stream. */
static void jacobi_first(struct jacobi *j)
{
    jacobi_sum(j->a, 0, j->edges);
    jacobi_exchange(j->a, 0, j->edges);
    PERF_X(barrier_all_on_stream)(j->edges);
}

static void jacobi_finish(struct jacobi *j)
{
    if (j->row->kind == JACOBI_NBI)
        jacobi_last<<<1, JACOBI_THREADS, 0, j->edges>>>(j->a, j->iterations);
}

#endif

/* The whole run into the stream of the edges; the other streams start and end with it. */
static void jacobi_enqueue(struct jacobi *j)
{
    cudaEventRecord(j->edges_done, j->edges);
    cudaStreamWaitEvent(j->inside, j->edges_done);
    cudaStreamWaitEvent(j->sums, j->edges_done);
    cudaEventRecord(j->inside_done, j->inside);
    for (int k = 0; k < j->iterations; k++)
        jacobi_issue(j, k);
    jacobi_finish(j);
    cudaEventRecord(j->inside_done, j->inside);
    cudaEventRecord(j->sums_done, j->sums);
    cudaStreamWaitEvent(j->edges, j->inside_done);
    cudaStreamWaitEvent(j->edges, j->sums_done);
}

/* Makes the run's graph; false where it cannot be captured. */
static bool jacobi_capture(struct jacobi *j)
{
    cudaGraph_t graph = NULL;

    if (j->iterations > JACOBI_GRAPH_MAX ||
        cudaStreamBeginCapture(j->edges, cudaStreamCaptureModeRelaxed) != cudaSuccess)
        return false;
    jacobi_enqueue(j);
    if (cudaStreamEndCapture(j->edges, &graph) == cudaSuccess && graph &&
        cudaGraphInstantiate(&j->graph, graph, 0) == cudaSuccess)
        (void)cudaGraphUpload(j->graph, j->edges);
    if (graph)
        (void)cudaGraphDestroy(graph);
    (void)cudaGetLastError();
    return j->graph != NULL;
}

static void jacobi_reset(struct jacobi *j)
{
    struct jacobi_args *a = &j->a;

    jacobi_fill<<<jacobi_most(j->sms, 1), 512>>>(a->grid);
    dev_cuda(cudaMemset(a->arrived, 0, 2 * sizeof *a->arrived), "cudaMemset");
    dev_cuda(cudaMemset(a->changed, 0, j->count * sizeof *a->changed), "cudaMemset");
    dev_cuda(cudaMemset(a->norms, 0, j->count * sizeof *a->norms), "cudaMemset");
    dev_cuda(cudaMemset(a->sums_seen, 0xff, (size_t)j->count * a->npes * sizeof *a->sums_seen), "cudaMemset");
    dev_sync();
}

/* One run from the start; seconds until all PEs have ended. */
static double jacobi_go(struct jacobi *j)
{
    double began;

    jacobi_reset(j);
    began = perf_now();
    if (j->graph)
        dev_cuda(cudaGraphLaunch(j->graph, j->edges), "the graph");
    else
        jacobi_enqueue(j);
    dev_cuda(cudaGetLastError(), "a launch");
    dev_cuda(cudaStreamSynchronize(j->edges), "the run");
    perf_barrier();
    return (perf_now() - began) * 1e-9;
}

#endif
