/* SPDX-License-Identifier: BSD-3-Clause */
/* What the core passes to the device side, and asks of it. The data itself is laid out in device/view/view.h. */
#ifndef WSH_DEVICE_HOST_H
#define WSH_DEVICE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wsh_ctx;
struct wsh_device;
struct wsh_job;
struct wsh_team;

/*
 * Around the time that the GPU is attached. open: the tables and records, and whether all registered modules fit this
 * library; 0 or a logged error. fill: the device state, into every registered module. close: zeroes in every module.
 * All of them may be called where nothing was opened.
 */
int wsh_device_state_open(struct wsh_job *job);
void wsh_device_state_fill(struct wsh_job *job);
void wsh_device_state_close(struct wsh_job *job);

/* Modules that could not be filled before. 0; or, after one line, -EPROTO: a module of another version has come. */
int wsh_device_state_refill(struct wsh_job *job);

/* Registered buffers have changed. */
void wsh_device_state_buffers(struct wsh_job *job);

/* Queues have come. 0 or a logged error. */
int wsh_device_state_queues(struct wsh_job *job);

/* Address of the table of the peers' device heaps, in device memory (WSH_DEVICE_PEERS). The GPU is attached. */
uint64_t wsh_device_state_peers(const struct wsh_job *job);

/* Writes to this PE's device memory, and waits for it. The GPU is attached. 0 or -EIO (logged). */
int wsh_device_state_write(const struct wsh_job *job, void *at, const void *from, size_t len);

/* A context has come, or goes. */
void wsh_device_state_ctx(const struct wsh_ctx *ctx, bool here);

/*
 * Memory of the device heap for teams (struct wsh_device_team_header): its bytes, on all PEs alike; taken from the
 * heap, zero.
 * open: 0 or a logged error.
 */
size_t wsh_sync_areas_len(const struct wsh_job *job);
int wsh_sync_areas_open(struct wsh_job *job);
/* Zeroes a part of it. 0 or -EIO (logged). */
int wsh_sync_areas_clear(const struct wsh_job *job, char *at, size_t len);

/* A team has been created (its place in the pool is known), or is destroyed after a sync of its members; any time. */
void wsh_device_state_team(const struct wsh_team *team);
void wsh_device_state_team_gone(const struct wsh_team *team);

/* Whether kernels reach some members by the proxy alone. */
bool wsh_device_state_spans_hosts(const struct wsh_team *team);

/* All teams there are, and where counters lie, when the device state is filled. */
void wsh_device_state_teams(struct wsh_job *job, struct wsh_device *device);

/* Prints what device code has reported, in one line; -EIO: a call was refused, so that the job must end. Cheap. */
int wsh_device_errors_poll(const struct wsh_job *job);

/*
 * The same, for a thread that does not otherwise keep the device state from being released. wsh_device_state_set waits
 * for it.
 */
int wsh_device_errors_watch(struct wsh_job *job);

/*
 * Publishes the device state to threads that poll it once it is complete, or none. On return no thread reads the
 * previous one.
 */
struct wsh_device_state;
void wsh_device_state_set(struct wsh_job *job, struct wsh_device_state *state);

/*
 * Fills the device states in a module loaded by the driver API (CUmodule), now or when the GPU is attached; forgets one
 * that waits for that. 0, also where the module has no device state, or a logged error.
 */
int wsh_module_init(struct wsh_job *job, void *module);
void wsh_module_forget(void *module);

/*
 * The job's device state is complete: the modules that have waited get it. Before it goes: what still waits is
 * forgotten.
 */
int wsh_modules_fill(const struct wsh_job *job);
void wsh_modules_close(void);

#endif
