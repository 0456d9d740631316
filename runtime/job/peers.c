/* SPDX-License-Identifier: BSD-3-Clause */
/* Meets the peers at start: one round or two of blobs, from which come the transports, the hosts and the routes. */
#include "runtime/route/hosts.h"
#include "runtime/job/job.h"
#include "runtime/route/blob.h"

#include <errno.h>
#include <stdlib.h>

/* All PEs see the same blobs, so all give the same answer. */
static bool on_one_host(const struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    for (int pe = 1; pe < job->n_pes; pe++)
        if (wsh_peer_blob_host(&peers[pe]) != wsh_peer_blob_host(&peers[0]))
            return false;
    return true;
}

/* Whether all PEs are on one machine; then loopback addresses suffice, which nobody else reaches. */
static bool on_one_machine(const struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    uint64_t first = wsh_peer_blob_machine(&peers[0]);

    for (int pe = 1; pe < job->n_pes; pe++)
        if (!first || wsh_peer_blob_machine(&peers[pe]) != first)
            return false;
    return true;
}

/* Whether all PEs chose rightly, from their launcher's data, between loopback and other addresses to listen on. */
static bool listen_right(const struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    bool loopback = on_one_machine(job, peers);

    for (int pe = 0; pe < job->n_pes; pe++)
        if (wsh_peer_blob_loopback(&peers[pe]) != loopback)
            return false;
    return true;
}

/* One round: opens the transports, publishes this PE's blob and reads those of the peers. */
static int peers_exchange(struct wsh_job *job, bool network, struct wsh_peer_blob *peers)
{
    int rc = wsh_route_open(job, network);

    return rc ? rc : wsh_peer_blob_exchange(job, 0, peers);
}

static void forget_peers(struct wsh_job *job, struct wsh_peer_blob *peers)
{
    for (int pe = 0; peers && pe < job->n_pes; pe++)
        wsh_peer_blob_close(&peers[pe]);
}

/*
 * The launcher's view of the host is a hint that saves loading a network library, and says where to listen; the blobs
 * are the truth. Where they disagree, a second round opens the network.
 */
static int build_routes(struct wsh_job *job, struct wsh_peer_blob *peers)
{
    bool network = job->boot.local_size < job->n_pes || job->env.node_emulated >= 0;
    int rc;

    job->loopback = job->boot.one_machine;
    rc = peers_exchange(job, network, peers);
    if (!rc && ((!network && !on_one_host(job, peers)) || (job->network && !listen_right(job, peers)))) {
        job->loopback = on_one_machine(job, peers);
        forget_peers(job, peers);
        wsh_route_close(job);
        rc = peers_exchange(job, true, peers);
    }
    if (!rc)
        rc = wsh_hosts_note(job, peers);
    return rc ? rc : wsh_route_connect(job, peers);
}

void wsh_peers_close(struct wsh_job *job)
{
    wsh_route_close(job);
    free(job->same_host);
    free(job->host);
    free(job->domain);
    job->same_host = NULL;
    job->host = NULL;
    job->domain = NULL;
}

int wsh_peers_open(struct wsh_job *job)
{
    struct wsh_peer_blob *peers = calloc((size_t)job->n_pes, sizeof *peers);
    int rc;

    job->same_host = calloc((size_t)job->n_pes, sizeof *job->same_host);
    job->host = calloc((size_t)job->n_pes, sizeof *job->host);
    job->domain = calloc((size_t)job->n_pes, sizeof *job->domain);
    rc = peers && job->same_host && job->host && job->domain ? build_routes(job, peers) : -ENOMEM;
    forget_peers(job, peers);
    free(peers);
    if (rc)
        wsh_peers_close(job);
    return rc;
}
