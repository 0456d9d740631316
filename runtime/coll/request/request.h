/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking collectives: a request for each, which calls that make progress advance. Members start the same ones in
 * the same order on a team; they complete in any. docs/design/nonblocking-collectives.md says how.
 */
#ifndef WSH_COLL_REQUEST_H
#define WSH_COLL_REQUEST_H

#include "runtime/coll/coll.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wsh_job;
struct wsh_req;

enum wsh_req_kind {
    WSH_REQ_SYNC,
    WSH_REQ_BROADCAST,
    WSH_REQ_FCOLLECT,
    WSH_REQ_COLLECT,
    WSH_REQ_ALLTOALL,
    WSH_REQ_ALLTOALLS,
    WSH_REQ_REDUCE,
    WSH_REQ_ALLTOALLV,
    WSH_REQ_ALLTOALLV_PACKED,
    WSH_REQ_KINDS
};

/* An alltoallv; counts and offsets are the caller's arrays of n_pes, in elements of `width` bytes. */
struct wsh_alltoallv {
    const size_t *counts, *offsets;     /* of the source, by target */
    size_t *dest_counts, *dest_offsets; /* by sender; written if `packed`, else only read */
    size_t width;
    bool packed;
    size_t dest_max, align; /* elements that dest has, and to a multiple of which blocks begin */
    size_t *need;           /* what dest would have to have */
};

/* As the blocking ones in coll.h; each kind reads what it needs. */
struct wsh_req_args {
    void *dest;
    const void *src;
    size_t len; /* bytes of a block, or of the numbers */
    int root;
    struct wsh_alltoalls shape;
    const struct wsh_arith *arith;
    struct wsh_alltoallv v;
    bool waits; /* the caller does at once: no thread needs to help */
};

int wsh_requests_open(struct wsh_job *job);
/* What is left in flight is dropped. */
void wsh_requests_close(struct wsh_job *job);

/*
 * Starts a collective, or queues it behind those that have to end first; does not wait for other members. `routine` is
 * a constant. 0 or -ENOMEM (logged).
 */
int wsh_req_begin(struct wsh_team *team, const char *routine, enum wsh_req_kind kind,
                  const struct wsh_req_args *args, struct wsh_req **req);

/* One round of progress of all requests that no other thread advances: > 0 where something moved. */
int wsh_req_advance(struct wsh_job *job);

/* Not complete yet: -EAGAIN, after a round of progress. Else the request is freed, and this is its status. */
int wsh_req_test(struct wsh_job *job, struct wsh_req *req);
int wsh_req_wait(struct wsh_job *job, struct wsh_req *req);

/* Is this a request that is not freed? */
bool wsh_req_is_live(const struct wsh_req *req);

/* The routine of a request of the team (NULL: of any) that is not freed; NULL: there is none. */
const char *wsh_req_left(struct wsh_job *job, const struct wsh_team *team);
/*
 * Waits for what the library itself has begun on the team (NULL: on all) beside the requests of the program, none of
 * which is left.
 */
int wsh_req_drain(struct wsh_job *job, const struct wsh_team *team, const char *routine);
/* What requests have sent is complete at its targets. 0 or a final error (logged). */
int wsh_req_quiet(struct wsh_job *job);
/* Drops what is kept of a team for them. */
void wsh_req_forget(struct wsh_team *team);

#endif
