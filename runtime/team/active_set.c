/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a team of the PEs of an active set, which the deprecated collectives name. They agree through pSync once, and
 * keep the team.
 */
#include "runtime/team/split.h"

#include "base/log.h"
#include "runtime/coll/memory/pool.h"
#include "runtime/coll/choose/state.h"
#include "runtime/job/job.h"
#include "runtime/op/rma.h"
#include "runtime/wait/wait.h"

#include <stdio.h>

/*
 * The words of pSync. ARRIVED, at the first PE of the set: the sum of what the members sent, with their number in the
 * low bits. ANSWER, at each member: a unit to take, as 1 + its number, or how the agreement ended.
 */
enum { ARRIVED, ANSWER };
#define COUNT_BITS 24
#define FULL UINT64_MAX
#define AGREED (UINT64_MAX - 1)

struct gathering {
    const struct wsh_team *set;
    const char *kind;
    uint64_t *psync;
    uint64_t shape; /* what a member sends when it arrives: equal for the same set */
    uint64_t came;  /* what the others have brought together */
};

/* Acquire: partner of the release in the members' signals. */
static int try_gather(void *arg)
{
    struct gathering *gathering = arg;
    uint64_t word = __atomic_load_n(&gathering->psync[ARRIVED], __ATOMIC_ACQUIRE);

    gathering->came = word >> COUNT_BITS;
    return word - (gathering->came << COUNT_BITS) == (uint64_t)gathering->set->n_pes - 1 ? 0 : -EAGAIN;
}

/* Where shapes differ, the number of PEs may never be right. */
static int try_gather_shapes(void *arg)
{
    struct gathering *gathering = arg;
    const struct wsh_team *set = gathering->set;
    uint64_t word = __atomic_load_n(&gathering->psync[ARRIVED], __ATOMIC_ACQUIRE); /* as in try_gather */
    uint64_t n = word & ((1 << COUNT_BITS) - 1);

    if (word == (n | n * gathering->shape << COUNT_BITS))
        return n == (uint64_t)set->n_pes - 1 ? 0 : -EAGAIN;
    wsh_error("active set of PE_start %d, logPE_stride %d, PE_size %d on PE %d, but other PEs give another "
              "one with "
              "the same pSync; all PEs of a set pass the same",
              set->members[0], (int)(gathering->shape & 31), set->n_pes, set->members[0]);
    return -EBADMSG;
}

static int try_answer(void *arg)
{
    struct gathering *gathering = arg;

    /* Acquire: partner of the release in the first PE's signal. */
    return __atomic_load_n(&gathering->psync[ANSWER], __ATOMIC_ACQUIRE) ? 0 : -EAGAIN;
}

static void gathering_describe(void *arg, char *text, size_t size)
{
    const struct gathering *gathering = arg;

    snprintf(text, size, "the %s of %d from PE %d", gathering->kind, gathering->set->n_pes,
             gathering->set->members[0]);
}

static const struct wsh_wait_why why = {"the making of a team", gathering_describe};

/* Another thread may have been faster: -1. */
static int unit_take(const struct wsh_team *set, int unit)
{
    return wsh_pool_take(&set->job->pool, unit, wsh_sync_area_of_job(set->job, set->n_pes).len) ? unit : -1;
}

static void unit_give(const struct wsh_team *set, int unit)
{
    if (unit >= 0)
        wsh_pool_give(&set->job->pool, unit, wsh_sync_area_of_job(set->job, set->n_pes).len);
}

static int log_full(const struct gathering *gathering)
{
    const struct wsh_team *set = gathering->set;

    wsh_error("no room for the %s of %d PEs from PE %d: set SHMEM_TEAM_MEMORY to more than %zu on all PEs",
              gathering->kind, set->n_pes, set->members[0], set->job->env.team_memory);
    return -ENOMEM;
}

/* Units that are free at all, from `from` on if possible; -1 = none. */
static int choose_unit(const struct wsh_team *set, int from, int *unit)
{
    struct wsh_job *job = set->job;
    uint64_t common[WSH_POOL_WORDS], theirs[WSH_POOL_WORDS];
    int rc = 0;

    wsh_pool_read(&job->pool, common);
    for (int pe = 1; pe < set->n_pes && !rc; pe++) {
        rc = wsh_get(&set->coll->ctx, theirs, job->pool.map, sizeof theirs, pe);
        for (int w = 0; w < WSH_POOL_WORDS; w++)
            common[w] &= theirs[w];
    }
    *unit = wsh_pool_find(&job->pool, common, wsh_sync_area_of_job(job, set->n_pes).len, from);
    return rc;
}

static int arrivals_wait(struct gathering *gathering, wsh_wait_try try)
{
    int rc = wsh_wait(gathering->set->job, &why, try, gathering);

    __atomic_store_n(&gathering->psync[ARRIVED], 0, __ATOMIC_RELAXED);
    return rc;
}

static int answer_send(const struct gathering *gathering, uint64_t word)
{
    const struct wsh_signal signal = {&gathering->psync[ANSWER], word, WSH_AMO_SET};
    int rc = 0;

    for (int pe = 1; pe < gathering->set->n_pes && !rc; pe++)
        rc = wsh_signal_send(&gathering->set->coll->ctx, &signal, pe);
    return rc;
}

/* Proposes units until all members have one for this set alone: threads may be making others at the same time. */
static int unit_propose(struct gathering *gathering, int *unit)
{
    const struct wsh_team *set = gathering->set;
    int rc = arrivals_wait(gathering, try_gather_shapes), from = 0, chosen = -1;

    while (!rc) {
        rc = choose_unit(set, from, &chosen);
        if (!rc && chosen < 0)
            return answer_send(gathering, FULL) ?: log_full(gathering);
        *unit = rc ? -1 : unit_take(set, chosen);
        rc = rc ? rc : answer_send(gathering, 1 + (uint64_t)chosen);
        rc = rc ? rc : arrivals_wait(gathering, try_gather);
        if (!rc && *unit >= 0 && !gathering->came)
            return answer_send(gathering, AGREED);
        unit_give(set, *unit);
        from = (from + 37 * (set->members[0] + 1)) % set->job->pool.n_units;
    }
    return rc;
}

static int arrival_send(const struct gathering *gathering, uint64_t value)
{
    const struct wsh_signal signal = {&gathering->psync[ARRIVED], value << COUNT_BITS | 1, WSH_AMO_ADD};

    return wsh_signal_send(&gathering->set->coll->ctx, &signal, 0);
}

/* After each answer it sends whether it could not take that unit. */
static int unit_accept(struct gathering *gathering, int *unit)
{
    const struct wsh_team *set = gathering->set;
    int rc = arrival_send(gathering, gathering->shape);
    uint64_t word;

    for (*unit = -1; !rc; rc = arrival_send(gathering, *unit < 0)) {
        rc = wsh_wait(set->job, &why, try_answer, gathering);
        word = gathering->psync[ANSWER];
        gathering->psync[ANSWER] = 0;
        if (rc || word == AGREED)
            break;
        unit_give(set, *unit);
        if (word == FULL)
            return log_full(gathering);
        *unit = unit_take(set, (int)word - 1);
    }
    return rc;
}

static int unit_agree(struct gathering *gathering, int *unit)
{
    return gathering->set->my_pe ? unit_accept(gathering, unit) : unit_propose(gathering, unit);
}

int wsh_team_agree(const struct wsh_team *team, uint64_t *psync, int *unit)
{
    struct gathering gathering = {.set = team, .kind = "team", .psync = psync};

    return unit_agree(&gathering, unit);
}

static struct wsh_team *team_find(struct wsh_job *job, const struct wsh_triplet *set)
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
    struct gathering gathering = {.kind = "active set", .psync = (uint64_t *)psync};
    int unit, rc;

    *team = team_find(job, set);
    if (*team)
        return 0;
    if (set->stride <= 0 || !wsh_team_has(&job->world, set))
        return -EINVAL;
    *team = wsh_team_open(job, wsh_team_list(&job->world, set), set->size);
    if (!*team) {
        wsh_error("out of memory for an active set of %d PEs", set->size);
        return -ENOMEM;
    }
    gathering.set = *team;
    gathering.shape = (uint64_t)set->size << 5 | (uint64_t)__builtin_ctz((unsigned)set->stride);
    rc = (*team)->my_pe < 0 ? -EINVAL : unit_agree(&gathering, &unit);
    if (rc) {
        wsh_team_close(*team);
        return rc;
    }
    (*team)->stride = set->stride;
    wsh_team_attach(*team, unit);
    return 0;
}
