/* SPDX-License-Identifier: BSD-3-Clause */
/* What the errors of the provider mean: try again, a peer that is gone, or the end of the job. */
#ifndef WSH_EFA_ERRORS_H
#define WSH_EFA_ERRORS_H

#include <stdbool.h>
#include <sys/types.h>

struct wsh_efa_req;
struct wsh_efa_set;

#define WSH_EFA_TEXT_MAX 600 /* of a line about a failure, with the words of the provider */

struct wsh_efa_loss {
    double since;                /* when a peer was lost, or 0; everything ends some seconds later */
    char text[WSH_EFA_TEXT_MAX]; /* the line with which it ends */
};

/* Seconds of a clock that is cheap to read. */
double wsh_efa_now(void);
/* Records the first final error and logs it in one line; returns the recorded one. */
int wsh_efa_set_fail(struct wsh_efa_set *set, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A peer is gone: a final error in a while, with this line. The first one counts. */
void wsh_efa_set_fail_later(struct wsh_efa_set *set, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
int wsh_efa_set_check_lost(struct wsh_efa_set *set);
/*
 * What posting to a rail returned, as it is meant: negative, and -FI_EAGAIN in place of -FI_ENOMEM, which the efa
 * provider of libfabric 1.17 says of a full queue, while something is under way there or has ended since the last such
 * refusal. The provider's own packets fill the queue too, and end unseen: so for a time also where neither is true.
 */
ssize_t wsh_efa_rail_error(struct wsh_efa_set *set, unsigned rail, ssize_t rc);
/* Translates what posting `what` to `pe` on a rail returned: 0, -EAGAIN, or a final error after its line. */
int wsh_efa_post_check(struct wsh_efa_set *set, unsigned rail, int pe, const char *what, ssize_t rc);
/* The error (positive) is that of a peer, or of a NIC, that has gone. */
bool wsh_efa_error_is_gone(int err);
/* What to do about one of an operation with that PE. */
const char *wsh_efa_error_cure(int err, int pe, char room[static 80]);
/* Nobody needs the message, which could not be sent. */
bool wsh_efa_req_is_harmless(const struct wsh_efa_set *set, const struct wsh_efa_req *req);

#endif
