/* SPDX-License-Identifier: BSD-3-Clause */
/* How a row is measured: buffers, iterations, timed launches, the data afterwards. All PEs call everything. */
#ifndef PERFTEST_DEVICE_MEASURE_CUH
#define PERFTEST_DEVICE_MEASURE_CUH

#include "perftest/device/kernels.cuh"

#include "perftest/device/job.cuh"

/* Bytes of the source that iterations read in turn: of a peer's memory, of the GPU's own. */
#define P2P_PEER_WINDOW ((size_t)64 << 20)
#define P2P_OWN_WINDOW ((size_t)8 << 20)

struct p2p {
    struct dev_job job;
    int peer;
    bool takes_part;
    char *source, *dest;
    uint64_t *flag, *local;
    unsigned *wrong;     /* of this GPU */
    size_t bytes, room;  /* of dest and of source, without the skew */
    uint64_t iterations; /* of the row so far */
    cudaEvent_t begin, end;
};

static __device__ unsigned char p2p_byte(size_t i, unsigned seed)
{
    return (unsigned char)(i * 131 ^ i >> 8 ^ i >> 16 ^ seed);
}

static __global__ void p2p_fill(char *to, size_t len, unsigned seed)
{
    for (size_t i = p2p_lane<DEV_THREAD>(); i < len; i += p2p_lanes<DEV_THREAD>())
        to[i] = (char)p2p_byte(i, seed);
}

static __global__ void p2p_compare(const char *at, size_t len, size_t skew, unsigned seed, unsigned *wrong)
{
    for (size_t i = p2p_lane<DEV_THREAD>(); i < len; i += p2p_lanes<DEV_THREAD>())
        if ((unsigned char)at[i] != p2p_byte(i + skew, seed))
            atomicAdd(wrong, 1u);
}

/* The larger figure of the two PEs. */
static double p2p_time(const struct p2p *p, const double *gathered, int i)
{
    double first = gathered[i], last = gathered[(size_t)(p->job.npes - 1) * DEV_FIGURES + i];

    return first > last ? first : last;
}

/* Bytes of source and target that the row touches. */
static size_t p2p_span(const struct dev_row *row)
{
    if (p2p_kinds[row->kind].flags & P2P_LOADED)
        return P2P_PIECE * (size_t)row->blocks;
    if (p2p_kinds[row->kind].unit == DEV_GBS)
        return row->size;
    return row->size * (size_t)dev_row_lanes(row);
}

/* Bytes from one place of the source to the next. */
static size_t p2p_stride(const struct dev_row *row)
{
    return (p2p_span(row) + 127) & ~(size_t)127;
}

/*
 * Places of the source that iterations take in turn: far more than an L1 holds, of a local source less than the L2, as
 * if other SMs had just written it.
 */
static size_t p2p_offsets(const struct dev_row *row)
{
    const struct dev_kind *kind = &p2p_kinds[row->kind];
    bool at_peer = kind->data == P2P_AT_ORIGIN || kind->flags & P2P_READS_PEER;
    size_t window = kind->flags & P2P_SAME ? 0 : at_peer ? P2P_PEER_WINDOW : P2P_OWN_WINDOW, offsets = 1;

    while (2 * offsets * p2p_stride(row) <= window)
        offsets *= 2;
    return offsets;
}

static struct p2p_args p2p_arguments(const struct p2p *p, const struct dev_row *row)
{
    struct p2p_args a = {};
    size_t lanes = (size_t)dev_row_lanes(row);
    bool shared = p2p_kinds[row->kind].unit == DEV_GBS;

    a.dest = p->dest;
    a.source = p->source + p2p_kinds[row->kind].skew;
    a.stride = p2p_stride(row);
    a.last_offset = p2p_offsets(row) - 1;
    a.flag = p->flag;
    a.local = p->local;
    a.len = shared ? row->size / lanes & ~(size_t)15 : row->size;
    a.extra = shared ? row->size - a.len * lanes : 0;
    a.peer = p->peer;
    a.begins = p->job.me == 0;
    return a;
}

/* Fills the source, clears the target and the flags. */
static void p2p_prepare(struct p2p *p, const struct dev_row *row)
{
    dev_sync();
    p2p_fill<<<264, 512>>>(p->source, p2p_span(row) + 16, p->job.me + 1);
    dev_cuda(cudaMemset(p->dest, 0, p2p_span(row) + 16), "cudaMemset");
    dev_cuda(cudaMemset(p->flag, 0, sizeof *p->flag * P2P_FLAGS * P2P_FLAG_WORDS), "cudaMemset");
    dev_cuda(cudaMemset(p->local, 0, sizeof *p->local), "cudaMemset");
    dev_cuda(cudaMemset(p->wrong, 0, sizeof *p->wrong), "cudaMemset");
    p->iterations = 0;
    dev_sync();
}

/* One launch of n iterations on the PEs that the row has: us in all, 0 for a PE without a part. */
static double p2p_launch(struct p2p *p, const struct dev_row *row, p2p_kernel *kernel, long n)
{
    struct p2p_args a = p2p_arguments(p, row);
    unsigned flags = p2p_kinds[row->kind].flags;
    float ms = 0;

    a.n = n;
    a.first = p->iterations;
    p->iterations += (uint64_t)n;
    dev_sync();
    if (p->job.me != 0 && !(flags & P2P_BOTH && p->takes_part))
        return 0;
    dev_cuda(cudaEventRecord(p->begin), "cudaEventRecord");
    kernel<<<row->blocks, row->threads, flags & P2P_EXTENSION ? P2P_SCRATCH : 0>>>(a);
    dev_cuda(cudaGetLastError(), p2p_kinds[row->kind].name);
    dev_cuda(cudaEventRecord(p->end), "cudaEventRecord");
    dev_cuda(cudaEventSynchronize(p->end), p2p_kinds[row->kind].name);
    dev_cuda(cudaEventElapsedTime(&ms, p->begin, p->end), "cudaEventElapsedTime");
    return ms * 1e3;
}

/* Bytes of this PE's target that are not the other's source. */
static double p2p_wrong(struct p2p *p, const struct dev_row *row)
{
    const struct dev_kind *kind = &p2p_kinds[row->kind];
    bool here = kind->flags & P2P_BOTH          ? p->takes_part
                : kind->data == P2P_AT_ORIGIN ? p->job.me == 0
                                              : p->job.me == p->job.npes - 1;
    unsigned wrong = 0;

    dev_sync();
    if (kind->data == P2P_NO_DATA || !here)
        return 0;
    p2p_compare<<<264, 512>>>(p->dest, p2p_span(row), kind->skew, p->peer + 1, p->wrong);
    dev_cuda(cudaMemcpy(&wrong, p->wrong, sizeof wrong, cudaMemcpyDeviceToHost), "copy from the GPU");
    return wrong;
}

/* Measures the row; `result` is PE 0's to report. */
static void p2p_measure(struct p2p *p, const struct dev_row *row, p2p_kernel *kernel, const struct dev_options *o,
                        struct dev_result *result)
{
    double figures[DEV_FIGURES], *gathered = (double *)calloc((size_t)p->job.npes * DEV_FIGURES, sizeof *gathered);
    long n;

    p2p_prepare(p, row);
    p2p_launch(p, row, kernel, 1); /* loads the kernel */
    n = o->perf.batch ? o->perf.batch : dev_calibrate([&](long count) {
        double us = p2p_launch(p, row, kernel, count);

        dev_exchange(&p->job, &us, 1, gathered);
        return p2p_time(p, gathered, 0);
    });
    for (long i = 0; i < o->perf.warmup; i++)
        p2p_launch(p, row, kernel, n);
    for (long i = 0; i < o->perf.samples; i++)
        figures[i] = p2p_launch(p, row, kernel, n) / (double)n;
    figures[o->perf.samples] = p2p_wrong(p, row);
    dev_exchange(&p->job, figures, (int)o->perf.samples + 1, gathered);
    result->right = p2p_time(p, gathered, (int)o->perf.samples) == 0;
    for (long i = 0; i < o->perf.samples; i++)
        figures[i] = p2p_kinds[row->kind].flags & DEV_SLOWEST ? p2p_time(p, gathered, (int)i) : gathered[i];
    free(gathered);
    perf_stats_from(&result->us, figures, o->perf.samples);
    result->samples = o->perf.samples;
    result->iterations = n;
}

#endif
