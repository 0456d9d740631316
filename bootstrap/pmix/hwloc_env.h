/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts libpmix without the parts of hwloc that nobody here needs (tried with 4.2.2 and 5.0.1): hwloc's plugins (X,
 * OpenCL, CUDA, PCI names) take 10 times as long as all the rest on a machine with GPUs, and its x86 part moves to each
 * processor in turn, which takes long on a busy machine.
 */
#ifndef WSH_BOOT_LEAN_H
#define WSH_BOOT_LEAN_H

#include "base/process/signals.h"

#define WSH_LEAN_SETTINGS 2

struct wsh_lean {
    char *before[WSH_LEAN_SETTINGS]; /* the user's own, or NULL */
    sigset_t signals;
};

/*
 * Around the call that starts libpmix: sets hwloc's environment, and gives the user's own back. Its threads take no
 * signals.
 */
void wsh_lean_begin(struct wsh_lean *lean);
void wsh_lean_end(struct wsh_lean *lean);

#endif
