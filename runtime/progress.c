/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows the life of the progress thread, and where it runs; its loop is wsh_wait_serve. One thread serves all NICs of a
 * PE: they share one transport, whose lock covers the ordering engine, so that of several threads all but one would
 * wait for it.
 */
#define _GNU_SOURCE
#include "runtime/progress.h"

#include "runtime/base/err.h"
#include "runtime/base/log.h"
#include "runtime/job.h"
#include "runtime/topo/topo.h"
#include "runtime/wait.h"

#include <pthread.h>
#include <sched.h>
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

static void gather_near(const struct wsh_job *job, cpu_set_t *near)
{
    CPU_ZERO(near);
    for (unsigned tp = 0; tp < job->n_tps; tp++)
        CPU_OR(near, near, &job->limits[tp].near);
}

/*
 * Near the NICs, on processors that this thread may use too, since the other has inherited them. A program that keeps
 * its main thread on a few processors has its reasons: only SHMEM_PROGRESS=thread asks for less of them still.
 */
static void pin_thread(const struct wsh_progress *progress)
{
    cpu_set_t allowed, near, pin;
    char text[256];

    gather_near(progress->job, &near);
    if (!CPU_COUNT(&near) || sched_getaffinity(0, sizeof allowed, &allowed))
        return;
    if (wsh_topo_pin(&allowed, &near, progress->job->env.progress == WSH_PROGRESS_THREAD, &pin) &&
        !pthread_setaffinity_np(progress->thread, sizeof pin, &pin)) {
        wsh_topo_cpus_text(&pin, text, sizeof text);
        wsh_info(WSH_SUB_TOPO, "the progress thread runs on processors %s, near the NICs", text);
    } else {
        wsh_topo_cpus_text(&allowed, text, sizeof text);
        wsh_info(WSH_SUB_TOPO, "the progress thread runs on processors %s, as this process may", text);
    }
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
        return -err;
    }
    pin_thread(job->progress);
    return 0;
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
