/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how a team's collectives are set up: which sync algorithm, and the symmetric words it needs. */
#include "runtime/coll/state.h"

#include "runtime/job.h"

#include <stdlib.h>

#define CACHE_LINE 64

/*
 * Signalling every member takes one step, in which each PE runs once: the fastest where stores are cheap (all
 * members in shared memory; perftest/barrier, 2 to 16 PEs on 2 cores) and for very small teams on a network.
 */
static bool choose_linear(const struct wsh_team *team)
{
    const struct wsh_job *job = team->job;
    bool one_host = true;

    for (int pe = 0; pe < team->n_pes; pe++)
        one_host &= job->routes[(size_t)team->members[pe] * WSH_SEGS + WSH_SEG_HEAP].rmem.map != NULL;
    return team->n_pes <= (one_host ? job->env.sync_linear_max : 3);
}

static int count_rounds(int n_pes)
{
    int rounds = 0;

    while ((1 << rounds) < n_pes)
        rounds++;
    return rounds;
}

static uint64_t *reserve(struct wsh_job *job, size_t words)
{
    return wsh_heap_reserve(&job->heap, 2 * words * sizeof(uint64_t) + CACHE_LINE, CACHE_LINE);
}

int wsh_coll_open(struct wsh_team *team)
{
    struct wsh_coll *coll = calloc(1, sizeof *coll);
    int rc;

    if (!coll)
        return -ENOMEM;
    rc = wsh_ctx_init(&coll->ctx, team->job, team, 0);
    if (rc) {
        free(coll);
        return rc;
    }
    team->coll = coll;
    coll->linear = choose_linear(team);
    coll->rounds = count_rounds(team->n_pes);
    coll->sync_flags = reserve(team->job, (size_t)team->n_pes); /* enough for either algorithm */
    coll->alltoall_flags = reserve(team->job, (size_t)team->n_pes);
    if (coll->sync_flags && coll->alltoall_flags)
        return 0;
    wsh_coll_close(team);
    return -ENOMEM;
}

void wsh_coll_close(struct wsh_team *team)
{
    if (!team->coll)
        return;
    wsh_ctx_fini(&team->coll->ctx);
    free(team->coll);
    team->coll = NULL;
}
