/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of a job that has not attached a GPU. */
#include "runtime/device_ops.h"

#include <errno.h>

const struct wsh_device_ops *wsh_device_current = &wsh_device_none;

static int none_poll_errors(const struct wsh_job *job)
{
    (void)job;
    return 0;
}

static void none_watch(void)
{
}

static void none_watch_also(char *text, size_t size)
{
    if (size)
        *text = 0;
}

static int none_quiet(struct wsh_job *job)
{
    (void)job;
    return 0;
}

static void none_counts(const struct wsh_job *job, struct wsh_device_counts *counts)
{
    (void)job;
    *counts = (struct wsh_device_counts){0};
}

static void none_ctx_here(const struct wsh_ctx *ctx, bool here)
{
    (void)ctx;
    (void)here;
}

static void none_team(const struct wsh_team *team)
{
    (void)team;
}

static int none_write(const struct wsh_job *job, void *at, const void *from, size_t len)
{
    (void)job;
    (void)at;
    (void)from;
    (void)len;
    return -EIO;
}

static int none_sync_areas_clear(const struct wsh_job *job, char *at, size_t len)
{
    (void)job;
    (void)at;
    (void)len;
    return -EIO;
}

static int none_counters_show(struct wsh_job *job, uint32_t first, uint32_t n, bool here)
{
    (void)job;
    (void)first;
    (void)n;
    (void)here;
    return 0;
}

static bool none_holds(const struct wsh_job *job, const void *ptr)
{
    (void)job;
    (void)ptr;
    return false;
}

static int none_free(struct wsh_job *job, void *ptr)
{
    (void)job;
    (void)ptr;
    return -EINVAL;
}

static void *none_realloc(struct wsh_job *job, void *ptr, size_t size)
{
    (void)job;
    (void)ptr;
    (void)size;
    return NULL;
}

static void none_job(struct wsh_job *job)
{
    (void)job;
}

static int none_stage_open(struct wsh_job *job, struct wsh_tp **tp)
{
    (void)job;
    (void)tp;
    return -ENODEV;
}

static int none_signal_hold(struct wsh_tctx *tctx, const struct wsh_sig *sig, struct wsh_done *done,
                            struct wsh_done **hold)
{
    (void)tctx;
    (void)sig;
    (void)done;
    (void)hold;
    return -ENOTSUP;
}

static void none_signal_release(struct wsh_tctx *tctx, const struct wsh_sig *sig, struct wsh_done *hold,
                                bool sent)
{
    (void)tctx;
    (void)sig;
    (void)hold;
    (void)sent;
}

const struct wsh_device_ops wsh_device_none = {
    .poll_errors = none_poll_errors,
    .watch = none_watch,
    .watch_also = none_watch_also,
    .quiet = none_quiet,
    .counts = none_counts,
    .ctx_here = none_ctx_here,
    .team_come = none_team,
    .team_gone = none_team,
    .write = none_write,
    .sync_areas_clear = none_sync_areas_clear,
    .counters_show = none_counters_show,
    .holds = none_holds,
    .free = none_free,
    .realloc = none_realloc,
    .pin = none_job,
    .detach = none_job,
    .stage_close = none_job,
    .close = none_job,
    .stage_open = none_stage_open,
    .signal_hold = none_signal_hold,
    .signal_release = none_signal_release,
};
