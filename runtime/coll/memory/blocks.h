/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks written directly to their destination at other members, with a flag per sender. */
#ifndef WSH_COLL_BLOCKS_H
#define WSH_COLL_BLOCKS_H

#include "runtime/coll/choose/state.h"

/* An epoch of blocks: at most one from each member to each other, and one flag also where there is no data. */
struct wsh_blocks {
    struct wsh_team *team;
    const char *routine;
    size_t flags;    /* the flags of this epoch, in the sync area */
    uint64_t before; /* slots used before it */
};

struct wsh_blocks wsh_blocks_begin(struct wsh_team *team, const char *routine);
int wsh_blocks_send(const struct wsh_blocks *blocks, void *dest, const void *src, size_t len, int member);

/* The same with data in pieces some way apart. */
int wsh_blocks_send_strided(const struct wsh_blocks *blocks, void *dest, const void *src,
                            const struct wsh_strided *shape, int member);

/*
 * A whole epoch in device memory, its end included: block i at src + i * stride goes to dest of member i. Waits for the
 * GPU once, not per member.
 */
int wsh_blocks_device(const struct wsh_blocks *blocks, void *dest, const void *src, size_t stride,
                      size_t len);

/* The member of step k, 1 <= k < n: starts behind this member, so that no member is the first target of all. */
static inline int wsh_blocks_turn(const struct wsh_team *team, int k)
{
    return team->my_pe + k < team->n_pes ? team->my_pe + k : team->my_pe + k - team->n_pes;
}

/*
 * The member of step k, 0 <= k < n, where blocks are read. Every second time in reverse order: what was touched last is
 * still in the cache and is read first.
 */
static inline int wsh_blocks_pull_turn(const struct wsh_team *team, int k)
{
    return wsh_blocks_turn(team, team->coll->pulls % 2 ? team->n_pes - 1 - k : k);
}

/* Awaits the blocks of these members. */
int wsh_blocks_take(const struct wsh_blocks *blocks, const int *members, int n);

/*
 * Waits for the blocks of all members. Then what was sent has left its source, and all members have entered the call.
 */
int wsh_blocks_end(const struct wsh_blocks *blocks);

#endif
