/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills entries: the transport for a PE's segment is chosen, and its memory attached. */
#include "runtime/route/fill.h"

#include "base/log.h"
#include "runtime/job/job.h"

#include <stdlib.h>
#include <string.h>

struct wsh_rmem *wsh_entry_of(const struct wsh_job *job, int pe, int seg, enum wsh_route_entry entry)
{
    return &job->routes.entry[entry][seg][pe];
}

int wsh_entry_open(struct wsh_job *job, int seg, enum wsh_route_entry entry)
{
    struct wsh_rmem **rmem = &job->routes.entry[entry][seg];

    if (!*rmem)
        *rmem = calloc((unsigned)job->n_pes, sizeof **rmem);
    if (*rmem && entry == WSH_ENTRY_OTHER && !job->routes.method[seg])
        job->routes.method[seg] = calloc((unsigned)job->n_pes, sizeof *job->routes.method[seg]);
    return *rmem && (entry == WSH_ENTRY_MAIN || job->routes.method[seg]) ? 0 : -ENOMEM;
}

void wsh_entry_close(struct wsh_job *job, int seg, enum wsh_route_entry entry)
{
    struct wsh_rmem *rmem = job->routes.entry[entry][seg];

    for (int pe = 0; rmem && pe < job->n_pes; pe++)
        if (rmem[pe].tp)
            rmem[pe].tp->ops->mem_detach(rmem[pe].tp, &rmem[pe]);
    free(rmem);
    free(job->routes.method[seg]);
    job->routes.entry[entry][seg] = NULL;
    job->routes.method[seg] = NULL;
}

/* With the other entry there. */
static void method_set(struct wsh_job *job, int pe, int seg, enum wsh_route_method method)
{
    job->routes.method[seg][pe] = (uint8_t)method;
}

_Static_assert(offsetof(struct wsh_rmem, tp) == 0, "the rest is what follows");

/* `tp` alone is read while others write. Release: partner of the acquire in wsh_route. */
static void entry_publish(struct wsh_rmem *rmem, const struct wsh_rmem *filled, struct wsh_tp *tp)
{
    const size_t at = sizeof rmem->tp;

    __atomic_store_n(&rmem->tp, NULL, __ATOMIC_RELAXED);
    memcpy((char *)rmem + at, (const char *)filled + at, sizeof *rmem - at);
    __atomic_store_n(&rmem->tp, tp, __ATOMIC_RELEASE);
}

/* Has transport `tp` fill the entry, if it reaches what `needs` says (enum wsh_reach). 1 = it does, 0 = it does not. */
static int entry_try(struct wsh_job *job, int pe, int seg, struct wsh_rmem *rmem, unsigned tp, unsigned needs,
                     const struct wsh_peer_blob *peer)
{
    const struct wsh_tp_ops *ops = job->tp[tp]->ops;
    struct wsh_rmem filled;
    size_t len;
    const void *key = wsh_peer_blob_mem(peer, ops->name, seg, &len);
    int rc;

    if (!key || !len || ~ops->reach(job->tp[tp], pe, wsh_route_kind(seg)) & needs)
        return 0;
    rc = ops->mem_attach(job->tp[tp], pe, (enum wsh_seg)seg, key, len, &filled);
    if (!rc)
        entry_publish(rmem, &filled, job->tp[tp]);
    return rc ? rc : 1;
}

int wsh_entry_fill_main(struct wsh_job *job, int pe, int seg, const struct wsh_peer_blob *peer)
{
    struct wsh_rmem *rmem = wsh_entry_of(job, pe, seg, WSH_ENTRY_MAIN);
    int rc = 0;

    for (unsigned tp = 0; tp < job->n_tps && !rc; tp++)
        if (wsh_route_allows(job, job->tp[tp]->ops, seg))
            rc = entry_try(job, pe, seg, rmem, tp, WSH_REACH_ALL, peer);
    if (rc || (seg >= WSH_SEG_DEVICE && !job->same_host[pe]))
        return rc < 0 ? rc : 0;
    wsh_error("PE %d cannot be reached%s; list a transport that reaches it in SHMEM_TRANSPORTS, or leave the "
              "setting empty",
              pe, job->same_host[pe] ? "" : ": it is on another host, and no network transport is open");
    return -EHOSTUNREACH;
}

int wsh_entry_fill_copies(struct wsh_job *job, int pe, int seg, const struct wsh_peer_blob *peer)
{
    const struct wsh_rmem *main = wsh_entry_of(job, pe, seg, WSH_ENTRY_MAIN);
    struct wsh_rmem *rmem = wsh_entry_of(job, pe, seg, WSH_ENTRY_OTHER);
    int rc = 0;

    for (unsigned tp = job->device.first_tp; tp < job->n_tps && !rc && main->tp; tp++) {
        const struct wsh_tp_ops *ops = job->tp[tp]->ops;

        if (!main->map) {
            rc = entry_try(job, pe, seg, rmem, tp, WSH_REACH_PUT | WSH_REACH_GET, peer);
        } else if (!ops->mem_adopt(job->tp[tp], pe, (enum wsh_seg)seg, main->map, main->len, rmem)) {
            rmem->tp = job->tp[tp];
            rc = 1;
        }
    }
    method_set(job, pe, seg,
               main->tp && !main->map && wsh_route_has_nics(job, main->tp->index) ? WSH_METHOD_NIC_HOST
                                                                                  : WSH_METHOD_COPY);
    return rc < 0 ? rc : 0;
}

int wsh_entry_fill_nics(struct wsh_job *job, int pe, int seg, const struct wsh_peer_blob *peer)
{
    struct wsh_rmem *rmem = wsh_entry_of(job, pe, seg, WSH_ENTRY_OTHER);
    int rc = 0;

    for (unsigned tp = 0; tp < job->device.first_tp && !rc && !job->same_host[pe]; tp++)
        if (wsh_route_has_nics(job, tp))
            rc = entry_try(job, pe, seg, rmem, tp, WSH_REACH_PUT | WSH_REACH_GET, peer);
    if (rc > 0)
        method_set(job, pe, seg, WSH_METHOD_NIC_DEVICE);
    return rc < 0 ? rc : 0;
}

int wsh_entry_fill_segment(struct wsh_job *job, int seg, enum wsh_route_entry entry, wsh_entry_fill *fill,
                           const struct wsh_peer_blob *peers)
{
    int rc = wsh_entry_open(job, seg, entry);

    for (int pe = 0; pe < job->n_pes && !rc; pe++)
        if (wsh_peer_blob_has(&peers[pe], seg))
            rc = fill(job, pe, seg, &peers[pe]);
    return rc;
}

bool wsh_route_is_filled(const struct wsh_routes *routes, int pe)
{
    return !routes->filled || routes->filled[pe / 64] >> (pe % 64) & 1;
}

int wsh_route_fill(struct wsh_job *job, int pe, const struct wsh_peer_blob *blob)
{
    int rc = 0;

    for (int seg = 0; seg < WSH_SEG_DEVICE && !rc; seg++)
        if (job->heap.seg[seg].base && wsh_peer_blob_has(blob, seg))
            rc = wsh_entry_fill_main(job, pe, seg, blob);
    if (!rc && job->routes.filled)
        job->routes.filled[pe / 64] |= UINT64_C(1) << (pe % 64);
    return rc;
}
