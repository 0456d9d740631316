/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how flags of several members are awaited. */
#ifndef WSH_COLL_HEAR_H
#define WSH_COLL_HEAR_H

#include "runtime/coll/state.h"

/*
 * The word of member m is at offset off + m * stride: in my pad, or (there) in m's own as it is mapped here. It is
 * heard when its bits from `shift` on are `want`; the bits below are gathered. The caller's own word is not looked at.
 */
struct wsh_hear {
    struct wsh_team *team;
    const int *members; /* [n] */
    int n;
    size_t off, stride;
    bool there;
    unsigned shift;
    uint64_t want, gathered;
    int at; /* members before it have been heard */
};

/* Waits for all; what is later read of what they announced is there. */
int wsh_hear_all(struct wsh_hear *hear, const char *routine);

/* Waits for the one word at `off` of my pad, which `from` writes. */
int wsh_hear_one(struct wsh_team *team, int from, size_t off, uint64_t want, const char *routine);

#endif
