/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host keeps of the view that it has given to the units. */
#ifndef WSH_DEVICE_VIEW_STATE_H
#define WSH_DEVICE_VIEW_STATE_H

#include "device/view.h"
#include "base/cuda.h"

struct wsh_job;

/* Host memory that kernels reach. */
struct wsh_view_pinned {
    struct wsh_device_report report;
    struct wsh_device_handles handles;
    int32_t members[]; /* of the shared team */
};

struct wsh_view {
    struct wsh_device device; /* what units get */
    const struct wsh_job *job;
    wsh_cu_stream stream;
    wsh_cu_ptr
        block; /* device memory: locks, ranges, slots, a table for each segment, teams, tables of ranges */
    char *image;
    size_t ranges, slots, tables, teams, buffers, size; /* offsets in it */
    size_t next;                                        /* table of ranges, from `buffers` on */
    int n_slots;
    struct wsh_view_pinned *pinned;
    bool hang_logged, error_logged; /* logged once, by whichever thread of the process sees it first */
};

/* Copies a part of the image to the GPU and waits for it; with the GPU's context current. 0 or the driver's status. */
int wsh_view_upload(struct wsh_view *view, size_t off, size_t len);

#endif
