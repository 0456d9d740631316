/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public routines that return what a PE has counted, by which a library adds to that and to reports of hangs, and
 * by which bindings learn of errors and settings.
 */
#include "runtime/wait/notes.h"

#include "base/env/env.h"
#include "base/log.h"
#include "runtime/api/api.h"
#include "runtime/stats/read.h"

#include <shmemx.h>
#include <string.h>

int shmemx_report_add(void (*describe)(void *arg, char *text, size_t size), void *arg)
{
    int rc;

    if (!describe)
        wsh_api_bad("shmemx_report_add", "describe is NULL");
    rc = wsh_note_add(describe, arg);
    if (rc)
        wsh_error("shmemx_report_add: no memory for a callback");
    return rc ? 1 : 0;
}

int shmemx_report_remove(void *arg)
{
    if (!wsh_note_remove(arg))
        return 0;
    wsh_error("shmemx_report_remove: no callback has this arg: it was removed, or never added");
    return 1;
}

int shmemx_error_hold(int hold)
{
    return wsh_log_hold(hold != 0);
}

const char *shmemx_error_last(void)
{
    return wsh_log_last_error();
}

const char *shmemx_setting(const char *name)
{
    return name ? wsh_env_text(name) : NULL;
}

int shmemx_stats(shmemx_stats_t *out, size_t size)
{
    shmemx_stats_t all;

    wsh_api_ready("shmemx_stats");
    if (!out || size < sizeof all.size) {
        wsh_error("shmemx_stats: out is NULL, or size less than 8; pass sizeof(shmemx_stats_t)");
        return 1;
    }
    wsh_stats_read(&wsh_job, &all);
    memset(out, 0, size);
    memcpy(out, &all, size < sizeof all ? size : sizeof all);
    return 0;
}

int shmemx_stats_peers(shmemx_stats_peer_t *rows, size_t n)
{
    wsh_api_ready("shmemx_stats_peers");
    if (!rows && n) {
        wsh_error("shmemx_stats_peers: rows is NULL; pass an array of n rows");
        return 1;
    }
    for (size_t pe = 0; pe < n; pe++) {
        memset(&rows[pe], 0, sizeof rows[pe]);
        rows[pe].pe = -1;
        if (pe < (size_t)wsh_job.n_pes)
            wsh_stats_read_peer(&wsh_job, (int)pe, &rows[pe]);
    }
    return 0;
}

void shmemx_stats_add(int count, uint64_t n)
{
    if (!wsh_job.stats)
        return;
    if (count == SHMEMX_STATS_EXPERT_CALLS)
        wsh_stats_add(&wsh_job.stats->ep_calls, n);
    if (count == SHMEMX_STATS_EXPERT_ROWS)
        wsh_stats_add(&wsh_job.stats->ep_rows, n);
}

/* Former names. */

const char *shmemx_last_error(void)
{
    return shmemx_error_last();
}

int shmemx_hold_errors(int hold)
{
    return shmemx_error_hold(hold);
}

void shmemx_proxy_waits(uint64_t *kernels, uint64_t *threads)
{
    shmemx_stats_t stats;

    wsh_api_ready("shmemx_proxy_waits");
    if (!kernels || !threads)
        wsh_api_bad("shmemx_proxy_waits", "kernels or threads is NULL; pass the addresses of two uint64_t");
    wsh_stats_read(&wsh_job, &stats);
    *kernels = stats.kernel_waits;
    *threads = stats.proxy_waits;
}

void shmemx_proxy_bytes(uint64_t *moved, uint64_t *copied)
{
    shmemx_stats_t stats;

    wsh_api_ready("shmemx_proxy_bytes");
    if (!moved || !copied)
        wsh_api_bad("shmemx_proxy_bytes", "moved or copied is NULL; pass the addresses of two uint64_t");
    wsh_stats_read(&wsh_job, &stats);
    *moved = stats.proxy_bytes;
    *copied = stats.proxy_copied_bytes;
}

void shmemx_network_counts(uint64_t *operations, uint64_t *bytes)
{
    shmemx_stats_t stats;

    wsh_api_ready("shmemx_network_counts");
    if (!operations || !bytes)
        wsh_api_bad("shmemx_network_counts",
                    "operations or bytes is NULL; pass the addresses of two uint64_t");
    wsh_stats_read(&wsh_job, &stats);
    *operations = stats.network_operations;
    *bytes = stats.network_bytes;
}
