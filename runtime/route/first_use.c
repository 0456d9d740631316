/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entries of PEs of other hosts in large jobs: filled at the first operation, from the blob that the bootstrap
 * keeps. A PE that is never addressed costs only untouched pages.
 */
#include "base/log.h"
#include "runtime/job/job.h"
#include "runtime/route/route.h"
#include "runtime/route/blob.h"

#include <stdlib.h>
#include <string.h>

static struct wsh_job
    *waiting; /* the job, where some wait: callers of wsh_route_first keep no register for it */

int wsh_route_first_open(struct wsh_job *job)
{
    const struct wsh_boot_ops *boot = job->boot.ops;

    job->routes.round = job->rounds - 1;
    pthread_mutex_init(&job->routes.lock, NULL);
    if (!boot || !boot->keeps || job->n_pes <= job->env.peers_at_start)
        return 0;
    job->routes.filled = calloc((size_t)job->n_pes / 64 + 1, sizeof *job->routes.filled);
    waiting = job->routes.filled ? job : NULL;
    return waiting ? 0 : -ENOMEM;
}

void wsh_route_first_close(struct wsh_job *job)
{
    waiting = NULL;
    free(job->routes.filled);
    job->routes.filled = NULL;
}

static int blob_read(struct wsh_job *job, int pe, struct wsh_peer_blob *blob)
{
    void *bytes;
    size_t len;
    int rc = job->boot.ops->lookup(&job->boot, job->routes.round, pe, &bytes, &len);

    *blob = (struct wsh_peer_blob){0};
    return rc ? rc : wsh_peer_blob_open(blob, job, pe, bytes, len);
}

static int fill_from_boot(struct wsh_job *job, int pe)
{
    struct wsh_peer_blob blob;
    int rc = blob_read(job, pe, &blob);

    if (!rc)
        rc = wsh_route_fill(job, pe, &blob);
    wsh_peer_blob_close(&blob);
    return rc;
}

/* -1: it is none of host memory, whose entries alone wait. */
static int pe_of(const struct wsh_job *job, const struct wsh_rmem *rmem)
{
    for (int seg = 0; seg < WSH_SEG_DEVICE; seg++) {
        const struct wsh_rmem *first = job->routes.entry[WSH_ENTRY_MAIN][seg];

        if (first && rmem >= first && rmem < first + job->n_pes)
            return (int)(rmem - first);
    }
    return -1;
}

/* An entry that is still empty then belongs to a segment that the PE does not have, or to an unreachable one. */
const struct wsh_rmem *wsh_route_first(const struct wsh_rmem *rmem)
{
    struct wsh_job *job = waiting;
    int pe = job ? pe_of(job, rmem) : -1, rc = 0;

    if (pe < 0)
        return NULL;
    pthread_mutex_lock(&job->routes.lock);
    if (!wsh_route_is_filled(&job->routes, pe))
        rc = fill_from_boot(job, pe);
    pthread_mutex_unlock(&job->routes.lock);
    return !rc && rmem->tp ? rmem : NULL;
}

/* Before device memory, whose routes are made for all PEs together. */
int wsh_route_fill_all(struct wsh_job *job)
{
    int rc = 0;

    if (!job->routes.filled)
        return 0;
    pthread_mutex_lock(&job->routes.lock);
    for (int pe = 0; pe < job->n_pes && !rc; pe++)
        if (!wsh_route_is_filled(&job->routes, pe))
            rc = fill_from_boot(job, pe);
    pthread_mutex_unlock(&job->routes.lock);
    return rc;
}

int wsh_route_address(void *core, int pe, const char *name, void **address, size_t *len)
{
    struct wsh_peer_blob blob;
    const void *found;
    int rc = blob_read(core, pe, &blob);

    *address = NULL;
    if (rc)
        return rc;
    found = wsh_peer_blob_address(&blob, name, len);
    *address = malloc(*len + 1);
    if (*address)
        memcpy(*address, found, found ? *len : 0);
    wsh_peer_blob_close(&blob);
    return *address ? 0 : -ENOMEM;
}
