/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows what a transport of device memory is given that carries its operations by others: host memory of its own on
 * every PE, a context of its own, and the routes of the others.
 */
#ifndef WSH_UNDER_H
#define WSH_UNDER_H

#include "runtime/ctx.h"

struct wsh_job;

struct wsh_under {
    struct wsh_tp_under given; /* base NULL: there is none */
    struct wsh_ctx ctx;
    bool has_ctx;
};

/*
 * open: collective, at the attach of the GPU; nothing where all PEs are on one host. 0 or a logged error, on all PEs.
 * close: collective, after an attach that failed.
 */
int wsh_under_open(struct wsh_job *job);
void wsh_under_close(struct wsh_job *job);

/* Local: what the context needs of the GPU is made now, since no kernel waits. 0 or a logged error. */
int wsh_under_warm(struct wsh_job *job);

/*
 * Local: the context, opened before the transports of device memory and closed after all other contexts. 0 or a
 * negative errno.
 */
int wsh_under_open_ctx(struct wsh_job *job);
void wsh_under_close_ctx(struct wsh_job *job);

#endif
