/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blobs go by allgathers, whole inside a host and packed in slices between hosts: all PEs get all, of any lengths and
 * hosts; what PEs say of their host and does not fit together is refused. PEs are threads, and MPI an array.
 */
#include "bootstrap/mpi/blobs.h"

#include "test/common/unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PES = 24, LEN = 600, ROOM = 1 << 17 };

static unsigned seed = 1;
static int n_pes, n_hosts;
static int host[PES], local[PES], hosts_size[PES];
static unsigned char blob[PES][LEN];
static size_t blob_len[PES];
static pthread_barrier_t all_sync, host_sync[PES];
static char all_bytes[ROOM], host_bytes[PES][ROOM];
static atomic_int n_right, n_refused;
static int liar,
    lie; /* the PE that says something wrong in the exchange of that number, counted from 1; 0: none */

struct pe {
    int me, exchanges;
};

/* What the head of that exchange is made of, changed. */
static void damage(char *mine, size_t bytes)
{
    mine[bytes / 2] = (char)(mine[bytes / 2] ^ 0x3d);
}

static int exchange(void *context, bool in_host, const void *mine, size_t bytes, void *all)
{
    struct pe *pe = context;
    pthread_barrier_t *sync_at = in_host ? &host_sync[host[pe->me]] : &all_sync;
    char *to = in_host ? host_bytes[host[pe->me]] : all_bytes;
    size_t rank = (size_t)(in_host ? local[pe->me] : pe->me);
    size_t n = (size_t)(in_host ? hosts_size[host[pe->me]] : n_pes);

    CU_ASSERT_FATAL(n * bytes <= ROOM);
    memcpy(to + rank * bytes, mine, bytes);
    if (++pe->exchanges == lie && pe->me == liar)
        damage(to + rank * bytes, bytes);
    pthread_barrier_wait(sync_at);
    memcpy(all, to, n * bytes);
    pthread_barrier_wait(sync_at);
    return 0;
}

static bool has_all(const struct wsh_host_blobs *blobs)
{
    for (int pe = 0; pe < n_pes; pe++) {
        void *found;
        size_t len;
        bool same;

        if (wsh_host_blobs_find(blobs, pe, &found, &len))
            return false;
        same = len == blob_len[pe] && !memcmp(found, blob[pe], len);
        free(found);
        if (!same)
            return false;
    }
    return true;
}

static void *pe_run(void *arg)
{
    int me = (int)(intptr_t)arg;
    struct pe pe = {me, 0};
    const struct wsh_blobs_mpi group = {me, n_pes, local[me], hosts_size[host[me]], exchange, &pe};
    struct wsh_host_blobs blobs;
    int rc = wsh_blobs_mpi_gather(&group, blob[me], blob_len[me], &blobs);

    if (!rc)
        atomic_fetch_add_explicit(&n_right, has_all(&blobs), memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&n_refused, rc == -EPROTO, memory_order_relaxed);
    wsh_host_blobs_close(&blobs);
    return NULL;
}

static void run(void *arg)
{
    pthread_t thread[PES];

    (void)arg;
    atomic_store_explicit(&n_right, 0, memory_order_relaxed);
    atomic_store_explicit(&n_refused, 0, memory_order_relaxed);
    pthread_barrier_init(&all_sync, NULL, (unsigned)n_pes);
    for (int i = 0; i < n_hosts; i++)
        pthread_barrier_init(&host_sync[i], NULL, (unsigned)hosts_size[i]);
    for (int pe = 0; pe < n_pes; pe++)
        CU_ASSERT_FATAL(!pthread_create(&thread[pe], NULL, pe_run, (void *)(intptr_t)pe));
    for (int pe = 0; pe < n_pes; pe++)
        pthread_join(thread[pe], NULL);
    pthread_barrier_destroy(&all_sync);
    for (int i = 0; i < n_hosts; i++)
        pthread_barrier_destroy(&host_sync[i]);
}

/* Hosts in blocks, in turn or at random; blobs alike but for some bytes, of lengths that differ, down to none. */
static void job_make(int pes, int hosts, int how, bool lengths)
{
    n_pes = pes;
    n_hosts = hosts;
    memset(hosts_size, 0, sizeof hosts_size);
    for (int pe = 0; pe < pes; pe++) {
        host[pe] = how == 0 ? pe * hosts / pes : how == 1 || pe < hosts ? pe % hosts : rand_r(&seed) % hosts;
        local[pe] = hosts_size[host[pe]]++;
        blob_len[pe] = lengths ? (size_t)rand_r(&seed) % LEN : LEN;
        for (int at = 0; at < LEN; at++)
            blob[pe][at] = pe && rand_r(&seed) % 30 ? blob[0][at] : (unsigned char)rand_r(&seed);
    }
}

static void all_get_all(void)
{
    lie = 0;
    for (int round = 0; round < unit_rounds(100); round++) {
        int pes = 1 + rand_r(&seed) % PES;

        job_make(pes, 1 + rand_r(&seed) % pes, round % 3, round % 2);
        run(NULL);
        CU_ASSERT_EQUAL(atomic_load_explicit(&n_right, memory_order_relaxed), n_pes);
    }
    job_make(4, 2, 0, false);
    memset(blob_len, 0, sizeof blob_len);
    run(NULL);
    CU_ASSERT_EQUAL(atomic_load_explicit(&n_right, memory_order_relaxed), 4);
}

/* A first PE that others of the host do not say, in the exchange of heads: all refuse it, with a line. */
static void refuses_what_does_not_fit(void)
{
    char text[PES * 256];

    job_make(8, 2, 0, false);
    for (liar = 0; liar < 8; liar++) {
        lie = 3;
        unit_capture(run, NULL, text, sizeof text);
        CU_ASSERT_EQUAL(atomic_load_explicit(&n_refused, memory_order_relaxed), 8);
        CU_ASSERT(unit_lines(text) <= 8); /* lines of threads may be written over each other */
        CU_ASSERT_PTR_NOT_NULL(strstr(text, "do all PEs run the same program?"));
    }
    lie = 0;
}

const struct unit_test unit_tests[] = {
    {"all PEs get all blobs, of any hosts and lengths", all_get_all},
    {"hosts whose PEs disagree are refused", refuses_what_does_not_fit},
    {NULL, NULL},
};
