/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions, and what the errors of the provider mean. */
#ifndef WSH_EFA_PROGRESS_H
#define WSH_EFA_PROGRESS_H

#include "transports/efa/wire/req.h"

#include <stdbool.h>
#include <sys/types.h>

struct wsh_efa_set;

/* Records the first final error and logs it in one line; returns the recorded one. */
int wsh_efa_fail(struct wsh_efa_set *set, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/*
 * What posting to a rail returned, as it is meant: negative, and -FI_EAGAIN in place of -FI_ENOMEM, which the efa
 * provider of libfabric 1.17 says of a full queue, while something is under way there or has ended since the last such
 * refusal. The provider's own packets fill the queue too, and end unseen: so for a time also where neither is true.
 */
ssize_t wsh_efa_refusal(struct wsh_efa_set *set, unsigned rail, ssize_t rc);
/* Translates what posting `what` to `pe` on a rail returned: 0, -EAGAIN, or a final error after its line. */
int wsh_efa_posted(struct wsh_efa_set *set, unsigned rail, int pe, const char *what, ssize_t rc);
/* The error (positive) is that of a peer, or of a NIC, that has gone. */
bool wsh_efa_is_gone(int err);
/* Nobody needs the message, which could not be sent. */
bool wsh_efa_is_harmless(const struct wsh_efa_set *set, const struct wsh_efa_req *req);

int wsh_efa_progress(struct wsh_efa_set *set);
int wsh_efa_wait_fd(struct wsh_efa_set *set);

#endif
