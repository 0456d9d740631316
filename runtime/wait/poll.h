/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polls: programs that wait in a loop of their own, by test, fetch or get. If PEs share cores, such a loop yields its
 * core, as the library's own waits do: the PE that it waits for may need it. With SHMEM_PROGRESS=call it also serves
 * peers, even if each call only reads memory of this host; and it advances nonblocking collectives.
 */
#ifndef WSH_POLL_H
#define WSH_POLL_H

#include "base/atomic.h"
#include "runtime/job/job.h"

#define WSH_POLL_READS 128    /* calls that read, between looks at what the program does */
#define WSH_POLL_TESTS 16     /* tests that fail; they take longer */
#define WSH_POLL_IDLE 0x10000 /* the same, about a millisecond of them, where each PE has a core */

/*
 * Shared by all threads: it does not matter which thread counts, and counts may be lost. A thread-local variable would
 * cost a call, or prevent programs from loading the library late.
 */
struct wsh_poll {
    int left;      /* calls until the next look at what the program does; relaxed */
    unsigned idle; /* tests that have failed, where each PE has a core; relaxed */
};

extern struct wsh_poll wsh_poll;

/* The slow halves, of one call of many. */
void wsh_poll_read_often(struct wsh_job *job, const void *word, const uint64_t *value);
void wsh_poll_failed_often(const struct wsh_job *job);
/* Puts this PE on a core of its own, if it shares one with another PE of the job. */
void wsh_poll_check(struct wsh_job *job);

/* With WSH_SPECIAL_POLLED: counts calls; is it time to look? */
static inline bool wsh_poll_counts(int calls)
{
    int left = __atomic_load_n(&wsh_poll.left, __ATOMIC_RELAXED) - calls;

    __atomic_store_n(&wsh_poll.left, left, __ATOMIC_RELAXED);
    return wsh_unlikely(left < 0);
}

static inline bool wsh_poll_is_due(void)
{
    return wsh_poll_counts(1);
}

/* With WSH_SPECIAL_POLLED: a call by which programs poll is about to read `word`. Looks, if it is time. */
static inline void wsh_poll_read(struct wsh_job *job, const void *word)
{
    if (wsh_poll_is_due())
        wsh_poll_read_often(job, word, NULL);
}

/* The same for one that has served peers, which takes as long as a test. */
static inline void wsh_poll_read_served(struct wsh_job *job, const void *word)
{
    if (wsh_poll_counts(WSH_POLL_READS / WSH_POLL_TESTS))
        wsh_poll_read_often(job, word, NULL);
}

/* The same for one that changes the word: it has found `value`. */
static inline void wsh_poll_seen(struct wsh_job *job, const void *word, uint64_t value)
{
    if (wsh_poll_is_due())
        wsh_poll_read_often(job, word, &value);
}

static inline bool wsh_poll_is_idle(void)
{
    unsigned idle = __atomic_load_n(&wsh_poll.idle, __ATOMIC_RELAXED) + 1;

    __atomic_store_n(&wsh_poll.idle, idle, __ATOMIC_RELAXED);
    return wsh_unlikely(idle % WSH_POLL_IDLE == 0);
}

/* A test has failed. */
static inline void wsh_poll_failed(struct wsh_job *job)
{
    if (!wsh_job_is_special(job, WSH_SPECIAL_POLLS)) {
        if (wsh_poll_is_idle())
            wsh_poll_check(job);
    } else if (wsh_poll_is_due()) {
        wsh_poll_failed_often(job);
    }
}

#endif
