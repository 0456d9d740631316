/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes records from the rings, in the order of each ring; frees their slots in that order, answers them in any; and
 * decides when a quiet is complete.
 */
#include "runtime/gpu/proxy_ring.h"

#include "base/log.h"
#include "runtime/gpu/proxy_record.h"

#include <stdlib.h>
#include <string.h>

/* Records taken from one ring before the next ring has its turn. */
#ifndef TURN
#define TURN 64
#endif

size_t wsh_consumer_size(unsigned n)
{
    return sizeof(struct wsh_consumer) + n * sizeof(struct wsh_consumer_ring);
}

void wsh_consumer_init(struct wsh_consumer *consumer, struct wsh_ring *rings, unsigned n,
                       const struct wsh_consumer_ops *ops, void *arg)
{
    memset(consumer, 0, wsh_consumer_size(n));
    consumer->ops = ops;
    consumer->arg = arg;
    consumer->n_rings = n;
    for (unsigned r = 0; r < n; r++)
        consumer->ring[r].ring = &rings[r];
}

struct wsh_consumer *wsh_consumer_open(struct wsh_ring *rings, unsigned n, const struct wsh_consumer_ops *ops,
                                       void *arg)
{
    struct wsh_consumer *consumer = malloc(wsh_consumer_size(n));

    if (consumer)
        wsh_consumer_init(consumer, rings, n, ops, arg);
    return consumer;
}

void wsh_consumer_close(struct wsh_consumer *consumer)
{
    free(consumer);
}

static int log_damaged(const struct wsh_ring_ask *ask)
{
    wsh_error(
        "a record of device code is damaged (kind %d, op %d, %zu bytes): a kernel of the program may have "
        "written where it must not; try compute-sanitizer",
        (int)ask->kind, (int)ask->op, ask->len);
    return -EPROTO;
}

/* A later epoch than any before begins with a fence. */
static int keep_order(struct wsh_consumer *consumer, const struct wsh_ring_ask *ask, uint32_t epoch)
{
    const uint32_t half = (uint32_t)1 << (WSH_RING_EPOCH_BITS - 1);
    uint32_t later = (epoch - consumer->epoch) & WSH_RING_LOW(WSH_RING_EPOCH_BITS);
    bool is_later = later && later < half;
    int rc = is_later || ask->fenced ? consumer->ops->fence(consumer->arg) : 0;

    if (rc)
        return rc;
    if (is_later)
        consumer->epoch = epoch;
    consumer->stats.fences += is_later || ask->fenced;
    return 0;
}

/* From here on every ring is taken up to what is visible now, and no further. At most a lap can be. */
void wsh_consumer_hold(struct wsh_consumer *consumer)
{
    consumer->holds = true;
    consumer->stats.quiets++;
    for (unsigned r = 0; r < consumer->n_rings; r++) {
        consumer->ring[r].stopped = false;
        consumer->ring[r].stop = consumer->ring[r].started + WSH_RING_PIECES;
    }
}

/* Of a nonblocking transfer by reference only a quiet asks when it has ended. */
static bool is_awaited(const struct wsh_ring_ask *ask)
{
    return ask->answer || !wsh_record_is_ref(ask->kind);
}

/* `done` starts at 0: an operation that could not be started is started anew, a strided one continues behind *taken. */
static int record_start(struct wsh_consumer *consumer, struct wsh_consumer_ring *ring,
                        struct wsh_ring_ask *ask)
{
    unsigned index = ring->started % WSH_RING_PIECES;
    struct wsh_place *place = &ring->place[index];

    if (!*ask->taken)
        place->done.left = 0;
    if (ask->kind == WSH_RING_PAD)
        return 0;
    if (ask->kind == WSH_RING_QUIET) {
        wsh_consumer_hold(consumer);
        return 0;
    }
    if (ask->kind == WSH_RING_PUT_WORD)
        memcpy(ask->payload, &ask->value, sizeof ask->value);
    if (ask->kind == WSH_RING_GET_WORD || ask->kind == WSH_RING_AMO)
        ask->payload = &ring->word[index];
    return consumer->ops->start(consumer->arg, ask, is_awaited(ask) ? &place->done : NULL);
}

/* Release: partner is the acquire of whoever reads the payload. */
static void give_answer(struct wsh_consumer_ring *ring, uint64_t at)
{
    unsigned index = at % WSH_RING_PIECES;
    struct wsh_ring_piece *answer = &ring->ring->answer[index];
    uint64_t word = ring->word[index];

    __atomic_store_n(&answer->a, WSH_RING_TAG(at) | (uint32_t)word, __ATOMIC_RELEASE);
    __atomic_store_n(&answer->b, WSH_RING_TAG(at) | word >> 32, __ATOMIC_RELEASE);
    ring->place[index].state = WSH_PLACE_ANSWERED;
}

static void note_started(struct wsh_consumer_ring *ring, const struct wsh_ring_ask *ask, uint64_t at)
{
    struct wsh_place *place = &ring->place[at % WSH_RING_PIECES];

    place->n = (uint16_t)ask->positions;
    place->state = ask->answer ? WSH_PLACE_DUE : WSH_PLACE_PLAIN;
    if (ask->answer && wsh_done_is(&place->done))
        give_answer(ring, at);
    else if (ask->answer)
        ring->due[ring->n_due++] = (uint16_t)(at % WSH_RING_PIECES);
    wsh_record_stamp(ring->ring, at, ask->pieces, place->n);
    ring->started = at + place->n;
    ring->taken = 0;
}

/* Relaxed: a figure for reports, by any thread. */
static void count(uint64_t *figure, uint64_t n)
{
    __atomic_store_n(figure, *figure + n, __ATOMIC_RELAXED);
}

static void note_taken(struct wsh_consumer_stats *stats, const struct wsh_ring_ask *ask)
{
    bool moves = ask->kind != WSH_RING_PAD && ask->kind != WSH_RING_QUIET;

    if (ask->answer || ask->kind == WSH_RING_QUIET)
        count(&stats->waits, 1);
    if (moves)
        count(&stats->bytes, ask->len);
    if (moves && !wsh_record_is_ref(ask->kind))
        count(&stats->copied, ask->len);
}

/* The places up to `end` are free, as a sound producer has waited for. */
static bool is_free(const struct wsh_consumer_ring *ring, uint64_t end)
{
    return end - ring->freed <= WSH_RING_PIECES;
}

/* 1: took a record; 0: there is none, or it must wait. */
static int ring_take_one(struct wsh_consumer *consumer, struct wsh_consumer_ring *ring)
{
    uint64_t at = ring->started;
    struct wsh_ring_ask ask;
    uint32_t epoch;
    int rc;

    if (consumer->holds && at >= ring->stop)
        ring->stopped = true;
    if (consumer->holds && ring->stopped)
        return 0;
    if (!wsh_record_see(ring->ring, at, &ask, &epoch)) {
        ring->stopped = true;
        return 0;
    }
    if (!wsh_record_is_sound(&ask, at) || !is_free(ring, at + ask.positions))
        return log_damaged(&ask);
    ask.taken = &ring->taken;
    rc = keep_order(consumer, &ask, epoch);
    if (!rc)
        rc = record_start(consumer, ring, &ask);
    if (rc) {
        consumer->stats.refused++;
        return rc == -EAGAIN ? 0 : rc;
    }
    consumer->stats.records++;
    note_taken(&consumer->stats, &ask);
    note_started(ring, &ask, at);
    return 1;
}

/* Release: partner is the producers' acquire of `started`. */
static int ring_take(struct wsh_consumer *consumer, struct wsh_consumer_ring *ring)
{
    uint64_t before = ring->started;
    int rc = 1;

    for (unsigned i = 0; i < TURN && rc > 0; i++)
        rc = ring_take_one(consumer, ring);
    if (ring->started == before)
        return rc < 0 ? rc : 0;
    if (consumer->stats.depth < ring->started - ring->freed)
        consumer->stats.depth = ring->started - ring->freed;
    __atomic_store_n(&ring->ring->started, ring->started, __ATOMIC_RELEASE);
    return rc < 0 ? rc : 1;
}

/* A place's position is between freed and started. */
static int ring_answer(struct wsh_consumer_ring *ring)
{
    int moved = 0;

    for (uint32_t i = 0; i < ring->n_due;) {
        uint16_t index = ring->due[i];

        if (!wsh_done_is(&ring->place[index].done)) {
            i++;
            continue;
        }
        ring->due[i] = ring->due[--ring->n_due];
        give_answer(ring, ring->freed + (index - ring->freed) % WSH_RING_PIECES);
        moved = 1;
    }
    return moved;
}

/* Acquire: partner is the producer's release of zeros, once it has read the result. */
static bool is_taken(const struct wsh_ring_piece *answer)
{
    return !__atomic_load_n(&answer->a, __ATOMIC_ACQUIRE) && !__atomic_load_n(&answer->b, __ATOMIC_ACQUIRE);
}

static bool is_over(const struct wsh_consumer_ring *ring, uint64_t at)
{
    const struct wsh_place *place = &ring->place[at % WSH_RING_PIECES];

    if (place->state == WSH_PLACE_DUE || !wsh_done_is(&place->done))
        return false;
    return place->state == WSH_PLACE_PLAIN || is_taken(&ring->ring->answer[at % WSH_RING_PIECES]);
}

/* Release: partner is the producers' acquire of `freed`. */
static int free_places(struct wsh_consumer_ring *ring)
{
    uint64_t before = ring->freed;

    while (ring->freed != ring->started && is_over(ring, ring->freed))
        ring->freed += ring->place[ring->freed % WSH_RING_PIECES].n;
    if (ring->freed == before)
        return 0;
    __atomic_store_n(&ring->ring->freed, ring->freed, __ATOMIC_RELEASE);
    return 1;
}

/* Nothing is in flight: all that was started is complete. Release: partner is the acquire of quiet. */
static int rings_complete(struct wsh_consumer *consumer)
{
    bool owed = consumer->holds, all_stopped = true;

    for (unsigned r = 0; r < consumer->n_rings; r++) {
        owed |= consumer->ring[r].done != consumer->ring[r].started;
        all_stopped &= consumer->ring[r].stopped;
    }
    if (!owed || (consumer->holds && !all_stopped) || consumer->ops->pending(consumer->arg, consumer->holds))
        return 0;
    for (unsigned r = 0; r < consumer->n_rings; r++) {
        struct wsh_consumer_ring *ring = &consumer->ring[r];

        ring->done = ring->started;
        __atomic_store_n(&ring->ring->done, ring->done, __ATOMIC_RELEASE);
    }
    consumer->holds = false;
    return 1;
}

/* Whether some ring has a record; none of them need be taken. */
static bool sees_any(const struct wsh_consumer *consumer)
{
    struct wsh_ring_piece piece;

    for (unsigned r = 0; r < consumer->n_rings; r++)
        if (wsh_record_piece(consumer->ring[r].ring, consumer->ring[r].started, &piece))
            return true;
    return false;
}

/* > 0: some; < 0: final. */
static int rings_take(struct wsh_consumer *consumer)
{
    int moved = 0;

    for (unsigned r = 0; r < consumer->n_rings; r++) {
        int rc = ring_take(consumer, &consumer->ring[r]);

        if (rc < 0)
            return rc;
        moved |= rc;
    }
    return moved;
}

/* One pass over the rings, one doorbell of each NIC. */
static int rings_take_together(struct wsh_consumer *consumer)
{
    int moved, rc;

    if (!consumer->ops->batch || !sees_any(consumer))
        return rings_take(consumer);
    rc = consumer->ops->batch(consumer->arg, true);
    moved = rc ? rc : rings_take(consumer);
    rc = consumer->ops->batch(consumer->arg, false);
    return moved < 0 || !rc ? moved : rc;
}

int wsh_consumer_step(struct wsh_consumer *consumer)
{
    int moved = rings_take_together(consumer);

    if (moved < 0)
        return moved;
    moved |= rings_complete(consumer);
    for (unsigned r = 0; r < consumer->n_rings; r++) {
        moved |= ring_answer(&consumer->ring[r]);
        moved |= free_places(&consumer->ring[r]);
    }
    return moved;
}

struct wsh_consumer_view wsh_consumer_view(const struct wsh_consumer *consumer)
{
    struct wsh_consumer_view view = {0};
    struct wsh_ring_piece piece;

    for (unsigned r = 0; r < consumer->n_rings; r++) {
        const struct wsh_consumer_ring *ring = &consumer->ring[r];

        view.in_use += (unsigned)(ring->started - ring->freed);
        view.owed += ring->n_due;
        view.parked += wsh_record_piece(ring->ring, ring->started, &piece);
    }
    return view;
}

/* Acquire: partner is the consumer's release of each. */
bool wsh_rings_are_idle(const struct wsh_ring *rings, unsigned n)
{
    struct wsh_ring_piece piece;

    for (unsigned r = 0; r < n; r++) {
        uint64_t started = __atomic_load_n(&rings[r].started, __ATOMIC_ACQUIRE);

        if (__atomic_load_n(&rings[r].done, __ATOMIC_ACQUIRE) != started ||
            wsh_record_piece(&rings[r], started, &piece))
            return false;
    }
    return true;
}
