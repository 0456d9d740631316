/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What point-to-point operations cost that a kernel calls, between PE 0 and the last PE. One program for every library
 * that api.cuh knows, so that both sides of a comparison run the same kernels with the same scope, threads and grid.
 */
#include "perftest/device/bandwidth.cuh"
#include "perftest/device/latency.cuh"
#include "perftest/device/measure.cuh"
#include "perftest/device/pingpong.cuh"

/* Of more threads than kernels are compiled for. */
static p2p_kernel *p2p_wide_kernel_of(const struct dev_row *row)
{
    static p2p_kernel *const put = p2p_put<DEV_BLOCK, 1024>, *const get = p2p_get<DEV_BLOCK, 1024>;

    return row->kind == P2P_PUT ? put : row->kind == P2P_GET ? get : row->kind == P2P_STORE_BW ? p2p_store_bw : NULL;
}

/* NULL: there is no such form. */
static p2p_kernel *const p2p_kernels[][DEV_SCOPES] = {
    P2P_ALL(p2p_put),                /* P2P_PUT */
    P2P_ALL(p2p_put),                /* P2P_PUT_SAME */
    P2P_ALL(p2p_get),                /* P2P_GET */
    P2P_ONE(p2p_p),                  /* P2P_P */
    P2P_ONE(p2p_g),                  /* P2P_G */
    P2P_ONE(p2p_fetch_inc),          /* P2P_FETCH_INC */
    P2P_ONE(p2p_compare_swap),       /* P2P_COMPARE_SWAP */
    P2P_ONE(p2p_swap),               /* P2P_SWAP */
    P2P_ONE(p2p_inc),                /* P2P_INC */
    P2P_EXTENSION(p2p_put_bulk),     /* P2P_PUT_BULK */
    P2P_EXTENSION(p2p_get_bulk),     /* P2P_GET_BULK */
    P2P_ALL(p2p_put_bw),             /* P2P_PUT_BW */
    P2P_ALL(p2p_put_bw),             /* P2P_PUT_SAME_BW */
    P2P_ALL(p2p_get_bw),             /* P2P_GET_BW */
    P2P_ALL(p2p_put_bw),             /* P2P_PUT_BIBW */
    P2P_ALL(p2p_get_bw),             /* P2P_GET_BIBW */
    P2P_EXTENSION(p2p_put_bulk_bw),  /* P2P_PUT_BULK_BW */
    P2P_EXTENSION(p2p_get_bulk_bw),  /* P2P_GET_BULK_BW */
    {NULL, NULL, p2p_store_bw},      /* P2P_STORE_BW */
    P2P_ALL(p2p_put_bw),             /* P2P_PUT_RATE */
    P2P_ONE(p2p_p_rate),             /* P2P_P_RATE */
    P2P_ONE(p2p_put_local_rate),     /* P2P_PUT_LOCAL_RATE */
    P2P_ONE(p2p_put_shared_rate),    /* P2P_PUT_SHARED_RATE */
    P2P_ONE(p2p_put_constant_rate),  /* P2P_PUT_CONSTANT_RATE */
    P2P_ONE(p2p_put_few_rate),       /* P2P_PUT_FEW_RATE */
    P2P_ONE(p2p_iput_few_rate),      /* P2P_IPUT_FEW_RATE */
    P2P_ONE(p2p_g_rate),             /* P2P_G_RATE */
    P2P_ONE(p2p_fetch_add_rate),     /* P2P_FETCH_ADD_RATE */
    P2P_ONE(p2p_inc_rate),           /* P2P_INC_RATE */
    P2P_ONE(p2p_pp_signal),          /* P2P_PP_SIGNAL */
    P2P_ALL(p2p_pp_put_signal),      /* P2P_PP_PUT_SIGNAL */
    P2P_ONE(p2p_pp_p),               /* P2P_PP_P */
    P2P_ALL(p2p_pp_put),             /* P2P_PP_PUT */
    P2P_ALL(p2p_pp_put_fence_p),     /* P2P_PP_PUT_FENCE_P */
    P2P_ONE(p2p_pp_atomic),          /* P2P_PP_ATOMIC */
    P2P_ALL(p2p_pp_put_atomic),      /* P2P_PP_PUT_ATOMIC */
    P2P_ALL(p2p_put),                /* P2P_PUT_MISALIGNED */
    P2P_ALL(p2p_get),                /* P2P_GET_MISALIGNED */
    P2P_ALL(p2p_put_bw),             /* P2P_PUT_BW_MISALIGNED */
    P2P_ALL(p2p_get_bw),             /* P2P_GET_BW_MISALIGNED */
    {NULL, NULL, p2p_put_loaded},    /* P2P_PUT_LOADED */
    {NULL, NULL, p2p_p_loaded},      /* P2P_P_LOADED */
    {NULL, NULL, p2p_pp_signal_loaded}, /* P2P_PP_SIGNAL_LOADED */
};
static_assert(sizeof p2p_kernels / sizeof p2p_kernels[0] == P2P_KINDS, "one line a kind, in their order");

static p2p_kernel *p2p_kernel_of(const struct dev_row *row)
{
    return row->threads > P2P_THREADS ? p2p_wide_kernel_of(row) : p2p_kernels[row->kind][row->scope];
}

/* Symmetric memory of the largest row. 0, or -1 after a line. */
static int p2p_allocate(struct p2p *p, const struct dev_row *rows, int n)
{
    for (int i = 0; i < n; i++) {
        size_t room = p2p_stride(&rows[i]) * p2p_offsets(&rows[i]);

        p->bytes = p2p_span(&rows[i]) > p->bytes ? p2p_span(&rows[i]) : p->bytes;
        p->room = room > p->room ? room : p->room;
    }
    p->source = (char *)perf_malloc(p->room + 128);
    p->dest = (char *)perf_malloc(p->bytes + 128);
    p->flag = (uint64_t *)perf_malloc(sizeof *p->flag * P2P_FLAGS * P2P_FLAG_WORDS);
    if (!p->source || !p->dest || !p->flag || dev_job_open(&p->job)) {
        perf_complain("no buffers of %zu and %zu bytes of symmetric device memory; set SHMEM_DEVICE_SYMMETRIC_SIZE, or "
                      "fewer --rows",
                      p->room, p->bytes);
        return -1;
    }
    dev_cuda(cudaMalloc(&p->local, sizeof *p->local), "cudaMalloc");
    dev_cuda(cudaMalloc(&p->wrong, sizeof *p->wrong), "cudaMalloc");
    dev_cuda(cudaEventCreate(&p->begin), "cudaEventCreate");
    dev_cuda(cudaEventCreate(&p->end), "cudaEventCreate");
    return 0;
}

static void p2p_free(struct p2p *p)
{
    void *symmetric[] = {p->flag, p->dest, p->source};

    dev_sync();
    for (void *memory : symmetric)
        perf_free(memory);
    dev_job_close(&p->job);
    cudaEventDestroy(p->begin);
    cudaEventDestroy(p->end);
    cudaFree(p->local);
    cudaFree(p->wrong);
}

/* The bulk kernels need more shared memory than a kernel has by default. */
static void p2p_allow_scratch(const struct dev_row *row, p2p_kernel *kernel)
{
    if (p2p_kinds[row->kind].flags & P2P_EXTENSION)
        dev_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, P2P_SCRATCH),
                 "shared memory of the bulk kernels");
}

/* Starts the library, runs, stops it. The program's exit status. */
static int p2p_main(const struct dev_row *rows, int n, const struct dev_options *o, int gpus)
{
    struct p2p p = {};
    struct perf_report report = {};
    char library[100];
    bool right;

    if (perf_start(gpus))
        return 1;
    p.job.me = PERF_ONE(my_pe)();
    p.job.npes = PERF_ONE(n_pes)();
    p.peer = p.job.me == 0 ? p.job.npes - 1 : 0;
    p.takes_part = p.job.me == 0 || p.job.me == p.job.npes - 1;
    if (p.job.npes < 2) {
        perf_complain("needs two PEs at least, has one; start it with oshrun -n 2");
        PERF_ONE(finalize)();
        return 2;
    }
    if (p2p_allocate(&p, rows, n) ||
        (p.job.me == 0 && dev_report_open(&report, o, perf_library(library, sizeof library),
                                         perf_transport(p.dest, p.peer), NULL, p.job.npes)))
        PERF_ONE(global_exit)(1);
    auto measure = [&](const struct dev_row *row, struct dev_result *result) {
        p2p_kernel *kernel = p2p_kernel_of(row);

        if (kernel) {
            p2p_allow_scratch(row, kernel);
            p2p_measure(&p, row, kernel, o, result);
        }
        return kernel != NULL;
    };
    right = dev_run(&p.job, rows, n, DEV_SECONDS, &report, measure);
    if (p.job.me == 0 && dev_report_close(&report))
        right = false;
    p2p_free(&p);
    PERF_ONE(finalize)();
    return right ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct dev_row rows[DEV_MAX_ROWS];
    struct dev_options o;
    int gpus = 0, n, status = dev_begin(&o, rows, &n, argc, argv, &gpus);

    return status >= 0 ? status : p2p_main(rows, n, &o, gpus);
}
