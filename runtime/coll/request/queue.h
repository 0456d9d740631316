/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of a team's requests. All under the lock of struct wsh_requests. */
#ifndef WSH_COLL_REQUEST_QUEUE_H
#define WSH_COLL_REQUEST_QUEUE_H

#include "runtime/coll/request/state.h"

/* Without arguments; NULL: there is no memory. */
struct wsh_req *wsh_req_take(struct wsh_team *team, const char *routine, enum wsh_req_kind kind);
void wsh_req_give(struct wsh_req *req);

/* Gives it the next number of its team. 0 or -ENOMEM. */
int wsh_req_append(struct wsh_req_team *of, struct wsh_req *req);

/* It is in its queue: where it takes long, the progress thread starts and advances it while the program computes. */
void wsh_req_help(struct wsh_req *req);

/* Where a member has failed, as is known here, the team's requests end with nonzero from now on. */
void wsh_req_team_look(struct wsh_req_team *of);

/* Starts what it can; advances what has been started too. True: something has moved. */
bool wsh_req_team_start(struct wsh_req_team *of);
bool wsh_req_team_advance(struct wsh_req_team *of);

#endif
