/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads that serve this PE's peers while the program computes, and whether it needs them. */
#ifndef WSH_PROGRESS_H
#define WSH_PROGRESS_H

#include <stdbool.h>

struct wsh_job;

/* Starts them where SHMEM_PROGRESS and the routes ask for one. 0 or a logged error. */
int wsh_progress_open(struct wsh_job *job);
/* Starts them in any case. */
int wsh_progress_start(struct wsh_job *job);
void wsh_progress_close(struct wsh_job *job);

/* Whether a thread, with a core of its own, does what the program has begun while that computes. */
bool wsh_progress_helps(const struct wsh_job *job);
/* Of what takes long `more` is under way, or complete (< 0); wakes the thread. By one thread at a time. */
void wsh_progress_help(struct wsh_job *job, int more);

#endif
