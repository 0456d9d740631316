/* SPDX-License-Identifier: BSD-3-Clause */
/* An alltoall of small blocks over several hosts. */
#ifndef WSH_COLL_ALLTOALL_RAILS_H
#define WSH_COLL_ALLTOALL_RAILS_H

#include "runtime/coll/algorithms/slices.h"

/*
 * Each member sends one message to each other host, to the member of its place there: what all members of its own
 * host, whose sources it reads, have for that one. Hosts are even and in rows, src is mapped. From 4 to 16 messages are
 * kept in memory of the call's own.
 */
int wsh_alltoall_rails(struct wsh_team *team, void *dest, const void *src, size_t len);

#endif
