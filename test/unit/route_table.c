/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The routing object chooses as the table in transports/README.md says: by PE, segment, kind of the memory here and
 * class of operation, with and without NICs that take device memory; and each entry was filled by its own transport.
 */
#include "runtime/job/job.h"
#include "test/common/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PEs 0 (this one) and 1 share a host; 2 and 3 are on another one. */
enum { ME, SAME_HOST, OTHER_HOST, N_PES = 4 };
enum { LOCAL, EFA, NVLINK, STAGE, N_TPS };

static struct wsh_tp_ops ops[N_TPS];
static struct wsh_tp tps[N_TPS];
static struct wsh_job job;
static struct wsh_peer_blob peers[N_PES];
static char data_bytes[64], heap_bytes[64], device_bytes[64], buffer_bytes[64], named_bytes[64];
static bool same_host[N_PES] = {true, true, false, false};
static int n_attached;

static unsigned reach(struct wsh_tp *tp, int pe, enum wsh_mem_kind kind)
{
    const unsigned transfer = WSH_REACH_PUT | WSH_REACH_GET;

    switch (tp - tps) {
    case LOCAL: return same_host[pe] && kind == WSH_MEM_HOST ? WSH_REACH_ALL : 0;
    case EFA: return kind == WSH_MEM_HOST ? WSH_REACH_ALL : job.limits[EFA].hmem ? transfer : 0;
    case NVLINK: return same_host[pe] && kind == WSH_MEM_DEVICE ? WSH_REACH_ALL : 0;
    default: return same_host[pe] ? 0 : kind == WSH_MEM_HOST ? transfer : WSH_REACH_ALL;
    }
}

/* `priv` names who has filled it; only loads and stores of the local transport, and a PE's own memory, are mapped. */
static int attach(struct wsh_tp *tp, int pe, enum wsh_seg seg, const void *blob, size_t len,
                  struct wsh_rmem *rmem)
{
    bool maps = tp == &tps[LOCAL] || (tp == &tps[EFA] && pe == ME);

    (void)blob, (void)len;
    *rmem = (struct wsh_rmem){.pe = pe, .seg = seg, .priv = tp};
    rmem->map = maps && seg < WSH_SEG_DEVICE ? job.heap.seg[seg].base : NULL;
    n_attached++;
    return 0;
}

static int adopt(struct wsh_tp *tp, int pe, enum wsh_seg seg, char *map, size_t len, struct wsh_rmem *rmem)
{
    *rmem = (struct wsh_rmem){.pe = pe, .seg = seg, .len = len, .map = map, .priv = tp};
    n_attached++;
    return 0;
}

static void detach(struct wsh_tp *tp, struct wsh_rmem *rmem)
{
    n_attached -= rmem->priv == tp;
}

static void segment_add(int seg, char *base)
{
    job.heap.seg[seg] = (struct wsh_segment){base, sizeof heap_bytes, -1};
    for (unsigned tp = 0; tp < N_TPS; tp++)
        if ((seg < WSH_SEG_DEVICE) ? tp != NVLINK : tp != LOCAL)
            wsh_route_key_of(&job.keys[tp], seg)->len = 1;
}

static void peers_publish(int added)
{
    void *bytes;
    size_t len;

    for (int pe = 0; pe < N_PES; pe++) {
        wsh_peer_blob_close(&peers[pe]);
        CU_ASSERT_EQUAL_FATAL(wsh_peer_blob_pack(&job, added, &bytes, &len), 0);
        CU_ASSERT_EQUAL_FATAL(wsh_peer_blob_open(&peers[pe], &job, pe, bytes, len), 0);
    }
}

static void job_start(bool nics, const char *transports_static)
{
    static const char *const names[N_TPS] = {"local", "efa", "nvlink", "stage"};

    memset(&job, 0, sizeof job);
    job.n_pes = N_PES;
    job.my_pe = ME;
    job.same_host = same_host;
    job.env.transports_static = transports_static;
    job.env.hmem = 1;
    job.limits[EFA].hmem = nics;
    for (unsigned tp = 0; tp < N_TPS; tp++) {
        const struct wsh_tp_ops own = {.name = names[tp],
                                       .reach = reach,
                                       .mem_attach = attach,
                                       .mem_adopt = tp == NVLINK ? adopt : NULL,
                                       .mem_detach = detach};

        wsh_tp_fill(&ops[tp], &own);
        tps[tp] = (struct wsh_tp){&ops[tp], tp};
        job.tp[tp] = &tps[tp];
    }
    job.n_tps = NVLINK;
    segment_add(WSH_SEG_STATIC, data_bytes);
    segment_add(WSH_SEG_HEAP, heap_bytes);
    peers_publish(0);
    CU_ASSERT_EQUAL_FATAL(wsh_route_connect(&job, peers), 0);
}

/* With `n` transports in all. */
static void gpu_attach(unsigned n)
{
    job.device.first_tp = NVLINK;
    job.n_tps = n;
    job.device.gpu.sees = true;
    wsh_route_choose_nics(&job);
    segment_add(WSH_SEG_DEVICE, device_bytes);
    job.routes.local[WSH_SEG_DEVICE] = job.limits[EFA].hmem ? WSH_LOCAL_REGISTERED : WSH_LOCAL_DEVICE;
    peers_publish(0);
    CU_ASSERT_EQUAL_FATAL(wsh_route_connect_device(&job, peers), 0);
}

static void job_end(void)
{
    wsh_route_close(&job);
    for (int pe = 0; pe < N_PES; pe++)
        wsh_peer_blob_close(&peers[pe]);
    CU_ASSERT_EQUAL(n_attached, 0);
}

static bool goes_by(const struct wsh_rmem *rmem, int pe, int seg, int tp)
{
    if (tp < 0)
        return !rmem;
    return rmem && rmem->tp == &tps[tp] && rmem->priv == &tps[tp] && rmem->pe == pe && (int)rmem->seg == seg;
}

struct row {
    int seg;
    enum wsh_route_local local;
    int transfer, atomic; /* transports, -1: none */
};

static void expect(int pe, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct row *row = &rows[i];
        bool right = goes_by(wsh_route(&job.routes, pe, row->seg, row->local, WSH_ROUTE_TRANSFER), pe,
                             row->seg, row->transfer) &&
                     goes_by(wsh_route(&job.routes, pe, row->seg, row->local, WSH_ROUTE_ATOMIC), pe, row->seg,
                             row->atomic);

        if (!right)
            fprintf(stderr, "PE %d, segment %d, kind %d here\n", pe, row->seg, (int)row->local);
        CU_ASSERT(right);
    }
}
#define EXPECT(pe, rows) expect(pe, rows, sizeof(rows) / sizeof(rows)[0])

static const struct row same_host_rows[] = {{WSH_SEG_DEVICE, WSH_LOCAL_HOST, NVLINK, NVLINK},
                                            {WSH_SEG_DEVICE, WSH_LOCAL_REGISTERED, NVLINK, NVLINK},
                                            {WSH_SEG_DEVICE, WSH_LOCAL_DEVICE, NVLINK, NVLINK},
                                            {WSH_SEG_HEAP, WSH_LOCAL_HOST, LOCAL, LOCAL},
                                            {WSH_SEG_HEAP, WSH_LOCAL_REGISTERED, NVLINK, LOCAL},
                                            {WSH_SEG_HEAP, WSH_LOCAL_DEVICE, NVLINK, LOCAL}};

static void others_by_nics(void)
{
    static const struct row rows[] = {
        {WSH_SEG_DEVICE, WSH_LOCAL_HOST, EFA, STAGE},     {WSH_SEG_DEVICE, WSH_LOCAL_REGISTERED, EFA, STAGE},
        {WSH_SEG_DEVICE, WSH_LOCAL_DEVICE, STAGE, STAGE}, {WSH_SEG_HEAP, WSH_LOCAL_HOST, EFA, EFA},
        {WSH_SEG_HEAP, WSH_LOCAL_REGISTERED, EFA, EFA},   {WSH_SEG_HEAP, WSH_LOCAL_DEVICE, STAGE, EFA}};

    job_start(true, NULL);
    gpu_attach(N_TPS);
    EXPECT(OTHER_HOST, rows);
    EXPECT(SAME_HOST, same_host_rows);
    EXPECT(ME, same_host_rows);
    job_end();
}

static void others_through_host_memory(void)
{
    static const struct row rows[] = {{WSH_SEG_DEVICE, WSH_LOCAL_HOST, STAGE, STAGE},
                                      {WSH_SEG_DEVICE, WSH_LOCAL_DEVICE, STAGE, STAGE},
                                      {WSH_SEG_HEAP, WSH_LOCAL_HOST, EFA, EFA},
                                      {WSH_SEG_HEAP, WSH_LOCAL_DEVICE, STAGE, EFA}};

    job_start(false, NULL);
    gpu_attach(N_TPS);
    EXPECT(OTHER_HOST, rows);
    EXPECT(SAME_HOST, same_host_rows);
    job_end();
}

static void others_without_staging(void)
{
    static const struct row rows[] = {{WSH_SEG_DEVICE, WSH_LOCAL_HOST, -1, -1},
                                      {WSH_SEG_DEVICE, WSH_LOCAL_DEVICE, -1, -1},
                                      {WSH_SEG_HEAP, WSH_LOCAL_HOST, EFA, EFA},
                                      {WSH_SEG_HEAP, WSH_LOCAL_DEVICE, -1, EFA}};

    job_start(false, NULL);
    gpu_attach(STAGE);
    EXPECT(OTHER_HOST, rows);
    EXPECT(SAME_HOST, same_host_rows);
    job_end();
}

/* Before and after the GPU: host memory alone, static data another way. */
static void static_data_apart(void)
{
    static const struct row before[] = {{WSH_SEG_STATIC, WSH_LOCAL_HOST, EFA, EFA},
                                        {WSH_SEG_HEAP, WSH_LOCAL_HOST, LOCAL, LOCAL},
                                        {WSH_SEG_DEVICE, WSH_LOCAL_HOST, -1, -1}};
    static const struct row same_host[] = {{WSH_SEG_STATIC, WSH_LOCAL_HOST, EFA, EFA},
                                           {WSH_SEG_STATIC, WSH_LOCAL_REGISTERED, EFA, EFA},
                                           {WSH_SEG_STATIC, WSH_LOCAL_DEVICE, -1, EFA},
                                           {WSH_SEG_HEAP, WSH_LOCAL_DEVICE, NVLINK, LOCAL}};
    static const struct row own[] = {{WSH_SEG_STATIC, WSH_LOCAL_DEVICE, NVLINK, EFA}};

    job_start(true, "efa");
    CU_ASSERT(job.mixed);
    EXPECT(SAME_HOST, before);
    gpu_attach(N_TPS);
    EXPECT(SAME_HOST, same_host);
    EXPECT(ME, own);
    wsh_route_close_device(&job);
    EXPECT(SAME_HOST, before);
    job_end();
}

static void buffers_come_and_go(void)
{
    enum { SEG = WSH_SEGS - 1 };
    static const struct row other_host[] = {{SEG, WSH_LOCAL_HOST, EFA, STAGE}};
    static const struct row same_host[] = {{SEG, WSH_LOCAL_REGISTERED, NVLINK, NVLINK}};
    static const struct row gone[] = {{SEG, WSH_LOCAL_HOST, -1, -1}, {SEG, WSH_LOCAL_DEVICE, -1, -1}};

    job_start(true, NULL);
    gpu_attach(N_TPS);
    EXPECT(OTHER_HOST, gone);
    segment_add(SEG, buffer_bytes);
    peers_publish(SEG);
    CU_ASSERT(wsh_peer_blob_has(&peers[OTHER_HOST], SEG) && !wsh_peer_blob_has(&peers[OTHER_HOST], SEG - 1));
    CU_ASSERT_EQUAL(wsh_route_connect_segment(&job, SEG, peers), 0);
    EXPECT(OTHER_HOST, other_host);
    EXPECT(SAME_HOST, same_host);
    wsh_route_withdraw(&job, SEG);
    EXPECT(OTHER_HOST, gone);
    EXPECT(SAME_HOST, gone);
    job_end();
}

/* Between host memory and host memory wsh_route looks at no method. */
static void host_memory_takes_the_main_entry(void)
{
    for (int method = 0; method < WSH_METHODS; method++)
        for (int class = 0; class < WSH_ROUTE_CLASSES && method != WSH_METHOD_NIC_DEVICE; class ++)
            CU_ASSERT_EQUAL(wsh_route_methods[method][WSH_LOCAL_HOST][class], WSH_ENTRY_MAIN);
    for (int method = 0; method < WSH_METHODS; method++)
        for (int local = 0; local < WSH_LOCAL_KINDS; local++)
            CU_ASSERT_EQUAL(wsh_route_methods[method][local][WSH_ROUTE_ATOMIC], WSH_ENTRY_MAIN);
}

static void kinds_of_memory(void)
{
    job_start(true, NULL);
    gpu_attach(N_TPS);
    job.heap.device = wsh_ranges_open(1);
    job.device.local = wsh_ranges_open(1);
    CU_ASSERT(!wsh_ranges_add(job.heap.device, device_bytes, sizeof device_bytes, WSH_SEG_DEVICE));
    CU_ASSERT(!wsh_ranges_add(job.device.local, named_bytes, sizeof named_bytes, WSH_SEGS));
    job.routes.local[WSH_SEGS] = WSH_LOCAL_DEVICE;
    CU_ASSERT_EQUAL(wsh_route_local(&job, NULL, OTHER_HOST, WSH_SEG_DEVICE), WSH_LOCAL_HOST);
    CU_ASSERT_EQUAL(wsh_route_local(&job, heap_bytes + 8, OTHER_HOST, WSH_SEG_DEVICE), WSH_LOCAL_HOST);
    CU_ASSERT_EQUAL(wsh_route_local(&job, device_bytes + 8, OTHER_HOST, WSH_SEG_HEAP), WSH_LOCAL_REGISTERED);
    CU_ASSERT_EQUAL(wsh_route_local(&job, named_bytes + 8, OTHER_HOST, WSH_SEG_HEAP), WSH_LOCAL_DEVICE);
    CU_ASSERT_EQUAL(wsh_route_local(&job, &job, OTHER_HOST, WSH_SEG_HEAP), WSH_LOCAL_HOST);
    wsh_ranges_close(job.heap.device);
    wsh_ranges_close(job.device.local);
    job_end();
}

const struct unit_test unit_tests[] = {
    {"other hosts, by NICs that take device memory", others_by_nics},
    {"other hosts, through host memory", others_through_host_memory},
    {"other hosts, without what reaches their device memory", others_without_staging},
    {"static data apart from the heap", static_data_apart},
    {"buffers come and go", buffers_come_and_go},
    {"host memory and atomics take the main entry", host_memory_takes_the_main_entry},
    {"kinds of memory here", kinds_of_memory},
    {NULL, NULL},
};
