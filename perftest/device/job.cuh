/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What device programs share around their rows: options, errors, PEs that synchronize and exchange figures, the number
 * of iterations. After the library's perf_… names (api.cuh, nccl.cuh).
 */
#ifndef PERFTEST_DEVICE_JOB_CUH
#define PERFTEST_DEVICE_JOB_CUH

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern "C" {
#include "perftest/common/progress.h"
#include "perftest/device/rows.h"
}

/* Figures that a PE sends to the others at once: the samples, and how many values were wrong. */
#define DEV_FIGURES (DEV_SAMPLES_MAX + 1)

/* A launch lasts about so long, which hides its own cost and that two PEs begin a little apart. */
#define DEV_LAUNCH_US 4000.0

/* The longest time of a row. */
enum { DEV_SECONDS = 30 };

struct dev_job {
    int me, npes;
    double *figures; /* symmetric: DEV_FIGURES of every PE */
    double *mine;    /* of this GPU */
};

static void dev_cuda(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    perf_complain("%s: %s", what, cudaGetErrorString(status));
    _exit(1);
}

static void dev_sync()
{
    dev_cuda(cudaDeviceSynchronize(), "a kernel");
    perf_barrier();
}

/* 0, or -1 without room. */
static inline int dev_job_open(struct dev_job *job)
{
    job->figures = (double *)perf_malloc(sizeof *job->figures * DEV_FIGURES * job->npes);
    dev_cuda(cudaMalloc(&job->mine, sizeof *job->mine * DEV_FIGURES), "cudaMalloc");
    return job->figures ? 0 : -1;
}

static inline void dev_job_close(struct dev_job *job)
{
    perf_free(job->figures);
    cudaFree(job->mine);
}

/* Every PE's `count` figures, for all: gathered[pe * DEV_FIGURES + i]. */
static inline void dev_exchange(struct dev_job *job, const double *figures, int count, double *gathered)
{
    dev_sync();
    dev_cuda(cudaMemcpy(job->mine, figures, count * sizeof *figures, cudaMemcpyHostToDevice),
             "copy to the GPU");
    perf_figures_share(job->figures, job->mine, count, DEV_FIGURES);
    dev_sync();
    dev_cuda(cudaMemcpy(gathered, job->figures, sizeof *gathered * job->npes * DEV_FIGURES, cudaMemcpyDeviceToHost),
             "copy from the GPU");
}

/* Iterations that fill DEV_LAUNCH_US. time(n): us of n iterations, the same on all PEs. */
template <class TIME> static long dev_calibrate(TIME time)
{
    double n = 2, us = 0;

    for (int tries = 0; tries < 4; tries++) {
        us = time((long)n);
        if (us > DEV_LAUNCH_US / 2)
            break;
        n *= us > DEV_LAUNCH_US / 100 ? DEV_LAUNCH_US / us : 100;
    }
    n = us > 2 * DEV_LAUNCH_US ? n * DEV_LAUNCH_US / us : n;
    return n < 1 ? 1 : n > 1 << 20 ? 1 << 20 : (long)n;
}

/*
 * All rows, each within so many seconds. measure(row, &result): false where the library lacks what the row measures.
 * Returns whether every one had right data, and PE 0 could write its report.
 */
template <class MEASURE>
static bool dev_run(const struct dev_job *job, const struct dev_row *rows, int n, unsigned seconds,
                    struct perf_report *report, MEASURE measure)
{
    bool right = true;

    for (int i = 0; i < n; i++) {
        struct dev_result result = {};
        char id[DEV_ID_TEXT];
        bool has;

        perf_watch(seconds, dev_row_id(id, &rows[i]));
        if (job->me == 0)
            perf_progress(i + 1, n, "%s", id);
        has = measure(&rows[i], &result);
        right = right && (!has || result.right);
        if (job->me == 0 && has)
            dev_report_row(report, &rows[i], &result);
        else if (job->me == 0)
            dev_report_lacks(report, &rows[i]);
    }
    perf_progress(0, 0, "the end");
    perf_watch(DEV_SECONDS, "the end");
    return right;
}

/* The list that was asked for, or GPUs for the rows: -1, or the status with which the program ends at once. */
static int dev_ready(const struct dev_options *o, const struct dev_row *rows, int n, int *gpus)
{
    char id[DEV_ID_TEXT];

    for (int i = 0; o->list && i < n; i++)
        printf("%s\n", dev_row_id(id, &rows[i]));
    if (o->list)
        return PERF_OK;
    if (n == 0) {
        perf_complain("no row fits --rows '%s' and the other options; --list prints all",
                      o->perf.rows ? o->perf.rows : "*");
        return PERF_USAGE;
    }
    /* A kernel that is loaded when it is first launched would wait for one that waits for it. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    if (cudaGetDeviceCount(gpus) != cudaSuccess || *gpus == 0) {
        perf_complain("skip: no GPU that CUDA can use");
        return PERF_SKIP;
    }
    perf_watch(2 * DEV_SECONDS, "the start");
    return -1;
}

/* Options, rows, GPUs: as dev_ready. */
static inline int dev_begin(struct dev_options *o, struct dev_row *rows, int *n, int argc, char **argv, int *gpus)
{
    int status = dev_options_parse(o, argc, argv);

    if (status >= 0)
        return status;
    if (o->list && !o->pes)
        o->pes = 2;
    *n = dev_rows_expand(rows, o);
    return dev_ready(o, rows, *n, gpus);
}

#endif
