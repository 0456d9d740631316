/* SPDX-License-Identifier: BSD-3-Clause */
/* Another launcher as a child: it gets oshrun's signals, and its first error is introduced by a line of ours. */
#ifndef WSH_OSHRUN_BELOW_H
#define WSH_OSHRUN_BELOW_H

/*
 * Runs `path` with the words `argv` until it ends. Standard input and output are its own; what it writes to standard
 * error passes through. Returns oshrun's exit status: that of the launcher, 128 + the signal that ended it, or the one
 * that belongs to an error that is known (explain.h). OSHRUN_FAILED or OSHRUN_CANNOT_RUN after one line where it cannot
 * be started.
 */
int wsh_below_run(const char *launcher, const char *path, char **argv);

#endif
