/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What collectives cost on device memory, called by kernels, on streams, in graphs and by the host. One
 * program for every library that coll_api.cuh knows, so that all sides of a comparison are timed alike.
 */
#include "perftest/device/coll_measure.cuh"

/* Symmetric memory of the largest row. 0, or -1 after a line. */
static int coll_allocate(struct coll *c, const struct dev_row *rows, int n)
{
    size_t most = COLL_PUT * (size_t)c->job.npes;

    for (int i = 0; i < n; i++) {
        size_t len = rows[i].kind == COLL_BARRIER_LOADED ? COLL_PIECE * (size_t)rows[i].blocks : rows[i].size;
        most = len > most ? len : most;
    }
    c->source = (char *)perf_malloc(most);
    c->dest = (char *)perf_malloc(most);
    if (!c->source || !c->dest || dev_job_open(&c->job)) {
        perf_complain("no two buffers of %zu bytes of symmetric device memory; set SHMEM_DEVICE_SYMMETRIC_SIZE, or "
                      "fewer --rows",
                      most);
        return -1;
    }
    dev_cuda(cudaMalloc(&c->wrong, sizeof *c->wrong), "cudaMalloc");
    dev_cuda(cudaMalloc(&c->ended, sizeof *c->ended), "cudaMalloc");
    dev_cuda(cudaMemset(c->ended, 0, sizeof *c->ended), "cudaMemset");
    dev_cuda(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking), "cudaStreamCreate");
    dev_cuda(cudaEventCreate(&c->begin), "cudaEventCreate");
    dev_cuda(cudaEventCreate(&c->end), "cudaEventCreate");
    return 0;
}

static void coll_free(struct coll *c)
{
    dev_sync();
    perf_free(c->dest);
    perf_free(c->source);
    dev_job_close(&c->job);
    cudaEventDestroy(c->begin);
    cudaEventDestroy(c->end);
    cudaStreamDestroy(c->stream);
    cudaFree(c->wrong);
    cudaFree(c->ended);
}

/* Starts the library, runs, stops it. The program's exit status. */
static int coll_main(struct dev_row *rows, struct dev_options *o, int gpus)
{
    struct coll c = {};
    struct perf_report report = {};
    double *gathered;
    char library[100];
    bool right;
    int n;

    if (perf_start(gpus))
        return 1;
    c.job.me = perf_pe();
    c.job.npes = o->pes = perf_pes();
    n = dev_rows_expand(rows, o);
    if (coll_allocate(&c, rows, n) ||
        (c.job.me == 0 && dev_report_open(&report, o, perf_library(library, sizeof library),
                                         perf_transport(c.dest, c.job.npes - 1), NULL, c.job.npes)))
        perf_fail();
    gathered = (double *)calloc((size_t)c.job.npes * DEV_FIGURES, sizeof *gathered);
    auto measure = [&](const struct dev_row *row, struct dev_result *result) {
        bool has = coll_measure(&c, row, o, gathered, result);

        if (c.graph)
            cudaGraphExecDestroy(c.graph);
        return has;
    };
    right = dev_run(&c.job, rows, n, DEV_SECONDS, &report, measure);
    free(gathered);
    if (c.job.me == 0 && dev_report_close(&report))
        right = false;
    coll_free(&c);
    perf_stop();
    return right ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct dev_row rows[DEV_MAX_ROWS];
    struct dev_options o;
    int gpus = 0, n, status = dev_begin(&o, rows, &n, argc, argv, &gpus);

    return status >= 0 ? status : coll_main(rows, &o, gpus);
}
