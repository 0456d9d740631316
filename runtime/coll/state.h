/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows what a team's collectives keep between calls: symmetric flags, epochs and a context of their own. */
#ifndef WSH_COLL_STATE_H
#define WSH_COLL_STATE_H

#include "runtime/coll/coll.h"
#include "runtime/ctx.h"

#include <stdint.h>

/*
 * Flags are words that exactly one member writes, two of them per use, taken in turn by the epoch's parity. A
 * member can be at most one epoch ahead of another (it needs the other's flag of the epoch before), so a word is
 * never overwritten before it was read, even where the network reorders signals.
 */
struct wsh_coll {
    struct wsh_ctx ctx; /* numbers are the team's */
    bool linear;        /* sync: every member signals every other; else dissemination */
    int rounds;         /* of dissemination */
    uint64_t sync_epoch, alltoall_epoch;
    uint64_t *sync_flags;     /* [2][linear ? n_pes : rounds] symmetric */
    uint64_t *alltoall_flags; /* [2][n_pes] symmetric */
};

#endif
