/* SPDX-License-Identifier: BSD-3-Clause */
/* What was published in each round, where a bootstrap carries all blobs to all PEs: kept until it is closed. */
#ifndef WSH_BOOTSTRAP_ROUNDS_H
#define WSH_BOOTSTRAP_ROUNDS_H

#include "bootstrap/blob/host_blobs.h"

#include <pthread.h>

struct wsh_rounds {
    pthread_mutex_t lock; /* any thread looks up, while another publishes */
    struct wsh_host_blobs *round;
    int n;
};

void wsh_rounds_init(struct wsh_rounds *rounds);
void wsh_rounds_fini(struct wsh_rounds *rounds);

/* Takes over the blobs, whatever it returns: 0, or -ENOMEM after one line. */
int wsh_rounds_keep(struct wsh_rounds *rounds, int round, const struct wsh_host_blobs *blobs);

/* The blob of `pe`, malloc'd. 0, or a negative errno after one line. By any thread. */
int wsh_rounds_find(struct wsh_rounds *rounds, int round, int pe, void **blob, size_t *len);

#endif
