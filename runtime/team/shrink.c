/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a team of the members that live. They meet twice: to agree on who they are and on the new team's memory, and on
 * whether all could take it. Where one fails in between, or another thread was faster, they begin again.
 */
#include "runtime/team/split.h"

#include "base/log.h"
#include "runtime/coll/choose/state.h"
#include "runtime/coll/coll.h"
#include "runtime/coll/request/request.h"
#include "runtime/device_ops.h"
#include "runtime/job/job.h"
#include "runtime/memory/restore.h"
#include "runtime/op/order.h"
#include "runtime/team/meeting.h"

#include <errno.h>
#include <stdlib.h>

#define TRIES 8 /* before there is no room: with other threads that split teams at the same time */
#define BEGIN_AGAIN 1

/* What this PE has sent in collectives of the team is there before it says that it has come. */
static int team_quiet(struct wsh_team *team)
{
    int rc = wsh_req_quiet(team->job);

    if (!rc)
        rc = wsh_quiet(&team->coll->ctx);
    return rc ? rc : wsh_quiet(&team->job->ctx);
}

static struct wsh_offer offer_make(struct wsh_job *job, bool ok)
{
    struct wsh_offer offer = {.ok = ok, .finished = job->heap.finished};

    wsh_pool_read(&job->pool, offer.map);
    return offer;
}

/* Opens it and takes its memory here; NULL: this PE cannot. */
static struct wsh_team *team_take(struct wsh_team *team, const struct wsh_decision *decision, size_t *len)
{
    struct wsh_job *job = team->job;
    int n, *members = wsh_meeting_survivors(team, decision, &n);
    struct wsh_team *fresh = members ? wsh_team_open(job, members, n) : NULL;

    *len = fresh ? wsh_sync_area_of_job(job, n).len : 0;
    if (!fresh || wsh_pool_take(&job->pool, decision->unit, *len))
        return fresh;
    wsh_team_close(fresh);
    return NULL;
}

/* 0, BEGIN_AGAIN, or an error that all survivors get. */
static int shrink_once(struct wsh_team *team, int turn, struct wsh_team **fresh,
                       struct wsh_decision *decision)
{
    struct wsh_job *job = team->job;
    struct wsh_offer offer = offer_make(job, true);
    struct wsh_decision taken;
    size_t len;
    int rc = wsh_meeting_hold(team, &offer, 37 * turn % job->pool.n_units, decision);

    if (rc || decision->unit < 0)
        return rc ? rc : -ENOMEM;
    *fresh = team_take(team, decision, &len);
    offer = offer_make(job, *fresh != NULL);
    rc = wsh_meeting_hold(team, &offer, 0, &taken);
    if (!rc && (!taken.ok || taken.generation != decision->generation))
        rc = BEGIN_AGAIN;
    if (!rc) {
        (*fresh)->num_contexts = team->num_contexts;
        wsh_team_attach(*fresh, decision->unit);
        return 0;
    }
    if (*fresh)
        wsh_pool_give(&job->pool, decision->unit, len);
    wsh_team_close(*fresh);
    *fresh = NULL;
    return rc;
}

static int shrink(struct wsh_team *team, struct wsh_team **fresh, struct wsh_decision *decision)
{
    uint32_t before = 0;
    int rc = BEGIN_AGAIN;

    for (int turn = 0; rc == BEGIN_AGAIN && turn < TRIES; turn++) {
        rc = team_quiet(team);
        if (!rc)
            rc = shrink_once(team, turn, fresh, decision);
        if (rc == BEGIN_AGAIN && decision->generation != before) /* not for want of room */
            turn = 0;
        before = decision->generation;
    }
    return rc == BEGIN_AGAIN ? -ENOMEM : rc;
}

/* The team of before, of which nobody speaks any more. */
static void survivors_drop(struct wsh_team *team)
{
    struct wsh_job *job = team->job;

    if (team == &job->world)
        return;
    pthread_mutex_lock(&job->ctxs_lock);
    wsh_device_ops()->team_gone(team);
    pthread_mutex_unlock(&job->ctxs_lock);
    wsh_coll_detach(team);
    wsh_team_close(team);
}

/*
 * Routines without a team run over the survivors from now on, which have the same memory allocated. Where one fails
 * while they agree on that, they begin again; the memory of that team is not used again, since others may still
 * write into it.
 */
static int world_shrink(struct wsh_team *world, struct wsh_team **survivors)
{
    struct wsh_job *job = world->job;
    struct wsh_team *fresh = NULL, *before = job->all;
    struct wsh_decision decision;
    int rc;

    do {
        rc = before == world ? 0 : wsh_quiet(&before->coll->ctx);
        if (!rc)
            rc = shrink(world, &fresh, &decision);
        if (rc)
            return rc;
        rc = wsh_heap_restore(job, fresh, decision.leader);
        if (!rc)
            rc = wsh_team_split_strided(fresh, &(struct wsh_triplet){0, 1, fresh->n_pes}, world->num_contexts,
                                        survivors);
        if (rc) {
            (void)wsh_quiet(&fresh->coll->ctx);
            wsh_team_close(fresh);
        }
    } while (rc == -EOWNERDEAD && wsh_failures_take(job));
    if (rc)
        return rc;
    job->all = fresh;
    job->shrunk_at = decision.generation;
    job->shrinks++;
    survivors_drop(before);
    return 0;
}

int wsh_team_shrink(struct wsh_team *team, struct wsh_team **survivors)
{
    struct wsh_decision decision = {0};
    int rc;

    *survivors = NULL;
    if (!team->job->failures.failed) {
        if (team->my_pe == 0)
            wsh_warn("shmemx_team_shrink: a failure ends the job, so that there is nothing to shrink; set "
                     "SHMEM_ON_PE_FAILURE=continue");
        return -ENOTSUP;
    }
    (void)wsh_coll_is_broken(team);
    rc = team == &team->job->world ? world_shrink(team, survivors) : shrink(team, survivors, &decision);
    if (rc == -ENOMEM)
        wsh_warn(
            "shmemx_team_shrink: no room for the team of survivors; destroy teams, or set SHMEM_TEAM_MEMORY "
            "to more than %zu on all PEs",
            team->job->env.team_memory);
    if (!rc)
        team->shrunk = team->broken;
    return rc;
}
