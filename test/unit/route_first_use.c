/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PEs of other hosts in large jobs: nothing is filled before the first use, which looks the blob up once, by whichever
 * thread; a failed look-up fills nothing, and the next use tries again; small jobs look nothing up.
 */
#include "runtime/job/job.h"
#include "test/common/unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* PEs 0 (this one) and 1 share a host; of the others, each on its own, 2 stands for all at the start. */
enum { ME, SAME_HOST, STANDS, OTHER_HOST, N_PES = 8, THREADS = 4 };

static struct wsh_tp_ops ops;
static struct wsh_tp tp;
static struct wsh_job job;
static struct wsh_peer_blob peers[N_PES];
static char data_bytes[64], heap_bytes[64];
static bool same_host[N_PES] = {true, true};
static int n_lookups, n_attached, lookup_rc;

static unsigned reach(struct wsh_tp *of, int pe, enum wsh_mem_kind kind)
{
    (void)of, (void)pe;
    return kind == WSH_MEM_HOST ? WSH_REACH_ALL : 0;
}

static int attach(struct wsh_tp *of, int pe, enum wsh_seg seg, const void *blob, size_t len,
                  struct wsh_rmem *rmem)
{
    (void)of, (void)blob, (void)len;
    *rmem = (struct wsh_rmem){.pe = pe, .seg = seg};
    n_attached++;
    return 0;
}

static void detach(struct wsh_tp *of, struct wsh_rmem *rmem)
{
    (void)of, (void)rmem;
    n_attached--;
}

static int lookup(struct wsh_boot *boot, int round, int pe, void **blob, size_t *len)
{
    (void)boot, (void)pe;
    CU_ASSERT_EQUAL(round, 0);
    n_lookups++;
    return lookup_rc ? lookup_rc : wsh_peer_blob_pack(&job, 0, blob, len);
}

static const struct wsh_boot_ops keeping = {.name = "keeps", .lookup = lookup, .keeps = true};
static const struct wsh_boot_ops forgetting = {.name = "forgets", .lookup = lookup};

static void segment_add(int seg, char *base)
{
    job.heap.seg[seg] = (struct wsh_segment){base, sizeof heap_bytes, -1};
    wsh_route_key_of(&job.keys[0], seg)->len = 1;
}

static void job_start(const struct wsh_boot_ops *boot, int peers_at_start)
{
    memset(&job, 0, sizeof job);
    n_lookups = lookup_rc = 0;
    job.n_pes = N_PES;
    job.my_pe = ME;
    job.same_host = same_host;
    job.boot.ops = boot;
    job.env.peers_at_start = peers_at_start;
    job.rounds = 1; /* the exchange has been */
    wsh_tp_fill(
        &ops, &(struct wsh_tp_ops){
                  .name = "efa", .remote = true, .reach = reach, .mem_attach = attach, .mem_detach = detach});
    tp = (struct wsh_tp){&ops, 0};
    job.tp[job.n_tps++] = &tp;
    memcpy(job.keys[0].address, "nic", job.keys[0].address_len = 3);
    segment_add(WSH_SEG_STATIC, data_bytes);
    segment_add(WSH_SEG_HEAP, heap_bytes);
    for (int pe = 0; pe < N_PES; pe++) {
        void *bytes;
        size_t len;

        CU_ASSERT_EQUAL_FATAL(wsh_peer_blob_pack(&job, 0, &bytes, &len), 0);
        CU_ASSERT_EQUAL_FATAL(wsh_peer_blob_open(&peers[pe], &job, pe, bytes, len), 0);
    }
    CU_ASSERT_EQUAL_FATAL(wsh_route_connect(&job, peers), 0);
    for (int pe = 0; pe < N_PES; pe++)
        wsh_peer_blob_close(&peers[pe]);
}

static void job_end(void)
{
    wsh_route_close(&job);
    CU_ASSERT_EQUAL(n_attached, 0);
}

static bool is_there(int pe, int seg)
{
    return wsh_route_is_there(&job.routes.entry[WSH_ENTRY_MAIN][seg][pe]);
}

static void waits_for_the_first_use(void)
{
    size_t off;

    job_start(&keeping, 0);
    CU_ASSERT_EQUAL(n_lookups, 0);
    CU_ASSERT(is_there(ME, WSH_SEG_HEAP) && is_there(SAME_HOST, WSH_SEG_HEAP) &&
              is_there(STANDS, WSH_SEG_HEAP));
    for (int pe = OTHER_HOST; pe < N_PES; pe++)
        CU_ASSERT(!is_there(pe, WSH_SEG_HEAP) && !is_there(pe, WSH_SEG_STATIC) &&
                  !wsh_route_is_filled(&job.routes, pe));
    CU_ASSERT(!wsh_job_rmem(&job, heap_bytes, 8, OTHER_HOST, &off) && n_lookups == 0); /* who only asks */
    CU_ASSERT(wsh_route_main(&job.routes, OTHER_HOST, WSH_SEG_HEAP)->pe == OTHER_HOST);
    CU_ASSERT(is_there(OTHER_HOST, WSH_SEG_STATIC) && wsh_route_is_filled(&job.routes, OTHER_HOST));
    CU_ASSERT(!is_there(OTHER_HOST + 1, WSH_SEG_HEAP));
    CU_ASSERT(wsh_job_rmem_first(&job, data_bytes, 8, OTHER_HOST, &off) != NULL);
    CU_ASSERT_EQUAL(n_lookups, 1);
    job_end();
}

static void failed_look_ups_fill_nothing(void)
{
    job_start(&keeping, 0);
    lookup_rc = -EIO;
    CU_ASSERT(!wsh_route_main(&job.routes, OTHER_HOST, WSH_SEG_HEAP));
    CU_ASSERT(!is_there(OTHER_HOST, WSH_SEG_HEAP) && !wsh_route_is_filled(&job.routes, OTHER_HOST));
    CU_ASSERT_EQUAL(wsh_route_fill_all(&job), -EIO);
    lookup_rc = 0;
    CU_ASSERT(wsh_route_main(&job.routes, OTHER_HOST, WSH_SEG_HEAP) != NULL);
    CU_ASSERT_EQUAL(n_lookups, 3);
    job_end();
}

static void fills_all_that_are_left(void)
{
    job_start(&keeping, 0);
    CU_ASSERT(wsh_route_main(&job.routes, OTHER_HOST + 1, WSH_SEG_HEAP) != NULL);
    CU_ASSERT_EQUAL(wsh_route_fill_all(&job), 0);
    for (int pe = 0; pe < N_PES; pe++)
        CU_ASSERT(is_there(pe, WSH_SEG_HEAP) && wsh_route_is_filled(&job.routes, pe));
    CU_ASSERT_EQUAL(n_lookups, N_PES - OTHER_HOST);
    CU_ASSERT_EQUAL(wsh_route_fill_all(&job), 0);
    CU_ASSERT_EQUAL(n_lookups, N_PES - OTHER_HOST);
    job_end();
}

static void small_jobs_wait_for_nothing(void)
{
    job_start(&keeping, N_PES);
    CU_ASSERT(!job.routes.filled && is_there(N_PES - 1, WSH_SEG_HEAP) &&
              wsh_route_is_filled(&job.routes, OTHER_HOST));
    CU_ASSERT(wsh_route_fill_all(&job) == 0 && n_lookups == 0);
    job_end();
    job_start(&forgetting, 0); /* nor those of a bootstrap that could not be asked later */
    CU_ASSERT(!job.routes.filled && is_there(N_PES - 1, WSH_SEG_HEAP) && n_lookups == 0);
    job_end();
}

/* What is no entry of host memory, and what is asked after the end. */
static void others_stay_empty(void)
{
    struct wsh_rmem other = {0};

    job_start(&keeping, 0);
    CU_ASSERT(!wsh_route_first(&other) && n_lookups == 0);
    job_end();
    CU_ASSERT(!wsh_route_first(&other) && n_lookups == 0);
}

static void addresses_are_copies(void)
{
    void *address;
    size_t len;

    job_start(&keeping, 0);
    CU_ASSERT(wsh_route_address(&job, OTHER_HOST, "efa", &address, &len) == 0 && len == 3 &&
              !memcmp(address, "nic", 3));
    free(address);
    CU_ASSERT(wsh_route_address(&job, OTHER_HOST, "warp9", &address, &len) == 0 && len == 0);
    free(address);
    lookup_rc = -EIO;
    CU_ASSERT(wsh_route_address(&job, OTHER_HOST, "efa", &address, &len) == -EIO && !address);
    job_end();
}

static void *use_all(void *unused)
{
    (void)unused;
    for (int pe = 0; pe < N_PES; pe++)
        if (!wsh_route_main(&job.routes, pe, WSH_SEG_HEAP))
            return &job;
    return NULL;
}

static void threads_fill_once(void)
{
    pthread_t thread[THREADS];
    void *failed;

    job_start(&keeping, 0);
    for (int i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, use_all, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], &failed);
        CU_ASSERT(!failed);
    }
    CU_ASSERT_EQUAL(n_lookups, N_PES - OTHER_HOST);
    job_end();
}

const struct unit_test unit_tests[] = {
    {"a PE of another host is looked up at its first use, once", waits_for_the_first_use},
    {"a failed look-up fills nothing and is tried again", failed_look_ups_fill_nothing},
    {"those that are left are filled together", fills_all_that_are_left},
    {"small jobs, and bootstraps that keep nothing, wait for nothing", small_jobs_wait_for_nothing},
    {"what is no entry of a waiting PE stays empty", others_stay_empty},
    {"a transport gets a copy of an address", addresses_are_copies},
    {"threads fill each PE once", threads_fill_once},
    {NULL, NULL},
};
