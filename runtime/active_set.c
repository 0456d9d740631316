/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how the PEs of an old active set become a team: they agree through pSync once, and keep it. */
#include "runtime/team_split.h"

#include "runtime/base/log.h"
#include "runtime/coll/pool.h"
#include "runtime/coll/state.h"
#include "runtime/job.h"
#include "runtime/rma.h"
#include "runtime/wait.h"

#include <stdio.h>

/* The first PE gathers; its words: how many have come; the answer, 1 + unit or FULL. */
enum { ARRIVED, ANSWER };
#define FULL UINT64_MAX

struct gathering {
    const struct wsh_team *set;
    uint64_t *psync;
    uint64_t want;
};

/* Acquire: partner of the release in the members' signals. */
static int try_gather(void *arg)
{
    struct gathering *gathering = arg;

    return __atomic_load_n(&gathering->psync[ARRIVED], __ATOMIC_ACQUIRE) == gathering->want ? 0 : -EAGAIN;
}

static int try_answer(void *arg)
{
    struct gathering *gathering = arg;

    return __atomic_load_n(&gathering->psync[ANSWER], __ATOMIC_ACQUIRE) ? 0 : -EAGAIN;
}

static void describe(void *arg, char *text, size_t size)
{
    const struct gathering *gathering = arg;

    snprintf(text, size, "the active set of %d from PE %d", gathering->set->n_pes,
             gathering->set->members[0]);
}

static const struct wsh_wait_why why = {"the first collective of an active set", describe};

/* Units that are free at all; everybody else waits for the answer, so that its map stands still. */
static int choose_unit(const struct wsh_team *set, int *unit)
{
    struct wsh_job *job = set->job;
    uint64_t common[WSH_POOL_WORDS], theirs[WSH_POOL_WORDS];
    int rc = 0;

    for (int w = 0; w < WSH_POOL_WORDS; w++)
        common[w] = job->pool.map[w];
    for (int pe = 1; pe < set->n_pes && !rc; pe++) {
        rc = wsh_get(&set->coll->ctx, theirs, job->pool.map, sizeof theirs, pe);
        for (int w = 0; w < WSH_POOL_WORDS; w++)
            common[w] &= theirs[w];
    }
    *unit = wsh_pool_find(&job->pool, common, wsh_team_pad(job, set->n_pes).len, 0);
    return rc;
}

static int lead(struct gathering *gathering, uint64_t *answer)
{
    const struct wsh_team *set = gathering->set;
    int unit = -1, rc = wsh_wait(set->job, &why, try_gather, gathering);

    __atomic_store_n(&gathering->psync[ARRIVED], 0, __ATOMIC_RELAXED);
    if (!rc)
        rc = choose_unit(set, &unit);
    *answer = unit < 0 ? FULL : 1 + (uint64_t)unit;
    for (int pe = 1; pe < set->n_pes && !rc; pe++) {
        const struct wsh_signal signal = {&gathering->psync[ANSWER], *answer, WSH_AMO_SET};

        rc = wsh_signal_send(&set->coll->ctx, &signal, pe);
    }
    return rc;
}

static int follow(struct gathering *gathering, uint64_t *answer)
{
    const struct wsh_signal signal = {&gathering->psync[ARRIVED], 1, WSH_AMO_ADD};
    int rc = wsh_signal_send(&gathering->set->coll->ctx, &signal, 0);

    if (!rc)
        rc = wsh_wait(gathering->set->job, &why, try_answer, gathering);
    *answer = gathering->psync[ANSWER];
    gathering->psync[ANSWER] = 0;
    return rc;
}

static int agree(struct wsh_team *set, long *psync, int *unit)
{
    struct gathering gathering = {set, (uint64_t *)psync, (uint64_t)set->n_pes - 1};
    uint64_t answer;
    int rc = set->my_pe ? follow(&gathering, &answer) : lead(&gathering, &answer);

    if (!rc && answer == FULL) {
        wsh_error("no room for the active set of %d PEs from PE %d: set SHMEM_TEAM_MEMORY to more than %zu "
                  "on all PEs",
                  set->n_pes, set->members[0], set->job->env.team_memory);
        rc = -ENOMEM;
    }
    *unit = (int)answer - 1;
    if (!rc)
        wsh_pool_take(&set->job->pool, *unit, wsh_team_pad(set->job, set->n_pes).len);
    return rc;
}

static struct wsh_team *find(struct wsh_job *job, const struct wsh_triplet *set)
{
    struct wsh_team *team;

    pthread_mutex_lock(&job->ctxs_lock);
    for (team = job->teams; team; team = team->next)
        if (team->stride == set->stride && team->members[0] == set->start && team->n_pes == set->size)
            break;
    pthread_mutex_unlock(&job->ctxs_lock);
    return team;
}

int wsh_team_of_active_set(struct wsh_job *job, const struct wsh_triplet *set, long *psync,
                           struct wsh_team **team)
{
    int unit, rc;

    *team = find(job, set);
    if (*team)
        return 0;
    if (set->stride <= 0 || !wsh_team_has(&job->world, set))
        return -EINVAL;
    *team = wsh_team_open(job, wsh_team_list(&job->world, set), set->size);
    if (!*team) {
        wsh_error("out of memory for an active set of %d PEs", set->size);
        return -ENOMEM;
    }
    rc = (*team)->my_pe < 0 ? -EINVAL : agree(*team, psync, &unit);
    if (rc) {
        wsh_team_close(*team);
        return rc;
    }
    (*team)->stride = set->stride;
    wsh_team_attach(*team, unit);
    return 0;
}
