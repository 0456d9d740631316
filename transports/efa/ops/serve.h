/* SPDX-License-Identifier: BSD-3-Clause */
/* What the target does with messages and counted writes. */
#ifndef WSH_EFA_SERVE_H
#define WSH_EFA_SERVE_H

#include "transports/efa/wire/req.h"

struct wsh_efa_set;

/* A message has arrived in req->buf. */
int wsh_efa_serve_message(struct wsh_efa_set *set, struct wsh_efa_req *req, size_t len);
/* A counted write has arrived. */
int wsh_efa_serve_write(struct wsh_efa_set *set, uint64_t data);
/* Applies a message whose turn has come (struct wsh_srd_sink). */
int wsh_efa_serve_apply(void *set, void *req);

#endif
