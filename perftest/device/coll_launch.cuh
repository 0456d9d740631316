/* SPDX-License-Identifier: BSD-3-Clause */
/* How calls of a row are started and timed: from a kernel, on a stream, in a graph, by the host. */
#ifndef PERFTEST_DEVICE_COLL_LAUNCH_CUH
#define PERFTEST_DEVICE_COLL_LAUNCH_CUH

#include "perftest/device/coll_kernels.cuh"

#include "perftest/device/job.cuh"

#include <time.h>

/* Calls that a graph holds. */
enum { COLL_GRAPH_CALLS = 16 };

struct coll {
    struct dev_job job;
    char *dest, *source; /* symmetric */
    unsigned *wrong;     /* of this GPU */
    uint64_t *ended;     /* likewise */
    uint64_t launch;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    /* of the row: */
    size_t nelems, *counts;
    coll_kernel *kernel;
    cudaGraphExec_t graph;
};

/* Calls of one iteration. */
static long coll_calls(const struct dev_row *row)
{
    return row->scope == DEV_GRAPH ? COLL_GRAPH_CALLS : 1;
}

/* A graph of calls, or NULL where they cannot be captured. */
static cudaGraphExec_t coll_capture(struct coll *c, const struct dev_row *row)
{
    cudaGraphExec_t exec = NULL;
    cudaGraph_t graph = NULL;

    if (cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeRelaxed) != cudaSuccess)
        return NULL;
    for (int i = 0; i < COLL_GRAPH_CALLS; i++)
        perf_on_stream(row->kind, c->dest, c->source, c->nelems, c->stream);
    if (cudaStreamEndCapture(c->stream, &graph) == cudaSuccess && graph)
        (void)cudaGraphInstantiate(&exec, graph, 0);
    if (graph)
        (void)cudaGraphDestroy(graph);
    (void)cudaGetLastError();
    return exec;
}

/* Whether all PEs can: the library has the routine, the GPU the registers. Makes the graph of a row. */
static bool coll_prepare(struct coll *c, const struct dev_row *row, double *gathered)
{
    cudaFuncAttributes facts;
    double can = 0;

    c->nelems = coll_nelems(row, c->job.npes);
    c->kernel = row->scope <= DEV_BLOCK ? coll_kernel_of(row) : NULL;
    c->graph = NULL;
    dev_sync();
    if (!perf_counts(c->nelems, c->job.npes))
        dev_cuda(cudaErrorMemoryAllocation, "counts of an alltoallv");
#ifndef PERF_NCCL
    c->counts = perf_vector;
#endif
    if (row->scope == DEV_HOST) {
        can = perf_on_host(row->kind, c->dest, c->source, c->nelems);
    } else if (row->scope >= DEV_STREAM) {
        can = perf_on_stream(row->kind, c->dest, c->source, c->nelems, c->stream);
        dev_cuda(cudaGetLastError(), "a call on a stream");
        dev_cuda(cudaStreamSynchronize(c->stream), "a call on a stream");
        if (can && row->scope == DEV_GRAPH)
            can = (c->graph = coll_capture(c, row)) != NULL;
    } else if (c->kernel) {
        dev_cuda(cudaFuncGetAttributes(&facts, c->kernel), "cudaFuncGetAttributes");
        can = row->threads <= facts.maxThreadsPerBlock;
    }
    dev_exchange(&c->job, &can, 1, gathered);
    for (int pe = 0; pe < c->job.npes; pe++)
        if (!gathered[(size_t)pe * DEV_FIGURES])
            return false;
    return true;
}

static void coll_start(struct coll *c, const struct dev_row *row, long n)
{
    struct coll_args a = {c->dest,   c->source,   c->nelems, c->counts,   n,
                          c->job.me, c->job.npes, c->ended,  ++c->launch};

    if (row->scope <= DEV_BLOCK)
        c->kernel<<<row->blocks, row->threads, 0, c->stream>>>(a);
    for (long i = 0; row->scope == DEV_STREAM && i < n; i++)
        perf_on_stream(row->kind, c->dest, c->source, c->nelems, c->stream);
    for (long i = 0; row->scope == DEV_GRAPH && i < n; i++)
        (void)cudaGraphLaunch(c->graph, c->stream);
    dev_cuda(cudaGetLastError(), dev_table.kinds[row->kind].name);
}

static double coll_clock_us()
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

static double coll_launch_host(struct coll *c, const struct dev_row *row, long n)
{
    double began = coll_clock_us();

    for (long i = 0; i < n; i++)
        perf_on_host(row->kind, c->dest, c->source, c->nelems);
    return coll_clock_us() - began;
}

/* n iterations, begun by all PEs at about the same time: us in all. */
static double coll_launch(struct coll *c, const struct dev_row *row, long n)
{
    float ms = 0;

    dev_sync();
    if (row->scope == DEV_HOST)
        return coll_launch_host(c, row, n);
    dev_cuda(cudaEventRecord(c->begin, c->stream), "cudaEventRecord");
    coll_start(c, row, n);
    dev_cuda(cudaEventRecord(c->end, c->stream), "cudaEventRecord");
    dev_cuda(cudaEventSynchronize(c->end), dev_table.kinds[row->kind].name);
    dev_cuda(cudaEventElapsedTime(&ms, c->begin, c->end), "cudaEventElapsedTime");
    return ms * 1e3;
}

#endif
