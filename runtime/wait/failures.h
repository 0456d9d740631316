/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs that have failed while the others go on (SHMEM_ON_PE_FAILURE=continue; docs/design/failures.md). */
#ifndef WSH_FAILURES_H
#define WSH_FAILURES_H

#include "base/atomic.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct wsh_job;
struct wsh_failure_watch;

/* What this PE knows of failures. All zero where a failure ends the job. */
struct wsh_failures {
    uint32_t seen; /* the launcher's count when `failed` was last brought up to date. Release by the writer */
    uint32_t *failed; /* [n_pes] the count when it failed, 0: it has not. NULL: a failure ends the job */
    int n;
    pthread_mutex_t lock;
    void *board;                     /* of team/meeting.c */
    struct wsh_failure_watch *watch; /* on_failure.h; NULL: the program has no function */
    pthread_mutex_t watch_lock;      /* of that pointer */
};

/* 0 or -ENOMEM (logged). Nothing in the default mode. */
int wsh_failures_open(struct wsh_job *job);
void wsh_failures_close(struct wsh_job *job);

/* Asks the launcher's memory: how many PEs have failed so far. By any thread. */
uint32_t wsh_failures_generation(const struct wsh_job *job);

/* Brings what this PE knows up to date; cheap where nothing is new. How many PEs have failed. By any thread. */
int wsh_failures_take(struct wsh_job *job);

/* As known here: the launcher's count when this PE failed, or 0. */
static inline uint32_t wsh_failures_at(const struct wsh_failures *failures, int pe)
{
    return failures->failed ? __atomic_load_n(&failures->failed[pe], __ATOMIC_RELAXED) : 0;
}

static inline bool wsh_failures_has(const struct wsh_failures *failures, int pe)
{
    return wsh_failures_at(failures, pe);
}

#endif
