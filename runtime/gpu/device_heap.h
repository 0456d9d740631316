/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symmetric device memory: the heap on this PE's GPU and the buffers that the program has registered. All of it is
 * attached at the first collective call that asks for device memory, never at init.
 */
#ifndef WSH_DEVICE_HEAP_H
#define WSH_DEVICE_HEAP_H

#include "base/cuda/heap.h"
#include "base/ranges.h"
#include "transports/transport.h"

struct wsh_alloc;
struct wsh_ctx;
struct wsh_cuda_watch;
struct wsh_job;
struct wsh_proxy;
struct wsh_device_state;

struct wsh_device_heap {
    bool attached;
    int sharers; /* PEs of this machine that use it, this one too */
    struct wsh_gpu gpu;
    struct wsh_gpu_mem mem;
    size_t limit; /* bytes that it may grow to, equal on all PEs */
    struct wsh_alloc *alloc;
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

    struct wsh_device_state *state; /* what device code knows (runtime/gpu/host.h) */
    unsigned n_queues;              /* that kernels may name (runtime/gpu/proxy/proxy.h) */
    struct wsh_proxy *proxy;        /* executes what kernels cannot, or NULL */
    struct wsh_gda_host *gda;       /* queues of NICs that kernels write, or NULL */
    struct wsh_cuda_watch *watch;   /* NULL: SHMEM_HANG_SECONDS=0 */
};

/*
 * Collective. On the GPU of the calling thread's current context, else the one by the PE's number on the host. 0; or a
 * negative errno on every PE, after one line from each PE that failed and from one that did not. The first call must
 * not run while other threads of the PE communicate.
 */
int wsh_device_attach(struct wsh_job *job, const char *routine);

/* The same where every PE has chosen its GPU; else nothing. */
int wsh_device_attach_chosen(struct wsh_job *job, const char *routine);

/*
 * Detach before contexts and routes end: kernels then reach no host memory any more. Close after them: releases
 * everything.
 */
void wsh_device_detach(struct wsh_job *job);
void wsh_device_close(struct wsh_job *job);

/*
 * As wsh_heap_malloc, wsh_heap_calloc, wsh_heap_realloc and wsh_heap_free, for device memory; the first two attach
 * where that was not done. realloc: of memory, to more than nothing.
 */
void *wsh_device_malloc(struct wsh_job *job, size_t size, size_t align, const char *routine);
void *wsh_device_calloc(struct wsh_job *job, size_t count, size_t size);
void *wsh_device_realloc(struct wsh_job *job, void *ptr, size_t size);
int wsh_device_free(struct wsh_job *job, void *ptr);

/* Whether `ptr` is in the device heap. */
static inline bool wsh_device_heap_holds(const struct wsh_device_heap *heap, const void *ptr)
{
    return heap->attached && (size_t)((const char *)ptr - heap->mem.base) < heap->limit;
}

/*
 * Collective: puts memory behind the device heap's offsets up to `end`, from which no range will reach into what comes
 * later. 0, or a negative errno on every PE.
 */
int wsh_device_grow(struct wsh_job *job, size_t end, const char *routine);

/*
 * Lets kernels reach what the host heaps have newly committed; no range will reach from there into what is committed
 * later. After a commit, on every PE.
 */
void wsh_device_pin(struct wsh_job *job);

/*
 * Collective: [base, base + len), device memory with equal len on all PEs, becomes symmetric. 0 or a logged
 * error on every PE. -EINVAL of unregister: no such buffer (logged).
 */
int wsh_buffer_register(struct wsh_job *job, void *base, size_t len);
int wsh_buffer_unregister(struct wsh_job *job, void *base);

/*
 * Local: names memory that is source or target here of transfers with peers; registers what was named before the
 * attach. 0 or a logged error.
 */
int wsh_buffer_note(struct wsh_job *job, void *base, size_t len);
int wsh_buffer_forget(struct wsh_job *job, const void *base); /* NULL: all */
int wsh_buffers_attach(struct wsh_job *job);

#endif
