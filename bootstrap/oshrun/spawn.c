/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how a PE's process is made. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/spawn.h"

#include "bootstrap/oshrun/guardian.h"
#include "bootstrap/oshrun/pmix_server.h"
#include "bootstrap/oshrun/say.h"
#include "bootstrap/oshrun/signals.h"
#include "base/err.h"

#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Between fork and exec in a process with threads: async-signal-safe calls only. */
static void become(const struct wsh_spawn *how, pid_t oshrun)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != oshrun)
        _exit(OSHRUN_FAILED);
    setpgid(0, 0);
    wsh_guardian_tell(how->guardian_fd, getpid());
    for (int fd = 0; fd < 3; fd++)
        dup2(how->std[fd], fd);
    if (how->cpus)
        sched_setaffinity(0, sizeof *how->cpus, how->cpus);
    setrlimit(RLIMIT_NOFILE, &how->files);
    wsh_signals_default();
    sigprocmask(SIG_SETMASK, how->mask, NULL);
    execve(how->path, how->argv, how->env);
    wsh_event_send(how->event_fd, WSH_EVENT_EXEC_FAILED, how->pe, errno);
    _exit(OSHRUN_CANNOT_RUN);
}

pid_t wsh_spawn(const struct wsh_spawn *how)
{
    pid_t oshrun = getpid(), pid = fork();

    if (pid == 0)
        become(how, oshrun);
    if (pid < 0)
        return -errno;
    setpgid(pid, pid); /* both sides, so that neither has to wait for the other */
    return pid;
}
