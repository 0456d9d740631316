/* SPDX-License-Identifier: BSD-3-Clause */
/* The wait loops: spin, yield, sleep, serve peers, and report a wait that takes too long. */
#define _GNU_SOURCE
#include "runtime/wait/wait.h"

#include "base/invariant.h"
#include "base/atomic.h"
#include "base/log.h"
#include "runtime/device_ops.h"
#include "runtime/wait/cores.h"
#include "runtime/job/job.h"
#include "runtime/stats/waits.h"
#include "runtime/wait/failures.h"
#include "runtime/wait/left.h"
#include "runtime/wait/sleep.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define CLOCK_EVERY 64 /* yields, and rounds in which something moved, between looks at the clock */
#define COUNTED_FROM \
    64 /* tries after which a spinning wait begins to be counted: its end costs a look at the clock */
#define CLOCK_LATE 0.01 /* seconds between looks from which on every yield is followed by one */

/*
 * Where PEs share cores, tries before the first yield. A peer that runs on another core answers within LONG tries, and
 * then pairs of PEs run side by side for whole turns; a peer that waits for this core does not, and each try delays it.
 * So what the last wait needed decides; every PROBE-th wait looks whether that has changed.
 */
#define SHORT_SPINS 2
#define LONG_SPINS 24
#define PROBE_WAITS 32

/* One wait in progress, on the waiter's stack. */
struct waiter {
    struct wsh_job *job;
    const struct wsh_wait_why *why;
    void *arg;
    unsigned spins, stays;      /* before the first yield: tries; the same while it has the core alone */
    unsigned tries;             /* since something last moved */
    unsigned rounds;            /* of which CLOCK_EVERY counts */
    unsigned yields;            /* so far */
    bool may_sleep;             /* nothing has moved for so long that it may sleep */
    bool late;                  /* yields take long: the machine is busy with other work */
    unsigned sleep_us, reports; /* reports: SIGUSR1 generations answered */
    double clock_read;          /* at the clock */
    double started, next_report;
    double idle_since; /* when something last moved, as far as the clock was looked at */
    struct wsh_left left;
    struct wsh_stats_wait stat;
};

static __thread struct wsh_wait_heartbeat *own_heartbeat; /* of a thread in wsh_wait_run */

static int progress_part(struct wsh_job *job, int part)
{
    int moved = 0;

    for (unsigned tp = 0; job->network && tp < job->n_tps; tp++) {
        struct wsh_tp *its = tp_served(job, tp, part);
        int rc = its ? its->ops->progress(its) : 0;

        if (rc < 0)
            return rc;
        moved |= rc;
    }
    return moved;
}

/* Also what belongs to no transport. */
static int progress_with(struct wsh_job *job, int part)
{
    int rc = 0, moved, advanced = 0;

    if (part > 0)
        return progress_part(job, part);
    wsh_nic_counters_keep(job, &job->counters.nic);
    if (wsh_unlikely(__atomic_load_n(&job->batches, __ATOMIC_RELAXED))) /* a hint: see session.c */
        rc = job->batch_progress(job);
    if (rc < 0 || (moved = progress_part(job, part)) < 0)
        return rc < 0 ? rc : moved;
    if (wsh_unlikely(__atomic_load_n(&job->in_flight, __ATOMIC_RELAXED))) /* a hint: see request/queue.c */
        advanced = job->advance(job);
    return wsh_device_ops()->poll_errors(job) ?: moved | advanced;
}

int wsh_wait_progress(struct wsh_job *job)
{
    return progress_with(job, WSH_ALL_PARTS);
}

static void heartbeat_count(struct wsh_wait_heartbeat *heartbeat)
{
    __atomic_store_n(&heartbeat->beats, heartbeat->beats + 1, __ATOMIC_RELAXED);
}

/* Looks at the clock, the proxy and SIGUSR1; every CLOCK_EVERY-th idle step or sooner, and before every sleep. */
static void waiter_read_clock(struct waiter *waiter)
{
    unsigned asked = wsh_wait_asked();
    double limit = waiter->job->env.hang_seconds, time = wsh_wait_now();

    if (!waiter->started) {
        waiter->started = time;
        waiter->next_report = limit > 0 ? time + limit : 0;
    }
    if (!waiter->idle_since)
        waiter->idle_since = time;
    wsh_stats_wait_look(&waiter->stat, waiter->job, waiter->why, waiter->arg, time);
    waiter->late = waiter->clock_read && time - waiter->clock_read > CLOCK_LATE;
    waiter->clock_read = time;
    if (own_heartbeat)
        heartbeat_count(own_heartbeat);
    wsh_device_ops()->watch();
    wsh_left_check(&waiter->left, waiter->job, waiter->why, waiter->arg, time);
    waiter->may_sleep = time - waiter->idle_since > waiter->job->tuning.yield_seconds;
    if (asked != waiter->reports || (waiter->next_report && time >= waiter->next_report)) {
        wsh_wait_report(waiter->job, waiter->why, waiter->arg, time - waiter->started);
        if (asked == waiter->reports)
            waiter->next_report = time + 2 * (time - waiter->started);
        waiter->reports = asked;
    }
}

/*
 * Something moves again: wait without sleeping. Needed besides progress's own report, because a peer's write into
 * this PE's memory is served without any event here.
 */
static void waiter_restart(struct waiter *waiter)
{
    waiter->tries = 0;
    waiter->may_sleep = false;
    waiter->idle_since = 0;
    waiter->sleep_us = SLEEP_MIN_US;
}

/* Progress may be unrelated to this wait: a peer that keeps this PE busy must not hide a hang. */
static void waiter_go_on(struct waiter *waiter)
{
    if (++waiter->rounds % CLOCK_EVERY == 0)
        waiter_read_clock(waiter);
    waiter_restart(waiter);
}

/*
 * If no other PE of the job is on this core, spins for some milliseconds of its own CPU time: a thread that yields to
 * other work gets the core back after a time slice of that, and by then the peer has most likely lost its own core.
 */
static bool waiter_stays(struct waiter *waiter, unsigned tries)
{
    if (tries >= waiter->stays)
        return false;
    if (tries % waiter->spins || !wsh_cores_shared(waiter->job) || wsh_cores_leave(waiter->job))
        return true;
    waiter->stays = 0;
    return false;
}

/*
 * Reads the clock often at first, to find out whether yields take long: each lasts a turn of all other work. Not before
 * the first one: where the peer waits for this core alone, no other follows.
 */
static bool is_time_for_clock(struct waiter *waiter)
{
    unsigned before = waiter->rounds++;

    return waiter->rounds % CLOCK_EVERY == 0 ||
           (before && before < CLOCK_EVERY && !(before & (before - 1))) || waiter->late ||
           many_a_core(waiter->job);
}

/* Backs off: spins for a moment, then yields the core, then sleeps, longer each time. */
static void waiter_back_off(struct waiter *waiter)
{
    unsigned tries = ++waiter->tries;

    if (tries == COUNTED_FROM)
        wsh_stats_wait_begin(&waiter->stat, waiter->job, waiter->why, waiter->arg);
    if (tries < waiter->spins || waiter_stays(waiter, tries)) {
        wsh_cpu_relax();
        return;
    }
    if (!waiter->may_sleep) {
        if (is_time_for_clock(waiter))
            waiter_read_clock(waiter);
        if (!waiter->yields++)
            wsh_stats_wait_begin(&waiter->stat, waiter->job, waiter->why, waiter->arg);
        sched_yield();
        return;
    }
    waiter_read_clock(waiter);
    if (wsh_sleep_for_work(waiter->job, WSH_ALL_PARTS, NULL, 0, waiter->sleep_us))
        waiter_restart(waiter);
    else
        waiter->sleep_us = sleep_longer(waiter->job, waiter->sleep_us);
}

/* The loop. Whatever moves restarts the back-off. */
static int wait_loop(struct waiter *waiter, wsh_wait_try try)
{
    int rc, moved;

    while ((rc = try(waiter->arg)) == -EAGAIN) {
        moved = waiter->left.result ? waiter->left.result : wsh_wait_progress(waiter->job);
        if (moved < 0)
            return moved;
        if (moved > 0)
            waiter_go_on(waiter);
        else
            waiter_back_off(waiter);
    }
    return rc;
}

/* `spins_pay` is relaxed: threads share it, and it does not matter whose wait was last. */
static unsigned spins_of(const struct wsh_job *job, const struct wsh_wait_why *why, unsigned turn)
{
    if (why->n_pes > job->tuning.cores)
        return 0;
    if (!job->tuning.adapts)
        return job->tuning.spins;
    if (turn % PROBE_WAITS == 0 || __atomic_load_n(&job->spins_pay, __ATOMIC_RELAXED))
        return LONG_SPINS;
    return SHORT_SPINS;
}

/* Spins pay where the answer came within long ones, and do not where it came behind them. */
static void spins_learn(struct wsh_job *job, const struct waiter *waiter)
{
    bool pay = !waiter->yields;

    if (!job->tuning.adapts || (pay ? waiter->tries < SHORT_SPINS : waiter->spins < LONG_SPINS))
        return;
    if (pay != __atomic_load_n(&job->spins_pay, __ATOMIC_RELAXED))
        __atomic_store_n(&job->spins_pay, pay, __ATOMIC_RELAXED);
}

/*
 * Data in shared memory mostly arrives after the time of one cache line transfer: meanwhile do nothing else. Each test
 * follows a pause: without it, speculative loads are replayed when the line arrives.
 */
static inline int poll_first(const struct wsh_job *job, const struct wsh_wait_why *why, wsh_wait_try try,
                             void *arg)
{
    unsigned tries = why->n_pes > job->tuning.cores ? 0 : job->tuning.polls;
    int rc = try(arg);

    while (rc == -EAGAIN && tries--) {
        wsh_cpu_relax();
        rc = try(arg);
    }
    return rc;
}

static __attribute__((noinline)) int wait_long(struct wsh_job *job, const struct wsh_wait_why *why,
                                               wsh_wait_try try, void *arg)
{
    struct waiter waiter = {.job = job, .why = why, .arg = arg, .sleep_us = SLEEP_MIN_US};
    int rc;

    waiter.reports = wsh_wait_asked();
    /* Hints for wsh_wait_serve and SIGUSR1. */
    waiter.spins = spins_of(job, why, __atomic_fetch_add(&job->waits, 1, __ATOMIC_RELAXED));
    if (!__atomic_fetch_add(&job->waiters, 1, __ATOMIC_RELAXED) && waiter.spins)
        waiter.stays = job->tuning.stays; /* other threads that wait may need the core */
    if (!waiter.spins)
        wsh_stats_wait_begin(&waiter.stat, job, why, arg);
    rc = wait_loop(&waiter, try);
    spins_learn(job, &waiter);
    wsh_stats_wait_end(&waiter.stat, job, why);
    WSH_INVARIANT(__atomic_load_n(&job->waiters, __ATOMIC_RELAXED));
    __atomic_fetch_sub(&job->waiters, 1, __ATOMIC_RELAXED);
    return rc;
}

WSH_NO_ARRAYS int wsh_wait(struct wsh_job *job, const struct wsh_wait_why *why, wsh_wait_try try, void *arg)
{
    int rc = poll_first(job, why, try, arg);

    return rc == -EAGAIN ? wait_long(job, why, try, arg) : rc;
}

/* What a call and its share of a loop take at most where the loop does nothing else. */
#define POLL_SECONDS 3e-6
#define POLL_NETWORK_SECONDS 10e-6

double wsh_wait_polled(const struct wsh_job *job, unsigned n, double since)
{
    double each = (wsh_wait_now() - since) / n;

    if (job->tuning.oversubscribed && each < (job->network ? POLL_NETWORK_SECONDS : POLL_SECONDS))
        sched_yield();
    return wsh_wait_now();
}

/* Work comes in bursts: after some work, this many times more polls before the thread sleeps again. */
#define SERVE_TRIES 30

/*
 * Has an application thread waited in the library since `*seen`, and so served peers itself? A progress thread
 * beside it would only take the core and the transport's lock from it, unless it has been asked for help.
 */
static bool is_served(const struct wsh_job *job, const struct wsh_wait_help *help, unsigned *seen)
{
    unsigned waits = __atomic_load_n(&job->waits, __ATOMIC_RELAXED);
    bool waited = waits != *seen && !__atomic_load_n(&help->open, __ATOMIC_RELAXED);

    *seen = waits;
    return job->env.progress == WSH_PROGRESS_AUTO &&
           (waited || __atomic_load_n(&job->waiters, __ATOMIC_RELAXED));
}

int wsh_wait_help_open(struct wsh_wait_help *help)
{
    help->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return help->fd < 0 ? -errno : 0;
}

void wsh_wait_help_close(struct wsh_wait_help *help)
{
    close(help->fd);
}

void wsh_wait_help(struct wsh_wait_help *help, int more)
{
    __atomic_store_n(&help->open, help->open + more, __ATOMIC_RELAXED);
    if (more < 0)
        return;
    __atomic_fetch_add(&help->asked, 1,
                       __ATOMIC_SEQ_CST); /* partner: sleep.c, where a sleep may have begun */
    if (__atomic_load_n(&help->sleeps, __ATOMIC_SEQ_CST))
        wsh_sleep_wake(help);
}

int wsh_wait_serve(struct wsh_job *job, int part, struct wsh_wait_help *help, const bool *stop)
{
    unsigned us = SLEEP_MIN_US, tries = 0, seen = 0;
    int moved;

    while (!__atomic_load_n(stop, __ATOMIC_ACQUIRE)) { /* partner: the release store of wsh_progress_close */
        uint32_t asked = __atomic_load_n(&help->asked, __ATOMIC_RELAXED);

        wsh_device_ops()->watch();
        wsh_failures_take(job);
        if (is_served(job, help, &seen)) {
            wsh_sleep_till_asked(help, asked, sleep_most(job, SLEEP_MANY_US, SLEEP_MAX_US));
            continue;
        }
        moved = progress_with(job, part);
        if (moved < 0)
            return moved;
        if (moved)
            tries = 0;
        else if (++tries < SERVE_TRIES)
            sched_yield();
        else if (wsh_sleep_for_work(job, part, part > 0 ? NULL : help, asked, us))
            tries = 0, us = SLEEP_MIN_US;
        else
            us = sleep_longer(job, us);
    }
    return 0;
}

/* One round: > 0 when something moved. */
static int run_once(struct wsh_job *job, int (*step)(void *arg), void *arg, bool serves)
{
    int rc = step(arg), moved = rc < 0 || !serves ? 0 : wsh_wait_progress(job);

    return rc < 0 ? rc : moved < 0 ? moved : rc | moved;
}

/* Backs off after a round in which nothing moved; `idle_since`: when something last did, 0 = just now. */
static void server_back_off(struct wsh_job *job, unsigned tries, double *idle_since, unsigned *us,
                            bool serves)
{
    if (tries < job->tuning.spins) {
        wsh_cpu_relax();
        return;
    }
    if (!*idle_since)
        *idle_since = wsh_wait_now();
    if (wsh_wait_now() - *idle_since < job->tuning.yield_seconds) {
        sched_yield();
        return;
    }
    if (serves)
        wsh_sleep_for_work(job, WSH_ALL_PARTS, NULL, 0, *us);
    else
        wsh_sleep_us(*us);
    *us = sleep_longer(job, *us);
}

int wsh_wait_run(struct wsh_job *job, const bool *stop, int (*step)(void *arg), void *arg,
                 struct wsh_wait_heartbeat *heartbeat, bool serves)
{
    unsigned us = SLEEP_MIN_US, tries = 0;
    double idle_since = 0;
    int rc = 0;

    own_heartbeat = heartbeat;
    __atomic_store_n(&heartbeat->tid, gettid(), __ATOMIC_RELAXED);
    /* Acquire: partner is the release store of whoever ends the thread. */
    while (rc >= 0 && !__atomic_load_n(stop, __ATOMIC_ACQUIRE)) {
        heartbeat_count(heartbeat);
        rc = run_once(job, step, arg, serves);
        if (rc > 0)
            tries = 0, us = SLEEP_MIN_US, idle_since = 0;
        else if (!rc)
            server_back_off(job, ++tries, &idle_since, &us, serves);
    }
    __atomic_store_n(&heartbeat->tid, 0, __ATOMIC_RELAXED);
    return rc < 0 ? rc : 0;
}
