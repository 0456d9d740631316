/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributed locks: a queue of PEs in which each waits on a word of its own. `lock` is the symmetric long of the
 * specification.
 */
#ifndef WSH_LOCK_H
#define WSH_LOCK_H

#include <stdbool.h>

struct wsh_job;

/*
 * 0; -EFAULT: not a symmetric, aligned long in host memory; -EDEADLK: this PE holds the lock already (set, test);
 * -EPERM: it does not (clear); -EOWNERDEAD: without the lock, since a PE has failed and the world has not shrunk since
 * (clear: it may not reach the one behind); other errors were logged. test: *held says whether this PE holds it now.
 */
int wsh_lock_set(struct wsh_job *job, long *lock);
int wsh_lock_test(struct wsh_job *job, long *lock, bool *held);
int wsh_lock_clear(struct wsh_job *job, long *lock);

#endif
