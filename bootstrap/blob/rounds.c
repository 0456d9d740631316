/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of rounds, each with the blobs of all PEs. */
#include "bootstrap/blob/rounds.h"

#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>

void wsh_rounds_init(struct wsh_rounds *rounds)
{
    *rounds = (struct wsh_rounds){.n = 0};
    pthread_mutex_init(&rounds->lock, NULL);
}

void wsh_rounds_fini(struct wsh_rounds *rounds)
{
    for (int round = 0; round < rounds->n; round++)
        wsh_host_blobs_close(&rounds->round[round]);
    free(rounds->round);
    pthread_mutex_destroy(&rounds->lock);
}

static int grow(struct wsh_rounds *rounds, int n)
{
    size_t size = (size_t)n * sizeof *rounds->round;
    struct wsh_host_blobs *more = realloc(rounds->round, size);

    if (!more) {
        wsh_error("bootstrap: out of memory (%zu bytes)", size);
        return -ENOMEM;
    }
    rounds->round = more;
    while (rounds->n < n)
        rounds->round[rounds->n++] = (struct wsh_host_blobs){0};
    return 0;
}

int wsh_rounds_keep(struct wsh_rounds *rounds, int round, const struct wsh_host_blobs *blobs)
{
    struct wsh_host_blobs drop = *blobs;
    int rc;

    pthread_mutex_lock(&rounds->lock);
    rc = round < rounds->n ? 0 : grow(rounds, round + 1);
    if (!rc) {
        drop = rounds->round[round];
        rounds->round[round] = *blobs;
    }
    pthread_mutex_unlock(&rounds->lock);
    wsh_host_blobs_close(&drop);
    return rc;
}

int wsh_rounds_find(struct wsh_rounds *rounds, int round, int pe, void **blob, size_t *len)
{
    int rc = -ENOENT;

    pthread_mutex_lock(&rounds->lock);
    if (round < rounds->n && pe < rounds->round[round].n_pes)
        rc = wsh_host_blobs_find(&rounds->round[round], pe, blob, len);
    pthread_mutex_unlock(&rounds->lock);
    if (rc == -ENOENT)
        wsh_error("bootstrap: nothing was published by PE %d in round %d", pe, round);
    return rc;
}
