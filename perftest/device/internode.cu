/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures what it costs kernels to reach PEs of other hosts by the proxy, as rows and as claims: ordering, blocking
 * calls, an alltoall by kernels or by the host, and waiting by the library or by a loop that acquires.
 */
#include "perftest/device/inter_clocks.cuh"
#include "perftest/device/inter_measure.cuh"

#define INTER_BY_WARP(order) {NULL, inter_order<order>, NULL}
#define INTER_BY_BLOCK(kernel) {NULL, NULL, kernel}
#define INTER_BY_THREAD(kernel) {kernel, NULL, NULL}

/* By what and scope; NULL: the host calls. */
static inter_kernel *const inter_kernels[][DEV_SCOPES] = {
    INTER_BY_WARP(INTER_ORDER_NONE),
    INTER_BY_WARP(INTER_ORDER_QUIET),
    INTER_BY_WARP(INTER_ORDER_PUT_SIGNAL),
    INTER_BY_WARP(INTER_ORDER_COUNTED),
    INTER_BY_WARP(INTER_ORDER_FENCE),
    INTER_BY_WARP(INTER_ORDER_FENCE_EACH),
    INTER_BY_WARP(INTER_ORDER_QUIET_EACH),
    {inter_push<DEV_THREAD, true>, NULL, inter_push<DEV_BLOCK, true>},   /* INTER_PUT_BLOCKING */
    {inter_push<DEV_THREAD, false>, NULL, inter_push<DEV_BLOCK, false>}, /* INTER_PUT_NBI */
    {inter_post<DEV_THREAD, INTER_POST>, inter_post<DEV_WARP, INTER_POST>, NULL},
    INTER_BY_THREAD((inter_post<DEV_THREAD, INTER_POST_LANES>)),
    INTER_BY_THREAD((inter_post<DEV_THREAD, INTER_POST_SIGNAL>)),
    {inter_post<DEV_THREAD, INTER_POST_COUNTED>, inter_post<DEV_WARP, INTER_POST_COUNTED>, NULL},
    {inter_post<DEV_THREAD, INTER_POST_LIST>, inter_post<DEV_WARP, INTER_POST_LIST>, NULL},
    INTER_BY_THREAD((inter_post<DEV_THREAD, INTER_POST_RUN_1>)),
    INTER_BY_THREAD((inter_post<DEV_THREAD, INTER_POST_RUN_4>)),
    INTER_BY_THREAD((inter_post<DEV_THREAD, INTER_POST_RUN_16>)),
    {inter_post<DEV_THREAD, INTER_POST_COPIED>, inter_post<DEV_WARP, INTER_POST_COPIED>, NULL},
    INTER_BY_THREAD((inter_post<DEV_THREAD, INTER_POST_BARE>)),
    {inter_post<DEV_THREAD, INTER_POST_BARE_RUN>, inter_post<DEV_WARP, INTER_POST_BARE_RUN>, NULL},
    INTER_BY_THREAD(inter_grid),
    {NULL, NULL, NULL},                                                  /* INTER_ALLTOALL */
    INTER_BY_BLOCK(inter_alltoall<false>),                               /* INTER_ALLTOALL_PUT */
    INTER_BY_BLOCK(inter_alltoall<true>),                                /* INTER_ALLTOALL_PUT_SIGNAL */
    INTER_BY_THREAD(inter_wait<false>),                                  /* INTER_WAIT_UNTIL */
    INTER_BY_THREAD(inter_wait<true>),                                   /* INTER_POLL_FETCH */
    INTER_BY_BLOCK(inter_load<0>),                                       /* INTER_LOAD_ALONE */
    INTER_BY_BLOCK(inter_load<1>),                                       /* INTER_LOAD_WAIT_UNTIL */
    INTER_BY_BLOCK(inter_load<2>),                                       /* INTER_LOAD_POLL_FETCH */
};
static_assert(sizeof inter_kernels / sizeof inter_kernels[0] == INTER_WHATS, "one line each, in their order");

/* Bytes of a half of dest, and of the source, that the row needs. */
static size_t inter_span(const struct dev_row *row, int npes)
{
    switch (inter_group(row)) {
    case INTER_ORDERS: return INTER_BATCH * row->size;
    case INTER_PUTS:
    case INTER_POSTS: return inter_window(row->size) * row->size;
    case INTER_GRIDS: return (size_t)dev_row_lanes(row) * row->size;
    case INTER_ALLTOALLS: return (size_t)npes * row->size;
    default: return 8;
    }
}

/* Symmetric memory of the largest row; `load` bytes of the GPU's own. False: there is not enough. */
static bool inter_allocate_memory(struct inter *p, size_t load)
{
    size_t flags = INTER_FLAG_WORDS * sizeof(uint64_t);

    p->source[0] = (char *)shmemx_malloc_device(p->room);
    p->dest[0] = (char *)shmemx_malloc_device(2 * p->half);
    p->flag[0] = (uint64_t *)shmemx_malloc_device(flags);
    p->source[1] = (char *)shmem_malloc(p->room);
    p->dest[1] = (char *)shmem_malloc(2 * p->half);
    p->flag[1] = (uint64_t *)shmem_malloc(flags);
    if (!p->source[0] || !p->dest[0] || !p->flag[0] || !p->source[1] || !p->dest[1] || !p->flag[1] ||
        dev_job_open(&p->job) || shmemx_counter_create(SHMEM_TEAM_WORLD, 2, p->counter))
        return false;
    dev_cuda(cudaMalloc(&p->load, load), "cudaMalloc");
    dev_cuda(cudaMemset(p->load, 1, load), "cudaMemset");
    dev_cuda(cudaMalloc(&p->wrong, sizeof *p->wrong), "cudaMalloc");
    dev_cuda(cudaMalloc(&p->posted, sizeof *p->posted), "cudaMalloc");
    dev_cuda(cudaHostAlloc(&p->pinned, INTER_PINNED, cudaHostAllocMapped), "cudaHostAlloc");
    dev_cuda(cudaMalloc(&p->list, inter_window(8) * sizeof *p->list), "cudaMalloc");
    dev_cuda(cudaEventCreate(&p->begin), "cudaEventCreate");
    dev_cuda(cudaEventCreate(&p->end), "cudaEventCreate");
    return true;
}

/* 0, or -1 after a line. */
static int inter_allocate(struct inter *p, const struct dev_row *rows, int n)
{
    size_t load = 16;

    for (int i = 0; i < n; i++) {
        size_t span = (inter_span(&rows[i], p->job.npes) + 127) & ~(size_t)127;

        p->half = span > p->half ? span : p->half;
        load = rows[i].size > load && inter_group(&rows[i]) == INTER_LOADS ? rows[i].size : load;
        load = span > load && inter_group(&rows[i]) == INTER_POSTS ? span : load;
    }
    p->room = p->half;
    if (inter_allocate_memory(p, load))
        return 0;
    perf_complain("no three times %zu bytes of symmetric memory, of the GPU and of the host; set "
                  "SHMEM_DEVICE_SYMMETRIC_SIZE and SHMEM_SYMMETRIC_SIZE, or fewer --rows",
                  p->half);
    return -1;
}

static void inter_free(struct inter *p)
{
    dev_sync();
    shmemx_counter_destroy(SHMEM_TEAM_WORLD, 2, p->counter);
    cudaFree(p->list);
    for (int m = 1; m >= 0; m--) {
        void (*release)(void *) = m ? shmem_free : shmemx_free_device;

        release(p->flag[m]);
        release(p->dest[m]);
        release(p->source[m]);
    }
    dev_job_close(&p->job);
    cudaEventDestroy(p->begin);
    cudaEventDestroy(p->end);
    cudaFree(p->load);
    cudaFree(p->wrong);
    cudaFree(p->posted);
    cudaFreeHost(p->pinned);
}

/* How PE 0 reaches the last PE, in words; all PEs ask. */
static const char *inter_hosts(struct inter *p, double *gathered)
{
    double machine = perf_machine();

    dev_exchange(&p->job, &machine, 1, gathered);
    if (shmem_ptr(p->dest[0], p->peer))
        return "on one host, by stores of the GPU and not by the proxy";
    if (inter_moves_nothing())
        return "between emulated hosts, whose NICs take requests and move nothing: data is not looked at";
    return machine != 0 && gathered[0] == gathered[(size_t)(p->job.npes - 1) * DEV_FIGURES]
               ? "between emulated hosts: shows protocol, not PCIe or NIC behaviour"
               : "between hosts";
}

/* A line that says by whom puts are posted. */
static void inter_say_who(struct inter *p, FILE *to)
{
    unsigned queues = 0;

    dev_cuda(cudaMemset(p->wrong, 0, sizeof *p->wrong), "cudaMemset");
    inter_nic_queues<<<1, 1>>>(p->wrong);
    dev_cuda(cudaMemcpy(&queues, p->wrong, sizeof queues, cudaMemcpyDeviceToHost), "copy from the GPU");
    if (queues)
        fprintf(to, "# kernels write requests into %u queues of NICs themselves\n", queues);
}

/* PE 0's report, with its head. False: after a line. */
static bool inter_open(struct perf_report *report, const struct dev_options *o, struct inter *p, const char *hosts)
{
    if (dev_report_open(report, o, "warpshmem", perf_transport(p->dest[0], p->peer), hosts, p->job.npes))
        return false;
    if (report->table)
        inter_say_who(p, report->table);
    return true;
}

/* PE 0, behind the rows: where a post's time goes, if the row of a lane's posts was among them. */
static void inter_say_clocks(struct inter *p, FILE *to, const struct dev_row *rows, int n)
{
    for (int i = 0; i < n; i++)
        if (rows[i].kind == INTER_KIND(INTER_POST, 0) && rows[i].scope == DEV_THREAD) {
            inter_clocks_measure(to, inter_arguments(p, &rows[i], 1));
            return;
        }
}

/* Starts the library, runs, stops it. The program's exit status. */
static int inter_main(const struct dev_row *rows, int n, const struct dev_options *o, int gpus)
{
    struct inter p = {};
    struct perf_report report = {};
    const char *hosts;
    double *gathered;
    bool right;

    if (perf_start(gpus))
        return 1;
    p.job.me = perf_pe();
    p.job.npes = perf_pes();
    p.peer = p.job.me == 0 ? p.job.npes - 1 : 0;
    if (p.job.npes < 2 || p.job.npes > INTER_BATCH) {
        perf_complain("needs 2 to %d PEs, has %d; start it with oshrun -n 2", INTER_BATCH, p.job.npes);
        perf_stop();
        return 2;
    }
    gathered = (double *)calloc((size_t)p.job.npes * DEV_FIGURES, sizeof *gathered);
    if (!gathered || inter_allocate(&p, rows, n))
        perf_fail();
    hosts = inter_hosts(&p, gathered);
    if (p.job.me == 0 && !inter_open(&report, o, &p, hosts))
        perf_fail();
    auto measure = [&](const struct dev_row *row, struct dev_result *result) {
        struct inter_counted counted;

        inter_measure(&p, row, inter_kernels[inter_what(row)][row->scope], o, gathered, result, &counted);
        inter_claims_keep(row, result->us.p50, &counted);
        return true;
    };
    right = dev_run(&p.job, rows, n, DEV_SECONDS, &report, measure);
    if (p.job.me == 0 && report.table) {
        inter_claims_print(report.table);
        inter_say_clocks(&p, report.table, rows, n);
    }
    if (p.job.me == 0 && dev_report_close(&report))
        right = false;
    free(gathered);
    inter_free(&p);
    perf_stop();
    return right ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct dev_row rows[DEV_MAX_ROWS];
    struct dev_options o;
    int gpus = 0, n, status = dev_begin(&o, rows, &n, argc, argv, &gpus);

    return status >= 0 ? status : inter_main(rows, n, &o, gpus);
}
