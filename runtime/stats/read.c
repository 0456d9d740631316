/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums counts, of transports and the GPU's half too. */
#include "runtime/stats/read.h"

#include "runtime/coll/choose/state.h"
#include "runtime/device_ops.h"
#include "runtime/job/job.h"
#include "runtime/memory/alloc.h"
#include "runtime/wait/clock.h"

#include <string.h>

static void traffic_read(struct wsh_job *job, int pe, struct wsh_tp_traffic *traffic)
{
    *traffic = (struct wsh_tp_traffic){0};
    for (unsigned tp = 0; tp < job->n_tps; tp++)
        job->tp[tp]->ops->traffic(job->tp[tp], pe, traffic);
}

static void team_add(const struct wsh_team *team, shmemx_stats_t *out)
{
    out->collectives += wsh_coll_steps(team->coll);
    out->collective_calls += team->calls;
}

/* Relaxed reads of what another thread may count meanwhile. */
static void collectives_read(struct wsh_job *job, shmemx_stats_t *out)
{
    pthread_mutex_lock(&job->ctxs_lock);
    out->collectives = job->gone_teams.steps;
    out->collective_calls = job->gone_teams.calls;
    team_add(&job->world, out);
    team_add(&job->shared, out);
    for (const struct wsh_team *team = job->teams; team; team = team->next)
        team_add(team, out);
    pthread_mutex_unlock(&job->ctxs_lock);
}

static void calls_read(const struct wsh_stats *stats, shmemx_stats_t *out)
{
    for (int pe = 0; pe < stats->n_pes; pe++) {
        const struct wsh_stats_peer *peer = &stats->peer[pe];

        out->puts += wsh_stats_get(&peer->puts);
        out->put_bytes += wsh_stats_get(&peer->put_bytes);
        out->gets += wsh_stats_get(&peer->gets);
        out->get_bytes += wsh_stats_get(&peer->get_bytes);
        out->atomics += wsh_stats_get(&peer->atomics);
    }
}

static void waits_read(struct wsh_stats *stats, shmemx_stats_t *out)
{
    const struct wsh_stats_page *page = stats->page;

    out->elapsed_ns = (uint64_t)((wsh_wait_now() - stats->opened) * 1e9);
    out->waits = wsh_stats_get(&page->waits);
    out->wait_ns = wsh_stats_get(&page->wait_ns);
    out->most_waited_pe = __atomic_load_n(&page->most_pe, __ATOMIC_RELAXED);
    pthread_mutex_lock(&stats->lock);
    out->longest_wait_ns = stats->longest[0].ns;
    out->longest_wait_pe = stats->longest[0].ns ? stats->longest[0].pe : -1;
    memcpy(out->longest_wait_routine, stats->longest[0].routine, sizeof out->longest_wait_routine);
    pthread_mutex_unlock(&stats->lock);
    out->expert_calls = wsh_stats_get(&stats->ep_calls);
    out->expert_rows = wsh_stats_get(&stats->ep_rows);
}

_Static_assert(sizeof((shmemx_stats_t *)0)->longest_wait_routine == WSH_STATS_ROUTINE, "the same text");

void wsh_stats_read(struct wsh_job *job, shmemx_stats_t *out)
{
    struct wsh_tp_traffic traffic;
    struct wsh_device_counts counts;

    memset(out, 0, sizeof *out);
    out->size = sizeof *out;
    out->longest_wait_pe = out->most_waited_pe = -1;
    traffic_read(job, -1, &traffic);
    out->network_operations = traffic.operations;
    out->network_bytes = traffic.bytes;
    out->network_doorbells = traffic.doorbells;
    out->network_retries = traffic.retries;
    out->network_stalls = traffic.stalls;
    wsh_device_ops()->counts(job, &counts);
    out->kernel_waits = counts.kernel_waits;
    out->proxy_waits = counts.proxy_waits;
    out->proxy_bytes = counts.proxy_bytes;
    out->proxy_copied_bytes = counts.proxy_copied;
    out->gda_operations = counts.gda_operations;
    collectives_read(job, out);
    out->heap_bytes = job->heap.seg[WSH_SEG_HEAP].len;
    out->heap_used_bytes = out->heap_bytes - wsh_alloc_free_bytes(job->heap.alloc);
    for (int seg = WSH_SEG_DEVICE; seg < WSH_SEGS; seg++)
        out->device_heap_bytes += job->heap.seg[seg].len;
    if (!job->stats)
        return;
    waits_read(job->stats, out);
    calls_read(job->stats, out);
}

void wsh_stats_read_peer(struct wsh_job *job, int pe, shmemx_stats_peer_t *row)
{
    const struct wsh_stats_peer *peer = job->stats ? &job->stats->peer[pe] : NULL;
    struct wsh_tp_traffic traffic;

    memset(row, 0, sizeof *row);
    traffic_read(job, pe, &traffic);
    row->pe = pe;
    row->same_host = job->same_host[pe];
    row->network_operations = traffic.operations;
    row->network_bytes = traffic.bytes;
    row->network_retries = traffic.retries;
    row->network_stalls = traffic.stalls;
    if (!peer)
        return;
    row->waits = wsh_stats_get(&peer->waits);
    row->wait_ns = wsh_stats_get(&peer->wait_ns);
    row->puts = wsh_stats_get(&peer->puts);
    row->put_bytes = wsh_stats_get(&peer->put_bytes);
    row->gets = wsh_stats_get(&peer->gets);
    row->get_bytes = wsh_stats_get(&peer->get_bytes);
    row->atomics = wsh_stats_get(&peer->atomics);
}

static void page_set(uint64_t *field, uint64_t value)
{
    __atomic_store_n(field, value, __ATOMIC_RELAXED);
}

void wsh_stats_publish(struct wsh_job *job)
{
    struct wsh_stats *stats = job->stats;
    shmemx_stats_t now;

    if (!stats)
        return;
    wsh_stats_read(job, &now);
    page_set(&stats->page->operations, now.network_operations + now.puts + now.gets + now.atomics);
    page_set(&stats->page->bytes, now.network_bytes + now.put_bytes + now.get_bytes);
    page_set(&stats->page->retries, now.network_retries);
    page_set(&stats->page->stalls, now.network_stalls);
    page_set(&stats->page->at, (uint64_t)(wsh_wait_now() * 1e9));
}
