/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcast down a tree; fcollect by blocks to all, or small ones by doubling; collect once each knows its offset. */
#include "runtime/coll/request/phases.h"

#include "base/log.h"
#include "runtime/coll/request/send.h"
#include "runtime/memory/alloc.h"
#include "runtime/memory/team_memory.h"

#include <string.h>

#define FLAT_MAX 8  /* members that a root sends to itself */
#define BRANCHES 4  /* of the tree of more */
#define PUSH_MAX 16 /* members, and bytes, up to which blocks are sent to all */
#define DOUBLE_LEN 4096

/* Numbers from the root on. */
static int branches(const struct wsh_req *req)
{
    return req->team->n_pes <= FLAT_MAX ? FLAT_MAX : BRANCHES;
}

static int index_below_root(const struct wsh_req *req)
{
    return (req->team->my_pe - req->args.root + req->team->n_pes) % req->team->n_pes;
}

static int broadcast_take(struct wsh_req *req)
{
    int index = index_below_root(req), rc;

    req->cells = wsh_req_fits_cells(req);
    if (!index)
        return wsh_req_copy(req, req->args.dest, req->args.src, req->args.len);
    rc = wsh_req_arrived(req, WSH_REQ_DATA, 1);
    if (!rc)
        wsh_req_take_block(req, req->args.dest,
                           ((index - 1) / branches(req) + req->args.root) % req->team->n_pes);
    return rc;
}

static int broadcast_pass(struct wsh_req *req)
{
    const struct wsh_req_args *args = &req->args;
    int index = index_below_root(req), n = req->team->n_pes, rc = 0;
    const struct wsh_req_block block = {args->dest, index ? args->dest : args->src, args->len};

    for (; req->k < branches(req) && !rc; req->k += !rc) {
        long child = (long)branches(req) * index + 1 + req->k;

        if (child >= n)
            break;
        rc = wsh_req_send_block(req, &block, (int)((child + args->root) % n));
    }
    return rc;
}

const struct wsh_req_steps wsh_req_broadcast = {
    (wsh_req_phase *const[]){broadcast_take, broadcast_pass, wsh_req_sent_phase, NULL},
    false,
};

/* The block of a member, in dest. */
static char *fcollect_slot(const struct wsh_req *req, int member)
{
    return (char *)req->args.dest + (size_t)member * req->args.len;
}

static int fcollect_own(struct wsh_req *req)
{
    return wsh_req_copy(req, fcollect_slot(req, req->team->my_pe), req->args.src, req->args.len);
}

static int fcollect_push(struct wsh_req *req)
{
    const struct wsh_req_block block = {fcollect_slot(req, req->team->my_pe), req->args.src, req->args.len};
    int n = req->team->n_pes, rc = 0;

    if (!req->k)
        req->cells = wsh_req_fits_cells(req);
    for (; req->k < n - 1 && !rc; req->k += !rc)
        rc = wsh_req_send_block(req, &block, wsh_req_behind(req, req->k + 1));
    if (!rc)
        rc = wsh_req_all_arrived(req, WSH_REQ_DATA, (uint64_t)n - 1);
    for (int k = 1; !rc && k < n; k++)
        wsh_req_take_block(req, fcollect_slot(req, wsh_req_behind(req, k)), wsh_req_behind(req, k));
    return rc;
}

/* Blocks first to last, both included, which do not wrap. */
static int blocks_show(struct wsh_req *req, int first, int last, int word, int member)
{
    const struct wsh_req_block block = {fcollect_slot(req, first), fcollect_slot(req, first),
                                        (size_t)(last - first + 1) * req->args.len};

    return wsh_req_show(req, &block, req->round, word, member);
}

/* The `count` blocks that end with mine, in one piece or two. */
static int blocks_pass(struct wsh_req *req, int count, int member)
{
    int me = req->team->my_pe, first = me - count + 1, rc = 0;

    if (req->k == 0)
        rc = blocks_show(req, first < 0 ? 0 : first, me, 0, member);
    if (!rc && req->k < 2) {
        req->k = 1;
        if (first < 0)
            rc = blocks_show(req, req->team->n_pes + first, req->team->n_pes - 1, 1, member);
    }
    if (!rc)
        req->k = 2;
    return rc;
}

/* In each round a member passes on what it has, to the one that many places behind it. */
static int fcollect_double(struct wsh_req *req)
{
    int n = req->team->n_pes, me = req->team->my_pe, rc = 0;

    for (int span; (span = 1 << req->round) < n && !rc; req->round += !rc) {
        int count = span < n - span ? span : n - span, from = (me - span + n) % n;

        rc = blocks_pass(req, count, (me + span) % n);
        if (!rc)
            rc = wsh_req_shown(req, req->round, 0);
        if (!rc && from - count + 1 < 0)
            rc = wsh_req_shown(req, req->round, 1);
        if (!rc)
            req->k = 0;
    }
    return rc;
}

static int fcollect_others(struct wsh_req *req)
{
    bool push = req->team->n_pes <= PUSH_MAX || req->args.len > DOUBLE_LEN ||
                !wsh_coll_is_host(req->team, req->args.dest);

    return (push ? fcollect_push : fcollect_double)(req);
}

const struct wsh_req_steps wsh_req_fcollect = {
    (wsh_req_phase *const[]){fcollect_own, fcollect_others, wsh_req_sent_phase, NULL},
    true,
};

/* `small` has the sum of the lengths of the members that are less than `span` below me, and mine: what is passed on. */
static int collect_begin(struct wsh_req *req)
{
    req->sum = req->args.len;
    memcpy(req->small, &req->sum, sizeof req->sum);
    return 0;
}

static int sums_pass(struct wsh_req *req)
{
    const struct wsh_req_block block = {req->team->coll->base + wsh_req_data(req, req->round), req->small,
                                        sizeof req->sum};
    int to = req->team->my_pe + (1 << req->round), rc = 0;

    if (req->k == 0 && to < req->team->n_pes)
        rc = wsh_req_show(req, &block, req->round, 0, to);
    req->k = !rc;
    return rc;
}

/* Prefix sums by doubling. */
static int collect_scan(struct wsh_req *req)
{
    int n = req->team->n_pes, me = req->team->my_pe, rc = 0;

    for (; 1 << req->round < n && !rc; req->round += !rc) {
        uint64_t below = 0;

        rc = sums_pass(req);
        if (!rc && me >= 1 << req->round)
            rc = wsh_req_shown(req, req->round, 0);
        if (!rc)
            rc = wsh_req_is_sent(req);
        if (rc)
            continue;
        if (me >= 1 << req->round)
            memcpy(&below, req->team->coll->base + wsh_req_data(req, req->round), sizeof below);
        req->sum += below;
        memcpy(req->small, &req->sum, sizeof req->sum);
        req->k = 0;
    }
    return rc;
}

static char *collect_slot(const struct wsh_req *req)
{
    return (char *)req->args.dest + req->sum - req->args.len;
}

/*
 * Whether there is room for the blocks of the members up to this one; with SHMEM_DEBUG=check, memory that is allocated.
 */
static bool collect_fits(const struct wsh_req *req)
{
    struct wsh_job *job = req->team->job;
    const void *dest = req->args.dest;
    size_t off;
    int seg = req->sum ? wsh_heap_find(&job->heap, dest, req->sum, &off) : 0;

    if (seg < 0)
        wsh_error(
            "%s: dest: the blocks of PEs 0 to %d of the team are %llu bytes, which reach beyond the end of "
            "symmetric memory at %p; make dest as large as the sum of all blocks",
            req->routine, req->team->my_pe, (unsigned long long)req->sum, dest);
    if (!job->check || !req->sum || seg != WSH_SEG_HEAP ||
        wsh_alloc_is_live(job->heap.alloc, off, req->sum) || wsh_team_memory_is_live(job, off, req->sum))
        return seg >= 0;
    wsh_error(
        "%s: dest: the blocks of PEs 0 to %d of the team are %llu bytes at %p, which are not allocated; make "
        "dest as large as the sum of all blocks",
        req->routine, req->team->my_pe, (unsigned long long)req->sum, dest);
    return false;
}

/* Where there is no room this member's block goes nowhere. The others' have come before it ends. */
static int collect_check(struct wsh_req *req)
{
    int n = req->team->n_pes, rc = 0;

    if (!req->lost && collect_fits(req))
        return 0;
    req->lost = true;
    for (; req->k < n - 1 && !rc; req->k += !rc)
        rc = wsh_req_lose(req, WSH_REQ_DATA, wsh_req_behind(req, req->k + 1));
    if (!rc)
        rc = wsh_req_is_sent(req);
    if (!rc)
        rc = wsh_req_arrived(req, WSH_REQ_DATA, (uint64_t)n - 1);
    return rc == -EAGAIN ? rc : -EINVAL;
}

static int collect_own(struct wsh_req *req)
{
    return wsh_req_copy(req, collect_slot(req), req->args.src, req->args.len);
}

static int collect_push(struct wsh_req *req)
{
    const struct wsh_req_block block = {collect_slot(req), req->args.src, req->args.len};
    int n = req->team->n_pes, rc = 0;

    for (; req->k < n - 1 && !rc; req->k += !rc)
        rc = wsh_req_count(req, &block, WSH_REQ_DATA, wsh_req_behind(req, req->k + 1));
    if (!rc && !req->lost)
        rc = wsh_req_all_arrived(req, WSH_REQ_DATA, (uint64_t)n - 1);
    req->lost |= rc == -ECANCELED;
    if (!req->lost)
        return rc;
    rc = wsh_req_is_sent(req);
    return rc ? rc : -ECANCELED;
}

const struct wsh_req_steps wsh_req_collect = {
    (wsh_req_phase *const[]){collect_begin, collect_scan, collect_check, collect_own, collect_push,
                             wsh_req_sent_phase, NULL},
    true,
};
