/* SPDX-License-Identifier: BSD-3-Clause */
/* Short collectives of one host move no more lines of the cache than counted here, and take no longer path of them. */
#include "test/common/cores.h"

#include "runtime/coll/coll.h"
#include "runtime/coll/choose/state.h"
#include "runtime/job/job.h"
#include "test/common/unit.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LEN sizeof(uint64_t)
#define ROUNDS 6 /* lines are where they always are after two, one for each parity of the epochs */

static struct wsh_job job;
static int numbers[CORES_MAX];
static struct wsh_team teams[CORES_MAX];
static uint64_t src[CORES_MAX][CORES_MAX], dest[CORES_MAX][CORES_MAX];

static void teams_open(int n)
{
    struct wsh_sync_area area = wsh_sync_area_layout(n, 1, false);
    char *memory = cores_open(n, area.len);

    CU_ASSERT_FATAL(memory != NULL);
    memset(&job, 0, sizeof job);
    pthread_mutex_init(&job.ctxs_lock, NULL);
    job.n_pes = n;
    job.n_domains = 1;
    job.env.sync_linear_max = 32;
    job.domain = calloc((size_t)n, sizeof *job.domain);
    CU_ASSERT_FATAL(job.domain != NULL);
    for (int me = 0; me < n; me++)
        numbers[me] = me;
    for (int me = 0; me < n; me++) {
        struct wsh_coll *coll;

        teams[me] = (struct wsh_team){.job = &job, .my_pe = me, .n_pes = n, .members = numbers};
        CU_ASSERT_FATAL(wsh_coll_prepare(&teams[me]) == 0);
        coll = teams[me].coll;
        coll->area = area;
        for (int i = 0; i < n; i++)
            coll->peer[i] = memory + (size_t)i * ((area.len + WSH_SYNC_AREA_LINE - 1) / WSH_SYNC_AREA_LINE *
                                                  WSH_SYNC_AREA_LINE);
        coll->base = coll->peer[me];
    }
}

static void teams_close(int n)
{
    for (int me = 0; me < n; me++)
        wsh_coll_close(&teams[me]);
    free(job.domain);
    cores_close();
}

static void long_sum(void *dst, const void *a, const void *b, size_t n)
{
    cores_read(a, n * LEN);
    cores_read(b, n * LEN);
    for (size_t i = 0; i < n; i++)
        ((uint64_t *)dst)[i] = ((const uint64_t *)a)[i] + ((const uint64_t *)b)[i];
}

static int sync_call(int me)
{
    return wsh_sync(&teams[me], "sync");
}

static int fcollect_call(int me)
{
    return wsh_fcollect(&teams[me], dest[me], src[me], LEN);
}

static int sum_call(int me)
{
    static const struct wsh_arith arith = {long_sum, LEN};

    return wsh_reduce(&teams[me], dest[me], src[me], 1, &arith);
}

static int alltoall_call(int me)
{
    return wsh_alltoall(&teams[me], dest[me], src[me], LEN);
}

static int broadcast_call(int me)
{
    return wsh_broadcast(&teams[me], dest[me], src[me], LEN, 0, true);
}

static void call_run(int me, void *arg)
{
    int (*const *call)(int me) = arg;

    CU_ASSERT((*call)(me) == 0);
}

/* Each member shows one line, in as many steps as are best, and reads those of the others of each step. */
static double least_exchange(int n)
{
    double least = 1e9;

    for (int arity = 2; arity <= n; arity++) {
        double path = 0;

        for (long known = 1; known < n; known *= arity)
            path += 2 + CORES_NEXT * ((n < known * arity ? (n + known - 1) / known : arity) - 2);
        least = path < least ? path : least;
    }
    return least;
}

/* Blocks for all members are more lines, which are written one behind the other. */
static double least_alltoall(int n)
{
    return least_exchange(n) + CORES_NEXT * (ceil(n * (double)LEN / WSH_LINE_DATA) - 1);
}

/* All read the same line: each twice, as it looks before the line is written. */
static double least_broadcast(int n)
{
    return 2 + CORES_BUSY * (n - 2);
}

struct expected {
    double path;
    int read, claimed; /* by all members */
};

static const int members[] = {2, 4, 8, 16};

#define SIZES (sizeof members / sizeof *members)

static const struct routine {
    const char *name;
    int (*call)(int me);
    double (*least)(int n);
    struct expected expected[SIZES];
} routines[] = {
    {"sync", sync_call, least_exchange, {{2.0, 2, 2}, {2.3, 12, 4}, {2.9, 56, 8}, {4.1, 240, 16}}},
    {"fcollect", fcollect_call, least_exchange, {{2.0, 2, 2}, {2.3, 12, 4}, {2.9, 56, 8}, {4.1, 240, 16}}},
    {"alltoall", alltoall_call, least_alltoall, {{2.0, 2, 2}, {2.3, 12, 4}, {3.05, 56, 15}, {4.4, 240, 48}}},
    {"broadcast", broadcast_call, least_broadcast, {{2.0, 2, 1}, {2.1, 6, 1}, {2.3, 14, 1}, {2.7, 30, 1}}},
};

static void routine_count(const struct routine *routine, size_t size)
{
    const struct expected *expected = &routine->expected[size];
    int n = members[size];
    struct cores_count count;

    teams_open(n);
    for (int round = 0; round < ROUNDS; round++) {
        count = cores_run(call_run, (void *)&routine->call);
        if (round < 2)
            continue;
        CU_ASSERT(fabs(count.path - expected->path) < 0.01);
        CU_ASSERT(count.read == expected->read && count.claimed == expected->claimed);
    }
    printf("# %-9s of 8 bytes, %2d members: path %.2f, least %.2f; lines read %3ld, claimed %2ld; by a "
           "member %2ld, %ld\n",
           routine->name, n, count.path, routine->least(n), count.read, count.claimed, count.read_most,
           count.claimed_most);
    teams_close(n);
}

static void no_more_lines_than_counted(void)
{
    for (size_t r = 0; r < sizeof routines / sizeof *routines; r++)
        for (size_t size = 0; size < SIZES; size++)
            routine_count(&routines[r], size);
}

/* What the members have after it is right: the model runs what programs run. */
static void results_are_right(void)
{
    int (*call)(int me) = alltoall_call;
    int n = 16;

    teams_open(n);
    for (int me = 0; me < n; me++)
        for (int i = 0; i < n; i++)
            src[me][i] = (uint64_t)(100 * me + i);
    cores_run(call_run, (void *)&call);
    for (int me = 0; me < n; me++)
        for (int i = 0; i < n; i++)
            CU_ASSERT(dest[me][i] == (uint64_t)(100 * i + me));
    call = sum_call;
    cores_run(call_run, (void *)&call);
    for (int me = 0; me < n; me++)
        CU_ASSERT(dest[me][0] == 100 * 120);
    call = fcollect_call;
    cores_run(call_run, (void *)&call);
    for (int me = 0; me < n; me++)
        for (int i = 0; i < n; i++)
            CU_ASSERT(dest[me][i] == (uint64_t)(100 * i));
    teams_close(n);
}

const struct unit_test unit_tests[] = {
    {"results are right", results_are_right},
    {"no more lines than counted", no_more_lines_than_counted},
    {NULL, NULL},
};
