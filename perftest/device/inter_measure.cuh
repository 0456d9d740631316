/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures a row of internode: its memory, the launches and their number, the check of its data. All PEs call
 * everything.
 */
#ifndef PERFTEST_DEVICE_INTER_MEASURE_CUH
#define PERFTEST_DEVICE_INTER_MEASURE_CUH

#include "perftest/device/inter_host.cuh"

#include "perftest/device/job.cuh"

/* A row is to last no longer than this, unless -n says how much is done. */
#define INTER_ROW_US 1e6

/* Kernels whose data is checked: one before those that are timed, the others after them. */
enum { INTER_CHECKS = 3, INTER_SAMPLES_MIN = 3 };

/* Of each: in device memory, in host memory. */
struct inter {
    struct dev_job job;
    int peer;
    char *source[2], *dest[2];
    uint64_t *flag[2];
    char *load;
    unsigned *wrong;
    uint64_t *posted;
    ulonglong2 *pinned;
    shmemx_put_t *list; /* of this GPU */
    shmemx_counter_t counter[2]; /* of posts; of orders */
    uint64_t ordered;            /* iterations that the latter has counted */
    size_t half, room; /* bytes: half of dest; of source */
    uint64_t iterations; /* of the row so far */
    cudaEvent_t begin, end;
};

static struct inter_args inter_arguments(const struct inter *p, const struct dev_row *row, long n)
{
    struct inter_args a = {};
    bool in_host = inter_in_host(row);

    a.dest = p->dest[in_host];
    a.source = p->source[in_host && (row->scope == DEV_HOST || inter_group(row) == INTER_POSTS ||
                                     inter_group(row) == INTER_GRIDS)];
    if (inter_what(row) == INTER_POST_COPIED)
        a.source = p->load;
    a.posted = p->posted;
    a.pinned = p->pinned;
    a.list = p->list;
    a.counter = p->counter[inter_what(row) == INTER_ORDER_COUNTED];
    a.counted = p->ordered * INTER_BATCH;
    a.flag = p->flag[in_host];
    a.ack = a.flag + 2 * INTER_BATCH;
    a.load = p->load;
    a.wrong = p->wrong;
    a.half = p->half;
    a.len = row->size;
    a.window = inter_window(row->size);
    a.n = n;
    a.first = p->iterations;
    a.me = p->job.me;
    a.npes = p->job.npes;
    a.peer = p->peer;
    a.begins = p->job.me == 0;
    return a;
}

static bool inter_takes_part(const struct inter *p, const struct dev_row *row)
{
    enum inter_group group = inter_group(row);
    bool two = group == INTER_ORDERS || group == INTER_WAITS;

    return p->job.me == 0 || group == INTER_ALLTOALLS || (two && p->job.me == p->job.npes - 1);
}

/* No signal has come, no byte is wrong. */
static void inter_prepare(struct inter *p, const struct dev_row *row)
{
    size_t len = sizeof *p->flag[0] * INTER_FLAG_WORDS;

    dev_sync();
    if (inter_in_host(row))
        memset(p->flag[1], 0, len);
    else
        dev_cuda(cudaMemset(p->flag[0], 0, len), "cudaMemset");
    dev_cuda(cudaMemset(p->wrong, 0, sizeof *p->wrong), "cudaMemset");
    p->iterations = 0;
    dev_sync();
}

/* us that the lanes of the last kernel have posted, for each put of a window; 0 for a PE without a part. */
static double inter_posted(const struct inter *p, const struct dev_row *row)
{
    uint64_t ns = 0;

    if (p->job.me == 0)
        dev_cuda(cudaMemcpy(&ns, p->posted, sizeof ns, cudaMemcpyDeviceToHost), "copy from the GPU");
    return (double)ns * 1e-3 / (double)inter_window(row->size);
}

/* us of the kernel. */
static double inter_kernel_run(struct inter *p, const struct dev_row *row, inter_kernel *kernel,
                               const struct inter_args &a)
{
    const char *name = inter_kinds[row->kind].name;
    float ms = 0;

    dev_cuda(cudaMemset(p->posted, 0, sizeof *p->posted), "cudaMemset");
    dev_cuda(cudaEventRecord(p->begin), "cudaEventRecord");
    kernel<<<row->blocks, row->threads>>>(a);
    dev_cuda(cudaGetLastError(), name);
    dev_cuda(cudaEventRecord(p->end), "cudaEventRecord");
    dev_cuda(cudaEventSynchronize(p->end), name);
    dev_cuda(cudaEventElapsedTime(&ms, p->begin, p->end), "cudaEventElapsedTime");
    return ms * 1e3;
}

/* Iterations on the PEs that the row has: us in all, 0 for a PE without a part. NULL: the host calls. */
static double inter_launch(struct inter *p, const struct dev_row *row, inter_kernel *kernel, long n, bool checks)
{
    struct inter_args a = inter_arguments(p, row, n);

    a.checks = checks;
    p->iterations += (uint64_t)n;
    p->ordered += inter_what(row) == INTER_ORDER_COUNTED ? (uint64_t)n : 0;
    dev_sync();
    if (!inter_takes_part(p, row))
        return 0;
    return kernel ? inter_kernel_run(p, row, kernel, a) : inter_host_run(a, inter_what(row));
}

/* The emulated NICs are told to move nothing of what kernels post. */
static bool inter_moves_nothing()
{
    const char *text = getenv("EFA_EMULATOR_NULL");

    return text && !strcmp(text, "1");
}

/* One iteration on data of its own, compared here where the row's kernel has not done so. us as inter_launch. */
static double inter_check(struct inter *p, const struct dev_row *row, inter_kernel *kernel)
{
    struct inter_args a = inter_arguments(p, row, 1);
    enum inter_group group = inter_group(row);
    uint64_t number = a.first + 1;
    double us;

    if (group == INTER_ALLTOALLS)
        inter_fill_alltoall<<<1, INTER_THREADS>>>(a, number);
    if (group == INTER_PUTS && !kernel)
        inter_fill_window<<<1, INTER_THREADS>>>(a, number);
    us = inter_launch(p, row, kernel, 1, true);
    dev_sync();
    if (group == INTER_ALLTOALLS)
        inter_compare_alltoall<<<1, INTER_THREADS>>>(a, number);
    if ((group == INTER_PUTS || group == INTER_POSTS) && !inter_is_bare(inter_what(row)) && a.me == a.npes - 1)
        inter_compare_window<<<1, INTER_THREADS>>>(a, number);
    if (group == INTER_GRIDS && a.me == a.npes - 1)
        inter_compare_grid<<<1, INTER_THREADS>>>(a, number, (size_t)dev_row_lanes(row) * a.len);
    dev_sync();
    return us;
}

/* The figure that counts: PE 0's, or the largest. */
static double inter_counts(const struct inter *p, const struct dev_row *row, const double *gathered, int i)
{
    double most = gathered[i];

    for (int pe = 1; pe < p->job.npes && inter_kinds[row->kind].flags & DEV_SLOWEST; pe++)
        most = gathered[(size_t)pe * DEV_FIGURES + i] > most ? gathered[(size_t)pe * DEV_FIGURES + i] : most;
    return most;
}

/* Iterations of a launch, and launches that fit the row's time: the same on all PEs. */
static long inter_plan(struct inter *p, const struct dev_row *row, inter_kernel *kernel, const struct dev_options *o,
                       double *gathered, long *samples)
{
    double last = 0;
    auto time = [&](long count, double us) {
        dev_exchange(&p->job, &us, 1, gathered);
        last = inter_counts(p, row, gathered, 0) / (double)count;
        return last * (double)count;
    };
    long n;

    time(1, inter_check(p, row, kernel));
    *samples = o->perf.samples;
    if (o->perf.batch)
        return o->perf.batch;
    n = last > DEV_LAUNCH_US ? 1 : dev_calibrate([&](long count) {
        return time(count, inter_launch(p, row, kernel, count, false));
    });
    if ((double)*samples * (double)n * last > INTER_ROW_US)
        *samples = (long)(INTER_ROW_US / (double)n / last);
    *samples = *samples < (long)INTER_SAMPLES_MIN ? (long)INTER_SAMPLES_MIN : *samples;
    *samples = *samples > o->perf.samples ? o->perf.samples : *samples;
    return n;
}

/* What kernels of this PE and its proxy threads have done so far. */
static struct inter_counted inter_count()
{
    shmemx_stats_t s;

    shmemx_stats(&s, sizeof s);
    return inter_counted{(double)(s.kernel_waits + s.proxy_waits), (double)s.proxy_bytes,
                         (double)s.proxy_copied_bytes, (double)s.network_operations,
                         (double)s.network_bytes};
}

/* Of each of so many puts since then. */
static struct inter_counted inter_count_since(const struct inter_counted &before, double puts)
{
    struct inter_counted now = inter_count();

    return inter_counted{(now.waits - before.waits) / puts, (now.moved - before.moved) / puts,
                         (now.copied - before.copied) / puts, (now.operations - before.operations) / puts,
                         (now.network - before.network) / puts};
}

static double inter_wrong(const struct inter *p)
{
    unsigned wrong = 0;

    dev_cuda(cudaMemcpy(&wrong, p->wrong, sizeof wrong, cudaMemcpyDeviceToHost), "copy from the GPU");
    return wrong;
}

static bool inter_all_right(const struct inter *p, const double *gathered, int i)
{
    bool right = true;

    for (int pe = 0; pe < p->job.npes; pe++)
        right = right && gathered[(size_t)pe * DEV_FIGURES + i] == 0;
    return right;
}

/* Measures the row. PE 0's to report: `result`, and what was counted. */
static void inter_measure(struct inter *p, const struct dev_row *row, inter_kernel *kernel,
                          const struct dev_options *o, double *gathered, struct dev_result *result,
                          struct inter_counted *counted)
{
    struct inter_counted before;
    double figures[DEV_FIGURES], puts = (double)inter_puts(row, p->job.npes);
    long n, samples;

    inter_prepare(p, row);
    n = inter_plan(p, row, kernel, o, gathered, &samples);
    for (long i = 0; i < o->perf.warmup; i++)
        inter_launch(p, row, kernel, n, false);
    before = inter_count();
    for (long i = 0; i < samples; i++) {
        figures[i] = inter_launch(p, row, kernel, n, false) / (double)n;
        if (inter_group(row) == INTER_POSTS)
            figures[i] = inter_posted(p, row) / (double)n;
    }
    *counted = kernel && puts > 0 ? inter_count_since(before, (double)(samples * n) * puts)
                                  : inter_counted{-1, -1, -1, -1, -1};
    for (int i = 1; i < INTER_CHECKS; i++)
        inter_check(p, row, kernel);
    figures[samples] = inter_wrong(p);
    dev_exchange(&p->job, figures, (int)samples + 1, gathered);
    result->right = inter_moves_nothing() || inter_all_right(p, gathered, (int)samples);
    for (long i = 0; i < samples; i++)
        figures[i] = inter_counts(p, row, gathered, (int)i);
    perf_stats_from(&result->us, figures, samples);
    result->samples = samples;
    result->iterations = n;
}

#endif
