/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inbox of a PE: operations from other hosts on memory that only its GPU writes, as the host passes them to
 * kernels that wait. Pinned host memory. Read by C and CUDA; the host's side is runtime/gpu/stage/inbox.c, the GPU's
 * device/proxy/inbox.cuh.
 *
 * An item is a copy, then an atomic on a word; each may be missing. Items are counted for ever, from 0; item i lies in
 * place i modulo WSH_INBOX_ITEMS. They are executed in this order, each complete before the next one's word.
 *
 * The order of everything, in the words used at both ends. The host *hands* items: it writes them, then `head`
 * (release). One lane of the GPU at a time *pulls*: it holds `pulling` in device memory; it says in `state` that it is
 * busy, and behind a fence for that and what follows it reads `head` (then acquires). What it has done is released
 * before it says in `state` how many items are done, and that it is not busy.
 *
 * Nobody may be waiting: then the host *takes back* what was not pulled. It closes `head`, and then reads `state`, both
 * sequentially consistent: either it sees that a lane is busy, and comes again; or every lane that says so later finds
 * `head` closed and leaves. So each item is executed once. A lane that only looks, and finds nothing, says no more
 * than that it has looked: `polls` is another number then, of which the low bits say how many lanes would pull.
 */
#ifndef WSH_DEVICE_INBOX_H
#define WSH_DEVICE_INBOX_H

#include "../../base/amo_op.h"

#ifndef __CUDACC_RTC__
#include <stdint.h>
#else
#include <shmem/types.h>
#endif

#define WSH_INBOX_ITEMS 256u
#define WSH_INBOX_LANES ((uint64_t)63)       /* of looks: how many lanes of a warp have looked together */
#define WSH_INBOX_CLOSED ((uint64_t)1 << 63) /* of head */
#define WSH_INBOX_BUSY ((uint64_t)1) /* of state; the number of items that are done, times two, is the rest */

/* Addresses are those of the GPU. Read in parts of 16 bytes, the last one for a compare-and-swap alone. */
struct wsh_inbox_item {
    uint64_t to, from; /* a copy of `len` bytes */
    uint32_t len;
    uint8_t fenced; /* 1: what was copied before is released first, since others may wait for the copy */
    uint8_t unused;
    uint8_t op, width;     /* an atomic after the copy, enum wsh_amo_op, of 4 or 8 bytes */
    uint64_t word;         /* address of the atomic; 0: there is none */
    uint64_t operand, old; /* old: where its old value goes, 8 bytes, or 0 */
    uint64_t compare, end;
};

struct wsh_inbox {
    uint64_t head; /* the host's line */
    uint64_t line1[15];
    uint64_t state, polls; /* the GPU's */
    uint64_t line2[14];
    struct wsh_inbox_item item[WSH_INBOX_ITEMS];
};

#endif
