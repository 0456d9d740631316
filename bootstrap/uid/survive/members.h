/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A world whose members go on when one has failed, as its root sees it: who has failed, and what survivors tell each
 * other and decide. A member asks for its lease all the time and ends itself when it has had no answer for the lease's
 * length; the root takes it for failed when it has heard nothing for twice that, or its connection has ended.
 */
#ifndef WSH_BOOTSTRAP_UID_SURVIVE_MEMBERS_H
#define WSH_BOOTSTRAP_UID_SURVIVE_MEMBERS_H

#include "bootstrap/uid/world.h"

/* A connection is about to be closed. False: of no member, or whose failure ends the world (wsh_uid_world_lose). */
bool wsh_uid_world_survives(struct wsh_uid_world *world, struct wsh_uid_conn *conn);
/* Takes a complete message of one of these kinds; false: it is another. */
bool wsh_uid_world_survive_take(struct wsh_uid_world *world, struct wsh_uid_conn *conn);
/* Members that have been silent for too long are to be closed. */
void wsh_uid_world_survive_tick(struct wsh_uid_world *world);
void wsh_uid_world_survive_fini(struct wsh_uid_world *world);

#endif
