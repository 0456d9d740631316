/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts libpmix without the parts of hwloc that nobody here needs (tried with 4.2.2 and 5.0.1): hwloc's plugins (X,
 * OpenCL, CUDA, PCI names) take 10 times as long as all the rest on a machine with GPUs, and its x86 part moves to each
 * processor in turn, which takes long on a busy machine.
 */
#ifndef WSH_BOOT_HWLOC_ENV_H
#define WSH_BOOT_HWLOC_ENV_H

#include "base/process/signals.h"

#define WSH_HWLOC_ENV_SETTINGS 2

struct wsh_hwloc_env {
    char *before[WSH_HWLOC_ENV_SETTINGS]; /* the user's own, or NULL */
    sigset_t signals;
};

/*
 * Around the call that starts libpmix: sets hwloc's environment, and gives the user's own back. Its threads take no
 * signals.
 */
void wsh_hwloc_env_begin(struct wsh_hwloc_env *hwloc_env);
void wsh_hwloc_env_end(struct wsh_hwloc_env *hwloc_env);

#endif
