/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the job and of files. */
#ifndef WSH_STATS_NAMES_H
#define WSH_STATS_NAMES_H

#include <stddef.h>

struct wsh_job;

/* The number that the batch system gives the job, else one of its own, the same on all PEs. */
void wsh_stats_job_name(const struct wsh_job *job, char *text, size_t size);

/*
 * `pattern` with %j = that name, %h = host name, %p = process id, and as an absolute path. 0, or -ENAMETOOLONG or
 * another error of the current folder.
 */
int wsh_stats_path(const struct wsh_job *job, const char *pattern, char *path, size_t size);

/*
 * Writes `len` bytes to `path` so that nobody ever reads a part of them: to a new file beside it, of mode 0644 whatever
 * the umask, which takes its name then. Never follows a link. 0 or a negative errno.
 */
int wsh_stats_file_write(const char *path, const char *bytes, size_t len);

#endif
