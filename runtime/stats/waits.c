/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts waits: how long, and for whom. */
#include "runtime/stats/waits.h"

#include "runtime/job/job.h"
#include "runtime/wait/clock.h"
#include "runtime/wait/wait.h"

#include <stdio.h>
#include <string.h>

#define ASK_MOST 64 /* PEs that are asked about, of waits that do not name one by themselves */

static uint64_t ns_of(double seconds)
{
    return seconds > 0 ? (uint64_t)(seconds * 1e9) : 0;
}

/* Less than 0: not known. */
static int whom_find(const struct wsh_job *job, const struct wsh_wait_why *why, void *arg)
{
    int whom = why->needs ? why->needs(arg, -1) : -1;

    for (int pe = 0; whom == WSH_WAIT_ASK && pe < job->n_pes && pe < ASK_MOST; pe++)
        if (why->needs(arg, pe))
            return pe;
    return whom;
}

void wsh_stats_wait_begin(struct wsh_stats_wait *wait, const struct wsh_job *job,
                          const struct wsh_wait_why *why, void *arg)
{
    if (wait->began || !__atomic_load_n(&job->stats, __ATOMIC_RELAXED))
        return;
    wait->began = wsh_wait_now();
    wait->spent = 0;
    wait->pe = why->needs ? why->needs(arg, -1) : -1;
    wait->shown = false;
    wait->whom[0] = 0;
}

/* What has passed since the last look; the parts add up to the wait. */
static void time_spend(struct wsh_stats *stats, struct wsh_stats_wait *wait, uint64_t total)
{
    int pe = wait->pe;
    struct wsh_stats_peer *peer = &stats->peer[(unsigned)pe < (unsigned)stats->n_pes ? pe : stats->n_pes];
    struct wsh_stats_page *page = stats->page;
    uint64_t ns = total - wait->spent, now;

    wait->spent = total;
    wsh_stats_add(&peer->wait_ns, ns);
    wsh_stats_add(&page->wait_ns, ns);
    now = wsh_stats_get(&peer->wait_ns);
    if (peer == &stats->peer[stats->n_pes] || now <= wsh_stats_get(&page->most_ns))
        return;
    __atomic_store_n(&page->most_pe, pe, __ATOMIC_RELAXED);
    __atomic_store_n(&page->most_ns, now, __ATOMIC_RELAXED);
}

/* Who looks at the page sees the wait from now on, if no other thread's is there. */
static void wait_show(struct wsh_stats_wait *wait, struct wsh_stats *stats, const struct wsh_wait_why *why)
{
    struct wsh_stats_page *page = stats->page;
    bool fresh = !wait->shown;

    if (fresh && __atomic_exchange_n(&stats->shows, true, __ATOMIC_ACQUIRE))
        return;
    wait->shown = true;
    __atomic_store_n(&page->wait_pe, wait->pe, __ATOMIC_RELAXED);
    if (!fresh)
        return;
    strncpy(page->routine, why->routine, sizeof page->routine - 1);
    __atomic_store_n(&page->wait_since, ns_of(wait->began), __ATOMIC_RELAXED);
}

/* What it waits for, in the words of a hang report up to the figures: only now, while it waits, can that be asked. */
static void whom_describe(struct wsh_stats_wait *wait, const struct wsh_wait_why *why, void *arg)
{
    char text[256] = "";

    if (!why->describe)
        return;
    why->describe(arg, text, sizeof text);
    text[strcspn(text, ":")] = 0;
    snprintf(wait->whom, sizeof wait->whom, "%.*s", (int)sizeof wait->whom - 1, text);
}

void wsh_stats_wait_look(struct wsh_stats_wait *wait, const struct wsh_job *job,
                         const struct wsh_wait_why *why, void *arg, double now)
{
    struct wsh_stats *stats = job->stats;
    int pe;

    if (!wait->began || !stats)
        return;
    pe = whom_find(job, why, arg);
    if (wait->pe < 0)
        wait->pe = pe;
    time_spend(stats, wait, ns_of(now - wait->began));
    wait->pe = pe;
    wait_show(wait, stats, why);
    if (pe < 0 && !wait->whom[0] && ns_of(now - wait->began) > wsh_stats_get(&stats->longest_least))
        whom_describe(wait, why, arg);
}

/* It is one of the longest. */
static void longest_add(struct wsh_stats *stats, const struct wsh_stats_longest *one)
{
    int at = WSH_STATS_LONGEST - 1;

    pthread_mutex_lock(&stats->lock);
    if (one->ns > stats->longest[at].ns) {
        for (; at && stats->longest[at - 1].ns < one->ns; at--)
            stats->longest[at] = stats->longest[at - 1];
        stats->longest[at] = *one;
        __atomic_store_n(&stats->longest_least, stats->longest[WSH_STATS_LONGEST - 1].ns, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&stats->lock);
}

static __attribute__((noinline)) void longest_note(struct wsh_stats *stats, const struct wsh_stats_wait *wait,
                                                   const struct wsh_wait_why *why, uint64_t ns)
{
    struct wsh_stats_longest one = {.ns = ns, .pe = wait->pe < 0 ? -1 : wait->pe};

    snprintf(one.routine, sizeof one.routine, "%s", why->routine);
    if (wait->pe < 0)
        memcpy(one.whom, wait->whom, sizeof one.whom);
    longest_add(stats, &one);
}

void wsh_stats_wait_end(struct wsh_stats_wait *wait, const struct wsh_job *job,
                        const struct wsh_wait_why *why)
{
    struct wsh_stats *stats = job->stats;
    uint64_t ns;

    if (!wait->began || !stats)
        return;
    ns = ns_of(wsh_wait_now() - wait->began);
    time_spend(stats, wait, ns);
    wsh_stats_add(&stats->peer[wait->pe >= 0 && wait->pe < stats->n_pes ? wait->pe : stats->n_pes].waits, 1);
    wsh_stats_add(&stats->page->waits, 1);
    if (wait->shown) {
        __atomic_store_n(&stats->page->wait_since, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&stats->shows, false, __ATOMIC_RELEASE);
    }
    if (wait->spent > wsh_stats_get(&stats->longest_least))
        longest_note(stats, wait, why, wait->spent);
}
