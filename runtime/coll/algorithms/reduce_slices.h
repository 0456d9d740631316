/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions that are cut into slices, each combined by one member. dest == src is allowed. */
#ifndef WSH_COLL_REDUCE_SLICES_H
#define WSH_COLL_REDUCE_SLICES_H

#include "runtime/coll/choose/state.h"

#define WSH_REDUCE_ROUTINE "a reduction"

/* What is combined: n elements, len bytes, of each member. */
struct wsh_numbers {
    const struct wsh_arith *arith;
    size_t n, len;
};

/* Each member combines one slice of the numbers of all members and writes it to all. */
int wsh_reduce_slices(struct wsh_team *team, char *dest, const char *src, const struct wsh_numbers *numbers);

/* Two members that share no memory combine one half each. */
int wsh_reduce_pair(struct wsh_team *team, char *dest, const char *src, const struct wsh_numbers *numbers);
int wsh_reduce_whole(struct wsh_team *team, char *dest, const char *src, const struct wsh_numbers *numbers);

/*
 * The same on each host first; then the members of the same place on every host combine their slice, so that the bytes
 * cross the network once a host and by the NICs of all members; then each host shares what it has. Needs
 * hosts with equally many members.
 */
int wsh_reduce_rails(struct wsh_team *team, char *dest, const char *src, const struct wsh_numbers *numbers);

#endif
