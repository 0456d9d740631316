/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how the route table is built: transports opened, memory registered, peers connected, the best way chosen. */
#include "runtime/route.h"

#include "base/log.h"
#include "runtime/gpu/hmem.h"
#include "runtime/job.h"
#include "runtime/route_blob.h"
#include "runtime/wait.h"

#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Asked for by name where a cheaper transport is not: needed although every peer is on this host. */
static bool is_needed(const struct wsh_job *job, const struct wsh_tp_ops *ops, bool network)
{
    bool needed = network || !ops->remote;

    for (int seg = 0; seg < WSH_SEGS; seg++)
        needed |= job->heap.seg[seg].base && wsh_route_allows(job, ops, seg) &&
                  !wsh_route_allows(job, wsh_tp_registry()[0], seg);
    return needed && (wsh_route_allows(job, ops, WSH_SEG_STATIC) || wsh_route_allows(job, ops, WSH_SEG_HEAP));
}

static enum wsh_mem_kind kind_of(int seg)
{
    return seg < WSH_SEG_DEVICE ? WSH_MEM_HOST : WSH_MEM_DEVICE;
}

int wsh_route_register_with(struct wsh_job *job, unsigned tp, const struct wsh_mem *mem)
{
    struct wsh_route_key *key = &job->keys[tp].mem[mem->seg];

    key->len = sizeof key->bytes;
    return job->tp[tp]->ops->mem_register(job->tp[tp], mem, &job->lmem[tp][mem->seg], key->bytes, &key->len);
}

static int register_memory(struct wsh_job *job, unsigned tp)
{
    int rc = 0;

    for (int seg = 0; seg < WSH_SEGS && !rc; seg++) {
        const struct wsh_segment *segment = &job->heap.seg[seg];
        struct wsh_mem mem = {
            (enum wsh_seg)seg, kind_of(seg), segment->base, segment->len, segment->fd, NULL, 0, 0};

        if (seg == WSH_SEG_DEVICE) {
            mem.range = job->device.mem.range;
            mem.stride = job->device.mem.stride;
        }
        job->keys[tp].mem[seg].len = 0;
        if (segment->base)
            rc = wsh_route_register_with(job, tp, &mem);
    }
    return rc;
}

static int meet_host(const struct wsh_tp_params *params, const void *mine, size_t len, void *all)
{
    struct wsh_boot *boot = &((struct wsh_job *)params->core)->boot;

    return boot->ops->meet_host ? boot->ops->meet_host(boot, mine, len, all) : -ENOTSUP;
}

static int say_full(const struct wsh_tp_ops *ops)
{
    wsh_error("no room for transport %s: %d are open already; leave some out of SHMEM_TRANSPORTS", ops->name,
              WSH_TP_MAX);
    return -ENOSPC;
}

static int open_one(struct wsh_job *job, const struct wsh_tp_ops *ops)
{
    const struct wsh_tp_params params = {.my_pe = job->my_pe,
                                         .n_pes = job->n_pes,
                                         .local_rank = job->boot.local_rank,
                                         .local_size = job->boot.local_size,
                                         .env = &job->env,
                                         .threads = true,
                                         .multiple = job->thread_level == SHMEM_THREAD_MULTIPLE,
                                         .hmem = wsh_hmem_wanted(job),
                                         .loopback = job->loopback,
                                         .gpu = ops->device ? &job->device.gpu : NULL,
                                         .meet_host = meet_host,
                                         .under = job->under.given.base ? &job->under.given : NULL,
                                         .core = job};
    unsigned tp = job->n_tps;
    int rc = tp < WSH_TP_MAX ? ops->open(&params, &job->tp[tp], &job->limits[tp]) : say_full(ops);

    if (rc)
        return rc;
    job->tp[tp]->ops = ops;
    job->n_tps++;
    job->network |= !job->limits[tp].immediate;
    job->keys[tp].address_len = sizeof job->keys[tp].address;
    rc = ops->address(job->tp[tp], job->keys[tp].address, &job->keys[tp].address_len);
    return rc ? rc : register_memory(job, tp);
}

static int open_if_there(struct wsh_job *job, const struct wsh_tp_ops *ops)
{
    int rc = open_one(job, ops);

    if (rc != -ENODEV)
        return rc;
    wsh_info(WSH_SUB_TRANSPORT, "transport %s: not on this machine", ops->name);
    return 0;
}

int wsh_route_open(struct wsh_job *job, bool network)
{
    int rc = wsh_route_check_lists(job);

    for (const struct wsh_tp_ops *const *ops = wsh_tp_registry(); *ops && !rc; ops++) {
        if (!(*ops)->device && is_needed(job, *ops, network))
            rc = open_if_there(job, *ops);
    }
    if (!rc && !job->n_tps) {
        wsh_error("no transport can be used; SHMEM_TRANSPORTS=%s leaves none that works here",
                  job->env.transports ? job->env.transports : "");
        rc = -ENODEV;
    }
    if (rc)
        wsh_route_close(job);
    return rc;
}

/* Device memory always has other roads than host memory: contexts keep the order between them. */
int wsh_route_open_device(struct wsh_job *job)
{
    unsigned before = job->n_tps;
    int rc = 0;

    for (const struct wsh_tp_ops *const *ops = wsh_tp_registry(); *ops && !rc; ops++)
        if ((*ops)->device && wsh_route_allows(job, *ops, WSH_SEG_DEVICE))
            rc = open_if_there(job, *ops);
    if (!rc && job->n_tps == before) {
        wsh_error("no transport reaches device memory; list nvlink in SHMEM_TRANSPORTS, or leave the setting "
                  "empty");
        rc = -ENODEV;
    }
    job->mixed = true;
    return rc;
}

static void release_memory(struct wsh_job *job, unsigned tp)
{
    const struct wsh_tp_ops *ops = job->tp[tp]->ops;

    for (int seg = 0; seg < WSH_SEGS; seg++) {
        if (job->lmem[tp][seg])
            ops->mem_release(job->tp[tp], job->lmem[tp][seg]);
        job->lmem[tp][seg] = NULL;
    }
}

static int try_stop(void *arg)
{
    struct wsh_tp *tp = arg;

    return tp->ops->stop(tp, false);
}

/* Closes transports, the last one first. Endpoints go before the memory that they may still send from. */
static void close_from(struct wsh_job *job, unsigned first)
{
    static const struct wsh_wait_why why = {"shmem_finalize", NULL};

    while (job->n_tps > first) {
        unsigned tp = job->n_tps - 1;

        if (wsh_wait(job, &why, try_stop, job->tp[tp]))
            (void)job->tp[tp]->ops->stop(job->tp[tp], true);
        job->n_tps = tp;
        release_memory(job, tp);
        job->tp[tp]->ops->close(job->tp[tp]);
    }
    job->network = false;
    for (unsigned tp = 0; tp < job->n_tps; tp++)
        job->network |= !job->limits[tp].immediate;
}

static bool has_mixed_roads(const struct wsh_job *job)
{
    const struct wsh_route *routes = job->routes;

    for (int pe = 0; pe < job->n_pes; pe++, routes += WSH_SEGS)
        if (routes[WSH_SEG_STATIC].ops && routes[WSH_SEG_STATIC].tp != routes[WSH_SEG_HEAP].tp)
            return true;
    return false;
}

void wsh_route_close(struct wsh_job *job)
{
    for (size_t i = 0; job->routes && i < (size_t)job->n_pes * WSH_SEGS; i++)
        if (job->routes[i].ops)
            job->routes[i].ops->mem_detach(job->routes[i].rmem.tp, &job->routes[i].rmem);
    wsh_hmem_close(job);
    free(job->routes);
    job->routes = NULL;
    close_from(job, 0);
    job->mixed = false;
}

static void forget_segment(struct wsh_job *job, int seg)
{
    for (int pe = 0; pe < job->n_pes; pe++) {
        struct wsh_route *route = &job->routes[(size_t)pe * WSH_SEGS + (size_t)seg];

        if (route->ops)
            route->ops->mem_detach(route->rmem.tp, &route->rmem);
        *route = (struct wsh_route){0};
    }
}

void wsh_route_close_device(struct wsh_job *job, unsigned first_tp)
{
    for (int seg = WSH_SEG_DEVICE; seg < WSH_SEGS; seg++)
        forget_segment(job, seg);
    wsh_hmem_close(job);
    close_from(job, first_tp);
    job->mixed = has_mixed_roads(job);
}

struct connecting {
    struct wsh_tp *tp;
    struct wsh_tp_peers peers;
};

static int try_connect(void *arg)
{
    struct connecting *connecting = arg;

    return connecting->tp->ops->connect(connecting->tp, &connecting->peers);
}

static void describe_connect(void *arg, char *text, size_t size)
{
    snprintf(text, size, "its peers by %s", ((struct connecting *)arg)->tp->ops->name);
}

static int connect_one(struct wsh_job *job, unsigned tp, const struct wsh_peer_blob *peers)
{
    const struct wsh_wait_why why = {job->tp[tp]->ops->device ? "attaching the GPU" : "shmem_init",
                                     describe_connect};
    const void **address = calloc((size_t)job->n_pes, sizeof *address);
    size_t *len = calloc((size_t)job->n_pes, sizeof *len);
    struct connecting connecting = {
        job->tp[tp], {job->n_pes, address, len, job->same_host, job->boot.secret, job->boot.generation}};
    int rc = address && len ? 0 : -ENOMEM;

    for (int pe = 0; !rc && pe < job->n_pes; pe++)
        address[pe] = wsh_peer_blob_address(&peers[pe], job->tp[tp]->ops->name, &len[pe]);
    if (!rc)
        rc = wsh_wait(job, &why, try_connect, &connecting);
    free(address);
    free(len);
    return rc;
}

/* Tries one transport for one segment of one PE; 1 = took it, 0 = not this way. */
static int try_route(struct wsh_job *job, int pe, int seg, unsigned tp, const struct wsh_peer_blob *peer)
{
    struct wsh_route *route = &job->routes[(size_t)pe * WSH_SEGS + (size_t)seg];
    const struct wsh_tp_ops *ops = job->tp[tp]->ops;
    const void *key;
    size_t len;
    int rc;

    if (!wsh_route_allows(job, ops, seg) || ~ops->reach(job->tp[tp], pe, kind_of(seg)) & WSH_REACH_ALL)
        return 0;
    key = wsh_peer_blob_mem(peer, ops->name, seg, &len);
    if (!key || !len)
        return 0;
    rc = ops->mem_attach(job->tp[tp], pe, (enum wsh_seg)seg, key, len, &route->rmem);
    if (rc)
        return rc;
    route->rmem.tp = job->tp[tp];
    route->tp = tp;
    route->ops = ops;
    return 1;
}

static int choose_route(struct wsh_job *job, int pe, int seg, const struct wsh_peer_blob *peer)
{
    int rc = 0;

    for (unsigned tp = 0; tp < job->n_tps && !rc; tp++)
        rc = try_route(job, pe, seg, tp, peer);
    if (rc > 0 || (!rc && seg >= WSH_SEG_DEVICE && !job->same_host[pe]))
        return 0;
    if (!rc) {
        wsh_error(
            "PE %d cannot be reached%s; list a transport that reaches it in SHMEM_TRANSPORTS, or leave the "
            "setting empty",
            pe, job->same_host[pe] ? "" : ": it is on another host, and no network transport is open");
        rc = -EHOSTUNREACH;
    }
    return rc;
}

static int fill_table(struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    int rc = 0;

    job->routes = calloc((size_t)job->n_pes * WSH_SEGS, sizeof *job->routes);
    if (!job->routes)
        return -ENOMEM;
    for (int pe = 0; pe < job->n_pes && !rc; pe++) {
        for (int seg = 0; seg < WSH_SEGS && !rc; seg++)
            if (job->heap.seg[seg].base && wsh_peer_blob_has(&peers[pe], seg))
                rc = choose_route(job, pe, seg, &peers[pe]);
        wsh_info(WSH_SUB_TRANSPORT, "PE %d is reached by %s", pe, rc ? "nothing" : wsh_route_name(job, pe));
    }
    job->mixed = has_mixed_roads(job);
    return rc;
}

int wsh_route_connect(struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    int rc = 0;

    for (unsigned tp = 0; tp < job->n_tps && !rc; tp++)
        rc = connect_one(job, tp, peers);
    return rc ? rc : fill_table(job, peers);
}

int wsh_route_connect_segment(struct wsh_job *job, int seg, const struct wsh_peer_blob *peers)
{
    int rc = 0;

    for (int pe = 0; pe < job->n_pes && !rc; pe++)
        rc = choose_route(job, pe, seg, &peers[pe]);
    return rc ? rc : wsh_hmem_connect(job, seg, peers);
}

int wsh_route_connect_device(struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    int rc = 0;

    for (unsigned tp = job->device.first_tp; tp < job->n_tps && !rc; tp++)
        rc = connect_one(job, tp, peers);
    return rc ? rc : wsh_route_connect_segment(job, WSH_SEG_DEVICE, peers);
}

int wsh_route_register(struct wsh_job *job, unsigned first_tp, const struct wsh_mem *mem)
{
    int rc = 0;

    for (unsigned tp = first_tp; tp < job->n_tps && !rc; tp++)
        rc = wsh_route_register_with(job, tp, mem);
    return rc ? rc : wsh_hmem_register(job, mem);
}

void wsh_route_withdraw(struct wsh_job *job, unsigned first_tp, int seg)
{
    forget_segment(job, seg);
    wsh_hmem_withdraw(job, seg);
    for (unsigned tp = first_tp; tp < job->n_tps; tp++) {
        if (job->lmem[tp][seg])
            job->tp[tp]->ops->mem_release(job->tp[tp], job->lmem[tp][seg]);
        job->lmem[tp][seg] = NULL;
        job->keys[tp].mem[seg].len = 0;
    }
}
