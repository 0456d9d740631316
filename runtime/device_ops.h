/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the core asks of the half for GPUs, runtime/gpu, which it sees through this table alone. Until the first call
 * that asks for device memory, and in jobs without, the table is wsh_device_none, where nothing is to be done.
 */
#ifndef WSH_DEVICE_OPS_H
#define WSH_DEVICE_OPS_H

#include "transports/transport.h"

struct wsh_ctx;
struct wsh_job;
struct wsh_team;

struct wsh_device_counts {
    uint64_t kernel_waits, proxy_waits; /* shmemx_proxy_waits */
    uint64_t proxy_bytes, proxy_copied; /* shmemx_proxy_bytes */
    uint64_t gda_operations;            /* complete, of the queues that kernels write themselves */
};

struct wsh_device_ops {
    /* Prints what device code has reported, in one line; -EIO: a call was refused, so that the job must end. Cheap. */
    int (*poll_errors)(const struct wsh_job *job);
    /* Checks that the threads which kernels wait for are alive; by whoever waits. */
    void (*watch)(void);
    /* For the report of a wait: the call of the CUDA driver that has lasted longest, after "; ", or "". */
    void (*watch_also)(char *text, size_t size);
    /* Waits until all that kernels have asked the host for is complete. 0 or a final error. */
    int (*quiet)(struct wsh_job *job);

    /* What kernels have asked for; zeros where there is no GPU. */
    void (*counts)(const struct wsh_job *job, struct wsh_device_counts *counts);

    /* A context or a team has come, or goes. */
    void (*ctx_here)(const struct wsh_ctx *ctx, bool here);
    void (*team_come)(const struct wsh_team *team);
    void (*team_gone)(const struct wsh_team *team);

    /* Writes to this PE's device memory, and waits for it; zeroes a part of the memory of teams. 0 or -EIO (logged). */
    int (*write)(const struct wsh_job *job, void *at, const void *from, size_t len);
    int (*sync_areas_clear)(const struct wsh_job *job, char *at, size_t len);
    /* Kernels may put to the queue pairs that count for these counters, or not any more. 0 or a logged error. */
    int (*counters_show)(struct wsh_job *job, uint32_t first, uint32_t n, bool here);

    /* Whether `ptr` is in the device heap; its wsh_heap_free and wsh_heap_realloc. */
    bool (*holds)(const struct wsh_job *job, const void *ptr);
    int (*free)(struct wsh_job *job, void *ptr);
    void *(*realloc)(struct wsh_job *job, void *ptr, size_t size);
    /* Lets kernels reach what the host heap has newly committed. */
    void (*pin)(struct wsh_job *job);

    /*
     * The end of the job. detach: before contexts and routes end; kernels then reach no host memory any more.
     * stage_close: staging's own context, after all others. close: releases everything, after the routes; the table is
     * then wsh_device_none again.
     */
    void (*detach)(struct wsh_job *job);
    void (*stage_close)(struct wsh_job *job);
    void (*close)(struct wsh_job *job);

    /* Staging, the transport that runtime/gpu/stage is; NULL: there is none. open: as wsh_tp_ops.open. */
    const struct wsh_tp_ops *stage;
    int (*stage_open)(struct wsh_job *job, struct wsh_tp **tp);
    /* A signal that staging holds back until what `hold` counts has come; and lets go, or (sent false) forgets. */
    int (*signal_hold)(struct wsh_tctx *tctx, const struct wsh_sig *sig, struct wsh_done *done,
                       struct wsh_done **hold);
    void (*signal_release)(struct wsh_tctx *tctx, const struct wsh_sig *sig, struct wsh_done *hold,
                           bool sent);
};

extern const struct wsh_device_ops wsh_device_none;

/* Set by runtime/gpu/attach.c. Relaxed: threads of the library that look meanwhile may find either. */
extern const struct wsh_device_ops *wsh_device_current;

static inline const struct wsh_device_ops *wsh_device_ops(void)
{
    return __atomic_load_n(&wsh_device_current, __ATOMIC_RELAXED);
}

static inline void wsh_device_ops_set(const struct wsh_device_ops *ops)
{
    __atomic_store_n(&wsh_device_current, ops, __ATOMIC_RELAXED);
}

#endif
