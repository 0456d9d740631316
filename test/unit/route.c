/* SPDX-License-Identifier: BSD-3-Clause */
/* An invalid target is explained in words that name it; a bad or full list of transports is refused in one line. */
#include "runtime/route/route.h"

#include "runtime/job/job.h"
#include "test/common/unit.h"

#include <errno.h>
#include <string.h>

static char heap_bytes[4096];

static void make_job(struct wsh_job *job)
{
    memset(job, 0, sizeof *job);
    job->n_pes = 4;
    job->heap.seg[WSH_SEG_HEAP] = (struct wsh_segment){heap_bytes, sizeof heap_bytes, -1};
}

static bool explains(const void *addr, size_t len, int pe, const char *word)
{
    static struct wsh_job job;
    char text[256];

    make_job(&job);
    wsh_route_explain(&job, addr, len, pe, text, sizeof text);
    return strstr(text, word) && !strchr(text, '\n');
}

static void explains_targets(void)
{
    int automatic;

    CU_ASSERT(explains(heap_bytes, 8, 4, "PE 4 is out of range"));
    CU_ASSERT(explains(heap_bytes, 8, 4, "0 to 3"));
    CU_ASSERT(explains(heap_bytes, 8, -1, "PE -1 is out of range"));
    CU_ASSERT(explains(NULL, 8, 1, "NULL"));
    CU_ASSERT(explains(&automatic, 4, 1, "not a symmetric address"));
    CU_ASSERT(explains(&automatic, 4, 1, "shmem_malloc"));
    CU_ASSERT(explains(heap_bytes + 4090, 8, 1, "beyond the end"));
}

static void explains_an_uninitialized_library(void)
{
    struct wsh_job job = {0};
    char text[256];

    wsh_route_explain(&job, heap_bytes, 8, 0, text, sizeof text);
    CU_ASSERT(strstr(text, "shmem_init") != NULL);
}

static int open_rc;

static void open_with(void *list)
{
    static struct wsh_job job;

    make_job(&job);
    job.env.transports = list;
    open_rc = wsh_route_open(&job, false);
    if (!open_rc)
        wsh_route_close(&job);
}

static void refuses_unknown_transports(void)
{
    char text[1024];

    unit_capture(open_with, "local,warp9", text, sizeof text);
    CU_ASSERT_EQUAL(open_rc, -EINVAL);
    CU_ASSERT(unit_lines(text) == 1 && strstr(text, "warp9") && strstr(text, "SHMEM_TRANSPORTS"));
    CU_ASSERT(strstr(text, "local") && strstr(text, "efa"));
}

static void open_one_more(void *arg)
{
    static struct wsh_tp_ops ops;
    static struct wsh_tp tp = {&ops};
    static struct wsh_job job;

    (void)arg;
    wsh_tp_fill(&ops, &(struct wsh_tp_ops){.name = "fake"});
    make_job(&job);
    while (job.n_tps < WSH_TP_MAX)
        job.tp[job.n_tps++] = &tp;
    open_rc = wsh_route_open(&job, false);
}

static void refuses_more_transports_than_there_is_room_for(void)
{
    char text[1024];

    unit_capture(open_one_more, NULL, text, sizeof text);
    CU_ASSERT_EQUAL(open_rc, -ENOSPC);
    CU_ASSERT(unit_lines(text) == 1 && strstr(text, "local") && strstr(text, "SHMEM_TRANSPORTS"));
}

const struct unit_test unit_tests[] = {
    {"explains targets", explains_targets},
    {"explains an uninitialized library", explains_an_uninitialized_library},
    {"refuses unknown transports", refuses_unknown_transports},
    {"refuses more transports than there is room for", refuses_more_transports_than_there_is_room_for},
    {NULL, NULL},
};
