/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The root of a unique id as a process of its own, so that it outlives every PE (SHMEM_ON_PE_FAILURE=continue). It is
 * forked and runs no other program: nothing has to be found on disk. It ends with its world, or with the process that
 * made the id if no PE has come by then.
 */
#ifndef WSH_BOOTSTRAP_UID_SURVIVE_KEEPER_H
#define WSH_BOOTSTRAP_UID_SURVIVE_KEEPER_H

#include "base/env/env.h"
#include "bootstrap/uid/id.h"

/* *uid, of which the caller has set the secret, is then complete. 0 or a negative errno after one line. */
int wsh_uid_keeper_start(struct wsh_uid *uid, const struct wsh_env *env);

#endif
