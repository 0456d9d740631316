/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The core on which each PE of this host last waited for long. Even with a core for every PE, the scheduler may put two
 * on one beside other work: they then run in turns, and each answer takes a time slice.
 */
#ifndef WSH_CORES_H
#define WSH_CORES_H

#include <stdbool.h>

struct wsh_job;

/* Publishes where this PE runs. Is another PE of the job and host on the same core? */
bool wsh_cores_shared(const struct wsh_job *job);

/*
 * Moves the calling thread to a core without a PE of the job; at most once in a while, and all but the first of the PEs
 * that share a core. The set of cores that the thread may use stays unchanged. False: it did not move.
 */
bool wsh_cores_leave(struct wsh_job *job);

#endif
