/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the core gives staging: host memory of its own on every PE, a context of its own, and the routes of the job. A
 * job on one host has none of it (job->device.stage NULL).
 */
#ifndef WSH_STAGE_HOST_H
#define WSH_STAGE_HOST_H

#include "runtime/gpu/stage/stage.h"
#include "runtime/job/job.h"
#include "runtime/op/ctx.h"

struct wsh_stage_host {
    struct wsh_stage_context given;
    struct wsh_ctx ctx;
    bool has_ctx;
};

/*
 * reserve: collective, at the attach of the GPU; nothing where all PEs are on one host. 0 or a logged error, on all.
 * free: collective, after an attach that failed. forget: local, where the symmetric heap ends anyway.
 */
int wsh_stage_host_reserve(struct wsh_job *job);
void wsh_stage_host_free(struct wsh_job *job);
void wsh_stage_host_forget(struct wsh_job *job);

/*
 * Local: the context, opened before the transports of device memory and closed after all other contexts. 0 or a
 * negative errno.
 */
int wsh_stage_host_open(struct wsh_job *job);
void wsh_stage_host_close(struct wsh_job *job);

/* Local: what the context needs of the GPU is made now, since no kernel waits. 0 or a logged error. */
int wsh_stage_host_warm(struct wsh_job *job);

/* From which kernels pull what has come from other hosts; NULL: they do not. */
static inline struct wsh_inbox *wsh_stage_host_inbox(const struct wsh_job *job)
{
    return job->device.stage ? job->device.stage->given.inbox : NULL;
}

#endif
