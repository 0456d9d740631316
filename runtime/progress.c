/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the life of the progress thread; its loop is wsh_wait_serve. */
#define _GNU_SOURCE
#include "runtime/progress.h"

#include "runtime/base/err.h"
#include "runtime/base/log.h"
#include "runtime/job.h"
#include "runtime/wait.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct wsh_progress {
    pthread_t thread;
    struct wsh_job *job;
    bool stop;
};

static void *serve(void *arg)
{
    struct wsh_progress *progress = arg;

    wsh_wait_serve(progress->job, &progress->stop);
    return NULL;
}

/* With all signals blocked, so that the program's handlers run in its own threads. */
static int start_thread(struct wsh_progress *progress)
{
    sigset_t all, old;
    int err;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    err = pthread_create(&progress->thread, NULL, serve, progress);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!err)
        pthread_setname_np(progress->thread, "shmem-progress");
    return err;
}

int wsh_progress_open(struct wsh_job *job)
{
    return job->network && job->env.progress != WSH_PROGRESS_CALL ? wsh_progress_start(job) : 0;
}

int wsh_progress_start(struct wsh_job *job)
{
    int err;

    job->progress = calloc(1, sizeof *job->progress);
    if (!job->progress)
        return -ENOMEM;
    job->progress->job = job;
    err = start_thread(job->progress);
    if (err) {
        wsh_error(
            "no progress thread: %s; raise the limit of processes (ulimit -u), or set SHMEM_PROGRESS=call",
            wsh_strerror(err));
        free(job->progress);
        job->progress = NULL;
    }
    return -err;
}

void wsh_progress_close(struct wsh_job *job)
{
    if (!job->progress)
        return;
    __atomic_store_n(&job->progress->stop, true, __ATOMIC_RELEASE); /* partner: wsh_wait_serve */
    pthread_join(job->progress->thread, NULL);
    free(job->progress);
    job->progress = NULL;
}
