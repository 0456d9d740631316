/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes what device code reports to the user, and gives modules of the driver API the view. */
#include "runtime/gpu/host.h"
#include "runtime/gpu/report.h"
#include "runtime/gpu/view_state.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/job.h"

static __attribute__((noinline)) void log_hung(struct wsh_view *view)
{
    char text[512];

    if (!__atomic_load_n(&view->pinned->report.hang.state, __ATOMIC_ACQUIRE) ||
        __atomic_exchange_n(&view->hang_logged, true, __ATOMIC_RELAXED))
        return;
    wsh_report_text(&view->pinned->report.hang, view->job->n_pes, text, sizeof text);
    wsh_warn("%s", text);
}

static __attribute__((cold, noinline)) int log_refused(struct wsh_view *view)
{
    char text[512];

    if (!__atomic_exchange_n(&view->error_logged, true, __ATOMIC_RELAXED)) {
        wsh_report_text(&view->pinned->report.error, view->job->n_pes, text, sizeof text);
        wsh_error("%s", text);
    }
    return -EIO;
}

/* Acquire: partners are the release by which device code ends a record, and wsh_view_open's of the view. */
int wsh_view_look(const struct wsh_job *job)
{
    struct wsh_view *view = __atomic_load_n(&job->device.view, __ATOMIC_ACQUIRE);

    if (!view)
        return 0;
    log_hung(view);
    if (wsh_likely(!__atomic_load_n(&view->pinned->report.error.state, __ATOMIC_ACQUIRE)))
        return 0;
    return log_refused(view);
}

int wsh_view_module(struct wsh_job *job, void *module)
{
    struct wsh_view *view = job->device.view;
    const struct wsh_cuda *cu = wsh_cuda();
    wsh_cu_ptr symbol;
    size_t len = 0;
    int status = 0;

    if (!view || wsh_gpu_enter(&job->device.gpu)) {
        wsh_error("shmemx_module_init: no GPU is attached; call shmemx_malloc_device first, on all PEs");
        return -EINVAL;
    }
    status = cu->module_global(&symbol, &len, module, WSH_DEVICE_SYMBOL);
    if (!status && len == sizeof view->device)
        status = cu->copy(symbol, (wsh_cu_ptr)(uintptr_t)&view->device, len, view->stream);
    if (!status)
        status = cu->stream_sync(view->stream);
    wsh_gpu_leave(&job->device.gpu);
    if (!status && len == sizeof view->device)
        return 0;
    wsh_error("shmemx_module_init: the module has no %s of %zu bytes (%zu there%s%s); compile it with this "
              "warpshmem's shmemx.h",
              WSH_DEVICE_SYMBOL, sizeof view->device, len, status ? ": " : "",
              status ? wsh_cuda_strerror(status) : "");
    return -EINVAL;
}
