/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions: a few numbers by recursive doubling through lines; others in slices, each combined by one member. */
#include "runtime/coll/request/phases.h"

#include "runtime/coll/algorithms/slices.h"
#include "runtime/coll/request/send.h"

#include <stdlib.h>
#include <string.h>

#define FETCH_MAX ((size_t)256 << 10) /* bytes that are fetched at the same time, at most */

/* They fit a line. */
static bool is_small(const struct wsh_req *req)
{
    return WSH_REQ_LINE_DATA >= req->args.len;
}

/* Members among whom numbers are doubled; those beyond give theirs to one below first, and get the result last. */
static int power_of(const struct wsh_req *req)
{
    int power = 1;

    while (2 * power <= req->team->n_pes)
        power *= 2;
    return power;
}

static int rounds_of(const struct wsh_req *req)
{
    return wsh_sync_area_rounds(power_of(req));
}

static int small_show(struct wsh_req *req, int line, int member)
{
    const struct wsh_req_block block = {req->team->coll->base + wsh_req_data(req, line), req->small,
                                        req->args.len};

    return wsh_req_show(req, &block, line, 0, member);
}

/* With those of the lower member on the left, so that both have the same bits. */
static void small_combine(struct wsh_req *req, int line, int member)
{
    const struct wsh_arith *arith = req->args.arith;
    const char *theirs = req->team->coll->base + wsh_req_data(req, line);
    size_t n = req->args.len / arith->width;

    if (member < req->team->my_pe)
        arith->combine(req->small, theirs, req->small, n);
    else
        arith->combine(req->small, req->small, theirs, n);
}

static int small_first(struct wsh_req *req)
{
    int power = power_of(req), me = req->team->my_pe, line = rounds_of(req), rc;

    if (req->k == 0) {
        memcpy(req->small, req->args.src, req->args.len);
        req->k = 1;
    }
    if (me >= power)
        return small_show(req, line, me - power);
    if (me + power >= req->team->n_pes)
        return 0;
    rc = wsh_req_shown(req, line, 0);
    if (!rc)
        small_combine(req, line, me + power);
    return rc;
}

static int small_double(struct wsh_req *req)
{
    int me = req->team->my_pe, rc = 0;

    if (me >= power_of(req))
        return 0;
    for (; req->round < rounds_of(req) && !rc; req->round += !rc) {
        int other = me ^ 1 << req->round;

        if (req->k == 0)
            rc = small_show(req, req->round, other);
        if (!rc) {
            req->k = 1;
            rc = wsh_req_shown(req, req->round, 0);
        }
        if (!rc)
            rc = wsh_req_is_sent(req);
        if (rc)
            continue;
        small_combine(req, req->round, other);
        req->k = 0;
    }
    return rc;
}

static int small_last(struct wsh_req *req)
{
    int power = power_of(req), me = req->team->my_pe, line = rounds_of(req) + 1, rc = 0;

    if (me >= power) {
        rc = wsh_req_shown(req, line, 0);
        if (!rc)
            rc = wsh_req_is_sent(req);
        if (!rc)
            memcpy(req->small, req->team->coll->base + wsh_req_data(req, line), req->args.len);
    } else if (me + power < req->team->n_pes) {
        rc = small_show(req, line, me + power);
    }
    if (!rc)
        memcpy(req->args.dest, req->small, req->args.len);
    return rc;
}

/* My slice, [*begin, *end). */
static void slice_mine(const struct wsh_req *req, size_t *begin, size_t *end)
{
    wsh_slice(req->team->n_pes, req->team->my_pe, req->args.len, begin, end);
}

/* Members that have a slice. */
static int slices_count(const struct wsh_req *req)
{
    int n = req->team->n_pes, count = 0;
    size_t begin = 0, end = 1;

    for (; count < n && begin < end; count += begin < end)
        wsh_slice(n, count, req->args.len, &begin, &end);
    return count;
}

/* The block of my slice at which the request is, and how many members' are fetched together. */
static size_t block_len(const struct wsh_req *req, size_t end)
{
    return end - req->at < WSH_SLICE_BLOCK ? end - req->at : WSH_SLICE_BLOCK;
}

/* Of the scratch memory: pointers first, then what is fetched, aligned for numbers of any type. */
static size_t theirs_len(const struct wsh_req *req)
{
    return ((size_t)req->batch * sizeof *req->theirs + 15) & ~(size_t)15;
}

static int scratch_make(struct wsh_req *req, size_t begin, size_t end)
{
    size_t len = end - begin < WSH_SLICE_BLOCK ? end - begin : WSH_SLICE_BLOCK, most = FETCH_MAX / len;
    int others = req->team->n_pes - 1;

    req->batch = most < (size_t)others ? (int)most : others;
    req->at = begin;
    req->k = req->round = 0;
    req->scratch = malloc(theirs_len(req) + (size_t)req->batch * len);
    if (!req->scratch)
        return -ENOMEM;
    req->theirs = (const void **)(void *)req->scratch;
    return 0;
}

/* Members [round, round + batch) behind me: what k of them have is asked for. */
static int batch_fetch(struct wsh_req *req, size_t len)
{
    int rc = 0;

    for (; req->k < req->batch && req->round + req->k < req->team->n_pes - 1 && !rc; req->k += !rc)
        rc = wsh_req_fetch(req, (const char *)req->args.src + req->at, len,
                           req->scratch + theirs_len(req) + (size_t)req->k * len, &req->theirs[req->k],
                           wsh_req_behind(req, req->round + req->k + 1));
    return rc ? rc : wsh_req_is_sent(req);
}

static void batch_combine(struct wsh_req *req, size_t len)
{
    const struct wsh_arith *arith = req->args.arith;
    char *dest = (char *)req->args.dest + req->at;
    const char *src = (const char *)req->args.src + req->at;

    for (int i = 0; i < req->k; i++)
        arith->combine(dest, req->round + i ? dest : src, req->theirs[i], len / arith->width);
    req->round += req->k;
    req->k = 0;
    if (req->round < req->team->n_pes - 1)
        return;
    req->round = 0;
    req->at += len;
}

/* One batch a call: others have work too. */
static int slice_combine(struct wsh_req *req)
{
    size_t begin, end, len;
    int rc = 0;

    slice_mine(req, &begin, &end);
    if (begin == end)
        return 0;
    if (req->team->n_pes == 1)
        return wsh_req_copy(req, req->args.dest, req->args.src, req->args.len);
    if (!req->scratch)
        rc = scratch_make(req, begin, end);
    len = block_len(req, end);
    if (!rc)
        rc = batch_fetch(req, len);
    if (rc)
        return rc;
    batch_combine(req, len);
    if (req->at == end)
        return 0;
    req->moved = true;
    return -EAGAIN;
}

/* The slice also says that its member has read all that it needs. */
static int slice_push(struct wsh_req *req)
{
    int n = req->team->n_pes, slices = slices_count(req), rc = 0;
    size_t begin, end;

    slice_mine(req, &begin, &end);
    for (; begin < end && req->k < n - 1 && !rc; req->k += !rc) {
        const struct wsh_req_block block = {(char *)req->args.dest + begin, (char *)req->args.dest + begin,
                                            end - begin};

        rc = wsh_req_count(req, &block, WSH_REQ_DATA, wsh_req_behind(req, req->k + 1));
    }
    return rc ? rc : wsh_req_arrived(req, WSH_REQ_DATA, (uint64_t)(slices - (begin < end)));
}

/* A phase of small reductions and one of others. */
#define EITHER(NAME, SMALL, OTHER)                      \
    static int NAME(struct wsh_req *req)                \
    {                                                   \
        return is_small(req) ? SMALL(req) : OTHER(req); \
    }
EITHER(reduce_first, small_first, wsh_req_sync_phase)
EITHER(reduce_combine, small_double, slice_combine)
EITHER(reduce_share, small_last, slice_push)
#undef EITHER

const struct wsh_req_steps wsh_req_reduce = {
    (wsh_req_phase *const[]){reduce_first, reduce_combine, reduce_share, wsh_req_sent_phase, NULL},
    true,
};
