/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What signal_wait_until costs in a kernel beside poll loops as programs write them: 1, 32 and 1,024 threads of a
 * block, each on its own word or all on one. The writes are those of another SM, as relaxed and as far as the L2 as
 * those of a NIC, and come at times that polls are not in step with. One PE: it needs no launcher.
 */
#include "perftest/device/wait_kernels.cuh"

#include "perftest/device/job.cuh"

#include <algorithm>

enum { WAIT_SHARED = 120 << 10 }; /* bytes of a block that computes: two do not fit an SM */

struct wait {
    struct dev_job job;
    struct wait_args args;
    cudaStream_t waiting, other;
    cudaEvent_t begin, end;
    char *from, *to; /* of copies: pinned, and the GPU's */
    uint64_t *value; /* pinned: what ends waits */
    struct wait_work *work, *seen;
    float *sink;
    int sms, khz;
};

#define WAIT_KERNELS(NAME)                                                               \
    {                                                                                    \
        {NAME<WAIT_UNTIL, false>, NAME<WAIT_ACQUIRE, false>, NAME<WAIT_VOLATILE, false>, \
         NAME<WAIT_FETCH, false>},                                                       \
        {                                                                                \
            NAME<WAIT_UNTIL, true>, NAME<WAIT_ACQUIRE, true>, NAME<WAIT_VOLATILE, true>, \
                NAME<WAIT_FETCH, true>                                                   \
        }                                                                                \
    }

static wait_kernel *const wait_wakes[WAIT_WORDS][WAIT_HOWS] = WAIT_KERNELS(wait_wake);
static wait_kernel *const wait_holds[WAIT_WORDS][WAIT_HOWS] = WAIT_KERNELS(wait_hold);

static wait_kernel *wait_of(wait_kernel *const kernels[WAIT_WORDS][WAIT_HOWS], const struct dev_row *row)
{
    return kernels[row->kind / WAIT_HOWS % WAIT_WORDS][row->kind % WAIT_HOWS];
}

/* us of n rounds, without what lies between them. */
static double wait_rounds(struct wait *w, const struct dev_row *row, long n)
{
    unsigned long long cycles = 0;

    w->args.n = n;
    wait_of(wait_wakes, row)<<<2, std::max(row->threads, 32), 0, w->waiting>>>(w->args);
    dev_cuda(cudaGetLastError(), wait_kinds[row->kind].name);
    dev_cuda(cudaStreamSynchronize(w->waiting), wait_kinds[row->kind].name);
    dev_cuda(cudaMemcpy(&cycles, w->args.cycles, sizeof cycles, cudaMemcpyDeviceToHost), "copy from the GPU");
    w->args.first += (uint64_t)n;
    return (double)cycles * 1e3 / w->khz;
}

/* Starts threads that wait until wait_release, and returns when they do. */
static void wait_start(struct wait *w, const struct dev_row *row)
{
    *(volatile unsigned *)w->args.sm = 0;
    wait_of(wait_holds, row)<<<1, row->threads, 0, w->waiting>>>(w->args);
    dev_cuda(cudaGetLastError(), wait_kinds[row->kind].name);
    while (!*(volatile unsigned *)w->args.sm)
        usleep(10);
}

static void wait_release(struct wait *w)
{
    for (int i = 0; i < WAIT_THREADS_MAX; i++)
        w->value[i] = w->args.first + 1;
    dev_cuda(cudaMemcpyAsync(w->args.words, w->value, WAIT_THREADS_MAX * sizeof *w->value,
                             cudaMemcpyHostToDevice, w->other),
             "copy to the GPU");
    dev_cuda(cudaStreamSynchronize(w->other), "copy to the GPU");
    dev_cuda(cudaStreamSynchronize(w->waiting), "a kernel that waits");
    w->args.first++;
}

/* us of a copy from the host. */
static double wait_copy(struct wait *w)
{
    float ms = 0;

    dev_cuda(cudaEventRecord(w->begin, w->other), "cudaEventRecord");
    dev_cuda(cudaMemcpyAsync(w->to, w->from, WAIT_COPY, cudaMemcpyHostToDevice, w->other), "copy to the GPU");
    dev_cuda(cudaEventRecord(w->end, w->other), "cudaEventRecord");
    dev_cuda(cudaEventSynchronize(w->end), "copy to the GPU");
    dev_cuda(cudaEventElapsedTime(&ms, w->begin, w->end), "cudaEventElapsedTime");
    return ms * 1e3;
}

/* us of the block that computes on that SM; of the median of all for `sm` 0. */
static double wait_computed(struct wait *w, unsigned sm)
{
    unsigned long long cycles = 0;

    wait_compute<<<w->sms, WAIT_WORKERS, WAIT_SHARED, w->other>>>(w->work, w->sink);
    dev_cuda(cudaGetLastError(), "warps that compute");
    dev_cuda(cudaMemcpyAsync(w->seen, w->work, w->sms * sizeof *w->seen, cudaMemcpyDeviceToHost, w->other),
             "copy from the GPU");
    dev_cuda(cudaStreamSynchronize(w->other), "warps that compute");
    std::sort(w->seen, w->seen + w->sms,
              [](const struct wait_work &a, const struct wait_work &b) { return a.cycles < b.cycles; });
    cycles = w->seen[w->sms / 2].cycles;
    for (int i = 0; sm && i < w->sms; i++)
        if (w->seen[i].sm + 1 == sm)
            cycles = w->seen[i].cycles;
    return (double)cycles * 1e3 / w->khz;
}

/* One sample of a row that is no round. */
static double wait_sample(struct wait *w, const struct dev_row *row)
{
    bool none = row->kind >= WAIT_INCOMING_NONE;
    bool copies =
        row->kind == WAIT_INCOMING_NONE || (!none && row->kind / WAIT_HOWS / WAIT_WORDS == WAIT_INCOMING);
    double us;

    if (!none)
        wait_start(w, row);
    us = copies ? wait_copy(w) : wait_computed(w, none ? 0 : *(volatile unsigned *)w->args.sm);
    if (!none)
        wait_release(w);
    return us;
}

static bool wait_measure(struct wait *w, const struct dev_row *row, const struct dev_options *o,
                         struct dev_result *result)
{
    bool rounds = row->kind < WAIT_WORDS * WAIT_HOWS;
    double figures[DEV_FIGURES];
    long n = 1;

    w->args.waiters = row->threads;
    w->args.first = 0;
    dev_cuda(cudaMemset(w->args.words, 0, WAIT_THREADS_MAX * sizeof *w->args.words), "cudaMemset");
    dev_cuda(cudaMemset(w->args.acks, 0, sizeof *w->args.acks), "cudaMemset");
    dev_cuda(cudaDeviceSynchronize(), "cudaMemset");
    if (rounds) {
        wait_rounds(w, row, 1); /* loads the kernel */
        n = o->perf.batch ? o->perf.batch
                          : dev_calibrate([&](long count) { return wait_rounds(w, row, count); });
    }
    for (long i = 0; i < o->perf.warmup; i++)
        rounds ? wait_rounds(w, row, n) : wait_sample(w, row);
    for (long i = 0; i < o->perf.samples; i++)
        figures[i] = rounds ? wait_rounds(w, row, n) / (double)n : wait_sample(w, row);
    perf_stats_from(&result->us, figures, o->perf.samples);
    result->samples = o->perf.samples;
    result->iterations = n;
    result->right =
        true; /* a wait that returns too soon would write more acknowledgements than rounds, and hang */
    wait_claims_keep(row, result->us.p50);
    return true;
}

static void wait_open(struct wait *w)
{
    int device = 0;

    cudaGetDevice(&device);
    dev_cuda(cudaDeviceGetAttribute(&w->sms, cudaDevAttrMultiProcessorCount, device), "the number of SMs");
    dev_cuda(cudaDeviceGetAttribute(&w->khz, cudaDevAttrClockRate, device), "the clock");
    dev_cuda(cudaFuncSetAttribute(wait_compute, cudaFuncAttributeMaxDynamicSharedMemorySize, WAIT_SHARED),
             "shared memory");
    dev_cuda(cudaStreamCreateWithFlags(&w->waiting, cudaStreamNonBlocking), "cudaStreamCreate");
    dev_cuda(cudaStreamCreateWithFlags(&w->other, cudaStreamNonBlocking), "cudaStreamCreate");
    dev_cuda(cudaEventCreate(&w->begin), "cudaEventCreate");
    dev_cuda(cudaEventCreate(&w->end), "cudaEventCreate");
    dev_cuda(cudaMalloc(&w->args.acks, sizeof *w->args.acks), "cudaMalloc");
    dev_cuda(cudaMalloc(&w->args.cycles, sizeof *w->args.cycles), "cudaMalloc");
    dev_cuda(cudaMalloc(&w->to, WAIT_COPY), "cudaMalloc");
    dev_cuda(cudaMalloc(&w->work, w->sms * sizeof *w->work), "cudaMalloc");
    dev_cuda(cudaMalloc(&w->sink, sizeof *w->sink), "cudaMalloc");
    dev_cuda(cudaHostAlloc(&w->from, WAIT_COPY, 0), "cudaHostAlloc");
    dev_cuda(cudaHostAlloc(&w->value, WAIT_THREADS_MAX * sizeof *w->value, 0), "cudaHostAlloc");
    dev_cuda(cudaHostAlloc(&w->seen, w->sms * sizeof *w->seen, 0), "cudaHostAlloc");
    dev_cuda(cudaHostAlloc(&w->args.sm, sizeof *w->args.sm, cudaHostAllocMapped), "cudaHostAlloc");
    memset(w->from, 1, WAIT_COPY);
}

static void wait_close(struct wait *w)
{
    void *device[] = {w->args.acks, w->args.cycles, w->to, w->work, w->sink},
         *host[] = {w->from, w->value, w->seen, w->args.sm};

    for (void *memory : device)
        cudaFree(memory);
    for (void *memory : host)
        cudaFreeHost(memory);
    cudaEventDestroy(w->begin);
    cudaEventDestroy(w->end);
    cudaStreamDestroy(w->waiting);
    cudaStreamDestroy(w->other);
}

/* Starts the library, runs, stops it. The program's exit status. */
static int wait_main(const struct dev_row *rows, int n, const struct dev_options *o, int gpus)
{
    struct wait w = {};
    struct perf_report report = {};
    char library[100];
    bool right;

    if (perf_start(gpus))
        return 1;
    w.job.me = PERF_ONE(my_pe)();
    w.job.npes = PERF_ONE(n_pes)();
    w.args.words = (uint64_t *)perf_malloc(WAIT_THREADS_MAX * sizeof *w.args.words);
    if (!w.args.words || (w.job.me == 0 && dev_report_open(&report, o, perf_library(library, sizeof library),
                                                           "memory of the GPU", NULL, w.job.npes)))
        PERF_ONE(global_exit)(1);
    wait_open(&w);
    right = dev_run(&w.job, rows, n, DEV_SECONDS, &report,
                    [&](const struct dev_row *row, struct dev_result *result) {
                        return wait_measure(&w, row, o, result);
                    });
    if (w.job.me == 0 && report.table)
        wait_claims_print(report.table);
    if (w.job.me == 0 && dev_report_close(&report))
        right = false;
    wait_close(&w);
    perf_free(w.args.words);
    PERF_ONE(finalize)();
    return right ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct dev_row rows[DEV_MAX_ROWS];
    struct dev_options o;
    int gpus = 0, n, status = dev_begin(&o, rows, &n, argc, argv, &gpus);

    return status >= 0 ? status : wait_main(rows, n, &o, gpus);
}
