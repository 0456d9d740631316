/* SPDX-License-Identifier: BSD-3-Clause */
/* Cleans up after a job: files of dead PEs, and a guardian process that does it when oshrun itself is killed. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/cleanup.h"

#include "bootstrap/oshrun/args.h"
#include "bootstrap/oshrun/io.h"
#include "bootstrap/oshrun/tmpdir.h"
#include "base/err.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * One name may outlive a PE: libfabric's shm provider keeps /dev/shm/<pid>:<uid>:<n>. The library unlinks it once all
 * PEs have connected, so that only a PE that is killed earlier leaves it.
 */
static int pid_compare(const void *a, const void *b)
{
    const pid_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The process that a file is named for, if it is one of this user's; else 0. */
static pid_t file_owner(const char *name)
{
    int pid, uid, number, end = 0;

    if (sscanf(name, "%d:%d:%d%n", &pid, &uid, &number, &end) != 3 || name[end] || (uid_t)uid != getuid())
        return 0;
    return pid;
}

void wsh_leftovers_remove(const pid_t *pids, int n)
{
    pid_t *sorted = malloc((size_t)n * sizeof *sorted);
    DIR *dir = opendir("/dev/shm");

    for (int i = 0; sorted && i < n; i++)
        sorted[i] = pids[i];
    if (sorted)
        qsort(sorted, (size_t)n, sizeof *sorted, pid_compare);
    for (struct dirent *entry; sorted && dir && (entry = readdir(dir));) {
        pid_t owner = file_owner(entry->d_name);

        if (owner > 0 && bsearch(&owner, sorted, (size_t)n, sizeof owner, pid_compare))
            unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir)
        closedir(dir);
    free(sorted);
}

#define DISMISSED ((pid_t)0)

static pid_t groups[WSH_OSHRUN_MAX_PES];
static int n_groups;

/* Reads groups until the end; true when dismissed. */
static bool groups_read(int fd)
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

static void fds_close_above(int fd)
{
#ifdef SYS_close_range
    if (!syscall(SYS_close_range, fd + 1, ~0U, 0))
        return;
#endif
    for (int other = fd + 1; other < 1024; other++)
        close(other);
}

/* Closes all descriptors of oshrun: a reader of its output would otherwise wait for the guardian. */
static void guardian_detach(int *fd)
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
    fds_close_above(3);
}

static void guardian_run(int fd, const char *tmpdir)
{
    guardian_detach(&fd);
    if (groups_read(fd))
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
        guardian_run(ends[0], tmpdir);
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

void wsh_guardian_send(int fd, pid_t group)
{
    while (write(fd, &group, sizeof group) < 0 && errno == EINTR)
        continue;
}

void wsh_guardian_dismiss(struct wsh_guardian *guardian)
{
    wsh_guardian_send(guardian->fd, DISMISSED);
    close(guardian->fd);
    while (waitpid(guardian->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}
