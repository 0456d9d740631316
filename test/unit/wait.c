/* SPDX-License-Identifier: BSD-3-Clause */
/* A wait tries until it ends, gives the result on, sleeps rather than spins, and names what it waits for. */
#define _GNU_SOURCE
#include "runtime/wait/wait.h"

#include "base/log.h"
#include "runtime/job/job.h"
#include "test/common/unit.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct wsh_job job;

struct countdown {
    int tries, left, result;
};

static int count_down(void *arg)
{
    struct countdown *countdown = arg;

    countdown->tries++;
    return countdown->left-- > 0 ? -EAGAIN : countdown->result;
}

static void describe(void *arg, char *text, size_t size)
{
    (void)arg;
    snprintf(text, size, "PE 7: 3 puts");
}

static const struct wsh_wait_why why = {"shmem_quiet", describe};

static double now(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void tries_until_it_ends(void)
{
    struct countdown at_once = {0, 0, 0}, later = {0, 100, 0}, error = {0, 3, -EIO};

    wsh_wait_tune(&job, 2, 2);
    CU_ASSERT(wsh_wait(&job, &why, count_down, &at_once) == 0 && at_once.tries == 1);
    CU_ASSERT(wsh_wait(&job, &why, count_down, &later) == 0 && later.tries == 101);
    CU_ASSERT(wsh_wait(&job, &why, count_down, &error) == -EIO);
    CU_ASSERT_EQUAL(job.waiters, 0);
}

static bool yields_take_long;
static int yields, tries_at_first;
static struct countdown *counted;

/* In place of libc's. */
int sched_yield(void)
{
    if (yields_take_long)
        usleep(20000);
    if (!yields++ && counted)
        tries_at_first = counted->tries;
    return 0;
}

/* Yields of the last of so many waits that end after `left` tries each. */
static int yields_of(int waits, int left)
{
    while (waits--) {
        struct countdown countdown = {0, left, 0};

        yields = tries_at_first = 0;
        counted = &countdown;
        CU_ASSERT(wsh_wait(&job, &why, count_down, &countdown) == 0);
        counted = NULL;
    }
    return yields;
}

/* More PEs than cores: answers that come soon are waited for without a yield; for others each wait yields at once. */
static void spins_where_that_pays(void)
{
    job.env.spin_us = -1;
    wsh_wait_tune(&job, 4, 2);
    CU_ASSERT_EQUAL(yields_of(40, 12), 0);
    CU_ASSERT(yields_of(2, 60) > 0);
    CU_ASSERT(tries_at_first < 6);
    CU_ASSERT_EQUAL(yields_of(33, 12), 0);
    job.env.spin_us = 0;
    wsh_wait_tune(&job, 4, 2);
    CU_ASSERT(yields_of(40, 12) > 0);
    job.env.spin_us = -1;
}

struct deadline {
    double at;
    int late; /* tries in the last 0.2 s and after: on a busy machine the time may pass between two tries */
};

static int until_deadline(void *arg)
{
    struct deadline *deadline = arg;
    double left = deadline->at - now(CLOCK_MONOTONIC);

    deadline->late += left < 0.2;
    return left > 0 || deadline->late < 200 ? -EAGAIN : 0;
}

static void sleeps_in_a_long_wait(void)
{
    struct deadline deadline = {now(CLOCK_MONOTONIC) + 0.3, 0};
    double cpu = now(CLOCK_PROCESS_CPUTIME_ID);

    wsh_wait_tune(&job, 64, 2);
    wsh_wait(&job, &why, until_deadline, &deadline);
    CU_ASSERT(now(CLOCK_PROCESS_CPUTIME_ID) - cpu < 0.15);
}

static void wait_for_long(void *arg)
{
    struct deadline deadline = {now(CLOCK_MONOTONIC) + 0.35, 0};

    job.env.hang_seconds = *(double *)arg;
    wsh_wait(&job, &why, until_deadline, &deadline);
    job.env.hang_seconds = 0;
}

static void names_what_it_waits_for(void)
{
    char text[4096];

    wsh_log_set_pe(3);
    unit_capture(wait_for_long, &(double){0.1}, text, sizeof text);
    CU_ASSERT(strstr(text, "PE 3 (") && strstr(text, "shmem_quiet") && strstr(text, "PE 7: 3 puts"));
    CU_ASSERT(unit_lines(text) >= 1 && unit_lines(text) <= 3);
    unit_capture(wait_for_long, &(double){0}, text, sizeof text);
    CU_ASSERT_EQUAL(unit_lines(text), 0);
    wsh_log_set_pe(-1);
}

/* Until 0.3 s and 20 tries after the first yield, however long the spins before it take. */
static int until_after_yield(void *arg)
{
    struct deadline *deadline = arg;

    if (yields && !deadline->at)
        deadline->at = now(CLOCK_MONOTONIC) + 0.3;
    deadline->late += yields > 0;
    return !yields || deadline->late < 20 || now(CLOCK_MONOTONIC) < deadline->at ? -EAGAIN : 0;
}

static void wait_for_yields(void *arg)
{
    job.env.hang_seconds = 0.1;
    yields = 0;
    wsh_wait(&job, &why, until_after_yield, arg);
    job.env.hang_seconds = 0;
}

/* A yield is a turn of all that a busy machine has to do. */
static void looks_at_the_clock_on_a_busy_machine(void)
{
    char text[4096];

    yields_take_long = true;
    wsh_wait_tune(&job, 2, 2);
    unit_capture(wait_for_yields, &(struct deadline){0, 0}, text, sizeof text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "shmem_quiet has waited"));
    yields_take_long = false;
}

static int moves_always(struct wsh_tp *tp)
{
    (void)tp;
    return 1;
}

/* Peers that keep a PE busy do not bring what it waits for. */
static void names_it_beside_other_work(void)
{
    const struct wsh_tp_ops busy_ops = {.progress = moves_always};
    struct wsh_tp busy = {.ops = &busy_ops};
    char text[4096];

    job.tp[0] = &busy;
    job.n_tps = 1;
    job.network = true;
    wsh_wait_tune(&job, 2, 2);
    unit_capture(wait_for_long, &(double){0.1}, text, sizeof text);
    CU_ASSERT(unit_lines(text) >= 1 && strstr(text, "shmem_quiet has waited") &&
              strstr(text, "PE 7: 3 puts"));
    job.network = false;
    job.n_tps = 0;
    job.tp[0] = NULL;
}

static bool served; /* by a progress thread */
static struct wsh_wait_help help;

static int serves(struct wsh_tp *tp)
{
    (void)tp;
    __atomic_store_n(&served, true, __ATOMIC_RELAXED);
    return 0;
}

static int no_descriptor(struct wsh_tp *tp)
{
    (void)tp;
    return -ENOTSUP;
}

static void *serve(void *stop)
{
    wsh_wait_serve(&job, WSH_ALL_PARTS, &help, stop);
    return NULL;
}

/* Whether it serves within a tenth of a second in which the program has begun waits again and again. */
static bool serves_between_waits(void)
{
    double end = wsh_wait_now() + 0.1;

    __atomic_store_n(&served, false, __ATOMIC_RELAXED);
    while (wsh_wait_now() < end) {
        __atomic_fetch_add(&job.waits, 1, __ATOMIC_RELAXED);
        usleep(50);
    }
    return __atomic_load_n(&served, __ATOMIC_RELAXED);
}

/* A thread that leaves serving to a program that waits helps it while something long is in flight. */
static void helps_while_asked(void)
{
    const struct wsh_tp_ops ops = {.progress = serves, .wait_fd = no_descriptor};
    struct wsh_tp tp = {.ops = &ops};
    bool stop = false, helps = false, helps_on = true;
    pthread_t thread;

    job.tp[0] = &tp;
    job.n_tps = 1;
    job.network = true;
    job.env.progress = WSH_PROGRESS_AUTO;
    job.waits = 1;
    wsh_wait_tune(&job, 2, 4);
    CU_ASSERT_FATAL(!wsh_wait_help_open(&help));
    CU_ASSERT_FATAL(!pthread_create(&thread, NULL, serve, &stop));
    wsh_wait_help(&help, 1);
    for (int i = 0; i < 50 && !helps; i++) /* a busy machine may not run it at once */
        helps = serves_between_waits();
    CU_ASSERT(helps);
    __atomic_fetch_add(&job.waiters, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 50 && helps_on; i++)
        helps_on = serves_between_waits();
    CU_ASSERT(!helps_on);
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    wsh_wait_help_close(&help);
    job.waiters = 0;
    job.network = false;
    job.n_tps = 0;
    job.tp[0] = NULL;
}

static void *signal_soon(void *arg)
{
    pthread_t *waiter = arg;

    usleep(100000);
    pthread_kill(*waiter, SIGUSR1);
    return NULL;
}

static void wait_with_signal(void *arg)
{
    pthread_t self = pthread_self(), other;

    (void)arg;
    pthread_create(&other, NULL, signal_soon, &self);
    wait_for_long(&(double){0});
    pthread_join(other, NULL);
}

static void signal_outside(void *arg)
{
    (void)arg;
    raise(SIGUSR1);
}

static void answers_sigusr1(void)
{
    char text[4096];

    wsh_wait_report_open(&job);
    unit_capture(wait_with_signal, NULL, text, sizeof text);
    CU_ASSERT(unit_lines(text) == 1 && strstr(text, "shmem_quiet") && strstr(text, "PE 7: 3 puts"));
    unit_capture(signal_outside, NULL, text, sizeof text);
    CU_ASSERT(unit_lines(text) == 1 && strstr(text, "not waiting"));
    wsh_wait_report_close();
}

static void leaves_the_programs_handler(void)
{
    struct sigaction seen;

    signal(SIGUSR1, SIG_IGN);
    wsh_wait_report_open(&job);
    sigaction(SIGUSR1, NULL, &seen);
    CU_ASSERT(seen.sa_handler == SIG_IGN);
    wsh_wait_report_close();
    sigaction(SIGUSR1, NULL, &seen);
    CU_ASSERT(seen.sa_handler == SIG_IGN);
    signal(SIGUSR1, SIG_DFL);
    wsh_wait_report_open(&job);
    wsh_wait_report_close();
    sigaction(SIGUSR1, NULL, &seen);
    CU_ASSERT(seen.sa_handler == SIG_DFL);
}

const struct unit_test unit_tests[] = {
    {"tries until it ends", tries_until_it_ends},
    {"spins where that pays", spins_where_that_pays},
    {"sleeps in a long wait", sleeps_in_a_long_wait},
    {"names what it waits for", names_what_it_waits_for},
    {"looks at the clock on a busy machine", looks_at_the_clock_on_a_busy_machine},
    {"names it beside other work", names_it_beside_other_work},
    {"helps while asked", helps_while_asked},
    {"answers SIGUSR1", answers_sigusr1},
    {"leaves the program's handler", leaves_the_programs_handler},
    {NULL, NULL},
};
