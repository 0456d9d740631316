/* SPDX-License-Identifier: BSD-3-Clause */
/* How the wait loops sleep, and how long. For wait.c, sleep.c and wait/tune.c alone. */
#ifndef WSH_WAIT_SLEEP_H
#define WSH_WAIT_SLEEP_H

#include "runtime/job/job.h"
#include "runtime/wait/wait.h"

#define SLEEP_MIN_US 50
#define SLEEP_MAX_US 1000
#define SLEEP_BLIND_US 100 /* where a transport cannot wake us: a peer's access waits as long as we sleep */
/*
 * If so many PEs share a core that a time slice of each takes longer than the times above, waiting PEs delay those that
 * work: they sleep sooner, and longer, by these times per PE of a core.
 */
#define MANY_A_CORE 8
#define PES_A_CORE_MAX 512
#define SLEEP_MANY_US 40
#define SLEEP_MANY_BLIND_US 10

static inline bool many_a_core(const struct wsh_job *job)
{
    return wsh_unlikely(job->tuning.pes_a_core > MANY_A_CORE);
}

/* `each` for every PE of a core where that is more than `least`. */
static inline unsigned sleep_most(const struct wsh_job *job, unsigned each, unsigned least)
{
    unsigned us = many_a_core(job) ? job->tuning.pes_a_core * each : 0;

    return us > least ? us : least;
}

static inline unsigned sleep_longer(const struct wsh_job *job, unsigned us)
{
    unsigned most = sleep_most(job, SLEEP_MANY_US, SLEEP_MAX_US);

    return us * 2 < most ? us * 2 : most;
}

/* What a thread that serves `part` has to do with transport `tp`; NULL: nothing. */
static inline struct wsh_tp *tp_served(const struct wsh_job *job, unsigned tp, int part)
{
    struct wsh_tp *whole = job->tp[tp], *its;

    if (job->limits[tp].immediate)
        return NULL;
    if (part == WSH_ALL_PARTS)
        return whole;
    its = whole->ops->part(whole, (unsigned)part);
    return its || part ? its : whole;
}

void wsh_sleep_us(unsigned us);

/* The same, less once help->asked is not `asked` any more, which wsh_sleep_wake says. */
void wsh_sleep_till_asked(struct wsh_wait_help *help, uint32_t asked, unsigned us);
void wsh_sleep_wake(struct wsh_wait_help *help);

/*
 * Sleeps at most `us`, less when a transport has something to do or, where there is `help`, as above: then true. A
 * transport that offers no descriptor is looked at again after the time.
 */
bool wsh_sleep_for_work(struct wsh_job *job, int part, struct wsh_wait_help *help, uint32_t asked,
                        unsigned us);

#endif
