/* SPDX-License-Identifier: BSD-3-Clause */
/* Fences of PMIx, with a report where one takes long. */
#define _GNU_SOURCE
#include "bootstrap/fence_pmix.h"

#include "base/err.h"
#include "base/log.h"
#include "bootstrap/call_pmix.h"
#include "bootstrap/pmix_library.h"

#include <errno.h>
#include <stdatomic.h>
#include <time.h>

static struct {
    pmix_proc_t me;
    bool waits;
    double hang_seconds;
    /* The event that says where this PE waits; 0 = it does not. Read by libpmix's thread, alone, so relaxed. */
    atomic_int where;
} fence;

/*
 * Most failures here follow from the end of another PE. The launcher then reports which PE and why, and ends this PE. A
 * message from each survivor would hide that report, so a survivor waits before it prints its own.
 */
#define LAUNCHER_SECONDS 2.5

void wsh_fence_pmix_open(const pmix_proc_t *me, bool waits, double hang_seconds)
{
    fence.me = *me;
    fence.waits = waits;
    fence.hang_seconds = hang_seconds;
}

int wsh_pmix_call_failed(const char *what, pmix_status_t status)
{
    struct timespec until = wsh_pmix_after(LAUNCHER_SECONDS);

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
    wsh_error("PMIx: %s: %s; another PE or the launcher has ended, see its message", what,
              wsh_pmix.Error_string(status));
    return -EIO;
}

static void note_sent(pmix_status_t status, void *unused)
{
    (void)status, (void)unused;
}

void wsh_fence_pmix_note(void)
{
    int where = atomic_load_explicit(&fence.where, memory_order_relaxed);

    if (where && fence.waits)
        wsh_pmix.Notify_event(where, &fence.me, PMIX_RANGE_RM, NULL, 0, note_sent, NULL);
}

int wsh_fence_pmix(const pmix_proc_t *procs, size_t n, bool collect, const char *what, pmix_status_t where)
{
    const char *who =
        fence.waits ? "oshrun names those that are missing" : "those that do not say this are missing";
    pmix_info_t info = wsh_pmix_info(PMIX_COLLECT_DATA, PMIX_BOOL);
    struct wsh_pmix_call call;
    pmix_status_t status;

    wsh_pmix_call_init(&call);
    call.late = wsh_fence_pmix_note;
    info.value.data.flag = collect;
    status = wsh_pmix.Fence_nb(procs, n, &info, 1, wsh_pmix_call_done, &call);
    atomic_store_explicit(&fence.where, where, memory_order_relaxed);
    if (status == PMIX_SUCCESS)
        status = wsh_pmix_call_wait(&call, fence.hang_seconds, what, who);
    atomic_store_explicit(&fence.where, 0, memory_order_relaxed);
    return status == PMIX_SUCCESS ? 0 : wsh_pmix_call_failed(what, status);
}
