/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send queues that kernels write themselves: on each rail of the first endpoint set endpoints of their own, whose
 * completion queues are read here, from memory. What the core asks for: struct wsh_tp_ops.
 */
#ifndef WSH_EFA_GDA_H
#define WSH_EFA_GDA_H

#include "transports/transport.h"

int wsh_efa_gda_open(struct wsh_tp *tp, unsigned n, struct wsh_tp_queue *queue, unsigned room, char *why,
                     size_t size);
int wsh_efa_gda_open_values(struct wsh_tp *tp, unsigned n, struct wsh_tp_queue *queue, char *why,
                            size_t size);
void wsh_efa_gda_close(struct wsh_tp *tp);
int wsh_efa_gda_target(struct wsh_tp *tp, unsigned rail, int pe, struct wsh_tp_target *target);
int wsh_efa_gda_remote(struct wsh_tp *tp, unsigned rail, const struct wsh_rmem *rmem, uint32_t *key);
int wsh_efa_gda_local(struct wsh_tp *tp, unsigned rail, const struct wsh_lmem *lmem, uint32_t *key);
int wsh_efa_gda_poll(struct wsh_tp *tp);

#endif
