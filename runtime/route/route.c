/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and ends the routing object: peers are connected, and the entries filled. */
#include "runtime/route/route.h"

#include "base/log.h"
#include "runtime/job/job.h"
#include "runtime/route/blob.h"
#include "runtime/route/fill.h"
#include "runtime/wait/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAIN WSH_ENTRY_MAIN
#define OTHER WSH_ENTRY_OTHER
const uint8_t wsh_route_methods[WSH_METHODS][WSH_LOCAL_KINDS][WSH_ROUTE_CLASSES] = {
    /* {transfer, atomic} with host memory, with registered device memory, with other device memory */
    [WSH_METHOD_MAIN] = {{MAIN, MAIN}, {MAIN, MAIN}, {MAIN, MAIN}},
    [WSH_METHOD_COPY] = {{MAIN, MAIN}, {OTHER, MAIN}, {OTHER, MAIN}},
    [WSH_METHOD_NIC_HOST] = {{MAIN, MAIN}, {MAIN, MAIN}, {OTHER, MAIN}},
    [WSH_METHOD_NIC_DEVICE] = {{OTHER, MAIN}, {OTHER, MAIN}, {MAIN, MAIN}},
};
#undef MAIN
#undef OTHER

struct connecting {
    struct wsh_tp *tp;
    int seg; /* whose memory, or -1: the transport itself */
    struct wsh_tp_peers peers;
};

static int try_connect(void *arg)
{
    struct connecting *connecting = arg;
    const struct wsh_tp_ops *ops = connecting->tp->ops;

    return connecting->seg < 0
               ? ops->connect(connecting->tp, &connecting->peers)
               : ops->mem_connect(connecting->tp, (enum wsh_seg)connecting->seg, &connecting->peers);
}

static void describe_connect(void *arg, char *text, size_t size)
{
    snprintf(text, size, "its peers by %s", wsh_tp_label(((struct connecting *)arg)->tp));
}

static int connect_transport(struct wsh_job *job, unsigned tp, int seg, const struct wsh_peer_blob *peers)
{
    const struct wsh_wait_why why = {seg >= 0                   ? "adding device memory"
                                     : job->tp[tp]->ops->device ? "attaching the GPU"
                                                                : "shmem_init",
                                     describe_connect};
    const void **address = calloc((size_t)job->n_pes, sizeof *address);
    size_t *len = calloc((size_t)job->n_pes, sizeof *len);
    struct connecting connecting = {job->tp[tp],
                                    seg,
                                    {job->n_pes, address, len, job->same_host, job->boot.secret,
                                     job->boot.generation, job->routes.filled ? wsh_route_address : NULL,
                                     job}};
    int rc = address && len ? 0 : -ENOMEM;

    for (int pe = 0; !rc && pe < job->n_pes; pe++)
        address[pe] = wsh_peer_blob_address(&peers[pe], job->tp[tp]->ops->name, &len[pe]);
    if (!rc)
        rc = wsh_wait(job, &why, try_connect, &connecting);
    free(address);
    free(len);
    return rc;
}

static int connect_from(struct wsh_job *job, unsigned first_tp, const struct wsh_peer_blob *peers)
{
    int rc = 0;

    for (unsigned tp = first_tp; tp < job->n_tps && !rc; tp++)
        rc = connect_transport(job, tp, -1, peers);
    return rc;
}

static int connect_memory(struct wsh_job *job, int seg, const struct wsh_peer_blob *peers)
{
    int rc = 0;

    for (unsigned tp = 0; tp < job->n_tps && !rc; tp++)
        rc = connect_transport(job, tp, seg, peers);
    return rc;
}

/* Some PE's host segments have different transports: of other hosts' PEs one stands for all. */
static bool has_mixed_paths(const struct wsh_job *job)
{
    for (int pe = 0; pe < job->n_pes && job->heap.seg[WSH_SEG_STATIC].base; pe++) {
        const struct wsh_rmem *data, *heap;

        if (!wsh_route_is_filled(&job->routes, pe))
            continue;
        data = wsh_route_main(&job->routes, pe, WSH_SEG_STATIC);
        heap = wsh_route_main(&job->routes, pe, WSH_SEG_HEAP);
        if (data && heap && data->tp != heap->tp)
            return true;
    }
    return false;
}

/* A PE of another host whose blob has what some network transport needs. */
static bool has_network(const struct wsh_job *job, const struct wsh_peer_blob *blob)
{
    bool found = false;
    size_t len;

    for (unsigned tp = 0; tp < job->n_tps && !found; tp++)
        found = job->tp[tp]->ops->remote &&
                wsh_peer_blob_mem(blob, job->tp[tp]->ops->name, WSH_SEG_HEAP, &len) && len;
    return found;
}

/* NULL: that is not known yet. */
static const char *reached_by(const struct wsh_job *job, int pe)
{
    const struct wsh_rmem *rmem = wsh_entry_of(job, pe, WSH_SEG_HEAP, WSH_ENTRY_MAIN);

    return rmem->tp ? wsh_tp_label(rmem->tp) : NULL;
}

/* Its line is that of the first PE of this host: all here are reached the same way. */
static bool is_like_first(const struct wsh_job *job)
{
    for (int pe = 0; pe < job->n_pes; pe++)
        if (job->same_host[pe] && reached_by(job, pe) != reached_by(job, job->my_pe))
            return false;
    return job->local_rank != 0;
}

/* "PEs 0-15 by local, 16-31 by efa", once for each host */
static void log_reached(const struct wsh_job *job)
{
    char text[1024] = "";
    size_t used = 0;

    if (is_like_first(job))
        return;
    for (int pe = 0, end; pe < job->n_pes; pe = end) {
        const char *name = reached_by(job, pe);

        for (end = pe + 1; end < job->n_pes && reached_by(job, end) == name; end++)
            continue;
        if (!name || used >= sizeof text)
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", used ? ", " : "", pe);
        if (end - pe > 1 && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "-%d", end - 1);
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, " by %s", name);
    }
    if (*text)
        wsh_info(WSH_SUB_TRANSPORT, "PEs are reached: %s", text);
}

/*
 * Fills the entries needed at start: all; or, in large jobs, those of this host and of one PE that stands for the
 * others.
 */
static int fill_host(struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    int rc = 0, others = 0;

    for (int seg = 0; seg < WSH_SEG_DEVICE && !rc; seg++)
        if (job->heap.seg[seg].base)
            rc = wsh_entry_open(job, seg, WSH_ENTRY_MAIN);
    for (int pe = 0; pe < job->n_pes && !rc; pe++) {
        if (job->routes.filled && !job->same_host[pe] && others++ && has_network(job, &peers[pe]))
            continue;
        rc = wsh_route_fill(job, pe, &peers[pe]);
    }
    if (!rc)
        log_reached(job);
    if (!rc && job->routes.filled && others > 1 && !is_like_first(job))
        wsh_info(WSH_SUB_TRANSPORT, "%d more PEs of other hosts are reached from their first use on",
                 others - 1);
    job->mixed = !rc && has_mixed_paths(job);
    return rc;
}

int wsh_route_connect(struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    int rc = wsh_route_first_open(job);

    if (!rc)
        rc = connect_from(job, 0, peers);
    return rc ? rc : fill_host(job, peers);
}

int wsh_route_connect_segment(struct wsh_job *job, int seg, const struct wsh_peer_blob *peers)
{
    int rc = connect_memory(job, seg, peers);

    if (!rc)
        rc = wsh_entry_fill_segment(job, seg, WSH_ENTRY_MAIN, wsh_entry_fill_main, peers);

    if (!rc && job->routes.nics)
        rc = wsh_entry_fill_segment(job, seg, WSH_ENTRY_OTHER, wsh_entry_fill_nics, peers);
    if (!rc && job->routes.nics)
        wsh_route_report_nics(job, seg);
    return rc;
}

int wsh_route_connect_device(struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    int rc = wsh_route_fill_all(job);

    if (!rc)
        rc = connect_from(job, job->device.first_tp, peers);
    if (!rc)
        rc = wsh_route_connect_segment(job, WSH_SEG_DEVICE, peers);
    for (int seg = 0; seg < WSH_SEG_DEVICE && !rc; seg++)
        if (job->heap.seg[seg].base)
            rc = wsh_entry_fill_segment(job, seg, WSH_ENTRY_OTHER, wsh_entry_fill_copies, peers);
    return rc;
}

static void forget_segment(struct wsh_job *job, int seg)
{
    for (int entry = WSH_ENTRIES; entry--;)
        wsh_entry_close(job, seg, (enum wsh_route_entry)entry);
}

void wsh_route_withdraw(struct wsh_job *job, int seg)
{
    forget_segment(job, seg);
    wsh_route_release(job, seg);
}

void wsh_route_close_device(struct wsh_job *job)
{
    for (int seg = WSH_SEG_DEVICE; seg < WSH_SEGS; seg++)
        wsh_route_withdraw(job, seg);
    for (int number = WSH_SEGS; number < WSH_SEGS_LOCAL; number++)
        wsh_route_release(job, number);
    for (int seg = 0; seg < WSH_SEG_DEVICE; seg++)
        wsh_entry_close(job, seg, WSH_ENTRY_OTHER);
    wsh_route_close_from(job, job->device.first_tp);
    job->routes.nics = false;
    job->mixed = has_mixed_paths(job);
}

void wsh_route_close(struct wsh_job *job)
{
    for (int seg = 0; seg < WSH_SEGS; seg++)
        forget_segment(job, seg);
    wsh_route_close_from(job, 0);
    wsh_route_first_close(job);
    job->routes = (struct wsh_routes){0};
    job->mixed = false;
}
