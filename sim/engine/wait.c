/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands in the place of runtime/wait/wait.c in the simulator: a wait gives the thread to the other PEs until
 * something happens to the PE that waits. The linker takes these functions, since they come before the library's.
 */
#include "sim/sim.h"

#include "runtime/coll/memory/copy.h"
#include "runtime/coll/memory/flags.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int progress(struct sim_pe *pe)
{
    int moved = sim_progress(pe);

    return moved < 0 || !sim.job.in_flight ? moved : moved | sim.job.advance(&sim.job);
}

int wsh_wait(struct wsh_job *job, const struct wsh_wait_why *why, wsh_wait_try try, void *arg)
{
    struct sim_pe *pe = sim.running;
    int rc, moved;

    (void)job;
    sim_settle();
    sim_wake_lookers(pe); /* at what it has stored since it last waited */
    pe->why = why;
    pe->why_arg = arg;
    for (;;) {
        pe->stirred = false;
        rc = try(arg);
        if (rc != -EAGAIN)
            break;
        moved = progress(pe);
        if (moved < 0)
            return moved;
        if (!moved)
            sim_block(pe);
    }
    pe->why = NULL;
    sim_settle();
    return rc;
}

int wsh_wait_progress(struct wsh_job *job)
{
    (void)job;
    return progress(sim.running);
}

/* Flags in memory of other PEs of the host: their stores are no events, so this PE looks when one of them has run. */
int __real_wsh_flags_await(struct wsh_flags *flags, const char *routine);
int __wrap_wsh_flags_await(struct wsh_flags *flags, const char *routine);

int __wrap_wsh_flags_await(struct wsh_flags *flags, const char *routine)
{
    struct sim_pe *pe = sim.running;
    int rc;

    pe->polls = flags->mapped;
    sim.host[pe->host].pollers += flags->mapped;
    rc = __real_wsh_flags_await(flags, routine);
    if (flags->mapped)
        sim_spend((sim_time)(sim.set.look * 1000) * (sim_time)flags->n);
    sim.host[pe->host].pollers -= flags->mapped;
    pe->polls = false;
    return rc;
}

/* A word of a request that a PE of the host sets is an event, as put and atomic of the transport are. */
char *__wrap_wsh_coll_peer(const struct wsh_team *team, int member);

char *__wrap_wsh_coll_peer(const struct wsh_team *team, int member)
{
    (void)team, (void)member;
    return NULL;
}

/* Copies take time; the first lines of another PE's memory have to be fetched, those behind them come by themselves. */
static sim_time fetch_cost(const char *from, size_t len)
{
    const struct sim_pe *pe = sim.running;
    size_t at = (size_t)(from - sim.heaps);

    if (!pe || at >= (size_t)sim.n_pes * sim.heap_len || at / sim.heap_len == (size_t)pe->number)
        return 0;
    return (sim_time)(sim.set.look * 1000) * (len < 4 * 64 ? len / 64 + 1 : 4);
}

void *__real_memcpy(void *to, const void *from, size_t len);
void *__wrap_memcpy(void *to, const void *from, size_t len);

void *__wrap_memcpy(void *to, const void *from, size_t len)
{
    sim.debt += sim_copy_cost(len) + fetch_cost(from, len);
    return __real_memcpy(to, from, len);
}

/* What memcpy is where the compiler knows the size of `to` (_FORTIFY_SOURCE). */
void *__wrap___memcpy_chk(void *to, const void *from, size_t len, size_t room);

void *__wrap___memcpy_chk(void *to, const void *from, size_t len, size_t room)
{
    if (len > room)
        abort();
    return __wrap_memcpy(to, from, len);
}

/* Those past the caches too. */
wsh_copy_fn *__wrap_wsh_coll_copy_for(size_t touched);

static void copy_block(void *to, const void *from, size_t len)
{
    __wrap_memcpy(to, from, len);
}

wsh_copy_fn *__wrap_wsh_coll_copy_for(size_t touched)
{
    (void)touched;
    return copy_block;
}

/* The rest of wait.h, which nothing here reaches. */
int wsh_wait_serve(struct wsh_job *job, int part, struct wsh_wait_help *help, const bool *stop)
{
    (void)job, (void)part, (void)help, (void)stop;
    return 0;
}

int wsh_wait_help_open(struct wsh_wait_help *help)
{
    (void)help;
    return 0;
}

void wsh_wait_help_close(struct wsh_wait_help *help)
{
    (void)help;
}

void wsh_wait_help(struct wsh_wait_help *help, int more)
{
    (void)help, (void)more;
}

int wsh_wait_run(struct wsh_job *job, const bool *stop, int (*step)(void *arg), void *arg,
                 struct wsh_wait_heartbeat *heartbeat, bool serves)
{
    (void)job, (void)stop, (void)step, (void)arg, (void)heartbeat, (void)serves;
    return 0;
}

double wsh_wait_polled(const struct wsh_job *job, unsigned n, double since)
{
    (void)job, (void)n;
    return since;
}

bool wsh_wait_pause(int fd, int ms)
{
    (void)fd, (void)ms;
    return false;
}

double wsh_wait_now(void)
{
    return (double)sim.now * 1e-12;
}

void wsh_wait_tune(struct wsh_job *job, int local_pes, int n_cores)
{
    (void)job, (void)local_pes, (void)n_cores;
}

unsigned wsh_wait_asked(void)
{
    return 0;
}

void wsh_wait_report_open(struct wsh_job *job)
{
    (void)job;
}

void wsh_wait_report_close(void)
{
}
