/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * High throughput: near PEs' rows stay with who has them until they are pulled. What the steps of a dispatch and of a
 * combine share: words and flags, by which near PEs know of each other, and in one host the order of a call's items.
 */
#ifndef WSH_EP_STEPS_READY_H
#define WSH_EP_STEPS_READY_H

#include "ep/steps/call.h"

/* Of the call, in words; never 0. */
EP_STEP uint32_t ep_call_word(const struct ep_call *call)
{
    return (uint32_t)((uint64_t)call->number % 0xffffffffu) + 1;
}

EP_STEP uint64_t ep_word_of(const struct ep_call *call, uint32_t number)
{
    return (uint64_t)number << 32 | ep_call_word(call);
}

/* With a dispatch each PE stores so many in each arena: its counts for that PE, what it announces, rows for each PE. */
EP_STEP int ep_count_words(const struct ep_shape *shape)
{
    return shape->counted + 1 + shape->near;
}

EP_STEP uint64_t *ep_count_word(const struct ep_run *run, char *arena, int parity, int from, int at)
{
    return (uint64_t *)(arena + run->shape.near_words[parity]) + from * ep_count_words(&run->shape) + at;
}

/* Tokens, which of the two X, whether rows have flags, and whether the PE declines the call. */
struct ep_announced {
    int tokens, turn, flagged, declines;
};

EP_STEP uint32_t ep_announced_number(struct ep_announced told)
{
    return (uint32_t)told.declines << 31 | (uint32_t)told.tokens << 2 | (uint32_t)told.turn << 1 |
           (uint32_t)told.flagged;
}

EP_STEP struct ep_announced ep_announced_of(uint32_t number)
{
    struct ep_announced told = {(int)(number >> 2 & 0x1fffffff), (int)(number >> 1 & 1), (int)(number & 1),
                                (int)(number >> 31)};

    return told;
}

EP_STEP uint64_t *ep_raised_told(const struct ep_run *run, const void *arg, int k)
{
    return ep_count_word(run, ep_near_base(run, k), *(const int *)arg, run->shape.local, run->shape.counted);
}

/* Covers what all have stored before: by a worker of the last group, or after a barrier. */
EP_STEP void ep_announce(const struct ep_run *run, const struct ep_call *call,
                         const shmemx_ep_dispatch_t *args)
{
    struct ep_announced told = {call->tokens, call->turn, call->flagged, args->agreed == SHMEMX_EP_DECLINES};

    ep_raise(run, run->shape.near, ep_raised_told, &call->parity,
             ep_word_of(call, ep_announced_number(told)));
}

/* What near PE l has announced. */
EP_STEP struct ep_announced ep_announced_by(const struct ep_run *run, int l)
{
    return ep_announced_of((uint32_t)ep_ints(run, run->shape.in_tokens)[ep_near_pe(run, l)]);
}

EP_STEP void ep_hear(const struct ep_run *run, const struct ep_call *call, int l, uint32_t number)
{
    ep_ints(run, run->shape.in_tokens)[ep_near_pe(run, l)] = (int32_t)number;
    if (ep_announced_of(number).tokens > run->shape.tokens)
        ep_fault_numbers(run, ep_near_pe(run, l), call, 0);
}

/* Flags of all near PEs, or of one. */
struct ep_flagged {
    size_t flags; /* [near][each] in arenas */
    int each, chunk;
    int only; /* -1: of all */
};

/* The flag of a chunk of rows of PE `pe`, among those that near PEs raise where such rows come back. */
EP_STEP int ep_back_chunk(const struct ep_run *run, int pe, int chunk)
{
    const struct ep_shape *shape = &run->shape;

    return ep_pulls_far(run) && shape->one_copy ? pe / shape->near * shape->chunks + chunk : chunk;
}

EP_STEP uint64_t *ep_chunk_flag(char *arena, const struct ep_flagged *flagged, int from)
{
    return (uint64_t *)(arena + flagged->flags) + (size_t)from * flagged->each + flagged->chunk;
}

/* At PE k, that a chunk of this PE is there. */
EP_STEP uint64_t *ep_raised_chunk(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_flagged *flagged = (const struct ep_flagged *)arg;
    int l = flagged->only < 0 ? k : flagged->only;

    return ep_chunk_flag(ep_near_base(run, l), flagged, run->shape.local);
}

/* Here, that a chunk of PE `only` is there. */
EP_STEP const uint64_t *ep_awaited_chunk(const struct ep_run *run, const void *arg, int k, int *near)
{
    const struct ep_flagged *flagged = (const struct ep_flagged *)arg;

    (void)k;
    *near = flagged->only;
    return ep_chunk_flag(run->arena, flagged, flagged->only);
}

/*
 * How many stores come first, in quarters of one a worker. With fewer, links are busy sooner; with more, fewer workers
 * wait for stores that take long.
 */
enum {
    EP_LEAD_ROWS = 2,    /* of rows that a dispatch copies */
    EP_LEAD_RESULTS = 1, /* and a combine */
    EP_LEAD_MADE = 4,    /* of quantized rows, of sums, and of all where PEs share a GPU, but: */
    EP_LEAD_SHARED = 64, /* of sums there, where its memory is busy, not links */
};

EP_STEP int ep_lead_copies(const struct ep_run *run, int alone)
{
    return ep_alone(run) ? alone : EP_LEAD_MADE;
}

/*
 * The items of a call, in the order in which workers take them: first the stores of `lead` chunks; then in turn those
 * of one more chunk, and what is fetched of an earlier one. So no worker waits for a chunk of a peer while this PE has
 * one to store that is not later, which is why no two PEs wait for each other.
 */
struct ep_items {
    int lead;
    int stores, stores_each; /* chunks, and items of each */
    int takes, takes_each;
};

EP_STEP struct ep_items ep_items(const struct ep_run *run, int lead, int stores, int stores_each)
{
    struct ep_items items = {0, stores, stores_each, 0, 0};

    (void)run;
    if (stores && stores_each)
        items.lead = ep_least(stores, ((ep_workers(run) * lead + 3) / 4 + stores_each - 1) / stores_each);
    return items;
}

enum { EP_ITEM_STORE, EP_ITEM_TAKE, EP_ITEM_NONE, EP_ITEM_END };

/* One item: what it is, its chunk, and which of the chunk's items. */
struct ep_item {
    int what, chunk, at;
};

EP_STEP struct ep_item ep_item_of(const struct ep_items *items, int number)
{
    int each = items->stores_each + items->takes_each, rest = number - items->lead * items->stores_each;
    struct ep_item item = {EP_ITEM_END, 0, 0};

    if (rest < 0) {
        item.what = EP_ITEM_STORE;
        item.chunk = number / items->stores_each;
        item.at = number % items->stores_each;
        return item;
    }
    if (each == 0 || rest / each >= ep_most(items->stores - items->lead, items->takes))
        return item;
    item.chunk = rest / each;
    item.at = rest % each;
    if (item.at < items->stores_each) {
        item.chunk += items->lead;
        item.what = item.chunk < items->stores ? EP_ITEM_STORE : EP_ITEM_NONE;
    } else {
        item.at -= items->stores_each;
        item.what = item.chunk < items->takes ? EP_ITEM_TAKE : EP_ITEM_NONE;
    }
    return item;
}

/* Some tokens of PE `pe` that follow each other. */
struct ep_chunk {
    int pe, token, n;
    char *metas; /* of all of its tokens */
    int first;   /* where its rows begin here */
};

/* Whose tokens' rows are added up, and what of them. */
struct ep_adds {
    int origin; /* 0: this PE, else 1 + a far peer */
    int only;   /* the near PE whose rows are added; -1: all of the host */
    const char
        *results; /* image of far peers' results, and bytes from one's to the next's; NULL: none are added */
    size_t each;
};

#endif
