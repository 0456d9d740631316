/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random schedules of nonblocking collectives, up to more than a team has slots for, with blocking ones in between.
 * The seed chooses kinds and lengths, alike at all PEs; each PE waits for its requests and tests them in an order of
 * its own. `requests` are those of which each PE sends few messages; `exchanges` send to all others.
 */
#include "sim/programs/program.h"

#include "runtime/coll/request/request.h"

#include <stdlib.h>
#include <string.h>

#define MOST 24 /* more than slots */
#define TESTS 50
#define LATE_PS 300000000 /* of one PE in each round: the others may be ahead of it */
#define LONG_BYTES 65536  /* all blocks together: what a thread begins */

#define KINDS 6
static const enum wsh_req_kind few[KINDS] = {WSH_REQ_SYNC,      WSH_REQ_BROADCAST, WSH_REQ_BROADCAST,
                                             WSH_REQ_BROADCAST, WSH_REQ_FCOLLECT,  WSH_REQ_REDUCE};
static const enum wsh_req_kind all[KINDS] = {WSH_REQ_ALLTOALL,  WSH_REQ_ALLTOALLS,        WSH_REQ_COLLECT,
                                             WSH_REQ_ALLTOALLV, WSH_REQ_ALLTOALLV_PACKED, WSH_REQ_REDUCE};

/* One of them; its blocks, of all PEs, are at `dest` and `src`. */
struct op {
    enum wsh_req_kind kind;
    bool blocking;
    size_t len;          /* of a block, at most */
    int number;          /* in the round */
    struct wsh_req *req; /* NULL: complete */
    struct wsh_req_args args;
    uint64_t key; /* of its data */
    size_t *counts, *offsets, *dest_counts, *dest_offsets, need;
};

static size_t each(size_t len, size_t n)
{
    return MOST * len * n;
}

/* The same at all PEs: draw `what` of a call's round. */
static uint64_t drawn(const struct sim_call *call, uint64_t round, int what, uint64_t below)
{
    uint64_t x = sim_word(round * 2 + (call->work == &sim_requests), (int)(sim.set.seed & 0xffffff), what, 1);

    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return (x >> 33) % below;
}

static void sum_words(void *to, const void *a, const void *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((uint64_t *)to)[i] = ((const uint64_t *)a)[i] + ((const uint64_t *)b)[i];
}

static const struct wsh_arith sum = {sum_words, 8};

/* Bytes that PE `from` has for `to`. */
static size_t part(const struct op *op, size_t len, int from, int to)
{
    uint64_t x = sim_word(op->key, from, to, 99);

    if (op->kind == WSH_REQ_COLLECT)
        return (op->key + (uint64_t)from) % 3 ? len : 0;
    return op->kind == WSH_REQ_ALLTOALLV || op->kind == WSH_REQ_ALLTOALLV_PACKED ? x % (len / 8 + 1) * 8
                                                                                 : len;
}

static bool is_alltoall(const struct op *op)
{
    return op->kind == WSH_REQ_ALLTOALL || op->kind == WSH_REQ_ALLTOALLS;
}

static bool is_own(const struct op *op)
{
    return is_alltoall(op) || op->kind >= WSH_REQ_ALLTOALLV;
}

static size_t src_len(const struct op *op)
{
    return op->len * (size_t)(is_own(op) ? sim.n_pes : 1);
}

static void counts_fill(struct op *op, const struct sim_pe *pe)
{
    op->counts = calloc(4 * (size_t)sim.n_pes, sizeof *op->counts);
    op->offsets = op->counts + sim.n_pes;
    op->dest_counts = op->offsets + sim.n_pes;
    op->dest_offsets = op->dest_counts + sim.n_pes;
    for (int i = 0; i < sim.n_pes; i++) {
        op->counts[i] = part(op, op->len, pe->number, i);
        op->offsets[i] = op->dest_offsets[i] = (size_t)i * op->len;
        op->dest_counts[i] = part(op, op->len, i, pe->number);
    }
    op->args.v = (struct wsh_alltoallv){op->counts,
                                        op->offsets,
                                        op->dest_counts,
                                        op->dest_offsets,
                                        1,
                                        op->kind == WSH_REQ_ALLTOALLV_PACKED,
                                        op->len * (size_t)sim.n_pes,
                                        8,
                                        &op->need};
}

static void op_fill(struct op *op, const struct sim_pe *pe)
{
    int blocks = is_own(op) ? sim.n_pes : 1;

    for (int to = 0; to < blocks; to++)
        for (size_t i = 0; i < op->len / 8; i++)
            ((uint64_t *)op->args.src)[(size_t)to * op->len / 8 + i] =
                sim_word(op->key, pe->number, is_own(op) ? to : -1, i);
    if (op->kind >= WSH_REQ_ALLTOALLV)
        counts_fill(op, pe);
}

/* Which a root that depends on nobody may begin far ahead of the others. */
static bool only_broadcasts(const struct sim_call *call, uint64_t round)
{
    return call->work == &sim_requests && drawn(call, round, -2, 4) == 0;
}

static void op_make(struct op *op, const struct sim_pe *pe, const struct sim_call *call, uint64_t round,
                    int i)
{
    const enum wsh_req_kind *kinds = call->work == &sim_requests ? few : all;
    size_t at = (size_t)i * call->len * (size_t)sim.n_pes, len = call->len;
    bool plain = only_broadcasts(call, round);

    *op = (struct op){.kind = plain ? WSH_REQ_BROADCAST : kinds[drawn(call, round, 8 * i, KINDS)],
                      .blocking = !plain && drawn(call, round, 8 * i + 1, 6) == 0,
                      .number = i,
                      .key = round * 64 + (uint64_t)i};
    for (uint64_t halved = drawn(call, round, 8 * i + 2, 4); halved && len % 16 == 0; halved--)
        len /= 2;
    op->len = len;
    op->args =
        (struct wsh_req_args){.dest = pe->heap + call->dest + at,
                              .src = pe->heap + call->src + at,
                              .len = len,
                              .root = (int)drawn(call, round, plain ? -3 : 8 * i + 3, (uint64_t)sim.n_pes),
                              .shape = {1, 1, len / 8, 8},
                              .arith = &sum};
    op_fill(op, pe);
    if (op->kind == WSH_REQ_COLLECT)
        op->args.len = part(op, len, pe->number, -1);
    if (op->kind == WSH_REQ_ALLTOALLS) /* as from shmemx_alltoallsmem_nb */
        op->args.len = 0;
}

/* A blocking one; of alltoallv it is a wait for a request at once. */
static int op_run(struct op *op, struct sim_pe *pe)
{
    const struct wsh_req_args *args = &op->args;
    int rc;

    switch (op->kind) {
    case WSH_REQ_SYNC: return wsh_sync(&pe->team, "shmem_sync");
    case WSH_REQ_BROADCAST:
        return wsh_broadcast(&pe->team, args->dest, args->src, args->len, args->root, true);
    case WSH_REQ_FCOLLECT: return wsh_fcollect(&pe->team, args->dest, args->src, args->len);
    case WSH_REQ_COLLECT: return wsh_collect(&pe->team, args->dest, args->src, args->len);
    case WSH_REQ_ALLTOALL: return wsh_alltoall(&pe->team, args->dest, args->src, args->len);
    case WSH_REQ_ALLTOALLS: return wsh_alltoalls(&pe->team, args->dest, args->src, &args->shape);
    case WSH_REQ_REDUCE: return wsh_reduce(&pe->team, args->dest, args->src, args->len / 8, args->arith);
    default:
        op->args.waits = true;
        rc = wsh_req_begin(&pe->team, "a request", op->kind, args, &op->req);
        rc = rc ? rc : wsh_req_wait(&sim.job, op->req);
        op->req = NULL;
        return rc;
    }
}

static int block_check(const struct op *op, const struct sim_pe *pe, const char *at, size_t len, int from)
{
    for (size_t i = 0; i < len / 8; i++) {
        if (((const uint64_t *)at)[i] == sim_word(op->key, from, is_own(op) ? pe->number : -1, i))
            continue;
        sim_violation("request of kind %d: complete at PE %d without word %zu of PE %d", (int)op->kind,
                      pe->number, i, from);
        return -EPROTO;
    }
    return 0;
}

static int sums_check(const struct op *op, const struct sim_pe *pe)
{
    for (size_t i = 0; i < op->len / 8; i++) {
        uint64_t want = 0;

        for (int from = 0; from < sim.n_pes; from++)
            want += sim_word(op->key, from, -1, i);
        if (((const uint64_t *)op->args.dest)[i] == want)
            continue;
        sim_violation("reduction: complete at PE %d with a wrong word %zu", pe->number, i);
        return -EPROTO;
    }
    return 0;
}

static int op_check(const struct op *op, const struct sim_pe *pe)
{
    const char *at = op->args.dest;
    int rc = 0;

    if (op->kind == WSH_REQ_REDUCE)
        return sums_check(op, pe);
    if (op->kind == WSH_REQ_SYNC || op->kind == WSH_REQ_BROADCAST)
        return op->kind == WSH_REQ_SYNC ? 0 : block_check(op, pe, at, op->len, op->args.root);
    for (int from = 0; from < sim.n_pes && !rc; from++) {
        size_t have = part(op, op->len, from, pe->number);

        if (op->kind >= WSH_REQ_ALLTOALLV)
            at = (const char *)op->args.dest + op->dest_offsets[from];
        rc = block_check(op, pe, at, have, from);
        at += have;
    }
    return rc;
}

/* A sync must not be complete before all have begun it: the PEs that have are counted, in each run anew. */
static struct {
    uint64_t seed, call;
    int begun;
} counts[1 << 10];

static int *begun_of(const struct sim_call *call, uint64_t number)
{
    uint64_t key = 2 * number + (call->work == &sim_requests) + 1,
             at = key % (sizeof counts / sizeof *counts);

    if (counts[at].seed != sim.set.seed || counts[at].call != key) {
        counts[at].seed = sim.set.seed;
        counts[at].call = key;
        counts[at].begun = 0;
    }
    return &counts[at].begun;
}

/* It is complete: its result is there, and its source may be used again. */
static int op_end(struct op *op, const struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    op->req = NULL;
    if (op->kind == WSH_REQ_SYNC && *begun_of(call, round * MOST + (uint64_t)op->number) != sim.n_pes)
        sim_violation("a sync is complete at PE %d before all have begun it", pe->number);
    memset((void *)op->args.src, 0x77, src_len(op));
    return op_check(op, pe);
}

static void pause_for(struct sim_pe *pe, double ns)
{
    if (ns > 0)
        sim_compute(sim_below(&pe->random, (uint64_t)(ns * 1000)));
}

static int op_begin(struct op *op, struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    int rc;

    pause_for(pe, sim.set.skew);
    sim.debt = 0;
    ++*begun_of(call, round * MOST + (uint64_t)op->number);
    if (op->blocking) {
        rc = op_run(op, pe);
        return rc ? rc : op_end(op, pe, call, round);
    }
    rc = wsh_req_begin(&pe->team, "a request", op->kind, &op->args, &op->req);
    if (!rc && sim.set.threads && is_alltoall(op) && src_len(op) >= LONG_BYTES && !op->req->helped)
        sim_violation("PE %d: a long request of kind %d is not left to the thread", pe->number,
                      (int)op->kind);
    return rc;
}

static int op_await(struct op *op, struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    int rc = -EAGAIN;

    /* Not for ever: it is a wait that finds a deadlock. */
    for (uint64_t tests = sim_below(&pe->random, 2) * TESTS; tests && rc == -EAGAIN; tests--) {
        rc = wsh_req_test(&sim.job, op->req);
        if (rc == -EAGAIN)
            pause_for(pe, sim.set.skew + 1000);
    }
    if (rc == -EAGAIN)
        rc = wsh_req_wait(&sim.job, op->req);
    return rc ? rc : op_end(op, pe, call, round);
}

/* In an order of this PE's own. What is complete stays as it is while others are not. */
static int await_all(struct op *ops, int n, struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    int order[MOST], rc = 0;

    for (int i = 0; i < n; i++) {
        int other = (int)sim_below(&pe->random, (uint64_t)i + 1);

        order[i] = order[other];
        order[other] = i;
    }
    for (int i = 0; i < n && !rc; i++)
        if (ops[order[i]].req)
            rc = op_await(&ops[order[i]], pe, call, round);
    return rc ? rc : op_check(&ops[order[0]], pe);
}

static int run(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    static const int most[] = {1, 2, 8, MOST};
    int n = only_broadcasts(call, round) ? MOST : most[drawn(call, round, -1, 4)], rc = 0;
    struct op ops[MOST];

    for (int i = 0; i < n; i++)
        op_make(&ops[i], pe, call, round, i);
    if ((int)drawn(call, round, -4, (uint64_t)sim.n_pes) == pe->number)
        sim_compute(LATE_PS);
    for (int i = 0; i < n && !rc; i++)
        rc = op_begin(&ops[i], pe, call, round);
    rc = rc ? rc : await_all(ops, n, pe, call, round);
    for (int i = 0; i < n; i++)
        free(ops[i].counts);
    return rc;
}

const struct sim_work sim_requests = {.name = "requests", .src_len = each, .dest_len = each, .run = run};
const struct sim_work sim_exchanges = {.name = "exchanges", .src_len = each, .dest_len = each, .run = run};
