/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the tables by PE and piece of memory, from the structs and rules by which they are made. */
#include "runtime/gpu/memory_estimate.h"

#include "runtime/coll/memory/sync_area.h"
#include "runtime/coll/choose/state.h"
#include "runtime/gpu/view/state.h"
#include "runtime/memory/heap.h"
#include "runtime/job/job.h"
#include "runtime/route/route.h"
#include "runtime/route/blob.h"

/* As many rows as a table by segment has that has grown segment by segment. */
static size_t keys_room(size_t n_segs)
{
    uint32_t n = 0;

    for (uint32_t seg = 0; seg < n_segs; seg++)
        if (seg >= n)
            n = wsh_seg_room(n, seg);
    return n;
}

size_t wsh_tables_device(const struct wsh_tables_shape *shape)
{
    return wsh_device_state_size((int)shape->n_pes, (int)shape->n_local);
}

size_t wsh_tables_host(const struct wsh_tables_shape *shape)
{
    size_t segs = WSH_SEG_MORE + shape->n_buffers;
    size_t routes = segs * shape->n_pes * (WSH_ENTRIES * sizeof(struct wsh_rmem) + sizeof(uint8_t));
    size_t keys = keys_room(segs) * shape->n_pes * shape->n_rails * sizeof(uint64_t);

    return sizeof(struct wsh_routes) + sizeof(struct wsh_heap) + routes + keys + wsh_tables_device(shape);
}

#define OF_HOSTS(job) (sizeof *(job)->same_host + sizeof *(job)->host + sizeof *(job)->domain)
#define OF_TEAM (sizeof(int) + WSH_COLL_MEMBER)

_Static_assert(OF_HOSTS((struct wsh_job *)0) + OF_TEAM + 1 <= WSH_TABLES_PEER_MAX,
               "what a PE that is never addressed costs, with its bit in struct wsh_routes");

size_t wsh_tables_peer(void)
{
    return OF_HOSTS((struct wsh_job *)0) + OF_TEAM;
}

size_t wsh_tables_hosts(const struct wsh_tables_job *job)
{
    return job->n_pes * OF_HOSTS((struct wsh_job *)0);
}

static size_t hosts_of(const struct wsh_tables_job *job)
{
    return (job->n_pes + job->n_local - 1) / job->n_local;
}

/* The world; those that share memory and the host; those of one number in their hosts. */
size_t wsh_tables_teams(const struct wsh_tables_job *job)
{
    return (job->n_pes * (1 + job->n_teams) + 2 * job->n_local + hosts_of(job)) * OF_TEAM;
}

size_t wsh_tables_routes(const struct wsh_tables_job *job, size_t known)
{
    return job->n_pes / 8 + (known + job->n_local + 1) * WSH_SEGS_HOST * sizeof(struct wsh_rmem);
}

static struct wsh_sync_area area_of(const struct wsh_tables_job *job, size_t n)
{
    size_t hosts = hosts_of(job);

    return wsh_sync_area_layout((int)n, (int)(hosts < n ? hosts : n), hosts == job->n_pes);
}

size_t wsh_tables_sync_areas(const struct wsh_tables_job *job)
{
    struct wsh_sync_area world = area_of(job, job->n_pes);

    wsh_sync_area_widen(&world, (int)job->n_pes, hosts_of(job) > 1);
    return world.len + job->n_teams * area_of(job, job->n_pes).len + 2 * area_of(job, job->n_local).len +
           area_of(job, hosts_of(job)).len;
}

size_t wsh_tables_start(const struct wsh_tables_job *job)
{
    return job->n_pes *
           (sizeof(struct wsh_peer_blob) + wsh_peer_blob_typical() + sizeof(void *) + sizeof(size_t));
}

size_t wsh_tables_reserved(void)
{
    return WSH_SEGS_HOST * sizeof(struct wsh_rmem);
}
