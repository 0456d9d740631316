/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues of NICs that kernels write themselves (device/nic/gda.h): what the host gives to kernels for it, the watcher
 * that publishes completions, and how the host and the proxy wait for what kernels have posted.
 */
#ifndef WSH_GPU_GDA_H
#define WSH_GPU_GDA_H

#include "device/nic/gda.h"

#include <stdbool.h>
#include <stddef.h>

struct wsh_job;

/*
 * When the GPU is attached and the proxy is there, as SHMEM_GDA asks. open: 0, also where kernels post by the proxy
 * alone (SHMEM_DEBUG=info says why), or a logged error. close: before the proxy's end, when no kernel runs; may be
 * called where nothing was opened.
 */
int wsh_gda_open(struct wsh_job *job);
void wsh_gda_close(struct wsh_job *job);

/*
 * Where kernels post counted puts with the n counters from `first` on, which NICs of peers keep; with `live` false, or
 * where there is no room in the table: by records. No kernel uses them now. 0 or a logged error.
 */
int wsh_gda_counters(struct wsh_job *job, uint32_t first, uint32_t n, bool live);

/* What a fence waits for: how far the queues had come when it was first tried. Zeros at first. */
struct wsh_gda_snapshot {
    bool noted;
    uint64_t posted[WSH_GDA_ALL_MAX];
};

/* 0: everything posted before the first try is complete, and the snapshot is reset; -EAGAIN: not yet. */
int wsh_gda_quiet_try(const struct wsh_job *job, struct wsh_gda_snapshot *snapshot);

/* Requests of kernels that are complete. */
uint64_t wsh_gda_completed(const struct wsh_job *job);

/* All that kernels of this PE have posted before the call is complete. Cheap where there is nothing. */
int wsh_gda_quiet(struct wsh_job *job);

/* Appends what is under way, e.g. "3 requests of kernels in queue 1; ". */
void wsh_gda_describe(const struct wsh_job *job, char *text, size_t size);

#endif
