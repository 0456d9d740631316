/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of the GPU's part of a job, in two steps: before contexts and routes end, and after them. */
#include "runtime/device_ops.h"
#include "runtime/gpu/cuda_watch.h"
#include "runtime/gpu/device_heap.h"
#include "runtime/gpu/gda/gda.h"
#include "runtime/gpu/host.h"
#include "runtime/gpu/proxy/proxy.h"
#include "runtime/gpu/stage/host.h"
#include "runtime/job/job.h"

#include <stdlib.h>

void wsh_device_detach(struct wsh_job *job)
{
    struct wsh_job_device *device = &job->device;

    wsh_modules_close();
    if (!device->attached)
        return;
    wsh_proxy_quiet(job);
    wsh_gda_close(job);
    wsh_proxy_close(job);
    wsh_device_state_close(job);
    if (!wsh_gpu_enter(&device->gpu)) {
        for (size_t i = 0; i < device->n_pins; i++)
            wsh_gpu_unpin(device->pins[i]);
        wsh_gpu_leave(&device->gpu);
    }
    wsh_cuda_watch_close(job);
    free(device->pins);
    device->pins = NULL;
    device->n_pins = device->pinned = 0;
    device->pin_refused = false;
}

void wsh_device_close(struct wsh_job *job)
{
    if (job->device.attached)
        wsh_device_heap_close(job);
    wsh_stage_host_forget(job);
    wsh_device_ops_set(&wsh_device_none);
}
