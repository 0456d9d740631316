/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What point-to-point operations cost that a kernel calls, between PE 0 and the last PE. One program for every library
 * that api.cuh knows, so that both sides of a comparison run the same kernels with the same scope, threads and grid.
 */
#include "perftest/device/bandwidth.cuh"
#include "perftest/device/latency.cuh"
#include "perftest/device/measure.cuh"
#include "perftest/device/pingpong.cuh"

#include <signal.h>
#include <string.h>

enum { P2P_SECONDS = 30 };

static char p2p_current[P2P_ID_TEXT];

/* Of more threads than kernels are compiled for. */
static p2p_kernel *p2p_wide_kernel_of(const struct p2p_row *row)
{
    static p2p_kernel *const put = p2p_put<P2P_BLOCK, 1024>, *const get = p2p_get<P2P_BLOCK, 1024>;

    return row->kind == P2P_PUT ? put : row->kind == P2P_GET ? get : row->kind == P2P_STORE_BW ? p2p_store_bw : NULL;
}

/* NULL: there is no such form. */
static p2p_kernel *p2p_kernel_of(const struct p2p_row *row)
{
    static p2p_kernel *const kernels[][P2P_SCOPES] = {
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
    };
    static_assert(sizeof kernels / sizeof kernels[0] == P2P_KINDS, "one line a kind, in their order");

    return row->threads > P2P_THREADS ? p2p_wide_kernel_of(row) : kernels[row->kind][row->scope];
}

/* A kernel that never ends keeps the process in the driver: only a signal handler still runs. */
static void p2p_too_long(int)
{
    static const char text[] = ": no end within its time\n";

    (void)!write(STDERR_FILENO, p2p_current, strlen(p2p_current));
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(1);
}

/* Symmetric memory of the largest row. 0, or -1 after a line. */
static int p2p_allocate(struct p2p *p, const struct p2p_row *rows, int n)
{
    for (int i = 0; i < n; i++) {
        size_t room = p2p_stride(&rows[i]) * p2p_places(&rows[i]);

        p->bytes = p2p_span(&rows[i]) > p->bytes ? p2p_span(&rows[i]) : p->bytes;
        p->room = room > p->room ? room : p->room;
    }
    p->source = (char *)perf_malloc(p->room + 128);
    p->dest = (char *)perf_malloc(p->bytes + 128);
    p->flag = (uint64_t *)perf_malloc(sizeof *p->flag * P2P_FLAGS * P2P_FLAG_WORDS);
    p->figures = (double *)perf_malloc(sizeof *p->figures * P2P_FIGURES * p->npes);
    if (!p->source || !p->dest || !p->flag || !p->figures) {
        fprintf(stderr, "p2p: no buffers of %zu and %zu bytes of symmetric device memory; set "
                        "SHMEM_DEVICE_SYMMETRIC_SIZE, or fewer --rows\n",
                p->room, p->bytes);
        return -1;
    }
    p2p_cuda(cudaMalloc(&p->local, sizeof *p->local), "cudaMalloc");
    p2p_cuda(cudaMalloc(&p->mine, sizeof *p->mine * P2P_FIGURES), "cudaMalloc");
    p2p_cuda(cudaMalloc(&p->wrong, sizeof *p->wrong), "cudaMalloc");
    p2p_cuda(cudaEventCreate(&p->begin), "cudaEventCreate");
    p2p_cuda(cudaEventCreate(&p->end), "cudaEventCreate");
    return 0;
}

static void p2p_free(struct p2p *p)
{
    void *symmetric[] = {p->figures, p->flag, p->dest, p->source};

    p2p_meet();
    for (void *memory : symmetric)
        perf_free(memory);
    cudaEventDestroy(p->begin);
    cudaEventDestroy(p->end);
    cudaFree(p->local);
    cudaFree(p->mine);
    cudaFree(p->wrong);
}

/* The bulk kernels are lent more shared memory than a kernel has unasked. */
static void p2p_allow_scratch(const struct p2p_row *row, p2p_kernel *kernel)
{
    if (p2p_kinds[row->kind].flags & P2P_EXTENSION)
        p2p_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, P2P_SCRATCH),
                 "shared memory of the bulk kernels");
}

/* Runs all rows; whether every one had right data. */
static bool p2p_run(struct p2p *p, const struct p2p_row *rows, int n, const struct p2p_options *o,
                    struct p2p_report *report)
{
    bool right = true;

    for (int i = 0; i < n; i++) {
        p2p_kernel *kernel = p2p_kernel_of(&rows[i]);
        struct p2p_result result;

        p2p_row_id(p2p_current, &rows[i]);
        alarm(P2P_SECONDS);
        if (!kernel) {
            if (p->me == 0)
                p2p_report_lacks(report, &rows[i]);
            continue;
        }
        p2p_allow_scratch(&rows[i], kernel);
        p2p_measure(p, &rows[i], kernel, o, &result);
        right = right && result.right;
        if (p->me == 0)
            p2p_report_row(report, &rows[i], &result);
    }
    snprintf(p2p_current, sizeof p2p_current, "the end");
    alarm(P2P_SECONDS);
    return right;
}

/* Starts the library, runs, stops it. The program's exit status. */
static int p2p_main(const struct p2p_row *rows, int n, const struct p2p_options *o, int gpus)
{
    struct p2p p = {};
    struct p2p_report report = {};
    bool right;

    if (perf_start(gpus))
        return 1;
    p.me = PERF_ONE(my_pe)();
    p.npes = PERF_ONE(n_pes)();
    p.peer = p.me == 0 ? p.npes - 1 : 0;
    p.takes_part = p.me == 0 || p.me == p.npes - 1;
    if (p.npes < 2) {
        fprintf(stderr, "p2p: needs two PEs at least, has one; start it with oshrun -n 2\n");
        PERF_ONE(finalize)();
        return 2;
    }
    if (p2p_allocate(&p, rows, n) || (p.me == 0 && p2p_report_open(&report, o, PERF_LIBRARY, p.npes)))
        PERF_ONE(global_exit)(1);
    right = p2p_run(&p, rows, n, o, &report);
    if (p.me == 0 && p2p_report_close(&report))
        right = false;
    p2p_free(&p);
    PERF_ONE(finalize)();
    return right ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct p2p_row rows[P2P_MAX_ROWS];
    struct p2p_options o;
    char error[P2P_ERROR_TEXT], id[P2P_ID_TEXT];
    int gpus = 0, n;

    if (p2p_options_parse(&o, argc, argv, error)) {
        fprintf(stderr, "p2p: %s\n", error);
        return 2;
    }
    n = p2p_rows_expand(rows, &o);
    if (o.help)
        p2p_options_help();
    for (int i = 0; o.list && i < n; i++)
        printf("%s\n", p2p_row_id(id, &rows[i]));
    if (o.help || o.list)
        return 0;
    if (n == 0) {
        fprintf(stderr, "p2p: no row fits --rows '%s' and the other options; --list prints all\n",
                o.rows ? o.rows : "*");
        return 2;
    }
    /* A kernel that is loaded when it is first launched would wait for one that waits for it. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
        fprintf(stderr, "p2p: skip: no GPU that CUDA can use\n");
        return 77;
    }
    snprintf(p2p_current, sizeof p2p_current, "the start");
    signal(SIGALRM, p2p_too_long);
    alarm(2 * P2P_SECONDS);
    return p2p_main(rows, n, &o, gpus);
}
