/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGUSR1: each PE says what it waits for. */
#define _GNU_SOURCE
#include "runtime/wait.h"

#include "base/log.h"
#include "runtime/job.h"

#include <signal.h>

static struct wsh_job *report_job; /* whose waits SIGUSR1 asks about */
static unsigned report_generation; /* SIGUSR1 signals so far; relaxed: only a hint to look */

unsigned wsh_wait_asked(void)
{
    return __atomic_load_n(&report_generation, __ATOMIC_RELAXED);
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
