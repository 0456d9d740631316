/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What requests send: one try, so that no start waits for room in a network. 0, -EAGAIN (again later, with the same
 * arguments) or a final error. `req->done` counts what still reads its source.
 */
#ifndef WSH_COLL_REQUEST_SEND_H
#define WSH_COLL_REQUEST_SEND_H

#include "runtime/coll/request/state.h"

/* Data for a member; with `len` 0 none. */
struct wsh_req_block {
    void *dest; /* symmetric */
    const void *src;
    size_t len;
};

/*
 * The block, then this member is counted in the other's slot; or the number is set in a word of a line; or any word of
 * its sync area is set.
 */
int wsh_req_count(struct wsh_req *req, const struct wsh_req_block *block, int counter, int member);
int wsh_req_show(struct wsh_req *req, const struct wsh_req_block *block, int line, int word, int member);
int wsh_req_set(struct wsh_req *req, const struct wsh_req_block *block, size_t off, uint64_t value,
                int member);

/* This member counts without data, which it has not: nobody waits for it, and the others' collective fails. */
int wsh_req_lose(struct wsh_req *req, int counter, int member);

/* This member has come: it counts in the other's slot, in no order with what it has sent. */
int wsh_req_come(struct wsh_req *req, int counter, int member);

/*
 * A block of `args.len` bytes for a member, which counts there as data, and that of a member, once it has come, to
 * `dest`. If `req->cells` it comes in the cell with its word: one cache line instead of two.
 */
bool wsh_req_fits_cells(const struct wsh_req *req);
int wsh_req_send_block(struct wsh_req *req, const struct wsh_req_block *block, int member);
void wsh_req_take_block(const struct wsh_req *req, void *dest, int member);

/* Blocks some way apart: those behind the first *taken, which counts up. */
int wsh_req_strided(struct wsh_req *req, void *dest, const void *src, const struct wsh_strided *shape,
                    size_t *taken, int member);
/* What was sent so far comes before what is sent from now on. */
int wsh_req_fence(struct wsh_req *req);

/* `len` bytes at `sym` of a member: where they are mapped here, or scratch, where they are once `done` is. */
int wsh_req_fetch(struct wsh_req *req, const void *sym, size_t len, void *scratch, const void **data,
                  int member);

/* My own block; the memory may be a GPU's. */
int wsh_req_copy(struct wsh_req *req, void *dest, const void *src, size_t len);

#endif
