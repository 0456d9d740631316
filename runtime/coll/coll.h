/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collective operations of a team, built from put_signal and wait; members whose memory is mapped here are
 * read and written directly. All members call the same operation with the same arguments in the same order; unless
 * said otherwise dest and src are symmetric and do not overlap, on return dest is complete and src may be reused.
 * Results: 0 or a final error (logged).
 */
#ifndef WSH_COLL_H
#define WSH_COLL_H

#include "runtime/coll/arith.h"
#include "runtime/team/team.h"

#include <stddef.h>

/* State of a predefined team; symmetric words for n_max members, reserved in the same order on all PEs. */
int wsh_coll_open(struct wsh_team *team, int n_max);
void wsh_coll_close(struct wsh_team *team);

/* Arrival of all members; completes nothing. */
int wsh_sync(struct wsh_team *team, const char *routine);

/* The same as the team's last one: from then on no member reads or writes this one's sync area. */
int wsh_sync_last(struct wsh_team *team, const char *routine);

/* All members have arrived, and what they issued on the default context is complete. */
int wsh_barrier(struct wsh_team *team, const char *routine);

/* A member has failed: from now on all collectives of the team return -EOWNERDEAD, without waiting. Local. */
void wsh_coll_break(struct wsh_team *team);

/* Has a collective `what` ended with `rc` because a member has failed? Then a line, and the team is broken. */
bool wsh_coll_met_failure(struct wsh_team *team, const char *what, int rc);

/* The same where the call's result then says so to the program; what has ended for another reason ends the job. */
void wsh_coll_end_unless_failed(struct wsh_team *team, const char *what, int rc);

/* Has a member failed? Asks the launcher's memory; local. */
bool wsh_coll_is_broken(struct wsh_team *team);

/* A sync that also says whether every member passed ok = true; for agreeing on a local outcome. */
int wsh_agree(struct wsh_team *team, bool ok, bool *all_ok);

/* `len` bytes of src at `root` to dest of all members; of all others where !root_too. */
int wsh_broadcast(struct wsh_team *team, void *dest, const void *src, size_t len, int root, bool root_too);

/* Member i's src (`len` bytes) becomes block i of dest. src may be memory of this PE alone. */
int wsh_fcollect(struct wsh_team *team, void *dest, const void *src, size_t len);

/* The same where `len` differs between members. */
int wsh_collect(struct wsh_team *team, void *dest, const void *src, size_t len);

/* Block i (`len` bytes) of src goes to member i's dest block of my number. */
int wsh_alltoall(struct wsh_team *team, void *dest, const void *src, size_t len);

/* The same for blocks of nelems elements of `width` bytes, which lie dst and sst elements apart. */
struct wsh_alltoalls {
    ptrdiff_t dst, sst;
    size_t nelems, width;
};
int wsh_alltoalls(struct wsh_team *team, void *dest, const void *src, const struct wsh_alltoalls *shape);

/* dest[j] = src[j] of all members, combined. Host memory; dest == src is allowed. */
int wsh_reduce(struct wsh_team *team, void *dest, const void *src, size_t nelems,
               const struct wsh_arith *arith);

/* The same up to WSH_LL_DATA bytes, in memory of this PE alone; a wait that takes long names `routine`. */
int wsh_reduce_small(struct wsh_team *team, void *dest, const void *src, size_t nelems,
                     const struct wsh_arith *arith, const char *routine);

/* dest[j] = src[j] combined of the members up to me; without me and from zeros where `exclusive`. As reduce. */
int wsh_scan(struct wsh_team *team, void *dest, const void *src, size_t nelems, const struct wsh_arith *arith,
             bool exclusive);

#endif
