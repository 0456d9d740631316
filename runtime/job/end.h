/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a job: what is waited for before a PE leaves it, and for how long its output is. */
#ifndef WSH_JOB_END_H
#define WSH_JOB_END_H

#include "runtime/job/job.h"

/*
 * The last call is a barrier: a PE may leave only when nobody reaches into its memory any more, and its own operations
 * on every context are complete. PEs that have left without it are not waited for, after a line of the first PE.
 */
void wsh_job_last_barrier(struct wsh_job *job);

/* What the program has printed comes out, unless that takes too long. */
void wsh_job_flush(void);

#endif
