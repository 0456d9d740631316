/* SPDX-License-Identifier: BSD-3-Clause */
/* Forks the process, waits until it listens, and lets it go. */
#define _GNU_SOURCE
#include "bootstrap/uid/survive/keeper.h"

#include "bootstrap/uid/root.h"
#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Nothing of the program stays open in it: a reader of the program's output waits for the last writer to end. */
static void files_close(int keep[2])
{
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int low = keep[0] < keep[1] ? keep[0] : keep[1], high = keep[0] < keep[1] ? keep[1] : keep[0];

    for (int fd = 0; fd < 3 && null >= 0; fd++)
        dup2(null, fd);
    if (low > 3)
        close_range(3, (unsigned)low - 1, 0);
    if (high > low + 1)
        close_range((unsigned)low + 1, (unsigned)high - 1, 0);
    close_range((unsigned)high + 1, ~0u, 0);
}

#define LEASE_MIN .5 /* seconds: a busy machine runs no thread sooner */

static double lease_of(const struct wsh_env *env)
{
    return env->failure_lease > LEASE_MIN ? env->failure_lease : LEASE_MIN;
}

/* The maker reads the complete id, or nothing. */
static void keeper_run(struct wsh_uid *uid, const struct wsh_env *env, int answer, int maker)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    files_close((int[2]){answer, maker});
    prctl(PR_SET_NAME, "shmem-root");
    if (!chdir("/") && !wsh_uid_root_listen(uid, env) &&
        write(answer, uid, sizeof *uid) == (ssize_t)sizeof *uid) {
        close(answer);
        wsh_uid_root_keep(uid, maker, lease_of(env));
    }
    _exit(0);
}

/* A child of its own child, which has ended: the program has no child that it does not know, for long. */
static int keeper_fork(struct wsh_uid *uid, const struct wsh_env *env, int answer, int maker)
{
    pid_t pid = fork();

    if (pid < 0)
        return -errno;
    if (!pid) {
        setsid();
        if (!fork())
            keeper_run(uid, env, answer, maker);
        _exit(0);
    }
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return 0;
}

int wsh_uid_keeper_start(struct wsh_uid *uid, const struct wsh_env *env)
{
    int pipe_fds[2] = {-1, -1}, maker = (int)syscall(SYS_pidfd_open, getpid(), 0), rc = 0;
    ssize_t n = 0;

    if (maker < 0 || pipe2(pipe_fds, O_CLOEXEC))
        rc = -errno;
    if (!rc)
        rc = keeper_fork(uid, env, pipe_fds[1], maker);
    if (pipe_fds[1] >= 0)
        close(pipe_fds[1]);
    while (!rc && (n = read(pipe_fds[0], uid, sizeof *uid)) < 0 && errno == EINTR)
        continue;
    if (!rc && n != (ssize_t)sizeof *uid)
        rc = -ECHILD;
    if (pipe_fds[0] >= 0)
        close(pipe_fds[0]);
    if (maker >= 0)
        close(maker);
    if (rc)
        wsh_error("no process for the root of a unique id, which SHMEM_ON_PE_FAILURE=continue needs: %s; "
                  "raise the limits of processes and of open files (ulimit -u, -n)",
                  rc == -ECHILD ? "it cannot listen" : wsh_strerror(rc));
    return rc;
}
