/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeps until a transport has something to do, or for a time. */
#define _GNU_SOURCE
#include "runtime/wait/sleep.h"

#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool wsh_wait_pause(int fd, int ms)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};

    return poll(&one, 1, ms) > 0;
}

void wsh_sleep_us(unsigned us)
{
    const struct timespec ts = {0, (long)us * 1000};

    nanosleep(&ts, NULL);
}

/* The word changes before its writer looks whether somebody sleeps: a sleep that has just begun returns at once. */
void wsh_sleep_till_asked(struct wsh_wait_help *help, uint32_t asked, unsigned us)
{
    const struct timespec ts = {0, (long)us * 1000};

    __atomic_store_n(&help->sleeps, 1, __ATOMIC_SEQ_CST); /* partner: wsh_wait_help */
    syscall(SYS_futex, &help->asked, FUTEX_WAIT_PRIVATE, asked, &ts, NULL, 0);
    __atomic_store_n(&help->sleeps, 0, __ATOMIC_RELAXED);
}

void wsh_sleep_wake(struct wsh_wait_help *help)
{
    syscall(SYS_futex, &help->asked, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool wsh_sleep_for_work(struct wsh_job *job, int part, unsigned us)
{
    unsigned blind = sleep_most(job, SLEEP_MANY_BLIND_US, SLEEP_BLIND_US);
    struct pollfd fds[WSH_TP_MAX];
    struct timespec ts = {0, 0};
    nfds_t n = 0;

    for (unsigned tp = 0; job->network && tp < job->n_tps; tp++) {
        struct wsh_tp *its = tp_served(job, tp, part);
        int fd = its ? its->ops->wait_fd(its) : -ENODEV;

        if (fd == -EAGAIN) {
            sched_yield(); /* to the thread that holds its lock, which may have lost its core */
            return true;
        }
        if (fd == -ENOTSUP && us > blind)
            us = blind;
        if (fd >= 0)
            fds[n++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    ts.tv_nsec = (long)us * 1000;
    return ppoll(fds, n, &ts, NULL) > 0;
}
