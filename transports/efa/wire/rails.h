/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting over several NICs; rails.c says what a lost NIC means. */
#ifndef WSH_EFA_RAILS_H
#define WSH_EFA_RAILS_H

#include "transports/efa/set/set.h"

struct wsh_efa_span;

/* As wsh_efa_rma_post; also -EAGAIN while every rail has enough under way. */
int wsh_efa_rails_post(struct wsh_efa_set *set, struct wsh_efa_req *req, const struct wsh_efa_span *span,
                       uint64_t flags, uint64_t imm);
/* The same, of a write or read that is filled. */
int wsh_efa_rails_start(struct wsh_efa_set *set, struct wsh_efa_req *req, uint64_t imm);
/* Sends the message in req->buf. */
int wsh_efa_rails_send(struct wsh_efa_set *set, struct wsh_efa_req *req);
/* The provider has given it back, `ok` or failed. */
void wsh_efa_rails_ended(struct wsh_efa_set *set, struct wsh_efa_req *req, bool ok);
/* It has failed as wsh_efa_error_is_gone says, for the reason given. True: it will go by another rail. */
bool wsh_efa_rails_again(struct wsh_efa_set *set, struct wsh_efa_req *req, const char *why);
/* Starts again what has waited long enough. > 0: some; < 0: final. */
int wsh_efa_rails_progress(struct wsh_efa_set *set);
/* The peer says that these of its rails (bits) do not reach this PE. */
void wsh_efa_rails_noticed(struct wsh_efa_set *set, int pe, unsigned lost);

#endif
