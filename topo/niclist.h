/* SPDX-License-Identifier: BSD-3-Clause */
/* Which NICs the user's lists of names allow. Pure. */
#ifndef WSH_NICLIST_H
#define WSH_NICLIST_H

#include "topo/topo.h"

#include <stdint.h>

/*
 * Names separated by commas, with * and ? as in a shell, or PCI addresses; ":1" (a port) after a name is ignored.
 * `include` may begin with ^, which makes it a list to leave out; NULL: all. `exclude` may be NULL.
 * Sets bit i of *usable for each nic[i] allowed, i < n <= WSH_TOPO_NICS. 0, or -ENODEV after one line when none of
 * n > 0 is left. A word of `include` that names nothing here gives a warning.
 */
int wsh_niclist_filter(const struct wsh_topo_dev *nic, int n, const char *include, const char *exclude,
                       uint64_t *usable);

#endif
