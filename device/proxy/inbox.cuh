/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pulling from the inbox: a kernel that waits executes the operations that have come from other hosts for memory that
 * this GPU writes. It may keep the GPU from running anything else, so it must do itself what it waits for. inbox.h
 * argues the order.
 */
#ifndef WSH_DEVICE_INBOX_CUH
#define WSH_DEVICE_INBOX_CUH

#include "inbox.h"
#include "../core/refuse.cuh"

/*
 * Lanes that came together, one of which leads; and what they are at. In memory, and each step out of line: what is
 * held here adds to what every call holds that may wait (docs/design/gpu-facts.md, on registers).
 */
struct wsh_dev_pulling {
    uint32_t lanes, leader;
    uint32_t rank, n;           /* this lane's rank among them, and how many there are */
    uint64_t at;                /* number of the present item */
    uint32_t left;              /* how many items are left, this one included */
    struct wsh_inbox_item item; /* the present item */
};

static WSH_DEV struct wsh_inbox *wsh_dev_inbox()
{
    return (struct wsh_inbox *)wsh_device_view.inbox;
}

static WSH_DEV struct wsh_device_locks *wsh_dev_locks()
{
    return (struct wsh_device_locks *)wsh_device_view.locks;
}

static WSH_DEV const struct wsh_inbox_item *wsh_dev_pulled_item(const struct wsh_dev_pulling *pulling)
{
    return &wsh_dev_inbox()->item[(uint32_t)pulling->at % WSH_INBOX_ITEMS];
}

/* The present item, but for what is compared: in one round trip to host memory. */
static WSH_DEV void wsh_dev_pull_fetch(struct wsh_dev_pulling *pulling)
{
    const struct wsh_ptx_pair *from = (const struct wsh_ptx_pair *)wsh_dev_pulled_item(pulling);
    struct wsh_ptx_pair *to = (struct wsh_ptx_pair *)&pulling->item;

#pragma unroll
    for (unsigned i = 0; i < 3; i++)
        to[i] = wsh_ptx_get(from + i);
}

/*
 * One by one, as elements T: a word that is waited for comes whole. Neither side is read from this SM's L1: the lines
 * are used again and again.
 */
template <class T> static WSH_DEV void wsh_dev_pull_copy_as(const struct wsh_dev_pulling *pulling)
{
    T *to = (T *)pulling->item.to + pulling->rank;
    const T *from = (const T *)pulling->item.from + pulling->rank;
    uint32_t n = pulling->n;

#pragma unroll 1
    for (uint32_t i = pulling->rank; i < pulling->item.len / (uint32_t)sizeof(T); i += n, from += n, to += n)
        wsh_ptx_put(to, wsh_ptx_get(from));
}

static WSH_DEV void wsh_dev_pull_copy(const struct wsh_dev_pulling *pulling)
{
    uint32_t together = (uint32_t)pulling->item.to | (uint32_t)pulling->item.from | pulling->item.len;

    if (!(together & 15))
        wsh_dev_pull_copy_as<struct wsh_ptx_pair>(pulling);
    else if (!(together & 7))
        wsh_dev_pull_copy_as<uint64_t>(pulling);
    else if (!(together & 3))
        wsh_dev_pull_copy_as<uint32_t>(pulling);
    else
        wsh_dev_pull_copy_as<uint8_t>(pulling);
}

/* The old value. */
template <class T> static WSH_DEV T wsh_dev_amo_update(T *word, T operand, T compare, uint32_t op)
{
    switch (op) {
    case WSH_AMO_FETCH: return wsh_ptx_fetch_or(word, (T)0);
    case WSH_AMO_CSWAP: return wsh_ptx_compare_swap(word, compare, operand);
    case WSH_AMO_ADD: return wsh_ptx_fetch_add(word, operand);
    case WSH_AMO_AND: return wsh_ptx_fetch_and(word, operand);
    case WSH_AMO_OR: return wsh_ptx_fetch_or(word, operand);
    case WSH_AMO_XOR: return wsh_ptx_fetch_xor(word, operand);
    default: return wsh_ptx_swap(word, operand);
    }
}

template <class T> static WSH_DEV void wsh_dev_pull_atomic_on(const struct wsh_dev_pulling *pulling)
{
    const struct wsh_inbox_item *item = &pulling->item;
    T compare = item->op == WSH_AMO_CSWAP ? (T)wsh_ptx_get(&wsh_dev_pulled_item(pulling)->compare) : (T)0;
    T old = wsh_dev_amo_update((T *)item->word, (T)item->operand, compare, item->op);

    if (item->old)
        wsh_ptx_put((uint64_t *)item->old, (uint64_t)old);
}

/* By one lane: what was copied before is seen with the new value. */
static WSH_DEV void wsh_dev_pull_atomic(const struct wsh_dev_pulling *pulling)
{
    wsh_ptx_release();
    if (pulling->item.width == 8)
        wsh_dev_pull_atomic_on<uint64_t>(pulling);
    else
        wsh_dev_pull_atomic_on<uint32_t>(pulling);
}

/*
 * The barriers: one item's stores come before the next one's, whichever lanes make them. Others see that order only
 * where it is released: before an atomic, and before a copy that comes behind a fence.
 */
static WSH_DEV void wsh_dev_pull_item(struct wsh_dev_pulling *pulling)
{
    wsh_dev_pull_fetch(pulling);
    wsh_ptx_again(pulling);
    wsh_ptx_party_sync(pulling->lanes);
    if (pulling->item.fenced)
        wsh_ptx_release();
    if (pulling->item.len)
        wsh_dev_pull_copy(pulling);
    wsh_ptx_again(pulling);
    wsh_ptx_party_sync(pulling->lanes);
    if (pulling->item.word && pulling->rank == 0)
        wsh_dev_pull_atomic(pulling);
}

#define WSH_PULLED_AT_ONCE 32u /* then the host is notified, and the wait polls its word */

/*
 * Stores that no lane is pulling, and how many items are done. Released, so that it comes before the next lane's store
 * that it is busy: two lanes' stores to one word of the host are not ordered by themselves.
 */
static WSH_DEV void wsh_dev_pull_say(uint64_t pulled)
{
    wsh_ptx_put(&wsh_dev_inbox()->state, 2 * pulled);
    wsh_ptx_release();
}

/* The leader alone: takes the lock if there are items, and sets pulling->at and left; else leaves `left` 0. */
static WSH_DEV void wsh_dev_pull_lock(struct wsh_dev_pulling *pulling)
{
    uint64_t first, head;

    if (wsh_ptx_poll(&wsh_dev_locks()->pulling) || wsh_ptx_swap(&wsh_dev_locks()->pulling, 1u))
        return;
    wsh_ptx_acquire();
    first = wsh_ptx_poll(&wsh_dev_locks()->pulled);
    wsh_ptx_put(&wsh_dev_inbox()->polls, (wsh_ptx_nanoseconds() & ~WSH_INBOX_LANES) | pulling->n);
    head = wsh_ptx_poll(&wsh_dev_inbox()->head);
    if (head != first && !(head & WSH_INBOX_CLOSED)) {
        wsh_ptx_put(&wsh_dev_inbox()->state, 2 * first + WSH_INBOX_BUSY);
        wsh_ptx_fence_sc();
        head = wsh_ptx_poll(&wsh_dev_inbox()->head);
        if (head != first && !(head & WSH_INBOX_CLOSED)) {
            wsh_ptx_acquire();
            pulling->at = first;
            pulling->left = head - first < WSH_PULLED_AT_ONCE ? (uint32_t)(head - first) : WSH_PULLED_AT_ONCE;
            return;
        }
        wsh_dev_pull_say(first);
    }
    wsh_ptx_swap(&wsh_dev_locks()->pulling, 0u);
}

/* The leader alone, after a barrier of the lanes that pulled: stores what is done and gives the lock back. */
static WSH_DEV void wsh_dev_pull_unlock(uint64_t pulled)
{
    wsh_ptx_put(&wsh_dev_locks()->pulled, pulled);
    wsh_ptx_release();
    wsh_dev_pull_say(pulled);
    wsh_ptx_swap(&wsh_dev_locks()->pulling, 0u);
}

/* Fills *pulling, the same in all lanes; `left` is 0 where there is nothing to do. */
inline WSH_DEV_CALL void wsh_dev_pull_begin(struct wsh_dev_pulling *pulling)
{
    pulling->lanes = wsh_ptx_active();
    pulling->leader = (uint32_t)__ffs((int)pulling->lanes) - 1;
    pulling->rank = (uint32_t)__popc(pulling->lanes & ((1u << wsh_ptx_lane()) - 1));
    pulling->n = (uint32_t)__popc(pulling->lanes);
    pulling->at = pulling->left = 0;
    if (pulling->rank == 0)
        wsh_dev_pull_lock(pulling);
    pulling->left = (uint32_t)wsh_ptx_party_from(pulling->lanes, pulling->left, pulling->leader);
    pulling->at = wsh_ptx_party_from(pulling->lanes, pulling->at, pulling->leader);
}

/* The present item, and the end after the last one. */
inline WSH_DEV_CALL void wsh_dev_pull_next(struct wsh_dev_pulling *pulling)
{
    wsh_dev_pull_item(pulling);
    pulling->at++;
    if (--pulling->left)
        return;
    wsh_ptx_party_sync(pulling->lanes);
    if (pulling->rank == 0)
        wsh_dev_pull_unlock(pulling->at);
}

/* Executes items of the inbox. Called by any lanes of a warp; those that call together work together. */
static WSH_DEV void wsh_dev_pull()
{
    struct wsh_dev_pulling pulling;

    wsh_dev_pull_begin(&pulling);
#pragma unroll 1
    while (pulling.left)
        wsh_dev_pull_next(&pulling);
}

/* What a wait for a word of this PE does once in many polls. */
inline WSH_DEV_CALL void wsh_dev_wait_idle(struct wsh_dev_wait *wait)
{
    wsh_dev_long_wait(wait);
    if (wsh_device_view.inbox)
        wsh_dev_pull();
}

#endif
