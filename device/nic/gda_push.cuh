/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device's end of send queues that kernels write themselves: builds requests and posts them; gda_order.cuh orders
 * and completes them. gda.h argues the order. Callers pass the queue; wsh_dev_ring_idle is what waits call.
 *
 * What a request is made of stays in registers: nothing here takes the address of it.
 */
#ifndef WSH_DEVICE_GDA_PUSH_CUH
#define WSH_DEVICE_GDA_PUSH_CUH

#include "gda.h"
#include "../proxy/ring_push.cuh"

/* A write or a read, as words of the request; its number and the phase come when it has an entry. */
struct wsh_dev_gda_request {
    uint64_t operation;   /* word 0's: WSH_GDA_WRITE or WSH_GDA_READ, in place */
    uint64_t target;      /* struct wsh_gda_target */
    uint64_t there, here; /* addresses */
    uint32_t len, key_there, key_here;
    uint32_t pe;
};

/* What the host has written of a queue. */
struct wsh_dev_gda_ring {
    uint64_t *words;
    uint32_t mask, entry_words;
    bool ordinary;
};

static WSH_DEV struct wsh_dev_gda_ring wsh_dev_gda_ring_of(const struct wsh_gda_queue *queue)
{
    return wsh_dev_gda_ring{(uint64_t *)queue->ring, queue->entries - 1, queue->entry_words, queue->ordinary != 0};
}

static WSH_DEV const struct wsh_gda_marks *wsh_dev_gda_marks(const struct wsh_gda_queue *queue)
{
    return (const struct wsh_gda_marks *)queue->marks;
}

/* Word 0, but for the target: what is the same in all requests, the number's low bits and the phase. */
static WSH_DEV uint64_t wsh_dev_gda_head(const struct wsh_dev_gda_ring &ring, uint64_t operation, uint64_t number)
{
    uint64_t head = operation | WSH_GDA_META | WSH_GDA_FIRST | WSH_GDA_LAST | WSH_GDA_COMPLETION |
                    (uint64_t)1 << WSH_GDA_PIECES_AT | (number & 0xffff);

    return number & ((uint64_t)ring.mask + 1) ? head | (uint64_t)1 << WSH_GDA_PHASE_AT : head;
}

/* A request that has its number: the words of its entry, and where that is. */
struct wsh_dev_gda_entry {
    uint64_t *to;
    uint32_t n_words;
    bool ordinary;
    uint64_t w0, w1, w2, w3, w4, w5, w6, w7;
};

static WSH_DEV struct wsh_dev_gda_entry wsh_dev_gda_entry_of(const struct wsh_dev_gda_ring &ring, uint64_t number,
                                                             const struct wsh_dev_gda_request &request)
{
    const uint64_t id = (number & (((uint64_t)1 << WSH_GDA_PE_AT) - 1)) | (uint64_t)request.pe << WSH_GDA_PE_AT,
                   ah = request.target & 0xffff, qpn = request.target >> 16 & 0xffff;

    return wsh_dev_gda_entry{ring.words + (uint64_t)((uint32_t)number & ring.mask) * ring.entry_words,
                             ring.entry_words,
                             ring.ordinary,
                             wsh_dev_gda_head(ring, request.operation, number) | qpn << WSH_GDA_QPN_AT,
                             ah << WSH_GDA_AH_AT,
                             request.target >> 32,
                             id & ~(uint64_t)0xffff,
                             (uint64_t)request.key_there << WSH_GDA_KEY_AT | request.len,
                             request.there,
                             (uint64_t)request.key_here << WSH_GDA_KEY_AT | request.len,
                             request.here};
}

static WSH_DEV void wsh_dev_gda_store_pair(uint64_t *to, uint64_t first, uint64_t second)
{
    wsh_ptx_nic_put(to, first);
    wsh_ptx_nic_put(to + 1, second);
}

/* Where it belongs, which is free. `rest`: inline data behind word 7, the other words of a wide entry; NULL: zeros. */
static WSH_DEV void wsh_dev_gda_store(const struct wsh_dev_gda_entry &entry, const uint64_t *rest = nullptr)
{
    if (entry.ordinary) {
        wsh_ptx_nic_put_pair(entry.to, entry.w0, entry.w1);
        wsh_ptx_nic_put_pair(entry.to + 2, entry.w2, entry.w3);
        wsh_ptx_nic_put_pair(entry.to + 4, entry.w4, entry.w5);
        wsh_ptx_nic_put_pair(entry.to + 6, entry.w6, entry.w7);
    } else {
        wsh_dev_gda_store_pair(entry.to, entry.w0, entry.w1);
        wsh_dev_gda_store_pair(entry.to + 2, entry.w2, entry.w3);
        wsh_dev_gda_store_pair(entry.to + 4, entry.w4, entry.w5);
        wsh_dev_gda_store_pair(entry.to + 6, entry.w6, entry.w7);
    }
#pragma unroll 1
    for (uint32_t i = WSH_GDA_WORDS; i < entry.n_words; i += 2)
        if (rest)
            wsh_dev_gda_store_pair(entry.to + i, rest[i - WSH_GDA_WORDS], rest[i + 1 - WSH_GDA_WORDS]);
        else
            wsh_dev_gda_store_pair(entry.to + i, 0, 0);
}

/* How far a queue has come, as was last known. */
struct wsh_dev_gda_seen {
    uint64_t rung, completed, settled;
};

/* Asked for before the reservation, all come together. */
static WSH_DEV struct wsh_dev_gda_seen wsh_dev_gda_see(const struct wsh_gda_queue *queue)
{
    return wsh_dev_gda_seen{wsh_ptx_poll(&queue->rung), wsh_ptx_poll(&queue->completed), wsh_ptx_poll(&queue->settled)};
}

/* Requests that may be unannounced at a time; `stored` has room for so many. */
static WSH_DEV uint32_t wsh_dev_gda_max_batch(const struct wsh_gda_queue *queue)
{
    return queue->max_batch < WSH_GDA_RUNS ? queue->max_batch : WSH_GDA_RUNS;
}

/* Requests below `end` may be stored: they have entries, and then no more than max_batch are unannounced. */
static WSH_DEV bool wsh_dev_gda_may_store(const struct wsh_dev_gda_seen &seen, uint64_t end,
                                          const struct wsh_gda_queue *queue)
{
    return (int64_t)(end - seen.rung) <= (int64_t)wsh_dev_gda_max_batch(queue) &&
           (int64_t)(end - seen.completed) <= (int64_t)queue->entries;
}

/*
 * One lane, before requests below `end` are stored: doorbells that have been rung reach the NIC before them, where they
 * would be too many for it without. A release is cumulative over what the lane has seen of `rung`.
 */
static WSH_DEV void wsh_dev_gda_settle(const struct wsh_dev_gda_seen &seen, uint64_t end,
                                       const struct wsh_gda_queue *queue)
{
    uint64_t settled = seen.settled > seen.completed ? seen.settled : seen.completed;

    if (end > settled + wsh_dev_gda_max_batch(queue))
        wsh_ptx_release();
}

/*
 * Requests that wait for that, or for their turn. Across the wait in memory, where it holds no registers of all that
 * waits call.
 */
struct wsh_dev_gda_slots {
    struct wsh_gda_queue *queue;
    uint64_t first; /* number of the caller's first request; */
    uint32_t begin, end; /* those from `begin` to `end` of the caller's wait */
    uint32_t lanes;
    bool turn; /* it has come */
    struct wsh_dev_wait wait;
    struct wsh_dev_gda_request request;
};

#define WSH_GDA_POLLS 1024u /* at a word, for each time that other work is looked for, which drops the SM's L1 */
#define WSH_GDA_AWAKE (2 * WSH_GDA_RUNS) /* requests before the caller's for which it waits without a sleep */
#define WSH_GDA_SLEEP_NS 1000u          /* a sleep, during which a queue announces fewer than WSH_GDA_AWAKE */

/*
 * Polls until the word has come to the wait's value; returns what it has. Who is farther from that than NEAR sleeps, so
 * that polls of many do not delay those whose turn it is.
 */
template <uint32_t AWAKE> static WSH_DEV uint64_t wsh_dev_gda_poll_until(struct wsh_dev_wait *wait)
{
    uint64_t seen;

#pragma unroll 1
    for (uint32_t polls = 1; (seen = wsh_ptx_poll((const uint64_t *)wait->word)) < wait->value; polls++) {
        if (wait->value - seen > AWAKE)
            wsh_ptx_sleep(WSH_GDA_SLEEP_NS);
        if (polls % WSH_GDA_POLLS == 0) {
            wsh_dev_ring_idle(wait);
            wsh_ptx_again(wait);
        }
    }
    return seen;
}

/* One lane: waits until at most max_batch requests are unannounced, the caller's included. */
inline WSH_DEV_CALL void wsh_dev_gda_wait_for_others(struct wsh_dev_gda_slots *slots)
{
    uint64_t end = slots->first + slots->end, batch = wsh_dev_gda_max_batch(slots->queue);

    slots->wait = wsh_dev_wait{"others in a send queue of a NIC", &slots->queue->rung, end > batch ? end - batch : 0, 0,
                               0};
    slots->turn = wsh_dev_gda_poll_until<WSH_GDA_AWAKE>(&slots->wait) >= slots->first + slots->begin;
}

/* One lane: waits until the queue has entries for the caller's requests. */
inline WSH_DEV_CALL void wsh_dev_gda_wait_for_room(struct wsh_dev_gda_slots *slots)
{
    struct wsh_gda_queue *queue = slots->queue;
    uint64_t end = slots->first + slots->end, entries = queue->entries, seen;

    if (end <= entries || wsh_ptx_poll(&queue->completed) >= end - entries)
        return;
    slots->wait = wsh_dev_wait{"a full send queue of a NIC", &wsh_dev_gda_marks(queue)->completed, end - entries, 0, 0};
    seen = wsh_dev_gda_poll_until<0>(&slots->wait);
    wsh_ptx_put(&slots->queue->completed, seen);
}

/* Room last: it is the few that are next who look for it, in the host's memory. */
inline WSH_DEV_CALL void wsh_dev_gda_wait(struct wsh_dev_gda_slots *slots)
{
    wsh_dev_gda_wait_for_others(slots);
    wsh_ptx_again(slots);
    wsh_dev_gda_wait_for_room(slots);
    wsh_ptx_again(slots);
    wsh_dev_gda_settle(wsh_dev_gda_see(slots->queue), slots->first + slots->end, slots->queue);
}

/*
 * One lane in its turn, which is that of number `first`, when the requests below `end` are stored and seen by it: the
 * doorbell comes behind them and their sources, and behind the last one, and the next one's behind this.
 */
static WSH_DEV void wsh_dev_gda_announce(struct wsh_gda_queue *queue, uint64_t first, uint64_t end)
{
    uint32_t *doorbell = (uint32_t *)queue->doorbell;

    wsh_ptx_put((uint64_t *)&wsh_dev_gda_marks(queue)->posted, end);
    wsh_ptx_release();
    wsh_ptx_nic_put(doorbell, (uint32_t)end & 0xffff);
    wsh_ptx_put(&queue->settled, first);
    wsh_ptx_pass_on(&queue->rung, end);
}

/* The end of what is stored behind `end` without a gap. A word of an earlier turn holds no more than `end`. */
static WSH_DEV uint64_t wsh_dev_gda_gather(const struct wsh_gda_queue *queue, uint64_t end)
{
    uint64_t next;

    while ((next = wsh_ptx_poll(&queue->stored[end % WSH_GDA_RUNS])) > end)
        end = next;
    return end;
}

/*
 * One lane whose turn has not been seen when its requests were stored, behind a barrier. It says that they are, and
 * whoever's turn comes announces all that is stored behind its own.
 */
inline WSH_DEV_CALL void wsh_dev_gda_ring_in_turn(struct wsh_dev_gda_slots *slots)
{
    struct wsh_gda_queue *queue = slots->queue;
    uint64_t first = slots->first + slots->begin, end = slots->first + slots->end;

    if (wsh_ptx_poll(&queue->rung) < first) {
        wsh_ptx_pass_on(&queue->stored[first % WSH_GDA_RUNS], end);
        slots->wait = wsh_dev_wait{"a turn in a send queue of a NIC", &queue->rung, first, 0, 0};
        wsh_dev_gda_poll_until<WSH_GDA_AWAKE>(&slots->wait);
        wsh_ptx_again(slots);
        if (wsh_ptx_poll(&queue->rung) >= end)
            return;
        end = wsh_dev_gda_gather(queue, end);
        wsh_ptx_acquire();
    }
    wsh_dev_gda_announce(queue, first, end);
}

/* Numbers of a run, and whether its turn has come. */
struct wsh_dev_gda_run {
    uint64_t first;
    bool turn;
};

/*
 * One lane: a run of n, of at most max_batch, that it stores by itself. When it returns, they have entries. `held`: its
 * request, in memory only while it waits.
 */
static WSH_DEV struct wsh_dev_gda_run wsh_dev_gda_reserve(struct wsh_gda_queue *queue, uint32_t n,
                                                          struct wsh_dev_gda_request *held = nullptr)
{
    const struct wsh_dev_gda_seen seen = wsh_dev_gda_see(queue);
    struct wsh_dev_gda_request kept;
    struct wsh_dev_gda_slots slots;

    slots.first = wsh_ptx_fetch_add(&queue->reserved, (uint64_t)n);
    if (wsh_dev_gda_may_store(seen, slots.first + n, queue)) {
        wsh_dev_gda_settle(seen, slots.first + n, queue);
        return wsh_dev_gda_run{slots.first, seen.rung >= slots.first};
    }
    slots.queue = queue;
    slots.begin = 0;
    slots.end = n;
    if (held)
        kept = *held;
    wsh_ptx_again(&kept);
    wsh_dev_gda_wait(&slots);
    wsh_ptx_again(&kept);
    if (held)
        *held = kept;
    return wsh_dev_gda_run{slots.first, slots.turn};
}

/* One lane: announces the run of n that it has stored, or finds it announced. */
static WSH_DEV void wsh_dev_gda_ring(struct wsh_gda_queue *queue, const struct wsh_dev_gda_run &run, uint32_t n)
{
    struct wsh_dev_gda_slots slots;

    if (run.turn) {
        wsh_dev_gda_announce(queue, run.first, run.first + n);
        return;
    }
    slots.queue = queue;
    slots.first = run.first;
    slots.begin = 0;
    slots.end = n;
    wsh_dev_gda_ring_in_turn(&slots);
}

/* The end of a run that begins with the caller's request `begin` of n. */
static WSH_DEV uint32_t wsh_dev_gda_run_end(uint32_t begin, uint32_t n, uint32_t max_batch)
{
    return n - begin < max_batch ? n : begin + max_batch;
}

/* One lane that is here by itself. As the party would, without its shuffles. */
static WSH_DEV void wsh_dev_gda_post_alone(struct wsh_gda_queue *queue, struct wsh_dev_gda_request request)
{
    const struct wsh_dev_gda_run run = wsh_dev_gda_reserve(queue, 1, &request);
    const struct wsh_dev_gda_ring ring = wsh_dev_gda_ring_of(queue);

    wsh_dev_gda_store(wsh_dev_gda_entry_of(ring, run.first, request));
    wsh_dev_gda_ring(queue, run, 1);
}

/* Waits for room or, where they are stored, for their turn; `held` is in memory only meanwhile. */
static WSH_DEV void wsh_dev_gda_hold(struct wsh_dev_gda_slots *held, bool stored)
{
    struct wsh_dev_gda_slots slots = *held;

    if (stored)
        wsh_dev_gda_ring_in_turn(&slots);
    else
        wsh_dev_gda_wait(&slots);
    *held = slots;
}

/*
 * Lanes that are here together, each with a request: they share a reservation, and a doorbell in each run of max_batch.
 * A lane's request is stored behind a barrier, which comes behind its leader's look at what is free.
 */
static WSH_DEV void wsh_dev_gda_post_party(struct wsh_gda_queue *queue, uint32_t lanes,
                                           const struct wsh_dev_gda_request &request)
{
    struct wsh_dev_gda_seen seen = wsh_dev_gda_see(queue);
    struct wsh_dev_gda_slots at = {queue, 0, 0, 0, lanes, false, {}, request};
    uint32_t rank = (uint32_t)__popc(lanes & ((1u << wsh_ptx_lane()) - 1));

    if (rank == 0)
        at.first = wsh_ptx_fetch_add(&queue->reserved, (uint64_t)(uint32_t)__popc(lanes));
    at.first = wsh_ptx_party_from(lanes, at.first, (uint32_t)__ffs((int)lanes) - 1);
#pragma unroll 1
    do {
        at.end = wsh_dev_gda_run_end(at.begin, (uint32_t)__popc(at.lanes), wsh_dev_gda_max_batch(at.queue));
        at.turn = seen.rung >= at.first + at.begin;
        if (rank == 0 && !wsh_dev_gda_may_store(seen, at.first + at.end, at.queue)) {
            wsh_dev_gda_hold(&at, false);
            rank = 0;
        } else if (rank == 0) {
            wsh_dev_gda_settle(seen, at.first + at.end, at.queue);
        }
        wsh_ptx_party_sync(at.lanes);
        if (rank >= at.begin && rank < at.end)
            wsh_dev_gda_store(wsh_dev_gda_entry_of(wsh_dev_gda_ring_of(at.queue), at.first + rank, at.request));
        wsh_ptx_party_sync(at.lanes);
        if (rank == 0 && at.turn) {
            wsh_dev_gda_announce(at.queue, at.first + at.begin, at.first + at.end);
        } else if (rank == 0) {
            wsh_dev_gda_hold(&at, true);
            rank = 0;
        }
        seen.rung = at.first + at.end;
        at.begin = at.end;
    } while (at.begin < (uint32_t)__popc(at.lanes));
}

/* Lanes that are here together. */
static WSH_DEV void wsh_dev_gda_post(struct wsh_gda_queue *queue, uint32_t lanes,
                                     const struct wsh_dev_gda_request &request)
{
    if (lanes & (lanes - 1))
        wsh_dev_gda_post_party(queue, lanes, request);
    else
        wsh_dev_gda_post_alone(queue, request);
}

#endif
