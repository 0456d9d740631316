/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates teams from lists of members, and destroys them. */
#include "runtime/team/team.h"

#include "runtime/device_ops.h"
#include "runtime/coll/coll.h"
#include "runtime/coll/memory/pool.h"
#include "runtime/coll/choose/state.h"
#include "runtime/coll/request/request.h"
#include "runtime/job/job.h"
#include "runtime/memory/slots.h"
#include "runtime/team/split.h"

#include <stdlib.h>

/* A program may still hold the handle of a team that it has destroyed. */
static struct wsh_slots slots = WSH_SLOTS_OF(struct wsh_team);

static void team_fill(struct wsh_team *team, struct wsh_job *job, int *members, int n_pes)
{
    *team = (struct wsh_team){.job = job, .my_pe = -1, .n_pes = n_pes, .members = members};
    for (int pe = 0; pe < n_pes; pe++)
        if (members[pe] == job->my_pe)
            team->my_pe = pe;
}

int wsh_team_init(struct wsh_team *team, struct wsh_job *job, int *members, int n_pes)
{
    team_fill(team, job, members, n_pes);
    team->number = team == &job->shared ? WSH_TEAM_SHARED : WSH_TEAM_WORLD;
    return wsh_coll_open(team, job->n_pes);
}

void wsh_team_fini(struct wsh_team *team)
{
    if (team->coll)
        wsh_req_forget(team);
    wsh_coll_close(team);
    free(team->members);
    *team = (struct wsh_team){.my_pe = -1};
}

int wsh_team_translate(const struct wsh_team *team, int pe, const struct wsh_team *other)
{
    if (pe < 0 || pe >= team->n_pes)
        return -1;
    for (int i = 0; i < other->n_pes; i++)
        if (other->members[i] == team->members[pe])
            return i;
    return -1;
}

struct wsh_team *wsh_team_open(struct wsh_job *job, int *members, int n_pes)
{
    struct wsh_team *team = wsh_slots_take(&slots);

    if (!team || !members) {
        wsh_slots_give(&slots, team);
        free(members);
        return NULL;
    }
    team_fill(team, job, members, n_pes);
    if (!wsh_coll_prepare(team))
        return team;
    free(members);
    wsh_slots_give(&slots, team);
    return NULL;
}

void wsh_team_attach(struct wsh_team *team, int unit)
{
    struct wsh_job *job = team->job;

    wsh_coll_attach(team, job->pool.base + (size_t)unit * job->pool.unit, unit);
    pthread_mutex_lock(&job->ctxs_lock);
    team->next = job->teams;
    team->link = &job->teams;
    if (team->next)
        team->next->link = &team->next;
    job->teams = team;
    team->number = WSH_TEAM_NUMBERS + unit;
    /* Release: partner of the acquire in wsh_team_by_number. */
    __atomic_store_n(&job->numbered[unit], team, __ATOMIC_RELEASE);
    wsh_device_ops()->team_come(team);
    pthread_mutex_unlock(&job->ctxs_lock);
}

struct wsh_team *wsh_team_by_number(struct wsh_job *job, int number)
{
    struct wsh_team *const first[] = {&job->world, &job->shared, job->node, job->same_number};

    if (number < 0 || number >= WSH_TEAM_NUMBERS + WSH_POOL_UNITS)
        return NULL;
    if (number < WSH_TEAM_NUMBERS)
        return first[number];
    /* Acquire: partner of the release in wsh_team_attach. */
    return __atomic_load_n(&job->numbered[number - WSH_TEAM_NUMBERS], __ATOMIC_ACQUIRE);
}

/* Its unit may have been taken for another team by now. Under ctxs_lock. */
static void number_forget(struct wsh_team *team)
{
    struct wsh_team **at = &team->job->numbered[team->number - WSH_TEAM_NUMBERS];

    if (*at == team)
        __atomic_store_n(at, NULL, __ATOMIC_RELAXED);
}

void wsh_team_close(struct wsh_team *team)
{
    if (!team)
        return;
    /* Whoever attaches a team changes the link of the one behind it. */
    pthread_mutex_lock(&team->job->ctxs_lock);
    if (team->link) {
        *team->link = team->next;
        if (team->next)
            team->next->link = team->link;
        if (team->number >= WSH_TEAM_NUMBERS)
            number_forget(team);
    }
    team->job->gone_teams.steps += wsh_coll_steps(team->coll);
    team->job->gone_teams.calls += team->calls;
    pthread_mutex_unlock(&team->job->ctxs_lock);
    wsh_team_fini(team);
    wsh_slots_give(&slots, team);
}

void wsh_team_fini_all(struct wsh_job *job)
{
    while (job->teams)
        wsh_team_close(job->teams);
}

static struct wsh_ctx *find_ctx(struct wsh_team *team)
{
    struct wsh_ctx *ctx;

    pthread_mutex_lock(&team->job->ctxs_lock);
    for (ctx = team->job->ctxs; ctx && (ctx->team != team || !ctx->user); ctx = ctx->next)
        ;
    pthread_mutex_unlock(&team->job->ctxs_lock);
    return ctx;
}

/* After the sync nobody writes to this PE's sync area any more: every flag sent to it has been awaited. */
int wsh_team_destroy(struct wsh_team *team)
{
    struct wsh_ctx *ctx;
    int rc;

    while ((ctx = find_ctx(team)))
        wsh_ctx_close(ctx);
    rc = wsh_req_drain(team->job, team, "shmem_team_destroy");
    if (!rc && !wsh_coll_is_broken(team))
        rc = wsh_sync_last(team, "shmem_team_destroy");
    if (rc && !wsh_coll_met_failure(team, "shmem_team_destroy", rc))
        return rc;
    pthread_mutex_lock(&team->job->ctxs_lock);
    wsh_device_ops()->team_gone(team);
    pthread_mutex_unlock(&team->job->ctxs_lock);
    if (!team->broken || team->shrunk) /* else others may still write to its sync area, which stays taken */
        wsh_coll_detach(team);
    wsh_team_close(team);
    return 0;
}
