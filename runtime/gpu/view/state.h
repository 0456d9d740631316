/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host keeps of the device state that it has given to the modules. */
#ifndef WSH_DEVICE_VIEW_STATE_H
#define WSH_DEVICE_VIEW_STATE_H

#include "device/view/view.h"
#include "base/cuda/cuda.h"

struct wsh_job;

/* Host memory that kernels reach. */
struct wsh_device_state_pinned {
    struct wsh_device_report report;
    struct wsh_device_handles handles;
    int32_t members[]; /* of the shared team; then a byte for each PE, whether it has failed */
};

struct wsh_device_state {
    struct wsh_device device; /* what modules get */
    const struct wsh_job *job;
    wsh_cu_stream stream;
    wsh_cu_ptr
        block; /* device memory: locks, the root, slots, a table for each segment, teams, tables of ranges */
    char *image;
    size_t root, slots, tables, teams, buffers, size; /* offsets in it */
    size_t next;                                      /* table of ranges, from `buffers` on */
    int n_slots;
    struct wsh_device_state_pinned *pinned;
    bool hang_logged, error_logged; /* logged once, by whichever thread of the process sees it first */
};

/* Tables begin at multiples of WSH_DEVICE_STATE_LINE. */
enum { WSH_DEVICE_STATE_LINE = 64 };

static inline size_t wsh_device_state_lines(size_t len)
{
    return (len + WSH_DEVICE_STATE_LINE - 1) & ~(size_t)(WSH_DEVICE_STATE_LINE - 1);
}

/* Bytes of one table of ranges with n rows; of the room for tables, of which the last so many stay as they are. */
#define WSH_DEVICE_STATE_RANGES_LEN(n) \
    (sizeof(struct wsh_device_ranges) + (n) * sizeof(struct wsh_device_range))
#define WSH_DEVICE_STATE_RANGES_ROOM \
    ((WSH_DEVICE_RANGES_KEPT + 2) * WSH_DEVICE_STATE_RANGES_LEN((size_t)WSH_SEGS_LOCAL))

/* Bytes of device memory that the device state of a GPU takes, and of host memory for its image. */
size_t wsh_device_state_size(int n_pes, int n_local);

/* slots[n_pes]: PEs of this host in order; WSH_DEVICE_NO_SLOT for others, and for those beyond so many. */
void wsh_device_state_number(const struct wsh_job *job, uint8_t *slots);

/* Where this GPU finds the segment of `pe`, or NULL. */
char *wsh_device_state_mapping(const struct wsh_job *job, int pe, int seg);

/* The segment as kernels reach it, whose table of places is filled. */
struct wsh_device_seg wsh_device_state_seg(struct wsh_device_state *state, int seg);

/* Everything at and behind the root. */
void wsh_device_state_root(struct wsh_job *job);

/* Copies a part of the image to the GPU and waits for it; with the GPU's context current. 0 or the driver's status. */
int wsh_device_state_upload(struct wsh_device_state *state, size_t off, size_t len);

#endif
