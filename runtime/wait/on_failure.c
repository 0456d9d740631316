/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that looks for news of failures and calls the program's function. */
#define _GNU_SOURCE
#include "runtime/wait/on_failure.h"

#include "base/err.h"
#include "base/log.h"
#include "base/process/signals.h"
#include "runtime/job/job.h"
#include "runtime/wait/wait.h"

#include <errno.h>
#include <stdlib.h>

#define LOOK_MS 5 /* between two looks at a word of memory */

struct wsh_failure_watch {
    struct wsh_job *job;
    pthread_t thread;
    pthread_mutex_t lock; /* recursive: the function may change itself */
    void (*function)(int pe, void *arg);
    void *arg;
    bool stop;
    bool told[]; /* [n_pes] */
};

int wsh_on_failure_open(struct wsh_job *job)
{
    job->failures.watch = NULL;
    return 0;
}

/* Under the lock. */
static void watch_tell(struct wsh_failure_watch *watch)
{
    for (int pe = 0; pe < watch->job->n_pes; pe++) {
        if (watch->told[pe] || !wsh_failures_has(&watch->job->failures, pe))
            continue;
        watch->told[pe] = true;
        if (watch->function)
            watch->function(pe, watch->arg);
    }
}

static void *watch_run(void *arg)
{
    struct wsh_failure_watch *watch = arg;

    while (!__atomic_load_n(&watch->stop, __ATOMIC_ACQUIRE)) { /* partner: wsh_on_failure_close */
        if (wsh_failures_take(watch->job)) {
            pthread_mutex_lock(&watch->lock);
            watch_tell(watch);
            pthread_mutex_unlock(&watch->lock);
        }
        wsh_wait_pause(-1, LOOK_MS);
    }
    return NULL;
}

/* With all signals blocked, so that the program's handlers run in its own threads. */
static int watch_start(struct wsh_failure_watch *watch)
{
    sigset_t before;
    int err;

    wsh_signals_block(&before);
    err = pthread_create(&watch->thread, NULL, watch_run, watch);
    wsh_signals_restore(&before);
    if (!err)
        pthread_setname_np(watch->thread, "shmem-failures");
    return -err;
}

static int watch_open(struct wsh_job *job)
{
    struct wsh_failure_watch *watch = calloc(1, sizeof *watch + (size_t)job->n_pes * sizeof *watch->told);
    pthread_mutexattr_t attr;
    int rc;

    if (!watch)
        return -ENOMEM;
    watch->job = job;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&watch->lock, &attr);
    pthread_mutexattr_destroy(&attr);
    wsh_failures_take(job);
    watch_tell(watch); /* to nobody: these have failed before */
    rc = watch_start(watch);
    if (rc) {
        pthread_mutex_destroy(&watch->lock);
        free(watch);
        return rc;
    }
    job->failures.watch = watch;
    return 0;
}

int wsh_on_failure(struct wsh_job *job, void (*function)(int pe, void *arg), void *arg)
{
    struct wsh_failure_watch *watch;
    int rc = 0;

    if (!job->failures.failed) /* nobody ever fails, and the job goes on */
        return 0;
    pthread_mutex_lock(&job->failures.watch_lock);
    if (function && !job->failures.watch)
        rc = watch_open(job);
    watch = job->failures.watch;
    pthread_mutex_unlock(&job->failures.watch_lock);
    if (rc)
        wsh_error(
            "shmemx_on_failure: no thread for the function: %s; raise the limit of processes (ulimit -u)",
            wsh_strerror(-rc));
    if (!watch)
        return rc;
    pthread_mutex_lock(&watch->lock);
    watch->function = function;
    watch->arg = arg;
    pthread_mutex_unlock(&watch->lock);
    return 0;
}

void wsh_on_failure_close(struct wsh_job *job)
{
    struct wsh_failure_watch *watch = job->failures.watch;

    if (!watch)
        return;
    __atomic_store_n(&watch->stop, true, __ATOMIC_RELEASE); /* partner: watch_run */
    if (pthread_equal(watch->thread, pthread_self()))
        return; /* the function has called exit: the process ends with it */
    pthread_join(watch->thread, NULL);
    pthread_mutex_destroy(&watch->lock);
    job->failures.watch = NULL;
    free(watch);
}
