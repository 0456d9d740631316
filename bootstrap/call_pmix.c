/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for an asynchronous call of libpmix. */
#define _GNU_SOURCE
#include "bootstrap/call_pmix.h"

#include "base/log.h"

#include <errno.h>

void wsh_pmix_call_init(struct wsh_pmix_call *call)
{
    pthread_condattr_t attr;

    *call = (struct wsh_pmix_call){.mutex = PTHREAD_MUTEX_INITIALIZER};
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&call->changed, &attr);
    pthread_condattr_destroy(&attr);
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
