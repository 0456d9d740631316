/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how bytes reach a file, pipe or terminal that may be slow, without oshrun ever blocking on it. */
#ifndef WSH_OSHRUN_SINK_H
#define WSH_OSHRUN_SINK_H

#include "bootstrap/oshrun/pollset.h"

#include <stdbool.h>
#include <stddef.h>

struct wsh_sink {
    int fd;
    char *bytes;
    size_t used, cap;
    int index;   /* in the pollset */
    bool broken; /* nobody reads it any more; what comes is dropped */
};

/* Queues bytes. */
void wsh_sink_put(struct wsh_sink *sink, const char *bytes, size_t len);

/* So much is queued that its sources should wait. */
bool wsh_sink_full(const struct wsh_sink *sink);

/* Each turn of the loop: _poll before waiting, _work after. */
void wsh_sink_poll(struct wsh_sink *sink, struct wsh_pollset *set);
void wsh_sink_work(struct wsh_sink *sink, const struct wsh_pollset *set);

/* Forgets what is queued and frees it; the descriptor stays open. */
void wsh_sink_fini(struct wsh_sink *sink);

#endif
