/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects over several hosts, in which each host's blocks cross the network once for every other host. */
#ifndef WSH_COLL_COLLECT_HOSTS_H
#define WSH_COLL_COLLECT_HOSTS_H

#include "runtime/coll/choose/state.h"

/* Where blocks are in dest: all of `len` bytes, or each of its own size. */
struct wsh_offsets {
    char *dest;
    size_t len;
    const uint64_t *sizes; /* [n_pes], or NULL */
    const char *routine;
};

/* Where the block of member `pe` begins; n_pes: where all end. */
size_t wsh_offsets_of(const struct wsh_offsets *offsets, int pe);

/* Members give their block to their leader, leaders send theirs to each other and then all of it to their members. */
int wsh_collect_by_leaders(struct wsh_team *team, const struct wsh_offsets *offsets, const void *src,
                           size_t len);

/*
 * The same in rounds, in each of which a leader passes on everything that it has. The members of a host are
 * consecutive.
 */
int wsh_collect_by_doubling(struct wsh_team *team, const struct wsh_offsets *offsets, const void *src,
                            size_t len);

/*
 * Members with the same index on each host exchange their blocks, so that all NICs of a host are used; then the members
 * of a host read from each other. Every host has equally many members, in rows, and dest is mapped.
 */
int wsh_collect_by_rails(struct wsh_team *team, const struct wsh_offsets *offsets, const void *src,
                         size_t len);

#endif
