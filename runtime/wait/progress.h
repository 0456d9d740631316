/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads that serve this PE's peers while the program computes, and whether it needs them. */
#ifndef WSH_PROGRESS_H
#define WSH_PROGRESS_H

struct wsh_job;

/* Starts them where SHMEM_PROGRESS and the routes ask for one. 0 or a logged error. */
int wsh_progress_open(struct wsh_job *job);
/* Starts them in any case. */
int wsh_progress_start(struct wsh_job *job);
void wsh_progress_close(struct wsh_job *job);

#endif
