/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for calls of libpmix, with a report where one takes long. */
#define _GNU_SOURCE
#include "bootstrap/pmix/call.h"

#include "base/log.h"
#include "base/process/signals.h"

#include <errno.h>

static void cond_open(pthread_cond_t *cond)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

void wsh_pmix_call_init(struct wsh_pmix_call *call)
{
    *call = (struct wsh_pmix_call){.mutex = PTHREAD_MUTEX_INITIALIZER};
    cond_open(&call->changed);
}

void wsh_pmix_call_done(pmix_status_t status, void *data)
{
    struct wsh_pmix_call *call = data;

    pthread_mutex_lock(&call->mutex);
    call->status = status;
    call->done = true;
    pthread_cond_signal(&call->changed);
    pthread_mutex_unlock(&call->mutex);
}

void wsh_pmix_call_registered(pmix_status_t status, size_t id, void *data)
{
    (void)id;
    wsh_pmix_call_done(status, data);
}

double wsh_pmix_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct timespec wsh_pmix_after(double seconds)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)seconds;
    t.tv_nsec += (long)(1e9 * (seconds - (double)(time_t)seconds));
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static void late_print(struct wsh_pmix_call *call, double waited, const char *what, const char *who)
{
    wsh_warn("%s: waiting for other PEs since %.0f s; %s (SHMEM_HANG_SECONDS sets when this is said)", what,
             waited, who);
    if (call->late)
        call->late();
}

pmix_status_t wsh_pmix_call_wait(struct wsh_pmix_call *call, double hang, const char *what, const char *who)
{
    double waited = 0;

    pthread_mutex_lock(&call->mutex);
    while (!call->done) {
        struct timespec until = wsh_pmix_after(hang);

        if (hang <= 0)
            pthread_cond_wait(&call->changed, &call->mutex);
        else if (pthread_cond_timedwait(&call->changed, &call->mutex, &until) == ETIMEDOUT)
            late_print(call, waited += hang, what, who);
    }
    pthread_mutex_unlock(&call->mutex);
    pthread_cond_destroy(&call->changed);
    return call->status;
}

static void *watch_run(void *arg)
{
    struct wsh_pmix_watch *watch = arg;
    double waited = 0;

    pthread_mutex_lock(&watch->mutex);
    while (!watch->over) {
        struct timespec until = wsh_pmix_after(watch->hang);

        if (pthread_cond_timedwait(&watch->changed, &watch->mutex, &until) == ETIMEDOUT && !watch->over)
            wsh_warn(
                "shmem_init has waited %.0f s for an answer of the launcher's PMIx server; is the launcher "
                "(oshrun, "
                "srun, mpirun) stopped, or its host overloaded? (SHMEM_HANG_SECONDS sets when this is said)",
                waited += watch->hang);
    }
    pthread_mutex_unlock(&watch->mutex);
    return NULL;
}

/* Without the thread there is no report, and nothing else is missing. */
void wsh_pmix_watch_begin(struct wsh_pmix_watch *watch, double hang)
{
    sigset_t before;

    *watch = (struct wsh_pmix_watch){.mutex = PTHREAD_MUTEX_INITIALIZER, .hang = hang};
    if (hang <= 0)
        return;
    cond_open(&watch->changed);
    wsh_signals_block(&before);
    watch->runs = !pthread_create(&watch->thread, NULL, watch_run, watch);
    wsh_signals_restore(&before);
}

void wsh_pmix_watch_end(struct wsh_pmix_watch *watch)
{
    if (watch->hang <= 0)
        return;
    pthread_mutex_lock(&watch->mutex);
    watch->over = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->mutex);
    if (watch->runs)
        pthread_join(watch->thread, NULL);
    pthread_cond_destroy(&watch->changed);
}
