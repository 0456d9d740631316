/* SPDX-License-Identifier: BSD-3-Clause */
/* The assignment of NICs to the PEs of a host, given where all of them are. Pure. */
#ifndef WSH_NICMAP_H
#define WSH_NICMAP_H

#include "topo/topo.h"

#include <stdint.h>

enum wsh_distance wsh_nicmap_distance(const struct wsh_topo_location *a, const struct wsh_topo_location *b);

struct wsh_nicmap_request {
    const struct wsh_topo_dev *nic;
    int n_nics;      /* <= WSH_TOPO_NICS */
    uint64_t usable; /* bit i: nic[i] may be used */
    const struct wsh_topo_location *const
        *pe; /* [n_pes] where each PE works: its GPU's location or its processors' */
    int n_pes;
    int per_pe; /* NICs of each PE, 1 to WSH_TOPO_RAILS, or 0: automatic */
};

/*
 * Fills rails[n_pes] (n and rail). Automatic: a PE uses the NICs nearest to its place, and no farther ones; PEs
 * with the same nearest NICs share them out, so that none is idle, and none is taken again before all are taken. With a
 * number, farther NICs fill up what the nearest cannot give. The result does not depend on the order of `nic`.
 * 0 or -ENOMEM.
 */
int wsh_nicmap_make(const struct wsh_nicmap_request *request, struct wsh_topo_rails *rails);

#endif
