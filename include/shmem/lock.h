/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributed locks: section 9.13 of OpenSHMEM 1.6. Read by shmem.h and pshmem.h under their names.
 *
 * `lock` is a symmetric long that is 0 on all PEs before its first use and that only these routines change. It is one
 * lock for the whole job, not one per PE, and a PE holds it, not a thread.
 */
#ifndef WSH_NAME
#include <shmem.h>
#else

/*
 * set_lock: waits until this PE holds the lock. PEs get it in the order in which they asked for it. A call by a PE that
 * holds it already ends the job with one line.
 */
void WSH_NAME(set_lock)(long *lock);

/* test_lock: takes the lock and returns 0 if no PE holds it; else returns 1. Does not wait for it. */
int WSH_NAME(test_lock)(long *lock);

/*
 * clear_lock: brings the default context to quiet, then gives the lock to the PE that has waited longest, or leaves it
 * free. A call by a PE that does not hold it ends the job with one line.
 */
void WSH_NAME(clear_lock)(long *lock);

#endif
