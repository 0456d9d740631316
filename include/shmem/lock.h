/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Section 9.13: locks. Read by shmem.h and pshmem.h under their names.
 *
 * `lock` is a symmetric long that is 0 on all PEs before its first use and is touched by these routines alone. It is
 * one lock for the whole job, not one a PE, and held by a PE, not by a thread.
 */
#ifndef WSH_NAME
#include <shmem.h>
#else

/*
 * set_lock: returns once this PE holds the lock; PEs that wait get it in the order in which they asked. A PE that
 * holds it already ends the job with one line.
 */
void WSH_NAME(set_lock)(long *lock);

/* test_lock: 0: this PE holds the lock now, which nobody held; 1: somebody holds it. Does not wait for it. */
int WSH_NAME(test_lock)(long *lock);

/*
 * clear_lock: brings the default context to quiet, then gives the lock to the PE that has waited longest, or leaves it
 * free. A PE that does not hold it ends the job with one line.
 */
void WSH_NAME(clear_lock)(long *lock);

#endif
