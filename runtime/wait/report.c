/* SPDX-License-Identifier: BSD-3-Clause */
/* What a wait that takes too long says, and SIGUSR1: each PE says what it waits for. */
#define _GNU_SOURCE
#include "runtime/wait/wait.h"

#include "base/atomic.h"
#include "base/log.h"
#include "runtime/device_ops.h"
#include "runtime/job/job.h"
#include "runtime/wait/notes.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct wsh_job *report_job; /* whose waits SIGUSR1 asks about */
static unsigned report_generation; /* SIGUSR1 signals so far; relaxed: only a hint to look */

unsigned wsh_wait_asked(void)
{
    return __atomic_load_n(&report_generation, __ATOMIC_RELAXED);
}

/* SHMEM_DEBUG=check does not compare the calls of nonblocking collectives, which all end in _nb. */
static const char *cure_of(const char *routine, bool checked)
{
    size_t len = strlen(routine);

    if (len > 3 && !strcmp(routine + len - 3, "_nb"))
        return "; if it never comes there, compare with the lines of other PEs: all of a team begin the same "
               "collectives in the same order";
    return checked ? "" : "; if it never comes there, SHMEM_DEBUG=check finds collectives that do not match";
}

/* Those that have failed, of which one may be what is waited for. */
static void failed_list(const struct wsh_job *job, char *text, size_t size)
{
    size_t used = 0;
    int n = 0;

    *text = 0;
    for (int pe = 0; pe < job->n_pes && used < size; pe++)
        if (wsh_failures_has(&job->failures, pe))
            used += (size_t)snprintf(text + used, size - used, "%s%d", n++ ? ", " : "; failed: PE ", pe);
}

void wsh_wait_report(const struct wsh_job *job, const struct wsh_wait_why *why, void *arg, double waited)
{
    static bool said; /* once is enough; threads that say it twice do no harm */
    bool hint = why->n_pes && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED);
    char text[512] = "", also[512] = "", failed[256];

    if (why->describe)
        why->describe(arg, text, sizeof text);
    wsh_device_ops()->watch_also(also, sizeof also);
    failed_list(job, failed, sizeof failed);
    wsh_log_write(WSH_LOG_WARN, "%s has waited %.1f s%s%s%s%s%s", why->routine, waited, *text ? " for " : "",
                  text, failed, hint ? cure_of(why->routine, job->check) : "", also);
    wsh_notes_log();
}

static void on_sigusr1(int signo)
{
    (void)signo;
    __atomic_fetch_add(&report_generation, 1, __ATOMIC_RELAXED);
    if (!report_job || !__atomic_load_n(&report_job->waiters, __ATOMIC_RELAXED))
        wsh_log_signal_safe("is not waiting inside the library");
}

/* A handler that the program has installed itself stays. */
void wsh_wait_report_open(struct wsh_job *job)
{
    struct sigaction old, act = {.sa_handler = on_sigusr1, .sa_flags = SA_RESTART};

    report_job = job;
    if (!sigaction(SIGUSR1, NULL, &old) && old.sa_handler == SIG_DFL)
        sigaction(SIGUSR1, &act, NULL);
}

void wsh_wait_report_close(void)
{
    struct sigaction old, act = {.sa_handler = SIG_DFL};

    if (!sigaction(SIGUSR1, NULL, &old) && old.sa_handler == on_sigusr1)
        sigaction(SIGUSR1, &act, NULL);
    report_job = NULL;
}
