/* SPDX-License-Identifier: BSD-3-Clause */
/* What the core gives staging: host memory of its own on every PE, a context of its own, and the routes of the job. */
#ifndef WSH_STAGE_HOST_H
#define WSH_STAGE_HOST_H

#include "runtime/op/ctx.h"
#include "runtime/gpu/stage/stage.h"

struct wsh_job;

struct wsh_stage_host {
    struct wsh_stage_context given; /* base NULL: there is none */
    struct wsh_ctx ctx;
    bool has_ctx;
};

/*
 * reserve: collective, at the attach of the GPU; nothing where all PEs are on one host. 0 or a logged error, on all.
 * free: collective, after an attach that failed.
 */
int wsh_stage_host_reserve(struct wsh_job *job);
void wsh_stage_host_free(struct wsh_job *job);

/*
 * Local: the context, opened before the transports of device memory and closed after all other contexts. 0 or a
 * negative errno.
 */
int wsh_stage_host_open(struct wsh_job *job);
void wsh_stage_host_close(struct wsh_job *job);

/* Local: what the context needs of the GPU is made now, since no kernel waits. 0 or a logged error. */
int wsh_stage_host_warm(struct wsh_job *job);

#endif
