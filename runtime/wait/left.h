/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for a PE that has left the job, or has failed: it will not come. */
#ifndef WSH_LEFT_H
#define WSH_LEFT_H

#include "runtime/wait/wait.h"

/* Of one wait; zeros at first. */
struct wsh_left {
    double since;   /* when a PE that it needs was first seen to have left; 0: none has */
    double checked; /* when that was looked for last */
    int result; /* 0, or -EOWNERDEAD: the wait ends with it, after one line, or none while shmem_finalize waits */
};

/* At `time`; cheap. */
void wsh_left_check(struct wsh_left *left, struct wsh_job *job, const struct wsh_wait_why *why, void *arg,
                    double time);

#endif
