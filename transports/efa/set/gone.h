/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers that have failed while the job goes on: this end answers in their place, so that everything under way to them
 * ends by the usual rules (docs/design/failures.md). What is read from them stays as it was; what is fetched is 0.
 */
#ifndef WSH_EFA_GONE_H
#define WSH_EFA_GONE_H

#include <stdbool.h>

struct wsh_efa_req;
struct wsh_efa_set;

struct wsh_efa_gone {
    bool any;                  /* some peer has failed: posts take the longer path */
    struct wsh_efa_req *taken; /* requests to such peers, complete at the next progress; the last one first */
    struct wsh_efa_req *lost;  /* requests that failed because their peer is gone, whoever that is */
    double due;                /* when to end what the provider has not given back by then; 0: never */
};

/* The PE has failed. Nothing more is given to the provider for it. Takes the lock. */
void wsh_efa_gone_forget(struct wsh_efa_set *set, int pe);

/* A request has failed because its peer is gone: kept for forget, out of its pool, for more may be reported of it. */
void wsh_efa_gone_lose(struct wsh_efa_set *set, struct wsh_efa_req *req);

/* Ends what was taken, and answers for the peers. > 0: something moved; < 0: final. */
int wsh_efa_gone_progress(struct wsh_efa_set *set);

#endif
