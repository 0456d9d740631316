/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts one wait that its first microseconds did not end. */
#ifndef WSH_STATS_WAITS_H
#define WSH_STATS_WAITS_H

#include "runtime/stats/stats.h"

struct wsh_job;
struct wsh_wait_why;

/* On the waiter's stack, zeroed. */
struct wsh_stats_wait {
    double began;   /* at the clock; 0: nothing is counted */
    uint64_t spent; /* ns, up to the last look */
    int pe;         /* that it waited for at the last look, and -1 */
    bool shown;     /* on the page */
    char whom[WSH_STATS_WHOM];
};

/* From the first of several calls on. */
void wsh_stats_wait_begin(struct wsh_stats_wait *wait, const struct wsh_job *job,
                          const struct wsh_wait_why *why, void *arg);
/* It has not ended at `now`: what has passed since the last look was spent for who was waited for then. */
void wsh_stats_wait_look(struct wsh_stats_wait *wait, const struct wsh_job *job,
                         const struct wsh_wait_why *why, void *arg, double now);
void wsh_stats_wait_end(struct wsh_stats_wait *wait, const struct wsh_job *job,
                        const struct wsh_wait_why *why);

#endif
