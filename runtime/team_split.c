/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how a parent's members agree on new teams: on their memory, and on whether all of them could be made. */
#include "runtime/team_split.h"

#include "runtime/base/log.h"
#include "runtime/coll/coll.h"
#include "runtime/coll/pool.h"
#include "runtime/job.h"

#include <stdlib.h>
#include <string.h>

bool wsh_team_has(const struct wsh_team *parent, const struct wsh_triplet *triplet)
{
    long last = triplet->start + ((long)triplet->size - 1) * triplet->stride;

    return triplet->size > 0 && (triplet->stride || triplet->size == 1) && triplet->start >= 0 &&
           triplet->start < parent->n_pes && last >= 0 && last < parent->n_pes;
}

int *wsh_team_list(const struct wsh_team *parent, const struct wsh_triplet *triplet)
{
    int *members = malloc((size_t)triplet->size * sizeof *members);

    for (int i = 0; members && i < triplet->size; i++)
        members[i] = parent->members[triplet->start + i * triplet->stride];
    return members;
}

static bool is_member(const struct wsh_team *parent, const struct wsh_triplet *triplet)
{
    for (int i = 0; i < triplet->size; i++)
        if (triplet->start + i * triplet->stride == parent->my_pe)
            return true;
    return false;
}

/*
 * Rows of units that are free at every PE of the parent, for teams of these sizes. A PE that could not open its team
 * has nothing free to offer.
 */
static int agree(struct wsh_team *parent, bool ok, const int sizes[], int units[], int n)
{
    struct wsh_job *job = parent->job;
    uint64_t map[WSH_POOL_WORDS] = {0};
    int rc;

    if (ok)
        memcpy(map, job->pool.map, sizeof map);
    rc = wsh_reduce_small(parent, map, map, WSH_POOL_WORDS, wsh_arith_find(WSH_REDUCE_AND, WSH_NUM_U64));
    for (int i = 0; i < n && !rc; i++) {
        units[i] = wsh_pool_find(&job->pool, map, wsh_team_pad(job, sizes[i]).len);
        rc = units[i] < 0 ? -ENOMEM : 0;
    }
    if (rc == -ENOMEM && parent->my_pe == 0)
        wsh_warn("no room for a team of %d PEs: destroy teams, or set SHMEM_TEAM_MEMORY to more than %zu on "
                 "all PEs",
                 sizes[n - 1], job->env.team_memory);
    return rc;
}

int wsh_team_split_strided(struct wsh_team *parent, const struct wsh_triplet *triplet, int num_contexts,
                           struct wsh_team **team)
{
    struct wsh_team *fresh = NULL;
    bool member;
    int unit, rc;

    *team = NULL;
    if (!wsh_team_has(parent, triplet))
        return -EINVAL;
    member = is_member(parent, triplet);
    if (member)
        fresh = wsh_team_open(parent->job, wsh_team_list(parent, triplet), triplet->size);
    rc = agree(parent, fresh || !member, &triplet->size, &unit, 1);
    if (rc) {
        wsh_team_close(fresh);
        return rc;
    }
    if (member) {
        fresh->num_contexts = num_contexts;
        wsh_team_attach(fresh, unit);
    }
    *team = fresh;
    return 0;
}

/* My row and my column. */
static void open_axes(struct wsh_team *parent, int xrange, struct wsh_team *teams[2])
{
    int n = parent->n_pes, x = parent->my_pe % xrange, y = parent->my_pe / xrange;
    const struct wsh_triplet axes[2] = {{y * xrange, 1, n - y * xrange < xrange ? n - y * xrange : xrange},
                                        {x, xrange, (n - x + xrange - 1) / xrange}};

    for (int i = 0; i < 2; i++)
        teams[i] = wsh_team_open(parent->job, wsh_team_list(parent, &axes[i]), axes[i].size);
}

/* The rows have no PE in common, nor have the columns: all rows use the same units, and all columns. */
int wsh_team_split_2d(struct wsh_team *parent, int xrange, const int num_contexts[2],
                      struct wsh_team *teams[2])
{
    int sizes[2], units[2], rc;

    teams[0] = teams[1] = NULL;
    if (xrange <= 0)
        return -EINVAL;
    xrange = xrange > parent->n_pes ? parent->n_pes : xrange;
    sizes[0] = xrange;
    sizes[1] = (parent->n_pes + xrange - 1) / xrange;
    open_axes(parent, xrange, teams);
    rc = agree(parent, teams[0] && teams[1], sizes, units, 2);
    for (int i = 0; i < 2; i++) {
        if (rc) {
            wsh_team_close(teams[i]);
            teams[i] = NULL;
            continue;
        }
        teams[i]->num_contexts = num_contexts[i];
        wsh_team_attach(teams[i], units[i]);
    }
    return rc;
}
