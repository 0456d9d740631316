/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of what a PE has counted. */
#ifndef WSH_STATS_READ_H
#define WSH_STATS_READ_H

#include "runtime/stats/stats.h"

#include <shmemx.h>

void wsh_stats_read(struct wsh_job *job, shmemx_stats_t *out);
void wsh_stats_read_peer(struct wsh_job *job, int pe, shmemx_stats_peer_t *row);

/* Writes the figures to the page, for who looks at it. */
void wsh_stats_publish(struct wsh_job *job);

#endif
