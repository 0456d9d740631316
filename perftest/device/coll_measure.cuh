/* SPDX-License-Identifier: BSD-3-Clause */
/* How a row of collectives is measured: iterations, samples of the slowest PE, the data afterwards. */
#ifndef PERFTEST_DEVICE_COLL_MEASURE_CUH
#define PERFTEST_DEVICE_COLL_MEASURE_CUH

#include "perftest/device/coll_launch.cuh"

/* Element i of block(from, to): sums over PEs are exact in T. */
template <class T> static __device__ T coll_value(int from, int to, size_t i, unsigned seed)
{
    uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15u + (from + 1) * 0xbf58476d1ce4e5b9u +
                     (to + 1) * 0x94d049bb133111ebu + seed * 0xd6e8feb86659fd93u;

    mixed ^= mixed >> 29;
    return (T)(sizeof(T) == 8 ? mixed >> 12 : mixed >> 54);
}

struct coll_shape {
    int data;      /* enum coll_data */
    size_t nelems; /* of a block */
    int me, npes;
    unsigned seed;
};

template <class T> static __global__ void coll_fill(T *source, struct coll_shape s)
{
    size_t threads = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < s.nelems * s.npes; i += threads)
        source[i] = coll_value<T>(s.me, (int)(i / s.nelems), i % s.nelems, s.seed);
}

/* What element i of dest ought to be. */
template <class T> static __device__ T coll_right(const struct coll_shape &s, size_t i)
{
    int to = s.data == COLL_MINE_OF_ALL || s.data == COLL_SUM_OF_MINE ? s.me : 0;
    T sum = 0;

    if (s.data <= COLL_OF_ROOT)
        return coll_value<T>((int)(i / s.nelems), to, i % s.nelems, s.seed);
    for (int from = 0; from < s.npes; from++)
        sum += coll_value<T>(from, to, i, s.seed);
    return sum;
}

template <class T> static __global__ void coll_compare(const T *dest, struct coll_shape s, unsigned *wrong)
{
    size_t threads = (size_t)gridDim.x * blockDim.x;
    size_t blocks = s.data == COLL_MINE_OF_ALL || s.data == COLL_FIRST_OF_ALL ? s.npes : 1;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < s.nelems * blocks; i += threads)
        if (dest[i] != coll_right<T>(s, i))
            atomicAdd(wrong, 1u);
}

/* By the type of the row's elements. */
template <class WORK> static void coll_typed(int kind, WORK work)
{
    if (kind == COLL_REDUCE_FLOAT)
        work((float *)NULL);
    else if (coll_width(kind) == 4)
        work((int32_t *)NULL);
    else
        work((int64_t *)NULL);
}

static struct coll_shape coll_shape_of(const struct coll *c, const struct dev_row *row, unsigned seed)
{
    return coll_shape{coll_kinds[row->kind].data, c->nelems, c->job.me, c->job.npes, seed};
}

/* A pattern of `seed` in the source, nothing in dest. */
static void coll_reset(struct coll *c, const struct dev_row *row, unsigned seed)
{
    struct coll_shape shape = coll_shape_of(c, row, seed);

    dev_sync();
    coll_typed(row->kind, [&](auto *type) { coll_fill<<<264, 512>>>((decltype(type))c->source, shape); });
    dev_cuda(cudaMemset(c->dest, 0, shape.nelems * shape.npes * coll_width(row->kind)), "cudaMemset");
    dev_sync();
}

/* Values that are not those of `seed`. The root's own dest is not looked at: not every library writes it. */
static double coll_wrong(struct coll *c, const struct dev_row *row, unsigned seed)
{
    struct coll_shape shape = coll_shape_of(c, row, seed);
    unsigned wrong = 0;

    dev_sync();
    if (shape.data == COLL_NOTHING || (shape.data == COLL_OF_ROOT && c->job.me == 0))
        return 0;
    dev_cuda(cudaMemset(c->wrong, 0, sizeof *c->wrong), "cudaMemset");
    coll_typed(row->kind,
               [&](auto *type) { coll_compare<<<264, 512>>>((decltype(type))c->dest, shape, c->wrong); });
    dev_cuda(cudaMemcpy(&wrong, c->wrong, sizeof wrong, cudaMemcpyDeviceToHost), "copy from the GPU");
    return wrong;
}

/* The largest figure of all PEs. */
static double coll_slowest(const struct coll *c, const double *gathered, int i)
{
    double most = 0;

    for (int pe = 0; pe < c->job.npes; pe++)
        most = gathered[(size_t)pe * DEV_FIGURES + i] > most ? gathered[(size_t)pe * DEV_FIGURES + i] : most;
    return most;
}

/* The data that the timed calls have left, and that of three more on other data. */
static double coll_check(struct coll *c, const struct dev_row *row)
{
    double wrong = coll_wrong(c, row, 1);

    coll_reset(c, row, 2);
    coll_launch(c, row, 3);
    return wrong + coll_wrong(c, row, 2);
}

/* Measures the row; `result` is PE 0's to report. False: the library lacks it. */
static bool coll_measure(struct coll *c, const struct dev_row *row, const struct dev_options *o,
                         double *gathered, struct dev_result *result)
{
    double figures[DEV_FIGURES];
    long n;

    if (!coll_prepare(c, row, gathered))
        return false;
    coll_reset(c, row, 1);
    n = o->perf.batch ? o->perf.batch : dev_calibrate([&](long count) {
        double us = coll_launch(c, row, count);

        dev_exchange(&c->job, &us, 1, gathered);
        return coll_slowest(c, gathered, 0);
    });
    for (long i = 0; i < o->perf.warmup; i++)
        coll_launch(c, row, n);
    for (long i = 0; i < o->perf.samples; i++)
        figures[i] = coll_launch(c, row, n) / (double)(n * coll_calls(row));
    figures[o->perf.samples] = coll_check(c, row);
    dev_exchange(&c->job, figures, (int)o->perf.samples + 1, gathered);
    result->right = coll_slowest(c, gathered, (int)o->perf.samples) == 0;
    for (long i = 0; i < o->perf.samples; i++)
        figures[i] = coll_slowest(c, gathered, (int)i);
    perf_stats_from(&result->us, figures, o->perf.samples);
    result->samples = o->perf.samples;
    result->iterations = n * coll_calls(row);
    return true;
}

#endif
