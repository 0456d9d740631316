/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the PEs of a job meet again whose launcher takes none back that has left it: shmem_finalize leaves it all the
 * same, so that a PE may end then in any way, and the next shmem_init goes by a unique id of PE 0, which all learn
 * before. PE 0 listens from then on; its thread starts with its next shmem_init.
 */
#ifndef WSH_BOOTSTRAP_AGAIN_H
#define WSH_BOOTSTRAP_AGAIN_H

#include "bootstrap/boot.h"

/*
 * Where PEs are to go on without one that fails, of which the launcher says nothing: they leave it in shmem_init, and
 * meet again by a unique id whose root is a process of its own. 0, or an error after one line.
 */
int wsh_again_survive(struct wsh_boot *boot, const struct wsh_env *env);

/* PE 0, within shmem_finalize. All zero where it cannot listen, after one line: then no PE leaves its launcher. */
void wsh_again_offer(const struct wsh_boot *boot, const struct wsh_env *env,
                     unsigned char id[WSH_BOOT_UID_BYTES]);

/* What PE 0 has offered. True: this PE may leave the launcher. */
bool wsh_again_take(const struct wsh_boot *boot, const void *id, size_t len);

/* shmem_init by that id. -ENODEV: this process has none; or as open of wsh_boot_ops. */
int wsh_again_open(struct wsh_boot *boot, const struct wsh_env *env);

#endif
