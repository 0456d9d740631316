/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for the flags of several members. */
#ifndef WSH_COLL_FLAGS_H
#define WSH_COLL_FLAGS_H

#include "runtime/coll/choose/state.h"

/*
 * The word of member m is at offset off + m * stride in this member's sync area or, if `mapped`, at `off` in that of m,
 * as it is mapped here. It is set when its value is `want` to `want` + `span`. The caller's own word is not read.
 */
struct wsh_flags {
    struct wsh_team *team;
    const int *members; /* [n] numbers in the team */
    int n, next; /* index of the member whose flag is read next; after the last one follows the first */
    int at;      /* how many flags are set */
    bool mapped;
    size_t off, stride;
    uint64_t want, span;
    uint64_t gathered; /* bits of the flags that are set, combined by or */
};

/* Waits for all; what is later read of what they announced is there. */
int wsh_flags_await(struct wsh_flags *flags, const char *routine);

/* Waits for the one word at `off` of my sync area, which `from` writes. */
int wsh_flag_await(struct wsh_team *team, int from, size_t off, uint64_t want, const char *routine);

#endif
