/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeps until a transport has something to do, or for a time. */
#define _GNU_SOURCE
#include "runtime/wait/sleep.h"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
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

/* True: one of the descriptors is readable, or somebody asks for help, which the first of them says. */
static bool sleep_poll(struct pollfd *fds, nfds_t n, struct wsh_wait_help *help, uint32_t asked, unsigned us)
{
    const struct timespec ts = {0, (long)us * 1000};
    int readable = 1;

    if (!help)
        return ppoll(fds, n, &ts, NULL) > 0;
    fds[0] = (struct pollfd){.fd = help->fd, .events = POLLIN};
    /* The count changes before its writer looks whether somebody sleeps: who has asked meanwhile is not missed. */
    __atomic_store_n(&help->sleeps, 1, __ATOMIC_SEQ_CST); /* partner: wsh_wait_help */
    if (__atomic_load_n(&help->asked, __ATOMIC_SEQ_CST) == asked)
        readable = ppoll(fds, n, &ts, NULL);
    __atomic_store_n(&help->sleeps, 0, __ATOMIC_RELAXED);
    if (readable > 0 && fds[0].revents)
        eventfd_read(help->fd, &(eventfd_t){0});
    return readable > 0;
}

void wsh_sleep_till_asked(struct wsh_wait_help *help, uint32_t asked, unsigned us)
{
    struct pollfd one;

    sleep_poll(&one, 1, help, asked, us);
}

void wsh_sleep_wake(struct wsh_wait_help *help)
{
    eventfd_write(help->fd, 1);
}

bool wsh_sleep_for_work(struct wsh_job *job, int part, struct wsh_wait_help *help, uint32_t asked,
                        unsigned us)
{
    unsigned blind = sleep_most(job, SLEEP_MANY_BLIND_US, SLEEP_BLIND_US);
    struct pollfd fds[1 + WSH_TP_MAX];
    nfds_t n = help ? 1 : 0;

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
    return sleep_poll(fds, n, help, asked, us);
}
