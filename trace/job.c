/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins the trace when the library has started, and ends it before the library does. */
#define _GNU_SOURCE
#include "trace/clocks.h"
#include "trace/merge.h"
#include "trace/nvtx.h"
#include "trace/ring.h"

#include "base/env/env.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct {
    int inits;  /* begun and not ended */
    bool noted; /* this PE has a part */
    struct wsh_trace_clocks clocks;
    char file[4096];
} trace;

static void paths_find(const void *block, int me, int n)
{
    for (int pe = 0; pe < n; pe++)
        wsh_trace_ring_path(pe, pe == me || WSH_LIBRARY(pshmem_ptr)(block, pe) ? WSH_TRACE_LOCAL
                                                                               : WSH_TRACE_NETWORK);
}

/* Collective. Where some PE has no file, the others go on. */
static void trace_begin(void)
{
    int me = WSH_LIBRARY(pshmem_my_pe)(), n = WSH_LIBRARY(pshmem_n_pes)();
    struct wsh_env env;

    if (trace.inits++ || wsh_env_load(&env))
        return;
    wsh_log_set_pe(me);
    if (env.nvtx)
        wsh_trace_nvtx_open();
    if (!env.trace)
        return;
    snprintf(trace.file, sizeof trace.file, "%s", env.trace);
    wsh_trace_clocks_open(&trace.clocks, me, n);
    trace.noted = !wsh_trace_ring_open(trace.file, &trace.clocks, env.trace_events);
    if (trace.noted) {
        wsh_trace_ring_head()->leader = trace.clocks.leader;
        paths_find(trace.clocks.block, me, n);
    }
    wsh_trace_clocks_compare(&trace.clocks, wsh_trace_ring_head() ? &wsh_trace_ring_head()->ahead[0] : NULL);
}

/* The files are complete before the last barrier, behind which PE 0 reads them. */
static void trace_end(void)
{
    if (--trace.inits)
        return;
    wsh_trace_nvtx_close();
    if (!*trace.file)
        return;
    wsh_trace_clocks_compare(&trace.clocks, wsh_trace_ring_head() ? &wsh_trace_ring_head()->ahead[1] : NULL);
    wsh_trace_clocks_close(&trace.clocks);
    if (wsh_trace_ring_head())
        wsh_trace_ring_close();
}

static void trace_merge(void)
{
    char text[1024] = "";
    int rc;

    if (trace.inits || !*trace.file)
        return;
    rc = trace.clocks.me == 0 ? wsh_trace_merge(trace.file, text, sizeof text) : 0;
    if (*text && (rc != -ENOENT || trace.noted)) /* that there is no room for parts has been said */
        wsh_warn("SHMEM_TRACE: %s", text);
    trace.file[0] = '\0';
}

void shmem_init(void)
{
    WSH_LIBRARY(pshmem_init)();
    trace_begin();
}

int shmem_init_thread(int requested, int *provided)
{
    int rc = WSH_LIBRARY(pshmem_init_thread)(requested, provided);

    if (!rc)
        trace_begin();
    return rc;
}

void start_pes(int npes)
{
    WSH_LIBRARY(pshmem_start_pes)(npes);
    trace_begin();
}

int shmemx_init_attr(unsigned flags, shmemx_init_attr_t *attr)
{
    int (*next)(unsigned, shmemx_init_attr_t *);
    void *found = wsh_trace_extension("shmemx_init_attr");
    int rc;

    if (!found)
        wsh_trace_missing("shmemx_init_attr");
    memcpy(&next, &found, sizeof next);
    rc = next(flags, attr);
    if (!rc)
        trace_begin();
    return rc;
}

void shmem_finalize(void)
{
    int initialized = 0;

    WSH_LIBRARY(pshmem_query_initialized)(&initialized);
    if (initialized && trace.inits)
        trace_end();
    WSH_LIBRARY(pshmem_finalize)();
    if (initialized)
        trace_merge();
}

/* 0 stops the trace, anything else goes on with it (OpenSHMEM 1.6, section 10). */
void shmem_pcontrol(int level, ...)
{
    wsh_trace_ring_pause(!level);
    wsh_trace_nvtx_pause(!level);
}
