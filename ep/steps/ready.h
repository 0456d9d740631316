/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * High throughput in one host: rows stay with who has them until they are pulled. What the steps of a dispatch and of
 * a combine share: words and flags, by which PEs know of each other, and the order of a call's items. PEs have the
 * numbers of the host: there are no others.
 */
#ifndef WSH_EP_STEPS_READY_H
#define WSH_EP_STEPS_READY_H

#include "ep/steps/combine.h"

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

/* Flags of all near PEs, or of one. */
struct ep_flagged {
    size_t flags; /* [near][each] in arenas */
    int each, chunk;
    int only; /* -1: of all */
};

/* Of a combine's rows, a flag each or a chunk: these by their first numbers. */
EP_STEP int ep_flags_back(const struct ep_run *run)
{
    return run->shape.chunks * EP_CHUNK;
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

#endif
