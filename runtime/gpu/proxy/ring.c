/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes records from the rings, in the order of each ring; frees their slots in that order; answers in any order; and
 * decides when a quiet or a flush is complete.
 *
 * A record whose transport has no room is set aside, so that a PE that accepts nothing delays nobody else: it is
 * retried at each poll, before later records to the same PE. It counts as taken, but its slots are freed only once it
 * has started, unless it is a nonblocking zero-copy one, which needs them no more. A fence waits until no record is set
 * aside, and so do a quiet and a flush. When too many are set aside, in all or of one PE, the ring waits.
 */
#include "runtime/gpu/proxy/ring.h"

#include "base/invariant.h"
#include "base/log.h"
#include "runtime/gpu/proxy/record.h"
#include "runtime/gpu/proxy/spans.h"

#include <string.h>

/* Records taken from one ring before the next ring has its turn. */
#ifndef TURN
#define TURN 64
#endif

static int log_damaged(const struct wsh_ring_request *request)
{
    wsh_error(
        "a record of device code is damaged (kind %d, op %d, %zu bytes): a kernel of the program may have "
        "written where it must not; try compute-sanitizer",
        (int)request->kind, (int)request->op, request->len);
    return -EPROTO;
}

/* An epoch later than all before begins with a fence, once the records before it have been started. */
static int keep_order(struct wsh_consumer *consumer, const struct wsh_ring_request *request, uint32_t epoch)
{
    const uint32_t half = (uint32_t)1 << (WSH_RING_EPOCH_BITS - 1);
    uint32_t later = (epoch - consumer->epoch) & WSH_RING_LOW(WSH_RING_EPOCH_BITS);
    bool is_later = later && later < half, fences = is_later || request->fenced;
    int rc = !fences ? 0 : consumer->n_aside ? -EAGAIN : consumer->ops->fence(consumer->arg);

    if (rc)
        return rc;
    if (is_later)
        consumer->epoch = epoch;
    consumer->stats.fences += fences;
    return 0;
}

/*
 * Takes every ring up to what is visible now, and no further. That is at most one lap. A flush that comes during
 * another, or a quiet, is among what that one takes.
 */
void wsh_consumer_hold(struct wsh_consumer *consumer, enum wsh_consumer_hold hold)
{
    consumer->stats.quiets += hold == WSH_HOLD_QUIET;
    consumer->stats.flushes += hold == WSH_HOLD_FLUSH;
    if (hold == WSH_HOLD_FLUSH && consumer->holds)
        return;
    consumer->holds = hold;
    for (unsigned r = 0; r < consumer->n_rings; r++) {
        consumer->ring[r].stopped = false;
        consumer->ring[r].stop = consumer->ring[r].started + WSH_RING_PIECES;
    }
}

/* Of a nonblocking zero-copy transfer only a quiet or a flush asks when it has ended. */
static bool is_awaited(const struct wsh_ring_request *request)
{
    return request->answer || !wsh_record_is_zero_copy(request->kind);
}

/* `done` starts at 0: an operation that could not be started is started anew, a strided one continues behind *taken. */
static int record_start(struct wsh_consumer *consumer, struct wsh_consumer_ring *ring,
                        struct wsh_ring_request *request, uint64_t at)
{
    unsigned index = at % WSH_RING_PIECES;
    struct wsh_ring_slot *slot = &ring->slot[index];

    if (!*request->taken && (is_awaited(request) || at == ring->started))
        slot->done.left = 0;
    if (request->kind == WSH_RING_PAD)
        return 0;
    if (wsh_record_is_request(request->kind)) {
        wsh_consumer_hold(consumer, request->kind == WSH_RING_QUIET ? WSH_HOLD_QUIET : WSH_HOLD_FLUSH);
        return 0;
    }
    if (request->kind == WSH_RING_PUT_WORD)
        memcpy(request->payload, &request->value, sizeof request->value);
    if (request->kind == WSH_RING_GET_WORD || request->kind == WSH_RING_AMO)
        request->payload = &ring->word[index];
    return consumer->ops->start(consumer->arg, request, is_awaited(request) ? &slot->done : NULL);
}

/* Release: partner is the acquire of whoever reads the payload. */
static void give_answer(struct wsh_consumer_ring *ring, uint64_t at)
{
    unsigned index = at % WSH_RING_PIECES;
    struct wsh_ring_piece *answer = &ring->ring->answer[index];
    uint64_t word = ring->word[index];

    __atomic_store_n(&answer->a, WSH_RING_TAG(at) | (uint32_t)word, __ATOMIC_RELEASE);
    __atomic_store_n(&answer->b, WSH_RING_TAG(at) | word >> 32, __ATOMIC_RELEASE);
    ring->slot[index].state = WSH_RING_SLOT_ANSWERED;
}

/* It was handed to a transport. */
static void note_given(struct wsh_consumer_ring *ring, const struct wsh_ring_request *request, uint64_t at)
{
    struct wsh_ring_slot *slot = &ring->slot[at % WSH_RING_PIECES];

    if (!is_awaited(request))
        return;
    slot->state = request->answer ? WSH_RING_SLOT_DUE : WSH_RING_SLOT_PLAIN;
    if (request->answer && wsh_done_is(&slot->done))
        give_answer(ring, at);
    else if (request->answer)
        ring->due[ring->n_due++] = (uint16_t)(at % WSH_RING_PIECES);
}

/* The ring goes on behind it. */
static void note_started(struct wsh_consumer_ring *ring, const struct wsh_ring_request *request, uint64_t at)
{
    struct wsh_ring_slot *slot = &ring->slot[at % WSH_RING_PIECES];

    slot->n = (uint16_t)request->positions;
    if (!is_awaited(request))
        slot->state = WSH_RING_SLOT_PLAIN;
    wsh_record_stamp(ring->ring, at, request->pieces, slot->n);
    ring->started = at + slot->n;
    WSH_INVARIANT(ring->started - ring->freed <= WSH_RING_PIECES);
    ring->taken = 0;
}

static bool moves_data(const struct wsh_ring_request *request)
{
    return request->kind != WSH_RING_PAD && !wsh_record_is_request(request->kind);
}

/* Relaxed: a figure for reports, by any thread. */
static void count(uint64_t *figure, uint64_t n)
{
    __atomic_store_n(figure, *figure + n, __ATOMIC_RELAXED);
}

static void note_taken(struct wsh_consumer_stats *stats, const struct wsh_ring_request *request)
{
    bool moves = moves_data(request);

    if (request->answer || wsh_record_is_request(request->kind))
        count(&stats->waits, 1);
    if (moves)
        count(&stats->bytes, request->len);
    if (moves && !wsh_record_is_zero_copy(request->kind))
        count(&stats->copied, request->len);
}

/* Of the first n. */
static unsigned count_aside(const struct wsh_consumer *consumer, unsigned n, int pe)
{
    unsigned count = 0;

    for (unsigned i = 0; i < n; i++)
        count += consumer->aside[i].request.pe == pe;
    return count;
}

/* Relaxed: for reports, by any thread. */
static void aside_changed(struct wsh_consumer *consumer, unsigned n)
{
    __atomic_store_n(&consumer->waits_for, n ? consumer->aside[0].request.pe : -1, __ATOMIC_RELAXED);
    __atomic_store_n(&consumer->n_aside, (uint16_t)n, __ATOMIC_RELAXED);
}

/* False: it cannot, and the ring waits. What is at a stride may have begun. */
static bool step_aside(struct wsh_consumer *consumer, struct wsh_consumer_ring *ring,
                       const struct wsh_ring_request *request, uint64_t at)
{
    unsigned n = consumer->n_aside;

    if (n == WSH_ASIDE || count_aside(consumer, n, request->pe) >= WSH_ASIDE_PE || *request->taken ||
        request->kind == WSH_RING_IPUT || request->kind == WSH_RING_IGET)
        return false;
    consumer->aside[n] = (struct wsh_aside){*request, at, (uint16_t)(ring - consumer->ring)};
    aside_changed(consumer, n + 1);
    WSH_INVARIANT(consumer->n_aside <= WSH_ASIDE);
    WSH_INVARIANT(count_aside(consumer, consumer->n_aside, request->pe) <= WSH_ASIDE_PE);
    ring->slot[at % WSH_RING_PIECES].state = WSH_RING_SLOT_ASIDE; /* of what is awaited */
    return true;
}

/* 1: it was started; 0: no room still; < 0: final. */
static int aside_start(struct wsh_consumer *consumer, struct wsh_aside *aside)
{
    struct wsh_consumer_ring *ring = &consumer->ring[aside->ring];
    size_t taken = 0;
    int rc;

    aside->request.taken = &taken;
    rc = record_start(consumer, ring, &aside->request, aside->at);
    if (rc)
        return rc == -EAGAIN ? 0 : rc;
    note_given(ring, &aside->request, aside->at);
    return 1;
}

/*
 * Retries each record set aside, unless an earlier one to the same PE had no room. > 0: some were started; < 0: final.
 */
static int asides_start(struct wsh_consumer *consumer)
{
    unsigned kept = 0, n = consumer->n_aside;
    int rc = 0;

    for (unsigned i = 0; i < n; i++) {
        struct wsh_aside *aside = &consumer->aside[i];

        if (rc >= 0)
            rc = count_aside(consumer, kept, aside->request.pe) ? 0 : aside_start(consumer, aside);
        if (rc <= 0)
            consumer->aside[kept++] = *aside;
    }
    if (n)
        aside_changed(consumer, kept);
    return rc < 0 ? rc : kept != n;
}

/* The slots up to `end` are free, as a sound producer has waited for. */
static bool is_free(const struct wsh_consumer_ring *ring, uint64_t end)
{
    return end - ring->freed <= WSH_RING_PIECES;
}

/* 1: took a record; 0: there is none, or it must wait. */
static int ring_take_one(struct wsh_consumer *consumer, struct wsh_consumer_ring *ring)
{
    uint64_t at = ring->started, seen;
    struct wsh_ring_request request;
    uint32_t epoch;
    bool in_order;
    int rc;

    if (consumer->holds && at >= ring->stop)
        ring->stopped = true;
    if (consumer->holds && ring->stopped)
        return 0;
    if (!wsh_record_see(ring->ring, at, &request, &epoch)) {
        ring->stopped = true;
        return 0;
    }
    if (!wsh_record_is_sound(&request, at) || !is_free(ring, at + request.positions))
        return log_damaged(&request);
    request.taken = &ring->taken;
    seen = wsh_ring_spans_now(ring);
    rc = keep_order(consumer, &request, epoch);
    in_order = !rc;
    if (in_order)
        rc = moves_data(&request) && count_aside(consumer, consumer->n_aside, request.pe)
                 ? -EAGAIN
                 : record_start(consumer, ring, &request, at);
    consumer->stats.refused += rc != 0;
    if (rc && (rc != -EAGAIN || !in_order || !step_aside(consumer, ring, &request, at)))
        return rc == -EAGAIN ? 0 : rc;
    consumer->stats.records++;
    note_taken(&consumer->stats, &request);
    if (!rc)
        note_given(ring, &request, at);
    wsh_ring_spans_posted(ring, &request, at, seen, is_awaited(&request));
    note_started(ring, &request, at);
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

/* A slot's position is between freed and started. */
static int ring_answer(struct wsh_consumer_ring *ring)
{
    int moved = 0;

    for (uint32_t i = 0; i < ring->n_due;) {
        uint16_t index = ring->due[i];

        if (!wsh_done_is(&ring->slot[index].done)) {
            i++;
            continue;
        }
        WSH_INVARIANT(ring->slot[index].state == WSH_RING_SLOT_DUE);
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
    const struct wsh_ring_slot *slot = &ring->slot[at % WSH_RING_PIECES];

    if (slot->state == WSH_RING_SLOT_DUE || slot->state == WSH_RING_SLOT_ASIDE || !wsh_done_is(&slot->done))
        return false;
    return slot->state == WSH_RING_SLOT_PLAIN || is_taken(&ring->ring->answer[at % WSH_RING_PIECES]);
}

/* Release: partner is the producers' acquire of `freed`. */
static int free_slots(struct wsh_consumer_ring *ring)
{
    uint64_t before = ring->freed;

    while (ring->freed != ring->started && is_over(ring, ring->freed)) {
        wsh_ring_spans_over(ring, ring->freed);
        ring->freed += ring->slot[ring->freed % WSH_RING_PIECES].n;
        WSH_INVARIANT(ring->freed <= ring->started);
    }
    if (ring->freed == before)
        return 0;
    __atomic_store_n(&ring->ring->freed, ring->freed, __ATOMIC_RELEASE);
    return 1;
}

/* Whether what a quiet, or a flush, waits for has been taken; a ring that is behind asks too. */
static bool rings_are_owed(const struct wsh_consumer *consumer, bool sources)
{
    bool owed = consumer->holds, all_stopped = true;

    for (unsigned r = 0; r < consumer->n_rings; r++) {
        const struct wsh_consumer_ring *ring = &consumer->ring[r];

        owed |= (sources ? ring->read : ring->done) != ring->started;
        all_stopped &= ring->stopped;
    }
    return owed && !consumer->n_aside && (!consumer->holds || all_stopped);
}

/* Release: partner is the acquire of a flush. */
static void publish_read(struct wsh_consumer *consumer)
{
    for (unsigned r = 0; r < consumer->n_rings; r++) {
        struct wsh_consumer_ring *ring = &consumer->ring[r];

        WSH_INVARIANT(ring->read <= ring->started);
        ring->read = ring->started;
        __atomic_store_n(&ring->ring->read, ring->read, __ATOMIC_RELEASE);
    }
    if (consumer->holds == WSH_HOLD_FLUSH)
        consumer->holds = WSH_HOLD_NONE;
}

/* All that was started is complete. Release: partner is the acquire of quiet. */
static void publish_done(struct wsh_consumer *consumer)
{
    for (unsigned r = 0; r < consumer->n_rings; r++) {
        struct wsh_consumer_ring *ring = &consumer->ring[r];

        WSH_INVARIANT(ring->done <= ring->started);
        ring->done = ring->started;
        __atomic_store_n(&ring->ring->done, ring->done, __ATOMIC_RELEASE);
    }
    consumer->holds = WSH_HOLD_NONE;
}

/*
 * What has not been read is not complete, so it is asked for less. A quiet asks for all at once: peers are requested to
 * acknowledge while sources are read. > 0: something was published.
 */
static int rings_end(struct wsh_consumer *consumer)
{
    const struct wsh_consumer_ops *ops = consumer->ops;
    bool quiets = consumer->holds == WSH_HOLD_QUIET, owed = rings_are_owed(consumer, true),
         unread = owed && ops->pending(consumer->arg, true, consumer->holds);

    if (owed && !unread)
        publish_read(consumer);
    if ((unread && !quiets) || !rings_are_owed(consumer, false) || ops->pending(consumer->arg, false, quiets))
        return owed && !unread;
    publish_done(consumer);
    return 1;
}

/* Whether there is something to start; none of it need be. */
static bool sees_any(const struct wsh_consumer *consumer)
{
    struct wsh_ring_piece piece;

    if (consumer->n_aside)
        return true;
    for (unsigned r = 0; r < consumer->n_rings; r++)
        if (wsh_record_piece(consumer->ring[r].ring, consumer->ring[r].started, &piece))
            return true;
    return false;
}

/* > 0: some; < 0: final. */
static int rings_take(struct wsh_consumer *consumer)
{
    int moved = asides_start(consumer);

    for (unsigned r = 0; r < consumer->n_rings && moved >= 0; r++) {
        int rc = ring_take(consumer, &consumer->ring[r]);

        moved = rc < 0 ? rc : moved | rc;
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
    moved |= rings_end(consumer);
    for (unsigned r = 0; r < consumer->n_rings; r++) {
        moved |= ring_answer(&consumer->ring[r]);
        moved |= free_slots(&consumer->ring[r]);
    }
    return moved;
}
