/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watcher: a thread that takes completions of queues that kernels write. Also the waits for its marks: of the
 * host's quiet, and of a proxy at a fence.
 */
#define _GNU_SOURCE
#include "base/atomic.h"
#include "base/err.h"
#include "base/log.h"
#include "base/process/signals.h"
#include "runtime/gpu/gda/state.h"
#include "runtime/wait/pin.h"
#include "runtime/job/job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Acquire: partner is the kernel's release behind a post; what came before a record is seen with the record. */
static uint64_t posted(const struct wsh_gda_host *gda, unsigned i)
{
    return __atomic_load_n(&gda->marks[i].posted, __ATOMIC_ACQUIRE);
}

/* Acquire: partner is the release of the transport's gda_poll. */
static uint64_t mark(const struct wsh_gda_host *gda, unsigned i)
{
    return __atomic_load_n(&gda->marks[i].mark, __ATOMIC_ACQUIRE);
}

/* SIGUSR1 asks for it. */
static void watch_report(const struct wsh_gda_host *gda)
{
    unsigned long long all = 0;
    char text[512] = "";

    for (unsigned i = 0; i < gda->n; i++)
        all += posted(gda, i);
    wsh_gda_describe(gda->job, text, sizeof text);
    wsh_log_write(WSH_LOG_WARN, "kernels have posted %llu requests to %u queues of %u NICs; under way: %s",
                  all, gda->n, gda->n_rails, *text ? text : "none");
}

static int watch_step(void *arg)
{
    struct wsh_gda_host *gda = arg;
    unsigned asked = wsh_wait_asked();

    if (wsh_unlikely(asked != gda->reports))
        watch_report(gda);
    gda->reports = asked;
    return gda->tp->ops->gda_poll(gda->tp);
}

static void *watch_run(void *arg)
{
    struct wsh_gda_host *gda = arg;

    if (wsh_wait_run(gda->job, &gda->stop, watch_step, gda, &gda->life.heartbeat, false) < 0)
        wsh_abort(1);
    return NULL;
}

/* The program's handlers run in its own threads. */
int wsh_gda_watch_start(struct wsh_gda_host *gda)
{
    sigset_t before;
    int err;

    gda->reports = wsh_wait_asked();
    wsh_signals_block(&before);
    err = pthread_create(&gda->id, NULL, watch_run, gda);
    wsh_signals_restore(&before);
    if (err) {
        wsh_error(
            "no thread that watches the queues of kernels: %s; raise the limit of processes (ulimit -u), or "
            "set SHMEM_GDA=off",
            wsh_strerror(err));
        return -err;
    }
    pthread_setname_np(gda->id, "shmem-gda");
    wsh_pin_thread(gda->job, gda->id, "the watcher of kernels' queues", false);
    gda->runs = true;
    wsh_proxy_watch_gda(&gda->life);
    return 0;
}

void wsh_gda_watch_stop(struct wsh_gda_host *gda)
{
    if (!gda->runs)
        return;
    wsh_proxy_watch_gda(NULL);
    __atomic_store_n(&gda->stop, true, __ATOMIC_RELEASE); /* partner: wsh_wait_run */
    pthread_join(gda->id, NULL);
    gda->runs = false;
}

int wsh_gda_quiet_try(const struct wsh_job *job, struct wsh_gda_snapshot *snapshot)
{
    const struct wsh_gda_host *gda = job->device.gda;

    if (!gda)
        return 0;
    for (unsigned i = 0; i < gda->n && !snapshot->noted; i++)
        snapshot->posted[i] = posted(gda, i);
    snapshot->noted = true;
    for (unsigned i = 0; i < gda->n; i++)
        if (mark(gda, i) < snapshot->posted[i])
            return -EAGAIN;
    snapshot->noted = false;
    return 0;
}

uint64_t wsh_gda_completed(const struct wsh_job *job)
{
    const struct wsh_gda_host *gda = job->device.gda;
    uint64_t all = 0;

    for (unsigned i = 0; gda && i < gda->n; i++)
        all += mark(gda, i);
    return all;
}

struct gda_quiet {
    const struct wsh_job *job;
    struct wsh_gda_snapshot snapshot;
};

static int try_quiet(void *arg)
{
    struct gda_quiet *quiet = arg;

    return wsh_gda_quiet_try(quiet->job, &quiet->snapshot);
}

static void quiet_describe(void *arg, char *text, size_t size)
{
    wsh_gda_describe(((struct gda_quiet *)arg)->job, text, size);
}

int wsh_gda_quiet(struct wsh_job *job)
{
    static const struct wsh_wait_why why = {"shmem_quiet", quiet_describe};
    struct gda_quiet quiet = {job, {0}};

    return job->device.gda ? wsh_wait(job, &why, try_quiet, &quiet) : 0;
}

void wsh_gda_describe(const struct wsh_job *job, char *text, size_t size)
{
    const struct wsh_gda_host *gda = job->device.gda;

    for (unsigned i = 0; gda && i < gda->n; i++) {
        uint64_t given = posted(gda, i), done = mark(gda, i);
        size_t used = strlen(text);

        if (given != done)
            snprintf(text + used, size - used,
                     "%llu requests of kernels in queue %u of NIC %u, the first one %llu; ",
                     (unsigned long long)(given - done), i, gda->queue[i].rail, (unsigned long long)done);
    }
}
