/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows which signals oshrun takes, and how they reach its loop. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/signals.h"

#include "bootstrap/oshrun/say.h"
#include "base/err.h"

#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
static const int ignored[] = {SIGPIPE, SIGTTIN, SIGTTOU};

#define N_TAKEN (sizeof taken / sizeof taken[0])
#define N_IGNORED (sizeof ignored / sizeof ignored[0])

static struct sigaction ignored_before[N_IGNORED];

int wsh_signals_open(sigset_t *before)
{
    struct sigaction action;
    sigset_t set;
    int fd;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < N_TAKEN; i++)
        if (!sigaction(taken[i], NULL, &action) && action.sa_handler != SIG_IGN)
            sigaddset(&set, taken[i]);
    signal(SIGCHLD, SIG_DFL);
    action = (struct sigaction){.sa_handler = SIG_IGN};
    for (size_t i = 0; i < N_IGNORED; i++)
        sigaction(ignored[i], &action, &ignored_before[i]);
    sigprocmask(SIG_BLOCK, &set, before);
    fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0) {
        wsh_say("signalfd: %s; raise `ulimit -n`", wsh_strerror(errno));
        return -errno;
    }
    return fd;
}

int wsh_signals_next(int fd)
{
    struct signalfd_siginfo info;

    return read(fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

void wsh_signals_default(void)
{
    for (size_t i = 0; i < N_IGNORED; i++)
        sigaction(ignored[i], &ignored_before[i], NULL);
}
