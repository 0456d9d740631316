/* SPDX-License-Identifier: BSD-3-Clause */
/* A member that joins the tables of a team in rows has what it would have found by itself. */
#include "sim/rows.h"

#include "runtime/job/job.h"
#include "test/common/unit.h"

#include <stdlib.h>
#include <string.h>

#define MEMBERS_MAX 64

static int numbers[MEMBERS_MAX];
static struct wsh_job job;

static void job_begin(int n, int per_domain, bool oversubscribed)
{
    memset(&job, 0, sizeof job);
    pthread_mutex_init(&job.ctxs_lock, NULL);
    job.n_pes = n;
    job.n_domains = (n + per_domain - 1) / per_domain;
    job.oversubscribed = oversubscribed;
    job.env.sync_linear_max = 32;
    job.domain = calloc((size_t)n, sizeof *job.domain);
    CU_ASSERT_FATAL(job.domain != NULL);
    for (int pe = 0; pe < n; pe++) {
        job.domain[pe] = pe / per_domain * per_domain;
        numbers[pe] = pe;
    }
}

static bool is_same(const int *a, const int *b, int n)
{
    return !memcmp(a, b, (size_t)n * sizeof *a);
}

static bool steps_are_same(const struct wsh_steps *a, const struct wsh_steps *b)
{
    return a->n == b->n && is_same(a->end, b->end, a->n) && is_same(a->word, b->word, a->n) &&
           (!a->n || is_same(a->member, b->member, a->end[a->n - 1]));
}

static void members_compare(const struct wsh_coll *found, const struct wsh_coll *joined, int n, bool even)
{
    CU_ASSERT(found->layout == joined->layout && found->met == joined->met);
    CU_ASSERT(found->sync == joined->sync && found->lead_sync == joined->lead_sync);
    CU_ASSERT(found->n_domains == joined->n_domains && found->my_domain == joined->my_domain);
    CU_ASSERT(found->n_local == joined->n_local && found->my_local == joined->my_local);
    CU_ASSERT(found->unit == joined->unit && joined->area.len > 0);
    CU_ASSERT(is_same(found->all, joined->all, n) && is_same(found->domain, joined->domain, n));
    CU_ASSERT(is_same(found->leader, joined->leader, found->n_domains));
    CU_ASSERT(is_same(found->local, joined->local, found->n_local));
    if (even)
        CU_ASSERT(is_same(found->column, joined->column, found->n_domains));
    CU_ASSERT(steps_are_same(&found->steps, &joined->steps));
}

static void team_try(int n, int per_domain)
{
    struct sim_rows rows;

    CU_ASSERT_FATAL(sim_rows_make(&rows, n, per_domain) == 0);
    for (int me = 0; me < n; me++) {
        struct wsh_team alone = {.job = &job, .my_pe = me, .n_pes = n, .members = numbers}, team = alone;
        struct wsh_coll coll = {0};

        CU_ASSERT_FATAL(wsh_coll_prepare(&alone) == 0);
        CU_ASSERT_FATAL(sim_rows_join(&rows, &team, &coll, NULL, NULL) == 0);
        CU_ASSERT(team.coll == &coll);
        members_compare(alone.coll, &coll, n, n % per_domain == 0);
        sim_rows_leave(&coll);
        wsh_coll_close(&alone);
    }
    sim_rows_free(&rows);
}

static void members_join_what_they_would_find(void)
{
    static const int members[] = {1, 2, 5, 8, 33, 64}, sizes[] = {1, 2, 3, 8, 64};

    for (size_t m = 0; m < sizeof members / sizeof *members; m++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int few = 0; few < 2; few++) {
                job_begin(members[m], sizes[s], few);
                team_try(members[m], sizes[s]);
                free(job.domain);
            }
}

const struct unit_test unit_tests[] = {
    {"members join what they would find", members_join_what_they_would_find},
    {NULL, NULL},
};
