/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts and ends the progress threads; their loop is wsh_wait_serve. One thread serves all that the PE has, but with
 * SHMEM_PROGRESS=thread there is one for each part of the network that makes progress by itself.
 */
#define _GNU_SOURCE
#include "runtime/wait/progress.h"

#include "base/cuda/call.h"
#include "base/err.h"
#include "base/log.h"
#include "base/process/signals.h"
#include "runtime/job/job.h"
#include "runtime/wait/pin.h"
#include "runtime/wait/wait.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS_MAX 8

struct server {
    struct wsh_progress *progress;
    int part;
    pthread_t thread;
};

struct wsh_progress {
    struct wsh_job *job;
    bool stop, spares; /* the machine has a core for the thread of each PE */
    struct wsh_wait_help help;
    int n;
    struct server server[THREADS_MAX];
};

static void *server_run(void *arg)
{
    const struct server *server = arg;
    struct wsh_progress *progress = server->progress;

    wsh_cuda_call_role(WSH_CUDA_PROGRESS);
    if (wsh_wait_serve(progress->job, server->part, &progress->help, &progress->stop) < 0)
        wsh_abort(1);
    return NULL;
}

static int count_parts(const struct wsh_job *job)
{
    int n = 1;

    for (unsigned tp = 0; tp < job->n_tps; tp++)
        while (n < THREADS_MAX && job->tp[tp]->ops->part(job->tp[tp], (unsigned)n))
            n++;
    return n;
}

/* The program's handlers run in its own threads. */
static int start_thread(struct wsh_progress *progress, int part)
{
    struct server *server = &progress->server[progress->n];
    sigset_t before;
    int err;

    *server = (struct server){.progress = progress, .part = part};
    __atomic_fetch_add(&progress->job->servers, 1, __ATOMIC_RELAXED);
    wsh_signals_block(&before);
    err = pthread_create(&server->thread, NULL, server_run, server);
    wsh_signals_restore(&before);
    if (err)
        return -err;
    pthread_setname_np(server->thread, "shmem-progress");
    progress->n++;
    return 0;
}

static int start_threads(struct wsh_progress *progress)
{
    int n = progress->job->env.progress == WSH_PROGRESS_THREAD ? count_parts(progress->job) : 1;
    int rc = wsh_wait_help_open(&progress->help);

    if (rc)
        return rc;

    for (int part = 0; part < n && !rc; part++)
        rc = start_thread(progress, n > 1 ? part : WSH_ALL_PARTS);
    return rc;
}

int wsh_progress_open(struct wsh_job *job)
{
    return job->network && job->env.progress != WSH_PROGRESS_CALL ? wsh_progress_start(job) : 0;
}

int wsh_progress_start(struct wsh_job *job)
{
    int rc;

    job->progress = calloc(1, sizeof *job->progress);
    if (!job->progress)
        return -ENOMEM;
    job->progress->job = job;
    job->progress->spares = !job->tuning.pes_a_core && job->shared.n_pes <= job->tuning.cores / 2;
    rc = start_threads(job->progress);
    if (rc) {
        wsh_error(
            "no progress thread: %s; raise the limit of processes (ulimit -u), or set SHMEM_PROGRESS=call",
            wsh_strerror(-rc));
        wsh_progress_close(job);
        return rc;
    }
    for (int i = 0; i < job->progress->n; i++)
        wsh_pin_thread(job, job->progress->server[i].thread, "the progress thread",
                       job->env.progress == WSH_PROGRESS_THREAD);
    return 0;
}

void wsh_progress_close(struct wsh_job *job)
{
    if (!job->progress)
        return;
    __atomic_store_n(&job->progress->stop, true, __ATOMIC_RELEASE); /* partner: wsh_wait_serve */
    for (int i = 0; i < job->progress->n; i++)
        pthread_join(job->progress->server[i].thread, NULL);
    if (job->progress->help.fd >= 0)
        wsh_wait_help_close(&job->progress->help);
    free(job->progress);
    job->progress = NULL;
}

bool wsh_progress_helps(const struct wsh_job *job)
{
    return job->progress && job->progress->spares;
}

void wsh_progress_help(struct wsh_job *job, int more)
{
    if (job->progress) /* not any more at the end, when requests are dropped */
        wsh_wait_help(&job->progress->help, more);
}
