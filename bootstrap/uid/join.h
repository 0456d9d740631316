/* SPDX-License-Identifier: BSD-3-Clause */
/* How a PE connects to the root of a unique id. */
#ifndef WSH_BOOTSTRAP_UID_JOIN_H
#define WSH_BOOTSTRAP_UID_JOIN_H

#include "base/env/env.h"
#include "bootstrap/uid/wire.h"

/*
 * Connects as `rank` of `n_ranks` and waits until all have come. `listens`: the root does, unless its process has
 * ended. Returns the connection and fills *start, or a negative errno after one line.
 */
int wsh_uid_join(const struct wsh_uid *uid, int rank, int n_ranks, bool listens, const struct wsh_env *env,
                 struct wsh_uid_start *start);

/*
 * Connects to a new root of the world in which this process is that rank. The connection, or a negative errno after one
 * line.
 */
int wsh_uid_rejoin(const struct wsh_uid *uid, int rank, int n_ranks, const struct wsh_env *env);

#endif
