/* SPDX-License-Identifier: BSD-3-Clause */
/* The unique id of a shmem_init to come (again.h) among what PEs tell each other through PMIx. */
#ifndef WSH_BOOTSTRAP_AGAIN_PMIX_H
#define WSH_BOOTSTRAP_AGAIN_PMIX_H

#include "bootstrap/boot.h"

#include <pmix.h>

/* Before the last fence. */
void wsh_again_pmix_offer(const struct wsh_boot *boot, const struct wsh_env *env);

/* After it. True: this PE may leave the launcher's server. */
bool wsh_again_pmix_take(const struct wsh_boot *boot, const pmix_proc_t *me);

#endif
