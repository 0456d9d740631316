/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PEs that calls go on without (config.masks; rows in memory of the host). Each PE has masks of its own: nobody agrees.
 *
 * A PE that comes back has made fewer calls, or more, and others have not put to it meanwhile. So whoever takes a PE
 * back tells it the numbers of its calls and of its puts to it (struct ep_told), and the first sending half afterwards
 * takes the largest numbers, and counts puts from there on. Numbers never decrease: an old flag is never taken for one
 * of a later call.
 */
#ifndef WSH_EP_MASKS_H
#define WSH_EP_MASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct shmemx_ep;
struct ep_shape;

/* Of one PE, for another. */
struct ep_told {
    uint64_t there; /* 1 until it is read */
    uint64_t dispatches, combines;
    uint64_t parts[2], results[2], weights; /* puts to the other PE since create, by parity of the call */
};

struct ep_masks {
    int32_t *masked;  /* [n]: 1: calls go on without it */
    int32_t *dropped; /* [n]: that were so when the words of a dispatch were taken */
    uint64_t
        *blanked; /* [n]: the dispatch in which a PE was masked after its words, and its rows became zeros */
    int any, drops;   /* how many are not 0 */
    double limit;     /* of a wait for a PE, in seconds */
    uint64_t *missed; /* [counters]: how many calls more there were than puts that the counter has counted */
    struct ep_told *sent; /* [n]: puts to each */
    void *topk;           /* of a call, without choices of those that are masked; [tokens][topk] of 8 bytes */
    struct ep_told *told; /* [n] by each, and [n].there: any; in the arena */
};

/* Bytes at the end of the arena, and beside it, of an instance with masks. */
size_t ep_masks_arena(const struct ep_shape *shape);
size_t ep_masks_bytes(const struct ep_shape *shape);

/* After the arena. 0, or nonzero without memory. close: also of none. */
int ep_masks_open(struct shmemx_ep *ep);
void ep_masks_close(struct shmemx_ep *ep);

/* Masks number `pe` of the team, or takes it back. */
void ep_masks_set(struct ep_masks *masks, int pe, int masked);

/* At the beginning of a sending half: takes what PEs have told, unless halves of the other kind are under way. */
void ep_masks_look(struct shmemx_ep *ep);

#ifdef __cplusplus
}
#endif

#endif
