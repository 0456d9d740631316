/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which core each PE of this host was seen on when it last waited for long. PEs that have a core each may still be on
 * one, beside other work on the others: there they run in turns, and each answer takes a turn of the scheduler.
 */
#ifndef WSH_CORES_H
#define WSH_CORES_H

#include <stdbool.h>

struct wsh_job;

/* Says where this PE is. Is another PE of the job, of this host, on the same core? */
bool wsh_cores_shared(const struct wsh_job *job);

/*
 * Moves the calling thread to a core on which no PE of the job is, once in a while, and but for the first PE of those
 * that share one. Where the thread may run stays as it was. False: it did not move.
 */
bool wsh_cores_leave(struct wsh_job *job);

#endif
