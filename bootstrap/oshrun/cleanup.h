/* SPDX-License-Identifier: BSD-3-Clause */
/* The private folder of a job, and the removal of what a job leaves, also after oshrun itself was killed. */
#ifndef WSH_OSHRUN_CLEANUP_H
#define WSH_OSHRUN_CLEANUP_H

#include <sys/types.h>

/* Removes the files of the dead processes pids[0..n) (0 = none); reports nothing. */
void wsh_leftovers_remove(const pid_t *pids, int n);

/*
 * Chooses a name for the job's private folder, below $TMPDIR or /tmp, that nobody else has; *path is malloc'd. The
 * guardian learns the name before the folder exists, so that a kill at no moment leaves one. 0, or -errno after one
 * line.
 */
int wsh_tmpdir_name(char **path);

/*
 * Makes that folder, mode 0700, and removes those beside it whose oshrun was killed together with its guardian; if it
 * cannot make it, frees *path and sets it to NULL. 0, or -errno after one line.
 */
int wsh_tmpdir_make(char **path);

/* Notes a PE in the folder, so that whoever removes it after a kill knows which files of dead processes to remove. */
void wsh_tmpdir_note(pid_t pid);

/* Removes the folder with all it holds; follows no link and reports nothing. NULL is allowed. */
void wsh_tmpdir_remove(const char *path);

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
