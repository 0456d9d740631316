/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports a thread that does not come back from the CUDA driver. A thread that serves kernels or peers ends the job,
 * since nobody else does its work; a thread of the program is reported like any long wait. Reports too what kernels
 * have left: the program may wait for them, outside of the library, where no other thread looks.
 */
#define _GNU_SOURCE
#include "runtime/gpu/cuda_watch.h"

#include "base/cuda/call.h"
#include "base/err.h"
#include "base/log.h"
#include "base/process/signals.h"
#include "runtime/device_ops.h"
#include "runtime/job/job.h"
#include "runtime/gpu/host.h"
#include "runtime/wait/wait.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Between looks; a longer pause counts as so much: the process may have been stopped. */
#define CHECK_EVERY_MS 100
#define NEWS_EVERY_MS 10 /* where PEs may fail and the others go on: kernels wait for the news */
#define PAUSE_MAX 1.0
#define LONG 1.0 /* seconds in one call, for a report of something else */

struct wsh_cuda_watch {
    struct wsh_job *job;
    pthread_t thread;
    int stop; /* readable: end */
};

void wsh_cuda_watch_text(const struct wsh_cuda_stay *stay, pid_t it, char *text, size_t size)
{
    static const char *const roles[] = {"of the program", "the progress thread", "a proxy thread"};
    char who[64] = "it";

    if (stay->tid != it)
        snprintf(who, sizeof who, "thread id %d (%s)", (int)stay->tid, roles[stay->role]);
    snprintf(
        text, size,
        "%s is in %s, which does not return: a call of the program (cudaFree, cudaDeviceSynchronize, a first "
        "launch) may wait for a kernel that waits for this one; make no such call while a kernel waits, and "
        "set "
        "CUDA_MODULE_LOADING=EAGER",
        who, stay->name);
}

void wsh_cuda_watch_also(char *text, size_t size)
{
    struct wsh_cuda_stay stay;

    *text = '\0';
    if (!wsh_cuda_call_find(0, &stay) || stay.seconds < LONG)
        return;
    memcpy(text, "; ", 3);
    wsh_cuda_watch_text(&stay, 0, text + 2, size - 2);
}

bool wsh_cuda_watch_may_end(void)
{
    static bool taken;

    return !__atomic_exchange_n(&taken, true, __ATOMIC_RELAXED);
}

/* wsh_proxy_watch reports proxy threads, with more detail. */
static void stay_report(const struct wsh_cuda_stay *stay)
{
    char text[512];

    if (stay->role == WSH_CUDA_PROXY)
        return;
    wsh_cuda_watch_text(stay, 0, text, sizeof text);
    if (stay->role == WSH_CUDA_PROGRAM) {
        wsh_log_write(WSH_LOG_WARN, "a call of the library has waited %.1f s for the CUDA driver: %s",
                      stay->seconds, text);
    } else if (wsh_cuda_watch_may_end()) {
        wsh_error("peers have not been served for %.1f s: %s; the job ends; SHMEM_HANG_SECONDS is the limit",
                  stay->seconds, text);
        wsh_abort(1);
    }
}

/* Reads host memory only: no call of CUDA may be made, since it could wait for a kernel that waits. */
static void kernels_check(struct wsh_job *job)
{
    if (wsh_device_errors_watch(job) && wsh_cuda_watch_may_end())
        wsh_abort(1);
}

static void *watch_run(void *arg)
{
    const struct wsh_cuda_watch *watch = arg;
    double last = wsh_wait_now(), now, passed;
    int every = watch->job->failures.failed ? NEWS_EVERY_MS : CHECK_EVERY_MS;
    struct wsh_cuda_stay stay;

    while (!wsh_wait_pause(watch->stop, every)) {
        now = wsh_wait_now();
        passed = now - last < PAUSE_MAX ? now - last : PAUSE_MAX;
        last = now;
        wsh_cuda_calls_check(passed);
        while (watch->job->env.hang_seconds > 0 && wsh_cuda_calls_due(watch->job->env.hang_seconds, &stay))
            stay_report(&stay);
        if (watch->job->env.hang_seconds > 0)
            wsh_device_ops()->watch();
        kernels_check(watch->job);
    }
    return NULL;
}

/* The program's handlers run in its own threads. */
static int watch_start(struct wsh_cuda_watch *watch)
{
    sigset_t before;
    int err;

    wsh_signals_block(&before);
    err = pthread_create(&watch->thread, NULL, watch_run, watch);
    wsh_signals_restore(&before);
    if (!err)
        pthread_setname_np(watch->thread, "shmem-watch");
    return -err;
}

int wsh_cuda_watch_open(struct wsh_job *job)
{
    bool wanted = job->env.hang_seconds > 0 || job->failures.failed;
    struct wsh_cuda_watch *watch = wanted ? calloc(1, sizeof *watch) : NULL;
    int rc;

    if (!watch)
        return wanted ? -ENOMEM : 0;
    watch->job = job;
    watch->stop = eventfd(0, EFD_CLOEXEC);
    rc = watch->stop < 0 ? -errno : watch_start(watch);
    if (!rc) {
        job->device.watch = watch;
        return 0;
    }
    wsh_error(
        "no thread that watches calls of the CUDA driver: %s; raise the limits of processes (ulimit -u) and "
        "of open files (ulimit -n), or set SHMEM_HANG_SECONDS=0",
        wsh_strerror(-rc));
    if (watch->stop >= 0)
        close(watch->stop);
    free(watch);
    return rc;
}

void wsh_cuda_watch_close(struct wsh_job *job)
{
    struct wsh_cuda_watch *watch = job->device.watch;

    if (!watch)
        return;
    job->device.watch = NULL;
    eventfd_write(watch->stop, 1);
    pthread_join(watch->thread, NULL);
    close(watch->stop);
    free(watch);
}
