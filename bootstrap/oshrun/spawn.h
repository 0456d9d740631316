/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how a PE's process is made. */
#ifndef WSH_OSHRUN_SPAWN_H
#define WSH_OSHRUN_SPAWN_H

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

struct wsh_spawn {
    const char *path;
    char **argv, **env;
    int pe;
    int std[3];            /* its standard input, output and error; close-on-exec here */
    int guardian_fd;       /* told of the new process group */
    int event_fd;          /* WSH_EVENT_EXEC_FAILED goes there */
    const cpu_set_t *cpus; /* NULL = as oshrun itself */
    const sigset_t *mask;  /* signal mask of the program */
    struct rlimit files;   /* RLIMIT_NOFILE of the program */
};

/*
 * Starts one process as leader of a process group of its own; it dies with oshrun. Its pid, or -errno (no line). A
 * program that cannot be executed is told by an event, and the process ends with OSHRUN_CANNOT_RUN.
 */
pid_t wsh_spawn(const struct wsh_spawn *how);

#endif
