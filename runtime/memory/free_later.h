/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symmetric memory that PEs release one by one, in any order, at any time, since destructors cannot be collective. Each
 * PE records what it has released. Collective allocations and frees, which synchronize anyway, also say whether a PE
 * has released something since the last one; if so, the PEs agree on what all of them have released and free it, in the
 * same order everywhere, so that the heaps stay equal.
 */
#ifndef WSH_RELEASE_H
#define WSH_RELEASE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wsh_job;

struct wsh_release {
    uint64_t key; /* twice the number of the allocation, plus 1 for device memory: equal on all PEs */
    size_t off;
};

struct wsh_releases {
    pthread_mutex_t lock;
    struct wsh_release *list; /* released here and not yet by all, by key */
    size_t n, room;
    bool fresh; /* some since the last agreement */
};

void wsh_releases_open(struct wsh_releases *releases);
void wsh_releases_close(struct wsh_releases *releases);

/*
 * What is marked in the heaps is what this PE has released there (wsh_alloc_restore), from now on. 0 or -ENOMEM.
 */
int wsh_releases_restore(struct wsh_job *job);

/* Local; by any thread. Memory of either heap. -EINVAL (logged): no live allocation starts there. -ENOMEM (logged). */
int wsh_release(struct wsh_job *job, const void *ptr, const char *routine);

/*
 * Collective over all PEs: a barrier which says whether all have passed ok = true (all_ok may be NULL), and in which
 * they free what all have released. Costs no more than a barrier where nothing was released. 0 or a final error
 * (logged).
 */
int wsh_release_barrier(struct wsh_job *job, bool ok, bool *all_ok, const char *routine);

#endif
