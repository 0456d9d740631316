/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows what must happen when oshrun itself is killed: a small process that outlives it and cleans up. */
#ifndef WSH_OSHRUN_GUARDIAN_H
#define WSH_OSHRUN_GUARDIAN_H

#include <sys/types.h>

struct wsh_guardian {
    pid_t pid;
    int fd; /* writing end of its pipe; close-on-exec, held by oshrun alone */
};

/*
 * Starts the guardian, in a session of its own. When the pipe closes without wsh_guardian_dismiss, it kills
 * (SIGKILL) the process groups it was told of and removes `tmpdir` (NULL = none). To be called while oshrun
 * has one thread. 0, or -errno after one line.
 */
int wsh_guardian_start(struct wsh_guardian *guardian, const char *tmpdir);

/* Tells it of one process group. Async-signal-safe: each PE tells its own before it runs the program. */
void wsh_guardian_tell(int fd, pid_t group);

/* Ends it in order and waits for its end. */
void wsh_guardian_dismiss(struct wsh_guardian *guardian);

#endif
