/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills the table with what the files of this folder do. */
#include "runtime/gpu/gpu_ops.h"

#include "runtime/gpu/cuda_watch.h"
#include "runtime/gpu/device_heap.h"
#include "runtime/gpu/gda/gda.h"
#include "runtime/gpu/host.h"
#include "runtime/gpu/proxy/proxy.h"
#include "runtime/gpu/stage/host.h"
#include "runtime/job/job.h"

#include <errno.h>

static bool holds(const struct wsh_job *job, const void *ptr)
{
    return wsh_device_heap_holds(&job->device, ptr);
}

static void counts(const struct wsh_job *job, struct wsh_device_counts *counts)
{
    wsh_proxy_waits(job, &counts->kernel_waits, &counts->proxy_waits);
    wsh_proxy_bytes(job, &counts->proxy_bytes, &counts->proxy_copied);
    counts->gda_operations = wsh_gda_completed(job);
}

static int stage_open(struct wsh_job *job, struct wsh_tp **tp)
{
    const struct wsh_stage_host *host = job->device.stage;

    return host ? wsh_stage_open(&host->given, job->my_pe, job->n_pes, tp) : -ENODEV;
}

void wsh_gpu_ops_set(void)
{
    static struct wsh_device_ops ops = {
        .poll_errors = wsh_device_errors_poll,
        .watch = wsh_proxy_watch,
        .watch_also = wsh_cuda_watch_also,
        .quiet = wsh_proxy_quiet,
        .counts = counts,
        .ctx_here = wsh_device_state_ctx,
        .team_come = wsh_device_state_team,
        .team_gone = wsh_device_state_team_gone,
        .write = wsh_device_state_write,
        .sync_areas_clear = wsh_sync_areas_clear,
        .counters_show = wsh_gda_counters,
        .holds = holds,
        .free = wsh_device_free,
        .realloc = wsh_device_realloc,
        .pin = wsh_device_pin,
        .detach = wsh_device_detach,
        .stage_close = wsh_stage_host_close,
        .close = wsh_device_close,
        .stage_open = stage_open,
        .signal_hold = wsh_stage_signal_hold,
        .signal_release = wsh_stage_signal_release,
    };

    if (!ops.stage)
        ops.stage = wsh_stage_ops();
    wsh_device_ops_set(&ops);
}
