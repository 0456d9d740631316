/* SPDX-License-Identifier: BSD-3-Clause */
/* One send queue that kernels write: its libfabric objects, and what is known of its rings. */
#ifndef WSH_EFA_GDA_QUEUE_H
#define WSH_EFA_GDA_QUEUE_H

#include "transports/efa/gda/cq.h"
#include "transports/efa/gda/provider_ops.h"
#include "transports/efa/nic/rail.h"
#include "transports/transport.h"

#define WSH_EFA_GDA_INLINE 80u /* bytes that a request of 128 carries */

struct wsh_efa_gda_queue {
    struct fid_cq *cq;
    struct fid_eq *eq;
    struct fid_ep *ep;
    struct wsh_efa_cq completions;
    struct wsh_efa_window window;
    struct wsh_tp_queue given;
};

/* The provider's table on a rail's domain. 0; -ENOTSUP, unlogged: there is none, and `why` says why. */
int wsh_efa_gda_table_open(const struct wsh_efa_lib *lib, const struct wsh_efa_rail *rail,
                           const struct wsh_efa_gda_ops **table, char *why, size_t size);

/*
 * `values`: one whose requests carry data. 0; -ENOTSUP as above, or -ENOMEM. close: whatever open left there, or zeros.
 */
int wsh_efa_gda_queue_open(const struct wsh_efa_lib *lib, const struct wsh_efa_rail *rail,
                           const struct wsh_efa_gda_ops *table, bool values, struct wsh_efa_gda_queue *queue,
                           char *why, size_t size);
void wsh_efa_gda_queue_close(const struct wsh_efa_rail *rail, struct wsh_efa_gda_queue *queue);

/* -ENOTSUP, with its reason. */
int wsh_efa_gda_lacks(char *why, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
