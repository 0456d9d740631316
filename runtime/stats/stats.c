/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes the counts, and counts calls. */
#include "runtime/stats/stats.h"

#include "base/log.h"
#include "runtime/job/job.h"
#include "runtime/stats/names.h"
#include "runtime/wait/clock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Without a page nobody sees the figures, and the job goes on. */
static struct wsh_stats_page *page_open(const struct wsh_job *job, int *fd)
{
    struct wsh_stats_page *page = NULL;

    *fd = -1;
    if (job->env.oshrun_stats >= 0)
        page = wsh_stats_page_given((int)job->env.oshrun_stats, job->my_pe);
    return page ? page : wsh_stats_page_make(fd);
}

static void page_begin(const struct wsh_job *job, struct wsh_stats_page *page)
{
    memset(page, 0, sizeof *page);
    page->pe = job->my_pe;
    page->n_pes = job->n_pes;
    page->pid = getpid();
    page->wait_pe = page->most_pe = -1;
    wsh_stats_job_name(job, page->job, sizeof page->job);
    __atomic_store_n(&page->magic, WSH_STATS_MAGIC, __ATOMIC_RELEASE); /* partner: wsh_stats_page_read */
}

static void calls_count(struct wsh_job *job, bool on)
{
    wsh_job_mark(job, WSH_SPECIAL_STATS, on);
    job->closer = job->check || on;
}

int wsh_stats_open(struct wsh_job *job)
{
    struct wsh_stats *stats = calloc(1, sizeof *stats + ((size_t)job->n_pes + 1) * sizeof stats->peer[0]);

    if (!stats)
        return -ENOMEM;
    stats->page = page_open(job, &stats->fd);
    if (!stats->page) {
        wsh_info(WSH_SUB_INIT, "no page of statistics: %s; --top does not show this PE", wsh_strerror(errno));
        free(stats);
        return 0;
    }
    stats->n_pes = job->n_pes;
    stats->opened = wsh_wait_now();
    pthread_mutex_init(&stats->lock, NULL);
    page_begin(job, stats->page);
    __atomic_store_n(&job->stats, stats, __ATOMIC_RELAXED);
    calls_count(job, job->env.stats || job->env.stats_file);
    return 0;
}

int wsh_stats_begin(struct wsh_job *job)
{
    struct wsh_stats *stats = job->stats;

    if (!stats)
        return 0;
    for (int pe = 0; pe <= stats->n_pes; pe++) {
        __atomic_store_n(&stats->peer[pe].waits, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&stats->peer[pe].wait_ns, 0, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&stats->page->waits, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&stats->page->wait_ns, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&stats->page->most_ns, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&stats->page->most_pe, -1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&stats->lock);
    memset(stats->longest, 0, sizeof stats->longest);
    __atomic_store_n(&stats->longest_least, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&stats->lock);
    stats->opened = wsh_wait_now();
    return 0;
}

void wsh_stats_close(struct wsh_job *job)
{
    struct wsh_stats *stats = job->stats;

    calls_count(job, false);
    __atomic_store_n(&job->stats, NULL, __ATOMIC_RELAXED);
    if (!stats)
        return;
    __atomic_store_n(&stats->page->wait_since, 0, __ATOMIC_RELAXED); /* the rest may still be shown */
    stats->page->metrics[0] = 0;
    wsh_stats_page_close(stats->page);
    if (stats->fd >= 0)
        close(stats->fd);
    pthread_mutex_destroy(&stats->lock);
    free(stats);
}

static struct wsh_stats_peer *peer_of(struct wsh_job *job, int pe)
{
    return job->stats && (unsigned)pe < (unsigned)job->n_pes ? &job->stats->peer[pe] : NULL;
}

void wsh_stats_put(struct wsh_job *job, int pe, uint64_t bytes)
{
    struct wsh_stats_peer *peer = peer_of(job, pe);

    if (!peer)
        return;
    wsh_stats_add(&peer->puts, 1);
    wsh_stats_add(&peer->put_bytes, bytes);
}

void wsh_stats_get_from(struct wsh_job *job, int pe, uint64_t bytes)
{
    struct wsh_stats_peer *peer = peer_of(job, pe);

    if (!peer)
        return;
    wsh_stats_add(&peer->gets, 1);
    wsh_stats_add(&peer->get_bytes, bytes);
}

void wsh_stats_atomic(struct wsh_job *job, int pe)
{
    struct wsh_stats_peer *peer = peer_of(job, pe);

    if (peer)
        wsh_stats_add(&peer->atomics, 1);
}
