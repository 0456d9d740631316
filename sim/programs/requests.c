/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking collectives, more than a team runs at a time, in an order that each round makes; each PE waits for them
 * in an order of its own, with a blocking one in between. `requests` are those of which each PE sends few messages;
 * `exchanges` send to all others.
 */
#include "sim/programs/program.h"

#include "runtime/coll/request/request.h"

#include <stdlib.h>
#include <string.h>

#define IN_FLIGHT 12

static const enum wsh_req_kind few[] = {WSH_REQ_SYNC, WSH_REQ_BROADCAST, WSH_REQ_FCOLLECT, WSH_REQ_REDUCE,
                                        WSH_REQ_BROADCAST};
static const enum wsh_req_kind all[] = {WSH_REQ_ALLTOALL, WSH_REQ_COLLECT, WSH_REQ_ALLTOALLV,
                                        WSH_REQ_ALLTOALLV_PACKED, WSH_REQ_REDUCE};

/* One of them; its blocks, of all PEs, are at `dest` and `src`. */
struct op {
    enum wsh_req_kind kind;
    struct wsh_req *req;
    struct wsh_req_args args;
    uint64_t key; /* of its data */
    size_t *counts, *offsets, *dest_counts, *dest_offsets, need;
};

static size_t each(size_t len, size_t n)
{
    return IN_FLIGHT * len * n;
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

static bool is_own(const struct op *op)
{
    return op->kind == WSH_REQ_ALLTOALL || op->kind >= WSH_REQ_ALLTOALLV;
}

static void op_fill(struct op *op, const struct sim_pe *pe, size_t len)
{
    int blocks = is_own(op) ? sim.n_pes : 1;

    for (int to = 0; to < blocks; to++)
        for (size_t i = 0; i < len / 8; i++)
            ((uint64_t *)op->args.src)[(size_t)to * len / 8 + i] =
                sim_word(op->key, pe->number, is_own(op) ? to : -1, i);
    if (op->kind < WSH_REQ_ALLTOALLV)
        return;
    op->counts = calloc(4 * (size_t)sim.n_pes, sizeof *op->counts);
    op->offsets = op->counts + sim.n_pes;
    op->dest_counts = op->offsets + sim.n_pes;
    op->dest_offsets = op->dest_counts + sim.n_pes;
    for (int i = 0; i < sim.n_pes; i++) {
        op->counts[i] = part(op, len, pe->number, i);
        op->offsets[i] = op->dest_offsets[i] = (size_t)i * len;
        op->dest_counts[i] = part(op, len, i, pe->number);
    }
    op->args.v = (struct wsh_alltoallv){op->counts,
                                        op->offsets,
                                        op->dest_counts,
                                        op->dest_offsets,
                                        1,
                                        op->kind == WSH_REQ_ALLTOALLV_PACKED,
                                        len * (size_t)sim.n_pes,
                                        8,
                                        &op->need};
}

static int op_begin(struct op *op, struct sim_pe *pe, const struct sim_call *call, uint64_t round, int i)
{
    const enum wsh_req_kind *kinds = call->work == &sim_requests ? few : all;
    size_t at = (size_t)i * call->len * (size_t)sim.n_pes;
    uint64_t turn = round * 7 + (uint64_t)i * 3 + round % 4 * (uint64_t)i * 5;

    *op = (struct op){.kind = kinds[turn % 5], .key = round * 64 + (uint64_t)i};
    op->args = (struct wsh_req_args){.dest = pe->heap + call->dest + at,
                                     .src = pe->heap + call->src + at,
                                     .len = call->len,
                                     .root = (int)(turn * 7919 % (uint64_t)sim.n_pes),
                                     .arith = &sum};
    op_fill(op, pe, call->len);
    if (op->kind == WSH_REQ_COLLECT)
        op->args.len = part(op, call->len, pe->number, -1);
    sim.debt = 0;
    return wsh_req_begin(&pe->team, "a request", op->kind, &op->args, &op->req);
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

static int sums_check(const struct op *op, const struct sim_pe *pe, size_t len)
{
    for (size_t i = 0; i < len / 8; i++) {
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

static int op_check(const struct op *op, const struct sim_pe *pe, size_t len)
{
    const char *at = op->args.dest;
    int rc = 0;

    if (op->kind == WSH_REQ_REDUCE)
        return sums_check(op, pe, len);
    if (op->kind == WSH_REQ_SYNC || op->kind == WSH_REQ_BROADCAST)
        return op->kind == WSH_REQ_SYNC ? 0 : block_check(op, pe, at, len, op->args.root);
    for (int from = 0; from < sim.n_pes && !rc; from++) {
        size_t have = part(op, len, from, pe->number);

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

static int run(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    struct op ops[IN_FLIGHT];
    int rc = 0, first = (int)sim_below(&pe->random, IN_FLIGHT);

    for (int i = 0; i < IN_FLIGHT && !rc; i++) {
        if (sim.set.skew > 0)
            sim_sleep(sim_below(&pe->random, (uint64_t)(sim.set.skew * 1000)));
        ++*begun_of(call, round * IN_FLIGHT + (uint64_t)i);
        rc = op_begin(&ops[i], pe, call, round, i);
        if (!rc && i == IN_FLIGHT / 2)
            rc = wsh_sync(&pe->team, "shmem_sync");
    }
    for (int k = 0; k < IN_FLIGHT && !rc; k++) {
        int i = (first + k * 5) % IN_FLIGHT;

        rc = wsh_req_wait(&sim.job, ops[i].req);
        if (!rc && ops[i].kind == WSH_REQ_SYNC &&
            *begun_of(call, round * IN_FLIGHT + (uint64_t)i) != sim.n_pes)
            sim_violation("a sync is complete at PE %d before all have begun it", pe->number);
        if (!rc)
            rc = op_check(&ops[i], pe, call->len);
        free(ops[i].counts);
    }
    return rc;
}

const struct sim_work sim_requests = {.name = "requests", .src_len = each, .dest_len = each, .run = run};
const struct sim_work sim_exchanges = {.name = "exchanges", .src_len = each, .dest_len = each, .run = run};
