/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds whether a wait needs a PE that has left, or has failed. */
#include "runtime/wait/left.h"

#include "base/log.h"
#include "runtime/job/job.h"

#include <errno.h>
#include <shmem.h>

#define CHECK_EVERY 0.1 /* seconds between two checks */
#define SECONDS \
    1.0 /* seconds after the first sight of a PE that has left: its last messages may still be in flight */

/* No thread or kernel of this PE could end what it waits for. */
static bool is_alone(const struct wsh_job *job)
{
    return job->thread_level != SHMEM_THREAD_MULTIPLE &&
           !(__atomic_load_n(&job->special, __ATOMIC_RELAXED) & WSH_SPECIAL_DEVICE);
}

/* The PE that this wait cannot end without, and which has left; -1: none. While shmem_finalize waits, any that has. */
static int left_find(const struct wsh_job *job, const struct wsh_wait_why *why, void *arg)
{
    int n_left = 0, last = -1;

    for (int pe = 0; pe < job->n_pes; pe++) {
        if (wsh_failures_has(&job->failures, pe) || !wsh_job_has_left(job, pe))
            continue;
        if (job->finalizing || (why->needs && why->needs(arg, pe)))
            return pe;
        n_left++;
        last = pe;
    }
    return n_left == job->n_pes - 1 && is_alone(job) ? last : -1;
}

/* The failed PE whose failure ends this wait; -1: none. */
static int failed_find(const struct wsh_job *job, const struct wsh_wait_why *why, void *arg)
{
    for (int pe = 0; pe < job->n_pes; pe++)
        if (wsh_failures_has(&job->failures, pe) && why->needs && why->needs(arg, pe))
            return pe;
    return -1;
}

/* No second sight as below: one that has failed has written its last before the launcher says so. */
static bool failed_check(struct wsh_left *left, struct wsh_job *job, const struct wsh_wait_why *why,
                         void *arg)
{
    if (!wsh_failures_take(job) || failed_find(job, why, arg) < 0)
        return false;
    left->result = -EOWNERDEAD;
    return true;
}

void wsh_left_check(struct wsh_left *left, struct wsh_job *job, const struct wsh_wait_why *why, void *arg,
                    double time)
{
    int pe;

    if (failed_check(left, job, why, arg))
        return;
    if (!left->checked) /* most waits end before there is a need to ask */
        left->checked = time;
    if (time < left->checked + CHECK_EVERY || !job->n_pes || !wsh_job_has_left(job, -1))
        return;
    left->checked = time;
    pe = left_find(job, why, arg);
    if (pe < 0 || !left->since) {
        left->since = pe < 0 ? 0 : time;
        return;
    }
    if (time < left->since + SECONDS)
        return;
    left->result = -EOWNERDEAD;
    if (!job->finalizing)
        wsh_error("%s needs PE %d, which has left the job: its process has ended with status 0; let it come "
                  "there, or "
                  "end it later",
                  why->routine, pe);
}
