/* SPDX-License-Identifier: BSD-3-Clause */
/* Brings what one member of a memory domain has to the others of it. */
#ifndef WSH_COLL_SHARE_H
#define WSH_COLL_SHARE_H

#include "runtime/coll/choose/state.h"

/*
 * `len` bytes at `from` of member `rep` come to `to` at the other members of its domain, all of whom call it with
 * the same slot. Both addresses are symmetric. At rep, `from` may be reused on return, except for what
 * is still pending on coll->ctx.
 */
struct wsh_share {
    const char *routine;
    uint64_t slot;
    int rep;
    void *to;
    const void *from;
    size_t len;
    enum wsh_algo algo; /* of BROADCAST in choice.c */
};

/* All members of the team together: chooses how, and the slot. The rest is filled in. */
int wsh_share_begin(struct wsh_team *team, struct wsh_share *share);
int wsh_share(struct wsh_team *team, const struct wsh_share *share);

/* To one member: the slot's flag after the data, which is small enough for the slot itself or goes to `to`. */
int wsh_share_send(struct wsh_team *team, const struct wsh_share *share, const void *data, int member);
/* Awaits what `sender` has sent so. */
int wsh_share_take(struct wsh_team *team, const struct wsh_share *share, int sender);

#endif
