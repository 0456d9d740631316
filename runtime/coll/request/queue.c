/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts the requests of a team in their order, as many at a time as it has room for, and advances those that have
 * started. All under one lock of the job; whoever finds it taken leaves progress to its holder.
 */
#include "runtime/coll/request/queue.h"

#include "base/log.h"
#include "runtime/coll/request/phases.h"
#include "runtime/memory/slots.h"
#include "runtime/wait/progress.h"

#include <stdlib.h>

/* Of a team's numbers that follow each other, one in so many syncs all members: see wsh_req_start. */
#define SYNC_EVERY (WSH_REQ_SLOTS - 2 * WSH_REQ_IN_FLIGHT + 1)
_Static_assert(SYNC_EVERY > 1, "there are slots for a collective that does not sync");

static const struct wsh_req_steps *const steps_of[WSH_REQ_KINDS] = {
    [WSH_REQ_SYNC] = &wsh_req_sync,
    [WSH_REQ_BROADCAST] = &wsh_req_broadcast,
    [WSH_REQ_FCOLLECT] = &wsh_req_fcollect,
    [WSH_REQ_COLLECT] = &wsh_req_collect,
    [WSH_REQ_ALLTOALL] = &wsh_req_alltoall,
    [WSH_REQ_ALLTOALLS] = &wsh_req_alltoalls,
    [WSH_REQ_REDUCE] = &wsh_req_reduce,
    [WSH_REQ_ALLTOALLV] = &wsh_req_alltoallv,
    [WSH_REQ_ALLTOALLV_PACKED] = &wsh_req_alltoallv_packed,
};

/* A program may still hold a request that it has freed. */
static struct wsh_slots slots = WSH_SLOTS_UNLOCKED(struct wsh_req);

static bool is_exchange(const struct wsh_req *req)
{
    return req->kind == WSH_REQ_ALLTOALLV || req->kind == WSH_REQ_ALLTOALLV_PACKED;
}

struct wsh_req *wsh_req_take(struct wsh_team *team, const char *routine, enum wsh_req_kind kind)
{
    struct wsh_req *req = wsh_slots_take(&slots);

    if (req) {
        req->team = team;
        req->routine = routine;
        req->kind = kind;
        req->steps = steps_of[kind];
        req->state = WSH_REQ_OPEN;
    }
    return req;
}

void wsh_req_give(struct wsh_req *req)
{
    __atomic_store_n(&req->state, WSH_REQ_FREE, __ATOMIC_RELAXED);
    wsh_slots_give(&slots, req);
}

static bool *exchanging(struct wsh_req *req)
{
    return &req->of->exchanging;
}

static struct wsh_req **running(struct wsh_req *req)
{
    return &req->of->running[req->number % WSH_REQ_IN_FLIGHT];
}

/* The job's number is a hint for progress, which takes the lock before it looks. */
static void open_count(struct wsh_req_team *of, int more)
{
    int *in_flight = &of->team->job->in_flight;

    of->open += more;
    __atomic_store_n(in_flight, *in_flight + more, __ATOMIC_RELAXED);
}

static void help_count(struct wsh_req *req, int more)
{
    req->helped = more > 0;
    req->of->helped += more;
    wsh_progress_help(req->team->job, more);
}

/* What a member sends, or gets. */
static size_t bytes_of(const struct wsh_req *req)
{
    size_t n = (size_t)req->team->n_pes, sum = 0;

    if (req->kind == WSH_REQ_ALLTOALLS)
        return req->args.shape.nelems * req->args.shape.width * n;
    if (!is_exchange(req))
        return req->kind == WSH_REQ_REDUCE || req->kind == WSH_REQ_BROADCAST ? req->args.len
                                                                             : req->args.len * n;
    for (size_t i = 0; i < n; i++)
        sum += req->args.v.counts[i] * req->args.v.width;
    return sum;
}

#define HELP_BYTES 65536 /* what is shorter has ended before a thread is awake */

void wsh_req_help(struct wsh_req *req)
{
    if (!req->args.waits && wsh_progress_helps(req->team->job) && bytes_of(req) >= HELP_BYTES)
        help_count(req, 1);
}

/* What no lower module has said; once for a team. */
static void say_why(const struct wsh_req *req, int rc)
{
    if (req->of->failed)
        return;
    if (rc == -EFAULT)
        wsh_error(
            "%s: a block reaches beyond symmetric memory at another PE; look at the number of elements, and "
            "at the size of dest",
            req->routine);
    if (rc == -ECANCELED)
        wsh_error("%s: it has failed at another PE of the team; a line of that PE says why", req->routine);
    if (rc == -ENOMEM)
        wsh_error("%s: no memory for a request; wait for those in flight first", req->routine);
}

static void req_end(struct wsh_req *req, int rc)
{
    struct wsh_req_team *of = req->of;

    if (rc) {
        say_why(req, rc);
        of->failed = req->status = rc;
    }
    free(req->scratch);
    req->scratch = NULL;
    open_count(of, -1);
    if (req->helped)
        help_count(req, -1);
    if (!rc && req->steps->syncs && req->number > of->known)
        of->known = req->number;
    if (req->own)
        wsh_req_give(req);
    else /* release: what it has received, and its status. Partner: the acquire of wsh_req_ended */
        __atomic_store_n(&req->state, WSH_REQ_ENDED, __ATOMIC_RELEASE);
}

/*
 * Where a member has failed: what this PE has begun ends by itself, and until then it reads and writes memory of the
 * request. Of an error of another kind nobody knows whether it ends.
 */
static int failed_status(const struct wsh_req *req)
{
    int rc = req->of->failed;

    return rc == -EOWNERDEAD && !wsh_done_is(&req->done) ? -EAGAIN : rc;
}

/* From phase to phase as far as it goes. True: something has moved. */
static bool req_run(struct wsh_req *req)
{
    int before = req->phase, rc = failed_status(req);

    while (!rc && req->steps->phases[req->phase]) {
        rc = req->steps->phases[req->phase](req);
        if (rc)
            break;
        __atomic_store_n(&req->phase, req->phase + 1, __ATOMIC_RELAXED);
        req->k = req->round = 0;
        req->distance = 0;
    }
    if (rc == -EAGAIN) {
        bool moved = req->moved || req->phase != before;

        req->moved = false;
        return moved;
    }
    *running(req) = NULL;
    if (is_exchange(req))
        *exchanging(req) = false;
    req_end(req, rc);
    return true;
}

/*
 * The first that is queued may start once the one WSH_REQ_IN_FLIGHT before it is complete here: then all before that
 * are too, since all started in order. Who has completed a collective that syncs knows that all members have begun it,
 * and so have completed whatever lies WSH_REQ_IN_FLIGHT before it. With one of those among SYNC_EVERY numbers, the last
 * that used the same slot is complete at all members.
 */
static bool may_start(struct wsh_req *req)
{
    return !*running(req) && !(is_exchange(req) && *exchanging(req));
}

static bool team_start(struct wsh_req_team *of)
{
    struct wsh_req *req = of->first;

    if (!req || !may_start(req))
        return false;
    WSH_INVARIANT(of->failed || req->number <= WSH_REQ_SLOTS ||
                  req->number + WSH_REQ_IN_FLIGHT <= of->known + WSH_REQ_SLOTS);
    of->first = req->next;
    if (!of->first)
        of->last = &of->first;
    *running(req) = req;
    if (is_exchange(req))
        *exchanging(req) = true;
    req->starts = true;
    req_run(req);
    req->starts = false;
    return true;
}

void wsh_req_team_look(struct wsh_req_team *of)
{
    const struct wsh_team *team = of->team;

    for (int i = 0; i < team->n_pes && !of->failed; i++)
        if (wsh_failures_has(&team->job->failures, team->members[i]))
            of->failed = -EOWNERDEAD;
}

bool wsh_req_team_start(struct wsh_req_team *of)
{
    bool moved = false;

    while (team_start(of))
        moved = true;
    return moved;
}

bool wsh_req_team_advance(struct wsh_req_team *of)
{
    bool moved = false;

    if (!of->open)
        return false;
    for (int i = 0; i < WSH_REQ_IN_FLIGHT; i++)
        if (of->running[i])
            moved |= req_run(of->running[i]);
    return moved | wsh_req_team_start(of);
}

static void req_append(struct wsh_req_team *of, struct wsh_req *req)
{
    req->of = of;
    req->number = ++of->numbered;
    if (is_exchange(req))
        req->exchange = ++of->exchanges;
    if (req->steps->syncs)
        of->synced = req->number;
    open_count(of, 1);
    req->next = NULL;
    *of->last = req;
    of->last = &req->next;
}

int wsh_req_append(struct wsh_req_team *of, struct wsh_req *req)
{
    if (!req->steps->syncs && of->numbered + 1 - of->synced >= SYNC_EVERY) {
        struct wsh_req *sync = wsh_req_take(of->team, req->routine, WSH_REQ_SYNC);

        if (!sync)
            return -ENOMEM;
        sync->own = true;
        req_append(of, sync);
    }
    req_append(of, req);
    return 0;
}
