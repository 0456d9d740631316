/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets the members of a parent team agree on new teams: on their memory, and on whether all of them could be made. */
#include "runtime/team/split.h"

#include "base/log.h"
#include "runtime/coll/coll.h"
#include "runtime/coll/memory/pool.h"
#include "runtime/coll/choose/state.h"
#include "runtime/job/job.h"

#include <shmem.h>

#include <stdlib.h>
#include <string.h>

#define ROUTINE "the split of a team"

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

static bool is_member(const struct wsh_team *parent, const int *members, int n)
{
    for (int i = 0; members && i < n; i++)
        if (members[i] == parent->job->my_pe)
            return true;
    return false;
}

/* Rows of units for the sync areas of new teams, of which this PE is a member (or of none of them). */
struct rows {
    int n;
    int sizes[2], units[2];
    bool ok, member; /* ok: what this PE needs besides could be had */
};

/* Among those that are free at every PE of the parent. A PE that could not open its team has nothing free to offer. */
static int find_rows(struct wsh_team *parent, struct rows *rows, int from)
{
    struct wsh_job *job = parent->job;
    uint64_t map[WSH_POOL_WORDS] = {0};
    int rc;

    if (rows->ok)
        wsh_pool_read(&job->pool, map);
    rc = wsh_reduce_small(parent, map, map, WSH_POOL_WORDS, wsh_arith_find(WSH_REDUCE_AND, WSH_NUM_U64),
                          ROUTINE);
    for (int i = 0; i < rows->n && !rc; i++) {
        rows->units[i] = wsh_pool_find(&job->pool, map, wsh_sync_area_of_job(job, rows->sizes[i]).len, from);
        rc = rows->units[i] < 0 ? -ENOMEM : 0;
    }
    if (rc == -ENOMEM && parent->my_pe == 0)
        wsh_warn("no room for a team of %d PEs: destroy teams, or set SHMEM_TEAM_MEMORY to more than %zu on "
                 "all PEs",
                 rows->sizes[rows->n - 1], job->env.team_memory);
    return rc;
}

static void give_rows(struct wsh_job *job, const struct rows *rows, int n)
{
    for (int i = 0; rows->member && i < n; i++)
        wsh_pool_give(&job->pool, rows->units[i], wsh_sync_area_of_job(job, rows->sizes[i]).len);
}

/* All rows or none. */
static bool take_rows(struct wsh_job *job, const struct rows *rows)
{
    int i = 0;

    while (rows->member && i < rows->n &&
           wsh_pool_take(&job->pool, rows->units[i], wsh_sync_area_of_job(job, rows->sizes[i]).len))
        i++;
    if (!rows->member || i == rows->n)
        return true;
    give_rows(job, rows, i);
    return false;
}

/*
 * Where threads split other parents at the same time, a row may be gone when it is to be taken: then all give it back
 * and look again, beginning elsewhere than those others.
 */
static int rows_agree(struct wsh_team *parent, struct rows *rows)
{
    struct wsh_job *job = parent->job;
    int rc = parent->broken ? -EOWNERDEAD : find_rows(parent, rows, 0), from = 0;

    while (!rc) {
        bool mine = take_rows(job, rows);
        uint64_t all = mine;

        if (job->thread_level == SHMEM_THREAD_MULTIPLE)
            rc =
                wsh_reduce_small(parent, &all, &all, 1, wsh_arith_find(WSH_REDUCE_MIN, WSH_NUM_U64), ROUTINE);
        if (!rc && all)
            return 0;
        if (mine)
            give_rows(job, rows, rows->n);
        from = (from + 37 * (parent->coll->unit + 2)) % job->pool.n_units;
        rc = rc ? rc : find_rows(parent, rows, from);
    }
    (void)wsh_coll_met_failure(parent, ROUTINE, rc);
    return rc;
}

/* Takes over `members`, the global numbers of the new team's `n`; NULL: this PE had no memory for them. */
static int split(struct wsh_team *parent, int *members, int n, int num_contexts, struct wsh_team **team)
{
    struct wsh_team *fresh = NULL;
    struct rows rows = {.n = 1, .sizes = {n}, .ok = members != NULL};
    int rc;

    rows.member = is_member(parent, members, n);
    if (rows.member)
        rows.ok = (fresh = wsh_team_open(parent->job, members, n)) != NULL;
    else
        free(members);
    rc = rows_agree(parent, &rows);
    if (rc) {
        wsh_team_close(fresh);
        return rc;
    }
    if (rows.member) {
        fresh->num_contexts = num_contexts;
        wsh_team_attach(fresh, rows.units[0]);
    }
    *team = fresh;
    return 0;
}

int wsh_team_split_strided(struct wsh_team *parent, const struct wsh_triplet *triplet, int num_contexts,
                           struct wsh_team **team)
{
    *team = NULL;
    if (!wsh_team_has(parent, triplet))
        return -EINVAL;
    return split(parent, wsh_team_list(parent, triplet), triplet->size, num_contexts, team);
}

/* Each PE of the parent at most once. */
static int list_check(const struct wsh_team *parent, const int *pes, int n_pes)
{
    bool *seen = n_pes > 0 && n_pes <= parent->n_pes ? calloc((size_t)parent->n_pes, sizeof *seen) : NULL;
    int i = 0;

    while (seen && i < n_pes && pes[i] >= 0 && pes[i] < parent->n_pes && !seen[pes[i]])
        seen[pes[i++]] = true;
    free(seen);
    return seen && i == n_pes ? 0 : -EINVAL;
}

int wsh_team_split_list(struct wsh_team *parent, const int *pes, int n_pes, int num_contexts,
                        struct wsh_team **team)
{
    int *members;

    *team = NULL;
    if (list_check(parent, pes, n_pes))
        return -EINVAL;
    members = malloc((size_t)n_pes * sizeof *members);
    for (int i = 0; members && i < n_pes; i++)
        members[i] = parent->members[pes[i]];
    return split(parent, members, n_pes, num_contexts, team);
}

/* Opens the teams of this PE's row and of its column. */
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
    struct rows rows = {.n = 2, .member = true};
    int rc;

    teams[0] = teams[1] = NULL;
    if (xrange <= 0)
        return -EINVAL;
    xrange = xrange > parent->n_pes ? parent->n_pes : xrange;
    rows.sizes[0] = xrange;
    rows.sizes[1] = (parent->n_pes + xrange - 1) / xrange;
    open_axes(parent, xrange, teams);
    rows.ok = teams[0] && teams[1];
    rc = rows_agree(parent, &rows);
    for (int i = 0; i < 2; i++) {
        if (rc) {
            wsh_team_close(teams[i]);
            teams[i] = NULL;
            continue;
        }
        teams[i]->num_contexts = num_contexts[i];
        wsh_team_attach(teams[i], rows.units[i]);
    }
    return rc;
}
