/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Low latency: the numbers of a call, and where things are. What a PE writes into another's memory lies
 * there twice, by the parity of the call: before it writes for call c, it has seen that PE's word of call c - 1 of the
 * same kind, and so that PE has ended call c - 2 (docs/design/expert-parallelism.md).
 */
#ifndef WSH_EP_LOW_CALL_H
#define WSH_EP_LOW_CALL_H

#ifndef WSH_EP_DEVICE_RUN_CUH
#include "ep/host/run.h"
#endif

/* Kernels that are traced note when the first worker is here (ep/device/marks.h). */
#ifndef EP_CLOCK
#define EP_CLOCK(run, at) ((void)(run))
#endif

/* In the flags of rows that are brought back: what lies there is the sum of all that their PE has of the token. */
#define EP_LOW_SUMMED ((uint64_t)1 << 63)

/* One call, of either kind. */
struct ep_low_call {
    uint64_t number; /* of its kind, from 1 on: the value of its flags */
    uint32_t word;   /* the same in its words, never 0 */
    int parity, handle;
    int tokens; /* of this PE */
    int lacks;  /* whether a PE was masked when the kernel began */
};

/* All workers, at the beginning: the last one to end counts up. */
EP_STEP struct ep_low_call ep_low_call(const struct ep_run *run, uint64_t before, int handle, int tokens)
{
    struct ep_low_call call;

    (void)run;
    call.number = before + 1;
    call.word = (uint32_t)(call.number % 0xffffffffu) + 1;
    call.parity = (int)(call.number % 2);
    call.handle = handle;
    call.tokens = tokens;
    call.lacks = ep_known_any(run);
    return call;
}

EP_STEP int ep_low_least(int a, int b)
{
    return a < b ? a : b;
}

/* Columns of a piece, from *first on; none where it is empty. */
EP_STEP int ep_low_columns(const struct ep_run *run, int piece, int each, int *first)
{
    int rest = run->shape.hidden - piece * each;

    *first = piece * each;
    return rest < each ? rest : each;
}

/*
 * Bytes as sent of so many columns, a multiple of EP_GROUP, by `unit`, what ep_low_bytes_unit returns. Kernels have no
 * rows of SHMEMX_EP_BYTES, and but for those of low_nvfp4.cu none of SHMEMX_EP_NVFP4.
 */
#if defined WSH_EP_DEVICE_RUN_CUH && !defined EP_LOW_NVFP4
EP_STEP int ep_low_bytes_unit(const struct ep_run *run)
{
    return run->shape.dtype == SHMEMX_EP_BF16 ? 2 : 1;
}
#define ep_low_bytes(columns, unit) ((columns) * (unit))
#else
EP_STEP int ep_low_bytes_unit(const struct ep_run *run)
{
    return run->shape.group_bytes;
}
#define ep_low_bytes(columns, unit) ((columns) / EP_GROUP * (unit))
#endif

/* Words of 4 bytes of scales that so many columns have, a multiple of EP_GROUP. */
#define ep_low_scale_words(run, columns) ((columns) / EP_GROUP * (ep_low_nvfp4(run) ? 2 : 1))

/*
 * Whether rows for this PE itself stay in x, until they are expanded from there: a worker alone in a call of both
 * halves, where they are moved as they are.
 */
EP_STEP int ep_low_stays(const struct ep_run *run, const shmemx_ep_dispatch_t *args)
{
    return ep_low_sides(run) && args->halves == SHMEMX_EP_BOTH && !run->shape.scales;
}

/* The slot that source `from` has for a row at the owner of `arena`. */
EP_STEP char *ep_low_slot(const struct ep_run *run, char *arena, int parity, int from, int slot)
{
    return arena + run->shape.low_slots[parity] +
           ((size_t)from * run->shape.tokens + slot) * run->shape.low_slot;
}

/* Of a piece; piece shape.pieces is the meta. */
EP_STEP uint64_t *ep_low_flag(const struct ep_run *run, char *arena, int parity, int from, int slot,
                              int piece)
{
    return (uint64_t *)(arena + run->shape.low_flags[parity]) +
           ((size_t)from * run->shape.tokens + slot) * (run->shape.pieces + 1) + piece;
}

/* Row `at` of what is brought back: from PE * tokens + token, or of token * topk + choice. */
EP_STEP char *ep_low_result(const struct ep_run *run, char *arena, int parity, int at)
{
    return arena + run->shape.low_sums[parity] + (size_t)at * run->shape.hidden * 2;
}

EP_STEP uint64_t *ep_low_result_flag(const struct ep_run *run, char *arena, int parity, int at, int piece)
{
    return (uint64_t *)(arena + run->shape.low_sum_flags[parity]) + (size_t)at * run->shape.pieces + piece;
}

/* The weight that source `from` gives late for choice k of its token. */
EP_STEP uint64_t *ep_low_weight(const struct ep_run *run, char *arena, int parity, int from, int token, int k)
{
    return (uint64_t *)(arena + run->shape.low_weights[parity]) +
           ((size_t)from * run->shape.tokens + token) * run->shape.topk + k;
}

EP_STEP struct ep_kept *ep_low_kept(const struct ep_run *run, int handle)
{
    return (struct ep_kept *)(run->arena + run->shape.handle + (size_t)handle * run->shape.kept);
}

EP_STEP struct ep_low_source *ep_low_sources(const struct ep_run *run, int handle)
{
    return (struct ep_low_source *)(run->arena + ep_low_kept_sources(&run->shape, handle));
}

EP_STEP struct ep_low_meta *ep_low_in(const struct ep_run *run, int handle, int source, int slot)
{
    return (struct ep_low_meta *)(run->arena + ep_low_kept_in(&run->shape, handle, source, slot));
}

/* What a handle keeps of this PE's token: arrays of topk; records with far peers alone. */
struct ep_low_own {
    int32_t *experts;
    float *weights;
    int32_t *targets, *records;
};

EP_STEP struct ep_low_own ep_low_own(const struct ep_run *run, int handle, int token)
{
    char *at = run->arena + ep_low_kept_own(&run->shape, handle, token);
    struct ep_low_own own;

    own.experts = (int32_t *)at;
    own.weights = (float *)at + run->shape.topk;
    own.targets = (int32_t *)at + 2 * run->shape.topk;
    own.records = own.targets + run->shape.topk;
    return own;
}

/* Whom rows for an expert that there is are sent to. */
EP_STEP int ep_low_target(const struct ep_run *run, int expert)
{
    const struct ep_shape *shape = &run->shape;
    int pe = ep_divide(expert, shape->by_mine), near = pe - shape->host * shape->near;

    if (!ep_low_far(run) || (uint32_t)near < (uint32_t)shape->near)
        return near;
    return shape->near + ep_far_of(shape, pe);
}

EP_STEP int ep_low_targets(const struct ep_run *run)
{
    return run->shape.near + ep_low_far(run);
}

EP_STEP int ep_low_world(const struct ep_run *run, int near)
{
    return run->shape.host * run->shape.near + near;
}

/* Targets are added in the order of their PEs. */
EP_STEP int ep_low_target_pe(const struct ep_run *run, int target)
{
    if (ep_low_far(run) && target >= run->shape.near)
        return ep_far_pe(&run->shape, target - run->shape.near);
    return ep_low_world(run, target);
}

/* The number of a source among PEs. */
EP_STEP int ep_low_source_pe(const struct ep_run *run, int source)
{
    int first = run->shape.host * run->shape.near, far = source - run->shape.near;

    if (!ep_low_far(run) || far < 0)
        return first + source;
    return far < first ? far : source;
}

/* The same of a PE of another host as a source. */
EP_STEP int ep_low_far_source(const struct ep_run *run, int pe)
{
    return pe < run->shape.host * run->shape.near ? pe + run->shape.near : pe;
}

/* The near PE that stores a source's words, flags and rows: itself, or who hands on what comes from its host. */
EP_STEP int ep_low_from(const struct ep_run *run, int source)
{
    if (!ep_low_far(run) || source < run->shape.near)
        return source;
    return run->shape.one_copy ? ep_low_source_pe(run, source) % run->shape.near : run->shape.local;
}

/* Whether rows of a source lie in this PE's own windows. */
EP_STEP int ep_low_in_window(const struct ep_run *run, int source)
{
    return ep_low_far(run) && source >= run->shape.near && ep_low_from(run, source) == run->shape.local;
}

/*
 * What this PE has put before is delivered for good. So the sources of the call before this one of the same kind, which
 * have this call's other parity, may be written again in the next one, by whoever gets there first.
 */
EP_STEP void ep_low_settle(const struct ep_run *run)
{
    if (ep_low_watches(run))
        ep_flush(run);
}

/* Items of a far peer's image, or answer, that have been stored in this call. */
EP_STEP uint64_t *ep_low_stored(const struct ep_run *run, int far)
{
    return run->state->parts + run->shape.counters + far;
}

/* Who of `count` groups, or workers, does what for which of n far peers: each has several, or several share one. */
struct ep_low_share {
    int first, step;     /* far peers, by their turn */
    int index, count, n; /* of the one who asks */
};

EP_STEP struct ep_low_share ep_low_share(int index, int count, int n)
{
    struct ep_low_share share = {index % n, count, index, count, n};

    return share;
}

/* Its number among those who share a far peer, and how many they are. */
EP_STEP int ep_low_member(const struct ep_low_share *share)
{
    return share->index / share->n;
}

EP_STEP int ep_low_members(const struct ep_low_share *share, int turn)
{
    return turn < share->count ? (share->count - 1 - turn) / share->n + 1 : 1;
}

/* Waits for a word that a near PE stores; *waited, unless NULL, has the time added. */
EP_STEP uint32_t ep_low_await(const struct ep_run *run, int phase, int near, const uint64_t *word,
                              uint32_t call, int64_t *waited)
{
    int64_t began = waited ? ep_nanoseconds() : 0;
    uint32_t number = ep_word_await(run, phase, near, word, call);

    if (waited)
        *waited += ep_nanoseconds() - began;
    return number;
}

/* The same of a counter of far peers, as ep_await_one; where one worker watches it has the time (ep_low_watch). */
EP_STEP void ep_low_await_far(const struct ep_run *run, int phase, int first, int i, uint64_t value,
                              int64_t *waited)
{
    int64_t began;

    if (!EP_LOW_EACH_WAITS || !waited) {
        ep_await_one(run, phase, first, i, value);
        return;
    }
    began = ep_nanoseconds();
    ep_await_one(run, phase, first, i, value);
    *waited += ep_nanoseconds() - began;
}

/* Where a caller wants the time that a PE is waited for; NULL: nowhere. */
EP_STEP int64_t *ep_low_waited(int64_t *waits, int pe)
{
    return waits ? waits + pe : NULL;
}

#endif
