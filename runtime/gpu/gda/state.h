/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's state of queues that kernels write, for gda*.c alone. */
#ifndef WSH_GPU_GDA_STATE_H
#define WSH_GPU_GDA_STATE_H

#include "base/cuda/cuda.h"
#include "runtime/gpu/gda/gda.h"
#include "runtime/gpu/proxy/watch.h"
#include "transports/transport.h"

#include <pthread.h>

/* Memory of a queue that the GPU reaches: whole pages, which queues may share. */
struct wsh_gda_pages {
    char *base;
    size_t len;
    wsh_cu_ptr at; /* for the GPU */
    bool ordinary; /* memory of the host, which the GPU stores to as it likes */
};

struct wsh_gda_host {
    struct wsh_job *job;
    struct wsh_tp *tp;
    unsigned n, n_values; /* queues; the last of them whose requests carry data */
    unsigned n_rails;
    struct wsh_tp_queue queue[WSH_GDA_ALL_MAX];
    struct wsh_gda_marks *marks; /* pinned, [WSH_GDA_ALL_MAX] */
    struct wsh_gda_pages pages[2 * WSH_GDA_ALL_MAX];
    unsigned n_pages;
    wsh_cu_ptr peers;      /* struct wsh_gda_peer[n_rails][n_pes] */
    struct wsh_gda device; /* what lies behind the proxy's struct wsh_ring_heads */
    bool runs, stop;
    pthread_t id;
    struct wsh_proxy_life life;
    unsigned reports; /* SIGUSR1 generations answered */
};

/* The table of counters' queue pairs, with the counters that there are; the GPU's context is current. */
int wsh_gda_counters_open(struct wsh_gda_host *gda);

/* The watcher. 0 or a logged error; stop: also where it was not started. */
int wsh_gda_watch_start(struct wsh_gda_host *gda);
void wsh_gda_watch_stop(struct wsh_gda_host *gda);

#endif
