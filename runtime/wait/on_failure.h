/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls a function of the program where a PE has failed: a thread that does nothing else. */
#ifndef WSH_ON_FAILURE_H
#define WSH_ON_FAILURE_H

struct wsh_job;

/*
 * From now on calls function(pe, arg) for each PE that fails, one at a time; NULL: no more. On return the function of
 * before does not run any more, unless this is called by it. 0, or a negative errno after one line.
 */
int wsh_on_failure(struct wsh_job *job, void (*function)(int pe, void *arg), void *arg);

/* A step of the job: the thread ends before anything else does. */
int wsh_on_failure_open(struct wsh_job *job);
void wsh_on_failure_close(struct wsh_job *job);

#endif
