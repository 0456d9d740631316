/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows what must happen when oshrun itself is killed: a small process that outlives it and cleans up. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/guardian.h"

#include "bootstrap/oshrun/args.h"
#include "bootstrap/oshrun/leftovers.h"
#include "bootstrap/oshrun/say.h"
#include "bootstrap/oshrun/tmpdir.h"
#include "base/err.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DISMISSED ((pid_t)0)

static pid_t groups[WSH_OSHRUN_MAX_PES];
static int n_groups;

/* Reads groups until the end; true when dismissed. */
static bool listen_to(int fd)
{
    pid_t group;
    ssize_t got;

    while ((got = read(fd, &group, sizeof group)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got != (ssize_t)sizeof group)
            return false;
        if (group == DISMISSED)
            return true;
        if (n_groups < WSH_OSHRUN_MAX_PES)
            groups[n_groups++] = group;
    }
    return false;
}

static void close_above(int fd)
{
#ifdef SYS_close_range
    if (!syscall(SYS_close_range, fd + 1, ~0U, 0))
        return;
#endif
    for (int other = fd + 1; other < 1024; other++)
        close(other);
}

/* Nothing of oshrun's stays open, lest a reader of its output waits for the guardian. */
static void detach(int *fd)
{
    int null = open("/dev/null", O_RDWR);

    setsid();
    prctl(PR_SET_NAME, "oshrun-guard");
    for (int sig = 1; sig < NSIG; sig++)
        if (sig != SIGCHLD)
            signal(sig, SIG_IGN);
    *fd = dup2(*fd, 3);
    for (int std = 0; std < 3 && null >= 0; std++)
        dup2(null, std);
    close_above(3);
}

static void guard(int fd, const char *tmpdir)
{
    detach(&fd);
    if (listen_to(fd))
        return;
    for (int i = 0; i < n_groups; i++)
        kill(-groups[i], SIGKILL);
    wsh_leftovers_remove(groups, n_groups);
    wsh_tmpdir_remove(tmpdir);
}

int wsh_guardian_start(struct wsh_guardian *guardian, const char *tmpdir)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        goto err;
    guardian->pid = fork();
    if (guardian->pid == 0) {
        close(ends[1]);
        guard(ends[0], tmpdir);
        _exit(0);
    }
    close(ends[0]);
    guardian->fd = ends[1];
    if (guardian->pid > 0)
        return 0;
    close(ends[1]);
err:
    wsh_say("cannot start a process: %s; raise `ulimit -u` or `ulimit -n`", wsh_strerror(errno));
    return -errno;
}

void wsh_guardian_tell(int fd, pid_t group)
{
    while (write(fd, &group, sizeof group) < 0 && errno == EINTR)
        continue;
}

void wsh_guardian_dismiss(struct wsh_guardian *guardian)
{
    wsh_guardian_tell(guardian->fd, DISMISSED);
    close(guardian->fd);
    while (waitpid(guardian->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}
