/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the clocks of hosts by round trips between PE 0 and the first PE of each other host. */
#ifndef WSH_TRACE_CLOCKS_H
#define WSH_TRACE_CLOCKS_H

#include "trace/format.h"

struct wsh_trace_clocks {
    int me, n_pes, leader;
    uint64_t round;
    struct wsh_trace_block *block; /* symmetric; NULL: no memory for it */
};

/* Collective, all of them. */
void wsh_trace_clocks_open(struct wsh_trace_clocks *clocks, int me, int n_pes);
/* *ahead of a first PE (but on PE 0's own host, where the clocks are one); NULL: not asked for. */
void wsh_trace_clocks_compare(struct wsh_trace_clocks *clocks, struct wsh_trace_ahead *ahead);
void wsh_trace_clocks_close(struct wsh_trace_clocks *clocks);

#endif
