/* SPDX-License-Identifier: BSD-3-Clause */
/* Fences of PMIx, with a report where one takes long. */
#define _GNU_SOURCE
#include "bootstrap/pmix/fence.h"

#include "base/err.h"
#include "base/log.h"
#include "bootstrap/pmix/call.h"
#include "bootstrap/pmix/library.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
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
#define AGAIN_SECONDS 0.002

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

pmix_status_t wsh_fence_pmix_try(const pmix_proc_t *procs, size_t n, bool collect, const char *what,
                                 pmix_status_t where)
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
    return status;
}

/* Until it has put the key. The server answers as soon as it is there, or that it is not. */
static void back_await(const char *key, int pe, double began)
{
    pmix_proc_t proc = wsh_pmix_proc(fence.me.nspace, (pmix_rank_t)pe);
    pmix_info_t info = wsh_pmix_info(PMIX_TIMEOUT, PMIX_INT);
    double said = began;
    pmix_value_t *value = NULL;

    info.value.data.integer = 1;
    while (wsh_pmix.Get(&proc, key, &info, 1, &value) != PMIX_SUCCESS) {
        struct timespec pause = wsh_pmix_after(AGAIN_SECONDS);

        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &pause, NULL);
        if (fence.hang_seconds > 0 && wsh_pmix_now() > said + fence.hang_seconds) {
            said = wsh_pmix_now();
            wsh_warn("shmem_init: waiting for PE %d since %.0f s (SHMEM_HANG_SECONDS sets when this is said)",
                     pe, said - began);
        }
    }
    wsh_pmix_value_release(value);
}

int wsh_fence_pmix_return(uint32_t generation, int n_pes)
{
    pmix_value_t value = {.type = PMIX_UINT32, .data.uint32 = generation};
    char key[PMIX_MAX_KEYLEN + 1];
    pmix_status_t status;

    snprintf(key, sizeof key, "wsh.%u.back", generation);
    status = wsh_pmix.Put(PMIX_GLOBAL, key, &value);
    if (status == PMIX_SUCCESS)
        status = wsh_pmix.Commit();
    if (status != PMIX_SUCCESS)
        return wsh_pmix_call_failed("shmem_init", status);
    for (int pe = 0; pe < n_pes; pe++)
        if (pe != (int)fence.me.rank)
            back_await(key, pe, wsh_pmix_now());
    return 0;
}

int wsh_fence_pmix(const pmix_proc_t *procs, size_t n, bool collect, const char *what, pmix_status_t where)
{
    pmix_status_t status = wsh_fence_pmix_try(procs, n, collect, what, where);

    return status == PMIX_SUCCESS ? 0 : wsh_pmix_call_failed(what, status);
}
