/* SPDX-License-Identifier: BSD-3-Clause */
/* The private folder of a job: its name, its owner, its end, and those that killed jobs have left. */
#ifndef WSH_OSHRUN_TMPDIR_H
#define WSH_OSHRUN_TMPDIR_H

#include <sys/types.h>

/*
 * Chooses a name below $TMPDIR or /tmp that nobody else has; *path is malloc'd. The guardian learns the name before
 * the folder exists, so that a kill at no moment leaves one. 0, or -errno after one line.
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

#endif
