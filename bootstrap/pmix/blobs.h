/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blobs of a job that PMIx carries: the PEs of a host give theirs to the first of them, which publishes one for
 * all.
 * Where the launcher does not say on which host each PE is, each PE publishes its own.
 */
#ifndef WSH_BOOTSTRAP_BLOBS_PMIX_H
#define WSH_BOOTSTRAP_BLOBS_PMIX_H

#include "bootstrap/blob/blob.h"

#include <pmix.h>
#include <pthread.h>
#include <stdbool.h>

struct wsh_blobs_pmix {
    pmix_proc_t me;
    bool known;           /* where the PEs are, or that nobody says it */
    uint32_t *leader;     /* [n_pes] the first PE of each one's host; NULL: the launcher does not say */
    pmix_proc_t *members; /* the PEs of this host, by number */
    size_t n_members;
    pthread_mutex_t lock; /* of what was last looked up: the next PE is likely of the same host */
    struct wsh_blob_id last_id;
    void *last;
    size_t last_size;
};

/* 0 or -ENOMEM after one line. */
int wsh_blobs_pmix_open(struct wsh_blobs_pmix *blobs, const pmix_proc_t *me, int n_pes);
void wsh_blobs_pmix_close(struct wsh_blobs_pmix *blobs);

/* Commits what is to be published, before the fence that collects. 0 or a negative errno after one line. */
int wsh_blobs_pmix_put(struct wsh_blobs_pmix *blobs, const struct wsh_blob_id *id, const void *blob,
                       size_t len);
/* One that was collected, malloc'd; likewise. By any thread. */
int wsh_blobs_pmix_get(struct wsh_blobs_pmix *blobs, const struct wsh_blob_id *id, void **blob, size_t *len);

#endif
