/* SPDX-License-Identifier: BSD-3-Clause */
/* The clean-up after a job: files of dead PEs, and a guardian process that does it when oshrun itself is killed. */
#ifndef WSH_OSHRUN_CLEANUP_H
#define WSH_OSHRUN_CLEANUP_H

#include <sys/types.h>

/* Removes the files of the dead processes pids[0..n) (0 = none); reports nothing. */
void wsh_leftovers_remove(const pid_t *pids, int n);

/* A small process that outlives an oshrun that is killed, and cleans up. */
struct wsh_guardian {
    pid_t pid;
    int fd; /* writing end of its pipe; close-on-exec, held by oshrun alone */
};

/*
 * Starts the guardian, in a session of its own. When the pipe closes without wsh_guardian_dismiss, it kills (SIGKILL)
 * the process groups that it was sent and removes `tmpdir` (NULL = none). To be called while oshrun has one thread. 0,
 * or -errno after one line.
 */
int wsh_guardian_start(struct wsh_guardian *guardian, const char *tmpdir);

/* Sends the guardian one process group. Async-signal-safe: each PE sends its own before it runs the program. */
void wsh_guardian_send(int fd, pid_t group);

/* Ends it in order and waits for its end. */
void wsh_guardian_dismiss(struct wsh_guardian *guardian);

#endif
