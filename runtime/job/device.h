/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a job has of this PE's GPU: the device heap, registered memory, what kernels know and the host's half of it.
 * Only the code of GPUs and job.c write it; until a GPU is attached all is zero but for the program's buffers and
 * queues.
 */
#ifndef WSH_JOB_DEVICE_H
#define WSH_JOB_DEVICE_H

#include "base/cuda/heap.h"
#include "base/ranges.h"
#include "transports/transport.h"

struct wsh_alloc;
struct wsh_cuda_watch;
struct wsh_device_state;
struct wsh_gda_host;
struct wsh_proxy;
struct wsh_stage_host;

/* Allocations are alike on all PEs. */
struct wsh_device_heap {
    struct wsh_gpu_mem mem;
    size_t limit; /* bytes that it may grow to, equal on all PEs */
    struct wsh_alloc *alloc;
};

struct wsh_job_device {
    bool attached;
    int sharers; /* PEs of this job and machine that use the GPU, this one too; or SHMEM_GPU_PES, if that is more */
    struct wsh_gpu gpu;
    struct wsh_device_heap heap;
    char *sync_areas;   /* sync areas of teams in device memory */
    char *counters;     /* words of counters to which GPUs add */
    char *nic_counters; /* words of counters to which NICs add (device/view/view.h) */
    unsigned first_tp;  /* index of the first transport of device memory */

    struct wsh_ranges *local;             /* device memory that this PE has registered for itself */
    bool used[WSH_SEGS_LOCAL - WSH_SEGS]; /* the segments of `local` in use, from WSH_SEGS on */

    void **pins; /* pieces of host memory that kernels may use */
    size_t n_pins;
    size_t pinned;    /* bytes of each host heap among them, from the start */
    bool pin_refused; /* kernels do not reach host memory */

    struct wsh_device_state *state; /* what device code knows (gpu/host.h) */
    unsigned n_queues;              /* that kernels may name (gpu/proxy/proxy.h) */
    struct wsh_proxy *proxy;        /* executes what kernels cannot, or NULL */
    struct wsh_gda_host *gda;       /* queues of NICs that kernels write, or NULL */
    struct wsh_stage_host *stage;   /* what staging has of the core, or NULL (gpu/stage/host.h) */
    struct wsh_cuda_watch *watch;   /* NULL: SHMEM_HANG_SECONDS=0 */
};

#endif
