/* SPDX-License-Identifier: BSD-3-Clause */
/* What shmem_finalize waits for, and what an abort does with what the program has printed. */
#define _GNU_SOURCE
#include "runtime/job/end.h"

#include "base/log.h"
#include "base/process/signals.h"
#include "runtime/coll/coll.h"
#include "runtime/coll/request/request.h"
#include "runtime/op/order.h"
#include "runtime/team/meeting.h"
#include "runtime/wait/progress.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

#define FLUSH_SECONDS 1

static void quiet_contexts(struct wsh_job *job)
{
    for (struct wsh_ctx *ctx = job->ctxs; ctx; ctx = ctx->next)
        if (!ctx->proxy) /* the default context's quiet waits for what its thread does */
            wsh_quiet(ctx);
}

/*
 * Some PE has left without shmem_finalize. The others do not wait for it, but for each other, and what they have begun
 * with it may never complete. The first of them says so.
 */
static void say_incomplete(const struct wsh_job *job)
{
    int pe = 0;

    while (pe < job->my_pe && wsh_job_has_left(job, pe))
        pe++;
    if (pe < job->my_pe)
        return;
    for (pe = 0; pe < job->n_pes && (wsh_failures_has(&job->failures, pe) || !wsh_job_has_left(job, pe));)
        pe++;
    if (pe == job->n_pes) /* some have failed: the launcher has said so */
        return;
    wsh_warn(
        "shmem_finalize does not wait for PE %d, which has left the job: its process has ended with status 0 "
        "and without shmem_finalize; call shmem_finalize on all PEs",
        pe);
}

/* False: some PE has left. Survivors of others wait for each other, as far as these have not left. */
static bool world_barrier(struct wsh_job *job)
{
    int rc;

    wsh_meeting_come(job);
    rc = wsh_job_has_left(job, -1) ? -EOWNERDEAD : wsh_barrier(&job->world, "shmem_finalize");
    if (rc && rc != -EOWNERDEAD)
        wsh_abort(1);
    if (rc && wsh_failures_take(job))
        (void)wsh_meeting_await_all(job);
    if (rc)
        say_incomplete(job);
    return !rc;
}

void wsh_job_last_barrier(struct wsh_job *job)
{
    job->finalizing = true;
    quiet_contexts(job);
    if (!wsh_req_left(job, NULL))
        (void)wsh_req_drain(job, NULL, "shmem_finalize"); /* of an error the barrier says more */
    if (world_barrier(job))
        quiet_contexts(job); /* the barrier's own signals too, before nobody may be left to take them */
    if (job->network && !job->progress)
        wsh_progress_start(job); /* the bootstrap's barrier does not serve peers */
    if (job->boot.ops->barrier(&job->boot, "shmem_finalize"))
        wsh_info(WSH_SUB_BOOTSTRAP,
                 "shmem_finalize: not all PEs were waited for; this PE closes what it has");
}

static void *flusher_run(void *arg)
{
    fflush(NULL);
    sem_post(arg);
    return NULL;
}

/* Another thread may hold a stream's lock while its reader has stopped, or this one may, in whose handler this is. */
void wsh_job_flush(void)
{
    static sem_t flushed;
    struct timespec until;
    sigset_t before;
    pthread_t thread;
    int rc;

    sem_init(&flushed, 0, 0);
    wsh_signals_block(&before);
    rc = pthread_create(&thread, NULL, flusher_run, &flushed);
    wsh_signals_restore(&before);
    if (rc)
        return;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += FLUSH_SECONDS;
    while (sem_timedwait(&flushed, &until) && errno == EINTR)
        continue;
}
