/* SPDX-License-Identifier: BSD-3-Clause */
/* Distinguishes polling from reading: a program that polls finds the same values in the same words again and again. */
#include "runtime/wait/poll.h"

#include "runtime/wait/cores.h"
#include "runtime/wait/wait.h"

#define RECENT 8 /* words that a program may poll in turn */

struct wsh_poll wsh_poll;

struct seen {
    const void *word;
    uint64_t value;
};

static __thread struct seen recent[RECENT];
static __thread unsigned next_recent;
static __thread double checked_at;

static bool is_recent(const struct seen *seen)
{
    for (int i = 0; i < RECENT; i++)
        if (recent[i].word == seen->word && recent[i].value == seen->value)
            return true;
    return false;
}

void wsh_poll_read_often(struct wsh_job *job, const void *word, const uint64_t *value)
{
    const struct seen seen = {word, value ? *value : 0};

    __atomic_store_n(&wsh_poll.left, WSH_POLL_READS - 1, __ATOMIC_RELAXED);
    if (!is_recent(&seen)) {
        recent[next_recent++ % RECENT] = seen;
        return;
    }
    if (job->network || __atomic_load_n(&job->in_flight, __ATOMIC_RELAXED))
        wsh_wait_progress(job); /* of an error the next wait says more */
    checked_at = wsh_wait_polled(job, WSH_POLL_READS, checked_at);
}

void wsh_poll_failed_often(const struct wsh_job *job)
{
    __atomic_store_n(&wsh_poll.left, WSH_POLL_TESTS - 1, __ATOMIC_RELAXED);
    checked_at = wsh_wait_polled(job, WSH_POLL_TESTS, checked_at);
}

void wsh_poll_check(struct wsh_job *job)
{
    if (wsh_cores_shared(job))
        wsh_cores_leave(job);
}
