/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE's process: the program's file, the processors (--bind), and fork and exec. */
#ifndef WSH_OSHRUN_SPAWN_H
#define WSH_OSHRUN_SPAWN_H

#include "bootstrap/oshrun/args.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

/*
 * Finds `name` as the shell does: with a slash as it stands, else along PATH. 0 and *path malloc'd; else
 * OSHRUN_NOT_FOUND or OSHRUN_CANNOT_RUN after one line.
 */
int wsh_program_find(const char *name, char **path);

/* The same without a line: whether a program of that name is on PATH. */
int wsh_program_is_there(const char *name);

/* The same as 0, or the errno that says why not. */
int wsh_program_check(const char *name);

/*
 * One set of processors a PE, malloc'd; *sets is NULL with WSH_BIND_NONE. Only processors that oshrun itself may use
 * count. With at least as many cores (sockets, …) as PEs each has one of its own, in order; else neighbours share.
 * 0, or -errno after one line.
 */
int wsh_bind_plan(enum wsh_bind bind, int n_pes, cpu_set_t **sets);

/* What a new process gets. */
struct wsh_spawn {
    const char *path;
    char **argv, **env;
    int pe;
    bool terminal;         /* stays in oshrun's process group, which has the terminal */
    int std[3];            /* its standard input, output and error; close-on-exec here */
    int guardian_fd;       /* receives the new process group */
    int event_fd;          /* WSH_EVENT_EXEC_FAILED goes there */
    const cpu_set_t *cpus; /* NULL = as oshrun itself */
    const sigset_t *mask;  /* signal mask of the program */
    struct rlimit files;   /* RLIMIT_NOFILE of the program */
};

/*
 * Starts one process as leader of a process group of its own (unless `terminal`); it dies with oshrun. Its pid, or
 * -errno (no line). A program that cannot be executed is reported by an event, and the process ends with
 * OSHRUN_CANNOT_RUN.
 */
pid_t wsh_spawn(const struct wsh_spawn *how);

#endif
