/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows how records are taken from the rings, in the order of each ring; how their places are freed in that order,
 * their answers given in any; and when a quiet is fulfilled.
 */
#include "runtime/proxy_ring.h"

#include "runtime/base/log.h"

#include <stdlib.h>
#include <string.h>

/* Records that one ring gives before the next has its turn. */
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

static uint64_t parity_of(uint64_t at)
{
    return at / WSH_RING_PIECES % 2 ? 0 : WSH_RING_PARITY;
}

/* Both halves of the piece at `at`, without the parity; false: it is not there yet. Acquire: partner is the release
 * before the producer's pieces. */
static bool see_piece(const struct wsh_ring *ring, uint64_t at, struct wsh_ring_piece *piece)
{
    const struct wsh_ring_piece *from = &ring->piece[at % WSH_RING_PIECES];

    piece->a = __atomic_load_n(&from->a, __ATOMIC_ACQUIRE) ^ parity_of(at);
    piece->b = __atomic_load_n(&from->b, __ATOMIC_ACQUIRE) ^ parity_of(at);
    return !((piece->a | piece->b) & WSH_RING_PARITY);
}

static unsigned pieces_of(const struct wsh_ring_ask *ask)
{
    switch (ask->kind) {
    case WSH_RING_SIGNAL:
    case WSH_RING_PUT_WORD:
    case WSH_RING_IPUT:
    case WSH_RING_IGET: return 2;
    case WSH_RING_AMO: return ask->op == WSH_AMO_CSWAP ? 3 : 2;
    default: return 1;
    }
}

static unsigned positions_of(const struct wsh_ring_ask *ask)
{
    unsigned chunks = (unsigned)((ask->len + WSH_RING_CHUNK - 1) / WSH_RING_CHUNK);

    if (ask->kind == WSH_RING_PAD)
        return (unsigned)ask->len;
    return chunks > ask->pieces ? chunks : ask->pieces;
}

static void decode_first(const struct wsh_ring_piece *piece, struct wsh_ring_ask *ask)
{
    *ask = (struct wsh_ring_ask){.kind = piece->a >> WSH_RING_KIND_AT,
                                 .op = piece->a >> WSH_RING_OP_AT & 31,
                                 .fenced = piece->a & WSH_RING_FENCED,
                                 .answer = piece->a & WSH_RING_ANSWER,
                                 .pe = (int)(piece->b >> WSH_RING_PE_AT & WSH_RING_LOW(WSH_RING_PE_BITS)),
                                 .len = piece->b & WSH_RING_LOW(WSH_RING_LEN_BITS),
                                 .sym = piece->a & WSH_RING_ADDRESS};
    ask->pieces = pieces_of(ask);
    ask->positions = positions_of(ask);
}

static uint64_t value_of(const struct wsh_ring_piece *piece)
{
    return piece->b | (piece->a & WSH_RING_VALUE_TOP) << 1;
}

/* The record at `at`, whole, and its epoch; false: not all of it is there. */
static bool see_record(struct wsh_ring *ring, uint64_t at, struct wsh_ring_ask *ask, uint32_t *epoch)
{
    struct wsh_ring_piece piece;

    if (!see_piece(ring, at, &piece))
        return false;
    decode_first(&piece, ask);
    *epoch = (uint32_t)(piece.b >> WSH_RING_EPOCH_AT);
    if (ask->pieces > 1) {
        if (!see_piece(ring, at + 1, &piece))
            return false;
        ask->value = value_of(&piece);
        ask->second = piece.a & WSH_RING_ADDRESS;
    }
    if (ask->pieces > 2) {
        if (!see_piece(ring, at + 2, &piece))
            return false;
        ask->compare = value_of(&piece);
    }
    ask->payload = ring->payload + at % WSH_RING_PIECES * WSH_RING_CHUNK;
    return true;
}

/* Places without a piece show what is behind them in the ring's next lap but one, unless they are stamped. Relaxed:
 * released with `freed`. */
static void stamp(struct wsh_ring *ring, uint64_t at, unsigned pieces, unsigned n)
{
    for (unsigned i = pieces; i < n; i++) {
        struct wsh_ring_piece *piece = &ring->piece[(at + i) % WSH_RING_PIECES];

        __atomic_store_n(&piece->a, parity_of(at), __ATOMIC_RELAXED);
        __atomic_store_n(&piece->b, parity_of(at), __ATOMIC_RELAXED);
    }
}

static int say_damaged(const struct wsh_ring_ask *ask)
{
    wsh_error(
        "a record of device code is damaged (kind %d, op %d, %zu bytes): a kernel of the program may have "
        "written where it must not; try compute-sanitizer",
        (int)ask->kind, (int)ask->op, ask->len);
    return -EPROTO;
}

/* Whole elements of a size that there is, within what an address can count. */
static bool strides_are_sound(const struct wsh_ring_ask *ask)
{
    size_t n = ask->len >> ask->op;

    return ask->op <= 4 && n && ask->len == n << ask->op && (n == 1 || ask->value <= WSH_RING_ADDRESS / n);
}

static bool is_sound(const struct wsh_ring_ask *ask, uint64_t at)
{
    bool strided = ask->kind == WSH_RING_IPUT || ask->kind == WSH_RING_IGET;

    return ask->kind >= WSH_RING_PAD && ask->kind < WSH_RING_KINDS && ask->op < WSH_AMO_OPS &&
           ask->positions && at % WSH_RING_PIECES + ask->positions <= WSH_RING_PIECES &&
           (!strided || strides_are_sound(ask));
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

/* `done` counts from 0, so that an operation that could not be started is begun again; one in elements goes on. */
static int carry_out(struct wsh_consumer *consumer, struct wsh_ring_ask *ask, struct wsh_place *place)
{
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
    consumer->stats.bytes += ask->len;
    return consumer->ops->start(consumer->arg, ask, &place->done);
}

static void note_started(struct wsh_consumer_ring *ring, const struct wsh_ring_ask *ask, uint64_t at)
{
    uint16_t index = (uint16_t)(at % WSH_RING_PIECES);
    struct wsh_place *place = &ring->place[index];

    place->n = (uint16_t)ask->positions;
    place->state = ask->answer ? WSH_PLACE_DUE : WSH_PLACE_PLAIN;
    if (ask->answer)
        ring->due[ring->n_due++] = index;
    stamp(ring->ring, at, ask->pieces, place->n);
    ring->started = at + place->n;
    ring->taken = 0;
}

/* 1: took a record; 0: there is none, or it must wait. */
static int take_one(struct wsh_consumer *consumer, struct wsh_consumer_ring *ring)
{
    uint64_t at = ring->started;
    struct wsh_ring_ask ask;
    uint32_t epoch;
    int rc;

    if (consumer->holds && at >= ring->stop)
        ring->stopped = true;
    if (consumer->holds && ring->stopped)
        return 0;
    if (!see_record(ring->ring, at, &ask, &epoch)) {
        ring->stopped = true;
        return 0;
    }
    if (!is_sound(&ask, at))
        return say_damaged(&ask);
    ask.taken = &ring->taken;
    rc = keep_order(consumer, &ask, epoch);
    if (!rc)
        rc = carry_out(consumer, &ask, &ring->place[at % WSH_RING_PIECES]);
    if (rc) {
        consumer->stats.refused++;
        return rc == -EAGAIN ? 0 : rc;
    }
    consumer->stats.records++;
    note_started(ring, &ask, at);
    return 1;
}

/* Release: partner is the producers' acquire of `started`. */
static int take(struct wsh_consumer *consumer, struct wsh_consumer_ring *ring)
{
    uint64_t before = ring->started;
    int rc = 1;

    for (unsigned i = 0; i < TURN && rc > 0; i++)
        rc = take_one(consumer, ring);
    if (ring->started == before)
        return rc < 0 ? rc : 0;
    if (consumer->stats.depth < ring->started - ring->freed)
        consumer->stats.depth = ring->started - ring->freed;
    __atomic_store_n(&ring->ring->started, ring->started, __ATOMIC_RELEASE);
    return rc < 0 ? rc : 1;
}

/* Release: partner is the acquire of the producer that waits for its answer. */
static int answer(struct wsh_consumer_ring *ring)
{
    int moved = 0;

    for (uint32_t i = 0; i < ring->n_due;) {
        uint16_t index = ring->due[i];
        struct wsh_place *place = &ring->place[index];

        if (!wsh_done_is(&place->done)) {
            i++;
            continue;
        }
        place->state = WSH_PLACE_ANSWERED;
        ring->due[i] = ring->due[--ring->n_due];
        /* The position of a place between freed and started. */
        __atomic_store_n(&ring->ring->answer[index],
                         ring->freed + (index - ring->freed) % WSH_RING_PIECES + 1, __ATOMIC_RELEASE);
        moved = 1;
    }
    return moved;
}

/* Acquire: partner is the producer's release of 0, once it has read the result. */
static bool is_over(const struct wsh_consumer_ring *ring, uint64_t at)
{
    const struct wsh_place *place = &ring->place[at % WSH_RING_PIECES];

    if (place->state == WSH_PLACE_DUE || !wsh_done_is(&place->done))
        return false;
    return place->state == WSH_PLACE_PLAIN ||
           !__atomic_load_n(&ring->ring->answer[at % WSH_RING_PIECES], __ATOMIC_ACQUIRE);
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

/* Nothing is under way: all that was started is complete. Release: partner is the acquire of quiet. */
static int complete(struct wsh_consumer *consumer)
{
    bool owed = consumer->holds, all_stopped = true;

    for (unsigned r = 0; r < consumer->n_rings; r++) {
        owed |= consumer->ring[r].done != consumer->ring[r].started;
        all_stopped &= consumer->ring[r].stopped;
    }
    if (!owed || (consumer->holds && !all_stopped) || consumer->ops->pending(consumer->arg))
        return 0;
    for (unsigned r = 0; r < consumer->n_rings; r++) {
        struct wsh_consumer_ring *ring = &consumer->ring[r];

        ring->done = ring->started;
        __atomic_store_n(&ring->ring->done, ring->done, __ATOMIC_RELEASE);
    }
    consumer->holds = false;
    return 1;
}

int wsh_consumer_step(struct wsh_consumer *consumer)
{
    int moved = 0;

    for (unsigned r = 0; r < consumer->n_rings; r++) {
        int rc = take(consumer, &consumer->ring[r]);

        if (rc < 0)
            return rc;
        moved |= rc;
    }
    moved |= complete(consumer);
    for (unsigned r = 0; r < consumer->n_rings; r++) {
        moved |= answer(&consumer->ring[r]);
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
        view.parked += see_piece(ring->ring, ring->started, &piece);
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
            see_piece(&rings[r], started, &piece))
            return false;
    }
    return true;
}
