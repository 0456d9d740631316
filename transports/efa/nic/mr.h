/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions of an endpoint set: one with each rail. */
#ifndef WSH_EFA_MR_H
#define WSH_EFA_MR_H

#include "transports/efa/nic/rail.h"

#include <rdma/fi_domain.h>

struct wsh_efa_set;

/* What is registered: host memory, or that of GPU `gpu`. */
struct wsh_efa_piece {
    void *base;
    size_t len;
    enum fi_hmem_iface iface;
    int gpu;
    int fd;       /* of device memory, or -1 */
    uint64_t off; /* of `base` in it */
};

/* With every rail, or with none. 0 or the provider's error, unlogged. */
int wsh_efa_mr_open(struct wsh_efa_set *set, const struct wsh_efa_piece *piece, uint64_t access,
                    struct wsh_efa_mr *mr);
void wsh_efa_mr_close(struct wsh_efa_set *set, struct wsh_efa_mr *mr);

#endif
