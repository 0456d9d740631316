/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proxy: the threads that execute what kernels ask for and their GPU cannot do itself, the rings to them, and their
 * own contexts.
 */
#ifndef WSH_PROXY_H
#define WSH_PROXY_H

#include <stdbool.h>
#include <stdint.h>

struct wsh_device;
struct wsh_device_root;
struct wsh_job;

/*
 * open: when the GPU is attached, where SHMEM_PROXY asks for a proxy; 0 or a logged error. close: no kernel may run;
 * what was asked for before is executed first. Both may be called where there is none.
 */
int wsh_proxy_open(struct wsh_job *job);
void wsh_proxy_close(struct wsh_job *job);

/* What units get to know about the rings, and about zero-copy transfers. */
void wsh_proxy_device_state(const struct wsh_job *job, struct wsh_device *device);

/*
 * n queues more, and their numbers, of which WSH_DEVICE_QUEUES (device/view/view.h) differ. Before the GPU is attached
 * they are noted alone. 0 or a logged error.
 */
int wsh_proxy_add_queues(struct wsh_job *job, unsigned n, int *numbers);

/* What kernels get to know about queues. */
void wsh_proxy_rows(const struct wsh_job *job, struct wsh_device_root *root);

/*
 * Everything that kernels of this PE had asked for before the call (visible to the CPU, as after their end) is complete
 * at its target. Cheap where there is nothing.
 */
int wsh_proxy_quiet(struct wsh_job *job);

/* How often kernels, and proxy threads, have waited for something to be complete at its target. By any thread. */
void wsh_proxy_waits(const struct wsh_job *job, uint64_t *kernels, uint64_t *threads);

/* Bytes that kernels have had moved, and those of them that went through the rings. By any thread. */
void wsh_proxy_bytes(const struct wsh_job *job, uint64_t *moved, uint64_t *copied);

/* Ends the job, with one line, if a proxy thread has ended or does not run. By any thread, now and then. */
void wsh_proxy_watch(void);

#endif
