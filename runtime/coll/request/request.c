/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins requests, tests them and waits for them. */
#include "runtime/coll/request/request.h"

#include "base/err.h"
#include "base/log.h"
#include "runtime/coll/request/queue.h"
#include "runtime/op/order.h"
#include "runtime/wait/clock.h"
#include "runtime/wait/poll.h"
#include "runtime/wait/progress.h"
#include "runtime/wait/wait.h"

#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>

/*
 * May another thread come in meanwhile? If not there is no need of a lock, whose instructions would wait until each
 * store before them has reached its PE: the stores of requests in flight would come there one after the other.
 */
static bool may_meet(const struct wsh_job *job)
{
    return job->thread_level == SHMEM_THREAD_MULTIPLE || job->env.progress == WSH_PROGRESS_THREAD ||
           __atomic_load_n(&job->servers, __ATOMIC_RELAXED);
}

static void lock(const struct wsh_job *job)
{
    struct wsh_requests *requests = job->requests;

    if (may_meet(job)) {
        pthread_mutex_lock(&requests->lock);
        requests->locked = true;
    }
    WSH_INVARIANT(!requests->entered);
    requests->entered = true;
}

/* False, too, where progress is made by a wait of this thread in here. */
static bool try_lock(const struct wsh_job *job)
{
    struct wsh_requests *requests = job->requests;

    if (may_meet(job)) {
        if (pthread_mutex_trylock(&requests->lock))
            return false;
        requests->locked = true;
    }
    if (requests->entered)
        return false;
    return requests->entered = true;
}

static void unlock(const struct wsh_job *job)
{
    struct wsh_requests *requests = job->requests;
    bool locked = requests->locked;

    requests->entered = requests->locked = false;
    if (locked)
        pthread_mutex_unlock(&requests->lock);
}

int wsh_requests_open(struct wsh_job *job)
{
    job->requests = calloc(1, sizeof *job->requests);
    if (!job->requests)
        return -ENOMEM;
    pthread_mutex_init(&job->requests->lock, NULL);
    job->in_flight = 0;
    job->advance = wsh_req_advance;
    return 0;
}

void wsh_requests_close(struct wsh_job *job)
{
    struct wsh_requests *requests = job->requests;

    if (!requests)
        return;
    while (requests->teams)
        wsh_req_forget(requests->teams->team);
    if (requests->ready)
        wsh_ctx_fini(&requests->ctx);
    pthread_mutex_destroy(&requests->lock);
    free(requests);
    wsh_job_mark(job, WSH_SPECIAL_REQUESTS, false);
    job->requests = NULL;
}

/*
 * A context of their own, which is used under the lock alone: progress threads advance requests too. As that of a team,
 * it requests no acks.
 */
static int ctx_open(struct wsh_job *job)
{
    struct wsh_requests *requests = job->requests;
    int rc = wsh_ctx_init(&requests->ctx, job, &job->world, SHMEM_CTX_SERIALIZED);

    for (unsigned tp = 0; tp < job->n_tps && !rc; tp++)
        requests->ctx.tctx[tp]->lazy = true;
    if (!rc && job->env.progress == WSH_PROGRESS_THREAD && !job->progress)
        rc = wsh_progress_start(job);
    requests->ready = !rc;
    wsh_job_mark(job, WSH_SPECIAL_REQUESTS, true);
    return rc;
}

static int team_open(struct wsh_job *job, struct wsh_team *team)
{
    struct wsh_req_team *of = calloc(1, sizeof *of);

    if (!of)
        return -ENOMEM;
    of->team = team;
    of->last = &of->first;
    of->next = job->requests->teams;
    team->coll->requests = job->requests->teams = of;
    return 0;
}

/* Under the lock. */
static int begin(struct wsh_job *job, struct wsh_team *team, struct wsh_req *req)
{
    int rc = job->requests->ready ? 0 : ctx_open(job);

    if (!rc && !team->coll->requests)
        rc = team_open(job, team);
    if (!rc)
        rc = wsh_req_append(team->coll->requests, req);
    if (rc)
        return rc;
    if (wsh_unlikely(wsh_failures_take(job)))
        wsh_req_team_look(team->coll->requests);
    team->coll->requests->held++;
    team->coll->requests->routine = req->routine;
    wsh_req_help(req);
    if (!team->coll->requests->helped) /* else the progress thread starts them: to send takes long, too */
        wsh_req_team_start(team->coll->requests);
    return 0;
}

int wsh_req_begin(struct wsh_team *team, const char *routine, enum wsh_req_kind kind,
                  const struct wsh_req_args *args, struct wsh_req **req)
{
    struct wsh_job *job = team->job;
    struct wsh_req *fresh;
    int rc = -ENOMEM;

    lock(job);
    fresh = wsh_req_take(team, routine, kind);
    if (fresh) {
        fresh->args = *args;
        rc = begin(job, team, fresh);
        team->calls++;
    }
    if (rc && fresh)
        wsh_req_give(fresh);
    unlock(job);
    *req = rc ? NULL : fresh;
    if (rc)
        wsh_error("%s: no memory for a request; wait for those in flight first", routine);
    return rc;
}

/* A member of a team that fails sends nothing more: the team's requests end. */
static void look_for_failures(struct wsh_job *job)
{
    const uint32_t generation = wsh_failures_generation(job);

    if (wsh_likely(generation == job->requests->failures))
        return;
    wsh_failures_take(job);
    job->requests->failures = generation;
    for (struct wsh_req_team *of = job->requests->teams; of; of = of->next)
        wsh_req_team_look(of);
}

int wsh_req_advance(struct wsh_job *job)
{
    struct wsh_requests *requests = job->requests;
    bool moved = false;

    if (!requests || !try_lock(job))
        return 0;
    look_for_failures(job);
    for (struct wsh_req_team *of = requests->teams; of; of = of->next)
        moved |= wsh_req_team_advance(of);
    unlock(job);
    return moved;
}

/* Acquire: partner of the release in queue.c. */
static bool is_ended(const struct wsh_req *req)
{
    return __atomic_load_n(&req->state, __ATOMIC_ACQUIRE) == WSH_REQ_ENDED;
}

bool wsh_req_is_live(const struct wsh_req *req)
{
    return __atomic_load_n(&req->state, __ATOMIC_RELAXED) != WSH_REQ_FREE;
}

static int req_free(struct wsh_req *req)
{
    const struct wsh_job *job = req->team->job;
    int status = req->status;

    lock(job);
    req->of->held--;
    wsh_req_give(req);
    unlock(job);
    return status;
}

static int try_ended(void *arg)
{
    struct wsh_req *req = arg;

    if (is_ended(req))
        return 0;
    wsh_req_advance(req->team->job);
    return is_ended(req) ? 0 : -EAGAIN;
}

static void req_describe(void *arg, char *text, size_t size)
{
    const struct wsh_req *req = arg;

    snprintf(text, size,
             "all PEs of its team to start it and make progress: number %llu of its team, phase %d",
             (unsigned long long)req->number, __atomic_load_n(&req->phase, __ATOMIC_RELAXED));
}

static int req_needs(void *arg, int pe)
{
    const struct wsh_team *team = ((const struct wsh_req *)arg)->team;

    if (pe < 0)
        return -1;
    if (wsh_failures_has(&team->job->failures, pe))
        return false; /* the request ends by itself, once nothing of it is under way */
    for (int member = 0; member < team->n_pes; member++)
        if (team->members[member] == pe)
            return true;
    return false;
}

static struct wsh_wait_why why_of(const struct wsh_req *req)
{
    return (struct wsh_wait_why){req->routine, req_describe, req_needs, req->team->coll->n_local};
}

/* Ends the job, after a line: a PE that it needs has left. Of one that has failed the request ends by itself. */
static void left_end(int rc)
{
    if (wsh_unlikely(rc == -EOWNERDEAD))
        wsh_abort(1);
}

int wsh_req_test(struct wsh_job *job, struct wsh_req *req)
{
    const struct wsh_wait_why why = why_of(req);

    if (!is_ended(req))
        wsh_wait_progress(job); /* of an error the request says more */
    if (is_ended(req))
        return req_free(req);
    wsh_left_check(&req->left, job, &why, req, wsh_wait_now());
    left_end(req->left.result);
    wsh_poll_failed(job);
    return -EAGAIN;
}

int wsh_req_wait(struct wsh_job *job, struct wsh_req *req)
{
    const struct wsh_wait_why why = why_of(req);
    /* Of several, the wait for the first ends more. */
    int rc = is_ended(req) ? 0 : wsh_wait(job, &why, try_ended, req);

    left_end(rc);
    return rc ? rc : req_free(req);
}

const char *wsh_req_left(struct wsh_job *job, const struct wsh_team *team)
{
    const char *routine = NULL;

    if (!job->requests)
        return NULL;
    lock(job);
    for (const struct wsh_req_team *of = job->requests->teams; of; of = of->next)
        if (of->held && (!team || of->team == team))
            routine = of->routine;
    unlock(job);
    return routine;
}

struct drain {
    struct wsh_job *job;
    const struct wsh_team *team;
};

static int try_drained(void *arg)
{
    const struct drain *drain = arg;
    bool left = false;

    if (!__atomic_load_n(&drain->job->in_flight, __ATOMIC_RELAXED))
        return 0;
    wsh_req_advance(drain->job);
    lock(drain->job);
    for (const struct wsh_req_team *of = drain->job->requests->teams; of; of = of->next)
        left |= of->open && !of->failed && (!drain->team || of->team == drain->team);
    unlock(drain->job);
    return left ? -EAGAIN : 0;
}

int wsh_req_drain(struct wsh_job *job, const struct wsh_team *team, const char *routine)
{
    const struct wsh_wait_why why = {.routine = routine};
    struct drain drain = {job, team};

    return job->requests ? wsh_wait(job, &why, try_drained, &drain) : 0;
}

/* Meanwhile nobody advances requests, nor does the wait, which finds the lock taken. */
int wsh_req_quiet(struct wsh_job *job)
{
    int rc = 0;

    if (!job->requests)
        return 0;
    lock(job);
    if (job->requests->ready)
        rc = wsh_quiet(&job->requests->ctx);
    unlock(job);
    return rc;
}

void wsh_req_forget(struct wsh_team *team)
{
    struct wsh_requests *requests = team->job->requests;
    struct wsh_req_team *of = team->coll->requests, **at;

    if (!requests || !of)
        return;
    lock(team->job);
    for (at = &requests->teams; *at != of; at = &(*at)->next)
        ;
    *at = of->next;
    __atomic_store_n(&team->job->in_flight, team->job->in_flight - of->open, __ATOMIC_RELAXED);
    if (of->helped)
        wsh_progress_help(team->job, -of->helped);
    unlock(team->job);
    team->coll->requests = NULL;
    free(of);
}
