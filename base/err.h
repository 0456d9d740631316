/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's error convention: functions return 0 or a negative errno; and texts for these. */
#ifndef WSH_BASE_ERR_H
#define WSH_BASE_ERR_H

#include <errno.h>
#include <stdbool.h>

/* Text for a negative (or positive) errno. Thread-safe; the string lives until the thread's next call. */
const char *wsh_strerror(int err);

/*
 * What cures a failure by `err` of either sign: more open files where these have run out, else `other`. With EIO, by
 * which libraries hide that, it is looked whether any are left.
 */
const char *wsh_err_cure(int err, const char *other);

/* Is it the folder or its disk, so that all processes of a host fail alike? Either sign. */
bool wsh_err_of_folder(int err);

/* Ends the process with `status`, by what the last wsh_abort_by has given, which ends the whole job. Prints nothing. */
_Noreturn void wsh_abort(int status);
void wsh_abort_by(void (*end)(int status));

#endif
