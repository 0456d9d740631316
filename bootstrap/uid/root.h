/* SPDX-License-Identifier: BSD-3-Clause */
/* The root of a unique id: a thread of the process that made it, which connects the PEs. */
#ifndef WSH_BOOTSTRAP_UID_ROOT_H
#define WSH_BOOTSTRAP_UID_ROOT_H

#include "base/env/env.h"
#include "bootstrap/uid/id.h"

/*
 * Listens and starts the thread; *uid, of which the caller has set the secret, is then complete. left[rank], of
 * n_ranks: the world has begun and its root leaves; these are no members any more, and the others connect within half
 * a minute. NULL: a new one. 0 or a negative errno after one line.
 */
int wsh_uid_root_start(struct wsh_uid *uid, const struct wsh_env *env, int n_ranks, const bool *left);

/*
 * The same in two steps: a new root only listens, and whoever connects waits until it serves. -ENOENT after one line:
 * none listens here for that id.
 */
int wsh_uid_root_listen(struct wsh_uid *uid, const struct wsh_env *env);
int wsh_uid_root_serve(const struct wsh_uid *uid);

/*
 * The members of the world come now to the root that was started so: left[rank] have left meanwhile, and last_root is a
 * connection on which the last root ends its side when all have come or have ended. Takes it over.
 */
void wsh_uid_root_follow(const struct wsh_uid *uid, int last_root, const bool *left);

/*
 * Serves the root that listens here by this thread, in a process that has no PE; returns when its world has ended, or
 * the process `maker`, a pidfd, has before a PE came. A member may fail and the others go on, with leases of so many
 * seconds (survive/members.h).
 */
void wsh_uid_root_keep(const struct wsh_uid *uid, int maker, double lease);

/*
 * Where this process is the root of the id: waits until the other members have what the root owes them, or for
 * `seconds`.
 */
void wsh_uid_root_wait(const struct wsh_uid *uid, double seconds);

#endif
