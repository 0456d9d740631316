/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the collective operations of a team, built from put_signal and wait only. */
#ifndef WSH_COLL_H
#define WSH_COLL_H

#include "runtime/team.h"

#include <stddef.h>

/* State per team: symmetric flags and the epoch. */
int wsh_coll_open(struct wsh_team *team);
void wsh_coll_close(struct wsh_team *team);

/* Arrival of all members; completes nothing. 0 or a final error (logged). */
int wsh_sync(struct wsh_team *team, const char *routine);

/* All members have arrived, and what they issued on the default context is complete. */
int wsh_barrier(struct wsh_team *team, const char *routine);

/*
 * Block i (`len` bytes) of src goes to member i's dest block of my number. src and dest are symmetric
 * and do not overlap. On return dest is complete and src may be reused.
 */
int wsh_alltoall(struct wsh_team *team, void *dest, const void *src, size_t len);

/* A sync that also says whether every member passed ok = true; for agreeing on a local outcome. */
int wsh_agree(struct wsh_team *team, bool ok, bool *all_ok);

#endif
