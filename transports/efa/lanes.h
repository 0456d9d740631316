/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows the lanes of a PE. A lane is all that a put needs: endpoints on every NIC of the PE, the memory registered with
 * them, the ordering engine, and one lock over these. Contexts are dealt to lanes, and what a context starts arrives at
 * the same lane of its target, so that threads whose contexts have different lanes share nothing.
 */
#ifndef WSH_EFA_LANES_H
#define WSH_EFA_LANES_H

#include "transports/transport.h"

#define WSH_EFA_LANES 4

struct wsh_efa_tp;

struct wsh_efa_lanes {
    struct wsh_tp base;
    uint32_t n;      /* open here … */
    uint32_t in_use; /* … and at all PEs: the first ones */
    struct wsh_efa_tp *lane[WSH_EFA_LANES];
    uint32_t users[WSH_EFA_LANES]; /* contexts */
    int wait_fd;                   /* readable when one of the lanes' is; -1: there is none, or one lane */
    int failed;                    /* of any lane: the first final error, which has been logged */
    unsigned told_rails;           /* bits of rails that were said to be left out */
    uint64_t strange[2];           /* messages and writes that were dropped, not being of this job … */
    uint64_t strange_due;          /* … of which nothing is said before this second */
    bool weak_keys;                /* it was said that keys of this provider can be guessed */
};

/* The head of a blob in which a PE describes its lanes; a part of len[i] bytes for each follows. */
struct wsh_efa_parts {
    uint32_t n, len[WSH_EFA_LANES];
};

/* The part of lane i of a blob that wsh_efa_parts_check has passed. */
const void *wsh_efa_parts_get(const void *blob, unsigned i, size_t *len);
/* The number of lanes in it; 0: it is none (logged). */
uint32_t wsh_efa_parts_check(int pe, const void *blob, size_t len);

/* lanes_mem.c: slots of struct wsh_tp_ops */
int wsh_efa_lanes_mem_register(struct wsh_tp *tp, const struct wsh_mem *mem, struct wsh_lmem **lmem,
                               void *blob, size_t *blob_len);
void wsh_efa_lanes_mem_release(struct wsh_tp *tp, struct wsh_lmem *lmem);
int wsh_efa_lanes_mem_attach(struct wsh_tp *tp, int pe, enum wsh_seg seg, const void *blob, size_t blob_len,
                             struct wsh_rmem *rmem);
void wsh_efa_lanes_mem_detach(struct wsh_tp *tp, struct wsh_rmem *rmem);

#endif
