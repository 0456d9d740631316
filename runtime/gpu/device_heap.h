/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symmetric device memory (runtime/job/device.h has its data): the heap on this PE's GPU and the buffers that the
 * program has registered. All of it is attached at the first collective call that asks for device memory, never at
 * init.
 */
#ifndef WSH_DEVICE_HEAP_H
#define WSH_DEVICE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

struct wsh_job;
struct wsh_job_device;

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
 * This PE's heap, of no peer yet. open: with the GPU open; 0 or a logged error. close: the GPU too, and where open has
 * failed.
 */
int wsh_device_heap_open(struct wsh_job *job);
void wsh_device_heap_close(struct wsh_job *job);

/* Whether `ptr` is in it; false before the attach. */
bool wsh_device_heap_holds(const struct wsh_job_device *device, const void *ptr);

/*
 * As wsh_heap_malloc, wsh_heap_calloc, wsh_heap_realloc and wsh_heap_free, for device memory; the first two attach
 * where that was not done, and then call those of the heap, which want more than nothing. realloc: of memory, to more
 * than nothing.
 */
void *wsh_device_malloc(struct wsh_job *job, size_t size, size_t align, const char *routine);
void *wsh_device_calloc(struct wsh_job *job, size_t count, size_t size);
void *wsh_device_heap_malloc(struct wsh_job *job, size_t size, size_t align, const char *routine);
void *wsh_device_heap_calloc(struct wsh_job *job, size_t bytes, const char *routine);
void *wsh_device_realloc(struct wsh_job *job, void *ptr, size_t size);
int wsh_device_free(struct wsh_job *job, void *ptr);

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
 * error on every PE. register attaches where that was not done; add is its part behind that. -EINVAL of unregister: no
 * such buffer (logged).
 */
int wsh_buffer_register(struct wsh_job *job, void *base, size_t len);
int wsh_buffer_add(struct wsh_job *job, void *base, size_t len, const char *routine);
int wsh_buffer_unregister(struct wsh_job *job, void *base);

/*
 * Local: names memory that is source or target here of transfers with peers; registers what was named before the
 * attach. 0 or a logged error.
 */
int wsh_buffer_note(struct wsh_job *job, void *base, size_t len);
int wsh_buffer_forget(struct wsh_job *job, const void *base); /* NULL: all */
int wsh_buffers_attach(struct wsh_job *job);

#endif
