/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes what device code reports to the user. */
#include "runtime/gpu/host.h"
#include "runtime/gpu/report.h"
#include "runtime/gpu/view_state.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/job.h"
#include "runtime/notes.h"

static __attribute__((noinline)) void log_hung(struct wsh_view *view)
{
    char text[512];

    if (!__atomic_load_n(&view->pinned->report.hang.state, __ATOMIC_ACQUIRE) ||
        __atomic_exchange_n(&view->hang_logged, true, __ATOMIC_RELAXED))
        return;
    wsh_report_text(&view->pinned->report.hang, view->job->n_pes, text, sizeof text);
    wsh_warn("%s", text);
    wsh_notes_log();
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
