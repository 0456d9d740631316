/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PEs that calls go on without (config.masks). Each PE has masks of its own: nobody agrees.
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
struct ep_state;

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
    struct ep_told *sent; /* [n]: puts to each. Both are parts of `live` */
    void *topk;           /* of a call, without choices of those that are masked; [tokens][topk] of 8 bytes */
    struct ep_told *told; /* [n] by each, and [n].there: any; in symmetric memory of the host */
    /* Of kernels, copies for the host: of what is there, and of numbers */
    struct ep_live *live;
    struct ep_state *state;
};

/*
 * What kernels have of masks, behind the state (ep_live_of). Within a kernel `masked` grows, and `known` stays what it
 * was at the beginning: what all groups must see alike goes by that.
 */
struct ep_live {
    uint64_t limit, when; /* of a wait, in ns; the GPU's time when a PE was masked last */
    uint64_t verdict;     /* dispatch * 4 + enum ep_verdict */
    uint32_t any, known_any, met, blanks;
    uint32_t passed, unused; /* with far peers: groups that have all words of near PEs */
    int32_t rows[];          /* [EP_LIVE_ROWS][n]; then what ep_live_missed and ep_live_sent return */
};

/* WHY: 1 + the phase of the wait, CALL: its number, both of who has been masked by a kernel. */
enum ep_live_row {
    EP_LIVE_MASKED,
    EP_LIVE_KNOWN,
    EP_LIVE_DROPPED,
    EP_LIVE_BLANK,
    EP_LIVE_WHY,
    EP_LIVE_CALL,
    EP_LIVE_ROWS
};

/* What groups do with the words of a dispatch, some of which some have waited for in vain. */
enum ep_verdict { EP_VERDICT_OPEN = 1, EP_VERDICT_DROP, EP_VERDICT_TAKE };

/* Of what kernels have: a look at it; the same when calls are over, before a change; the change. */
enum ep_masks_how { EP_MASKS_LOOK, EP_MASKS_READ, EP_MASKS_WRITE };

/* Bytes at the end of the arena, and beside it, of an instance with masks. */
size_t ep_masks_arena(const struct ep_shape *shape);
size_t ep_masks_bytes(const struct ep_shape *shape);

/* After the arena. 0, or nonzero without memory. close: also of none. */
int ep_masks_open(struct shmemx_ep *ep);
void ep_masks_close(struct shmemx_ep *ep);

/* Masks number `pe` of the team, or takes it back. */
void ep_masks_set(struct ep_masks *masks, int pe, int masked);

/* A line for number `pe`, which a wait of the phase has masked. */
void ep_masks_say(const struct ep_masks *masks, const int *pes, int pe, int phase, bool failed,
                  long long call);

/* Between masks and their copy `live`: what kernels have masked, with a line for each; and back. */
void ep_masks_from_live(struct shmemx_ep *ep);
void ep_masks_to_live(const struct shmemx_ep *ep);

/* At the beginning of a sending half: takes what PEs have told, unless halves of the other kind are under way. */
void ep_masks_look(struct shmemx_ep *ep);

#ifdef __cplusplus
}
#endif

#endif
