/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How members leave a world that goes on, as its root sees it: the others learn who has left, and where that is the
 * member in the root's own process another one becomes the root, to which the rest moves.
 */
#ifndef WSH_BOOTSTRAP_UID_LEAVE_H
#define WSH_BOOTSTRAP_UID_LEAVE_H

#include "bootstrap/uid/world.h"

/*
 * Takes a complete message by which a member goes, or one that was asked to be the root says where it listens. False:
 * it is another, for wsh_uid_world_take.
 */
bool wsh_uid_world_leave_take(struct wsh_uid_world *world, struct wsh_uid_conn *conn);
/* Asks for a successor when that is due, and ends when everybody has gone there. Before each wsh_uid_world_tick. */
void wsh_uid_world_succeed(struct wsh_uid_world *world);

/* A world that has had another root: left[rank] are no members any more, and the others will come. 0 or -ENOMEM. */
int wsh_uid_world_inherit(struct wsh_uid_world *world, int n_ranks, const bool *left);
/* The members left[rank] have left in the meantime, too. */
void wsh_uid_world_inherit_left(struct wsh_uid_world *world, const bool *left);
/* The last root has closed its connections: members that are alive are about to come here. */
void wsh_uid_world_hurry(struct wsh_uid_world *world);
/* A member of such a world is here; false: it is none, or the world no such one, for wsh_uid_world_join. */
bool wsh_uid_world_returns(struct wsh_uid_world *world, struct wsh_uid_conn *conn);

#endif
