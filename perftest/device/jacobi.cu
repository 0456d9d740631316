/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jacobi iterations on a grid that PEs share; several methods to exchange its edges. One program for every library
 * that jacobi_api.cuh knows, so that all sides of a comparison run the same stencil.
 */
#include "perftest/device/jacobi_check.cuh"

/* Rows of a PE, and the first of them. */
static int jacobi_first_row(int ny, int npes, int pe)
{
    return (int)((long)ny * pe / npes);
}

static int jacobi_rows_of(int ny, int npes, int pe)
{
    return jacobi_first_row(ny, npes, pe + 1) - jacobi_first_row(ny, npes, pe);
}

/* Sums of squares of a row. */
static int jacobi_count(const struct dev_row *row, int norm)
{
    return (row->threads - 1) / norm + 1;
}

/* The row's grid and arrays, which begin at `memory`; bytes of them, alike on all PEs. */
static size_t jacobi_place(struct jacobi_args *a, const struct dev_row *row, char *memory)
{
    struct jacobi_grid *g = &a->grid;
    size_t cells, sums = (jacobi_count(row, a->norm) * sizeof(double) + 255) / 256 * 256;

    g->nx = (int)row->size;
    g->ny = row->blocks;
    g->rows = jacobi_rows_of(g->ny, a->npes, a->me);
    g->first_row = jacobi_first_row(g->ny, a->npes, a->me);
    jacobi_cut(g);
    a->above = (a->me + a->npes - 1) % a->npes;
    a->below = (a->me + 1) % a->npes;
    a->above_halo = jacobi_rows_of(g->ny, a->npes, a->above) + 1;
    cells = (size_t)g->pitch * ((g->ny + a->npes - 1) / a->npes + 2 + JACOBI_ROWS) * sizeof(float);
    g->a[0] = (float *)memory;
    g->a[1] = (float *)(memory + cells);
    a->arrived = (uint64_t *)(memory + 2 * cells);
    a->changed = (double *)(memory + 2 * cells + 256);
    a->norms = (double *)(memory + 2 * cells + 256 + sums);
    a->sums_seen = (uint64_t *)(memory + 2 * cells + 256 + 2 * sums);
    return 2 * cells + 256 + (2 + (size_t)a->npes) * sums;
}

/* The largest of the rows' arrays. */
static size_t jacobi_room(const struct dev_row *rows, int n, int norm, int me, int npes)
{
    size_t most = 0;

    for (int i = 0; i < n; i++) {
        struct jacobi_args a = {};
        a.me = me;
        a.npes = npes;
        a.norm = norm;
        size_t len = jacobi_place(&a, &rows[i], NULL);
        most = len > most ? len : most;
    }
    return most;
}

/* Asks the libraries for a heap that holds the rows, also if it is for one PE; who has set one is left in peace. */
static void jacobi_ask_heap(const struct dev_row *rows, int n, int norm)
{
    char text[32];

    snprintf(text, sizeof text, "%zu", jacobi_room(rows, n, norm, 0, 1) + ((size_t)128 << 20));
    setenv("SHMEM_DEVICE_SYMMETRIC_SIZE", text, 0);
#ifdef PERF_NVSHMEM
    setenv("NVSHMEM_SYMMETRIC_SIZE", text, 0);
#endif
}

/* 0, or -1 after a line. */
static int jacobi_allocate(struct jacobi *j, size_t len, int gpus)
{
    int gpu = 0;

    j->memory = (char *)perf_malloc(len);
    if (!j->memory || dev_job_open(&j->job)) {
        perf_complain("no %zu bytes of symmetric device memory; set SHMEM_DEVICE_SYMMETRIC_SIZE, or a smaller grid",
                      len);
        return -1;
    }
    j->gathered = (double *)calloc((size_t)j->job.npes * DEV_FIGURES, sizeof *j->gathered);
    j->sharing = (j->job.npes + gpus - 1) / gpus;
    dev_cuda(cudaGetDevice(&gpu), "cudaGetDevice");
    dev_cuda(cudaDeviceGetAttribute(&j->sms, cudaDevAttrMultiProcessorCount, gpu), "multiprocessors");
    for (cudaStream_t *stream : {&j->edges, &j->inside, &j->sums})
        dev_cuda(cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, stream == &j->inside ? 0 : -1),
                 "cudaStreamCreate");
    for (cudaEvent_t *event : {&j->edges_done, &j->inside_done, &j->sums_done})
        dev_cuda(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "cudaEventCreate");
    jacobi_open();
    return 0;
}

static void jacobi_free(struct jacobi *j)
{
    dev_sync();
    jacobi_close();
    perf_free(j->memory);
    dev_job_close(&j->job);
    for (cudaEvent_t event : {j->edges_done, j->inside_done, j->sums_done})
        cudaEventDestroy(event);
    for (cudaStream_t stream : {j->edges, j->inside, j->sums})
        cudaStreamDestroy(stream);
    free(j->gathered);
}

/* The largest of all PEs' figure `i`. */
static double jacobi_slowest(const struct jacobi *j, int i)
{
    double most = 0;

    for (int pe = 0; pe < j->job.npes; pe++) {
        double figure = j->gathered[(size_t)pe * DEV_FIGURES + i];
        most = figure > most ? figure : most;
    }
    return most;
}

/* Whether all PEs can run the row; makes its graph. */
static bool jacobi_prepare(struct jacobi *j, const struct dev_row *row)
{
    double lacks;

    j->row = row;
    j->iterations = row->threads;
    j->count = jacobi_count(row, j->a.norm);
    j->graph = NULL;
    jacobi_place(&j->a, row, j->memory);
    lacks = !jacobi_has(row);
    if (!lacks) {
        jacobi_reset(j);
        jacobi_first(j);
        lacks = row->scope == DEV_GRAPH && !jacobi_capture(j);
    }
    dev_exchange(&j->job, &lacks, 1, j->gathered);
    return jacobi_slowest(j, 0) == 0;
}

/* Measures the row; `result` is PE 0's to report. */
static void jacobi_measure(struct jacobi *j, const struct jacobi_options *o, struct jacobi_serial *serial,
                           struct dev_result *result)
{
    double figures[DEV_FIGURES];

    if (!o->unchecked)
        jacobi_serial_run(serial, j);
    for (long i = 0; i < o->dev.perf.warmup; i++)
        jacobi_go(j);
    for (long i = 0; i < o->dev.perf.samples; i++)
        figures[i] = jacobi_go(j) * 1e6 / j->iterations;
    figures[o->dev.perf.samples] = o->unchecked ? 0 : jacobi_wrong(serial, j);
    dev_exchange(&j->job, figures, (int)o->dev.perf.samples + 1, j->gathered);
    result->right = jacobi_slowest(j, (int)o->dev.perf.samples) == 0;
    for (long i = 0; i < o->dev.perf.samples; i++)
        figures[i] = jacobi_slowest(j, (int)i);
    perf_stats_from(&result->us, figures, o->dev.perf.samples);
    result->samples = o->dev.perf.samples;
    result->iterations = j->iterations;
}

static void jacobi_csv(FILE *csv, const struct jacobi *j, const struct dev_result *result, double serial)
{
    const struct dev_row *row = j->row;

    if (!csv)
        return;
    fprintf(csv, "%s_%s_%s,%zu,%d,%d,%d,%.6f,%.6f\n", PERF_NAME, dev_table.kinds[row->kind].name,
            dev_scope_names[row->scope], row->size, row->blocks, row->threads, j->job.npes,
            result->us.p50 * row->threads * 1e-6, serial);
    fflush(csv);
}

/* PE 0's outputs. 0, or -1 after a line. */
static int jacobi_report_open(struct perf_report *report, FILE **csv, const struct jacobi_options *o,
                              const struct jacobi *j)
{
    bool to_stdout = o->csv && !strcmp(o->csv, "-");
    static char library[100];

    *csv = !o->csv ? NULL : to_stdout ? stdout : fopen(o->csv, "w");
    if (o->csv && !*csv) {
        perf_complain("cannot write %s: %s", o->csv, strerror(errno));
        return -1;
    }
    if (dev_report_open(report, &o->dev, perf_library(library, sizeof library),
                        perf_transport(j->memory, j->job.npes - 1), NULL, j->job.npes))
        return -1;
    if (to_stdout)
        report->table = NULL;
    return 0;
}

/* Starts the library, runs, stops it. The program's exit status. */
static int jacobi_main(struct dev_row *rows, struct jacobi_options *o, int n, int gpus)
{
    struct jacobi j = {};
    struct perf_report report = {};
    struct jacobi_serial serial = {};
    FILE *csv = NULL;
    bool right;

    jacobi_ask_heap(rows, n, o->norm);
    if (perf_start(gpus))
        return 1;
    j.a.me = j.job.me = perf_pe();
    j.a.npes = j.job.npes = o->dev.pes = perf_pes();
    j.a.norm = o->norm;
    n = jacobi_rows_expand(rows, o);
    if (n == 0) {
        perf_complain("a grid of fewer rows than the %d PEs; give --ny more", j.job.npes);
        perf_fail();
    }
    if (jacobi_allocate(&j, jacobi_room(rows, n, o->norm, j.job.me, j.job.npes), gpus) ||
        (j.job.me == 0 && jacobi_report_open(&report, &csv, o, &j)))
        perf_fail();
    auto measure = [&](const struct dev_row *row, struct dev_result *result) {
        bool has = jacobi_prepare(&j, row);

        if (has)
            jacobi_measure(&j, o, &serial, result);
        if (j.graph)
            cudaGraphExecDestroy(j.graph);
        if (j.job.me == 0 && has)
            jacobi_csv(csv, &j, result, serial.seconds);
        return has;
    };
    right = dev_run(&j.job, rows, n, 10 * DEV_SECONDS, &report, measure);
    jacobi_serial_free(&serial);
    if (j.job.me == 0 && (dev_report_close(&report) || (csv && csv != stdout && fclose(csv))))
        right = false;
    jacobi_free(&j);
    perf_stop();
    return right ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct dev_row rows[DEV_MAX_ROWS];
    struct jacobi_options o;
    int gpus = 0, n, status = jacobi_options_parse(&o, argc, argv);

    if (status >= 0)
        return status;
    if (o.dev.list && !o.dev.pes)
        o.dev.pes = 2;
    n = jacobi_rows_expand(rows, &o);
    status = dev_ready(&o.dev, rows, n, &gpus);
    return status >= 0 ? status : jacobi_main(rows, &o, n, gpus);
}
