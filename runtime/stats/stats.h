/* SPDX-License-Identifier: BSD-3-Clause */
/* What a PE counts besides what transports and the GPU's half count themselves. */
#ifndef WSH_STATS_H
#define WSH_STATS_H

#include "base/stats/page.h"

#include <pthread.h>
#include <stdint.h>

struct wsh_job;
struct wsh_stats_metrics;

#define WSH_STATS_LONGEST 5
#define WSH_STATS_WHOM 64

/* One of the longest waits. */
struct wsh_stats_longest {
    uint64_t ns;
    int32_t pe; /* for whom; -1: `whom` says it, or it is not known */
    char routine[WSH_STATS_ROUTINE];
    char whom[WSH_STATS_WHOM];
};

/* All relaxed. `puts` … `atomics` with SHMEM_STATS alone. */
struct wsh_stats_peer {
    uint64_t waits, wait_ns;
    uint64_t puts, put_bytes, gets, get_bytes, atomics;
};

/* peer[n_pes] is nobody: waits of which it is not known for whom. */
struct wsh_stats {
    struct wsh_stats_page *page; /* never NULL: one of this process alone where there is no memfd */
    int fd;                      /* of the page, or -1 */
    int n_pes;
    double opened;
    uint64_t published;     /* when the page's figures were last written; relaxed: several threads may */
    uint64_t longest_least; /* of `longest` the shortest; relaxed */
    bool
        shows; /* some thread's wait is on the page; of several the first one's. Acquire and release around it */
    uint64_t ep_calls, ep_rows;
    pthread_mutex_t lock;                                /* of `longest` */
    struct wsh_stats_longest longest[WSH_STATS_LONGEST]; /* the longest first */
    struct wsh_stats_metrics *metrics;                   /* the thread; NULL: there is none */
    struct wsh_stats_peer peer[];
};

static inline void wsh_stats_add(uint64_t *count, uint64_t n)
{
    __atomic_fetch_add(count, n, __ATOMIC_RELAXED);
}

static inline uint64_t wsh_stats_get(const uint64_t *count)
{
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

/* The counts and the page of this PE, after the bootstrap. 0 or -ENOMEM. */
int wsh_stats_open(struct wsh_job *job);
void wsh_stats_close(struct wsh_job *job);
/* The start is over: waits within it are no longer counted among the program's, nor its time. 0. */
int wsh_stats_begin(struct wsh_job *job);

/* `pe` is of the world: calls that went to it, for the shells that look closer. */
void wsh_stats_put(struct wsh_job *job, int pe, uint64_t bytes);
void wsh_stats_get_from(struct wsh_job *job, int pe, uint64_t bytes);
void wsh_stats_atomic(struct wsh_job *job, int pe);

#endif
