/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device's end of the rings to the proxy: writes records and waits for their answers; ring_order.cuh orders and
 * completes what was asked for. ring.h argues the order of everything. Callers pass the rings; they also define
 * wsh_dev_ring_idle, called between looks at a word that does not hold yet.
 */
#ifndef WSH_DEVICE_RING_PUSH_CUH
#define WSH_DEVICE_RING_PUSH_CUH

#include "ring.h"
#include "../core/scope.cuh"

struct wsh_dev_rings {
    struct wsh_ring *ring; /* [n] */
    struct wsh_ring_heads *heads;
    uint32_t n, each, mine; /* each: rings of one consumer; mine: the ring of this block to the present PE */
};

/*
 * The ring of a block to a PE. PEs go to consumers in turn, and also those of equal number on hosts of 8: a PE that
 * talks to its like on every host uses all consumers.
 */
static WSH_DEV uint32_t wsh_dev_ring_of(uint32_t consumers, uint32_t each, uint32_t block, uint32_t pe)
{
    return (pe + pe / 8) % consumers * each + block % each;
}

static WSH_DEV struct wsh_dev_rings wsh_dev_rings_to(struct wsh_ring *ring, struct wsh_ring_heads *heads,
                                                     uint32_t consumers, uint32_t each, uint32_t block, uint32_t pe)
{
    return wsh_dev_rings{ring, heads, consumers * each, each, wsh_dev_ring_of(consumers, each, block, pe)};
}

/* One record. `value` and further: for the kinds that have them. */
struct wsh_dev_request {
    uint64_t first_a; /* kind, op and flags, in place */
    uint64_t sym, value, second, compare;
    uint32_t len;
    int pe;
    uint64_t third; /* address in the third piece */
};

WSH_DEV void wsh_dev_ring_idle(struct wsh_dev_wait *wait);

static WSH_DEV constexpr uint64_t wsh_dev_ring_kind(enum wsh_ring_kind kind, uint64_t op = 0)
{
    return (uint64_t)kind << WSH_RING_KIND_AT | op << WSH_RING_OP_AT;
}

/* An operation on a word of `width` bytes, and how many further pieces its record has. */
static WSH_DEV struct wsh_dev_request wsh_dev_request_of_amo(enum wsh_amo_op op, bool fetch, uint64_t sym,
                                                             uint64_t value,
                                                             uint64_t compare, uint32_t width, int pe, unsigned *words)
{
    uint64_t answer = fetch ? WSH_RING_ANSWER : 0;

    *words = op == WSH_AMO_CSWAP ? 2 : value >> WSH_RING_SHORT_BITS ? 1 : 0;
    if (*words)
        return wsh_dev_request{wsh_dev_ring_kind(WSH_RING_AMO, op) | answer, sym, value, 0, compare, width, pe};
    return wsh_dev_request{wsh_dev_ring_kind(WSH_RING_AMO_SHORT, op) | answer, sym, 0, 0, 0,
                           (uint32_t)value | (width == 8 ? WSH_RING_SHORT_WIDE : 0), pe};
}

/* A put from `local` memory, or a get into it, of WSH_RING_ZERO_COPY_MAX bytes at most; one further piece. */
static WSH_DEV struct wsh_dev_request wsh_dev_request_zero_copy(bool gets, uint64_t sym, const void *local,
                                                                uint32_t len, int pe, bool waits)
{
    return wsh_dev_request{wsh_dev_ring_kind(gets ? WSH_RING_GET_ZERO_COPY : WSH_RING_PUT_ZERO_COPY) |
                               (waits ? WSH_RING_ANSWER : 0),
                           sym,
                           0,
                           (uint64_t)local | (uint64_t)(len >> WSH_RING_LEN_BITS) << WSH_RING_LEN_TOP_AT,
                           0,
                           len & (uint32_t)WSH_RING_LOW(WSH_RING_LEN_BITS),
                           pe,
                           0};
}

/* Makes it a put with a signal, `op` of `value` on the word at `word`; two further pieces. */
static WSH_DEV void wsh_dev_request_add_signal(struct wsh_dev_request *request, enum wsh_amo_op op, uint64_t word,
                                               uint64_t value, bool fenced)
{
    request->first_a = wsh_dev_ring_kind(WSH_RING_SIGNAL_ZERO_COPY, op) | (request->first_a & WSH_RING_ANSWER) |
                   (fenced ? WSH_RING_FENCED : 0);
    request->third = word;
    request->compare = value;
}

/* Polls until the word has reached `value`, and acquires. */
inline WSH_DEV_CALL uint64_t wsh_dev_ring_reach(const char *what, const uint64_t *word, uint64_t value)
{
    struct wsh_dev_wait wait = {what, word, value, 0, 0};
    uint64_t seen;

#pragma unroll 1
    while ((seen = wsh_ptx_poll((const uint64_t *)wait.word)) < wait.value) {
        wsh_dev_ring_idle(&wait);
        wsh_ptx_again(&wait);
    }
    wsh_ptx_acquire();
    return seen;
}

static WSH_DEV struct wsh_ring_piece *wsh_dev_ring_piece(struct wsh_ring *ring, uint64_t at)
{
    return &ring->piece[at % WSH_RING_PIECES];
}

static WSH_DEV void wsh_dev_ring_store(struct wsh_ring *ring, uint64_t at, uint64_t a, uint64_t b)
{
    uint64_t parity = at / WSH_RING_PIECES % 2 ? 0 : WSH_RING_PARITY;

    wsh_ptx_put((struct wsh_ptx_pair *)wsh_dev_ring_piece(ring, at), wsh_ptx_pair{a | parity, b | parity});
}

/* Whether all before `end` may be written once all before `freed`, of which these are the low bits, was freed. */
static WSH_DEV bool wsh_dev_ring_has_room(uint64_t end, uint32_t freed)
{
    return (int32_t)((uint32_t)end - freed) <= (int32_t)WSH_RING_PIECES;
}

/* Slots that a lane has reserved. Across a wait for them in memory, where they hold no registers of all it calls. */
struct wsh_dev_ring_slot {
    struct wsh_dev_rings rings;
    uint64_t at;
    uint32_t n;
    struct wsh_dev_wait wait;
    const struct wsh_dev_request *request;
};

/*
 * Whether they may be written. What the caller saw as freed is older than what is: then the consumer is asked. A slot
 * is stored to after a branch that asked for the value, never before it.
 */
inline WSH_DEV_CALL bool wsh_dev_ring_slot_is_free(struct wsh_dev_ring_slot *slot)
{
    const uint64_t *word = &slot->rings.ring[slot->rings.mine].freed;
    uint32_t *known = &slot->rings.heads->ring[slot->rings.mine].freed;
    uint64_t freed, enough = slot->at + slot->n - WSH_RING_PIECES;

    if (wsh_dev_ring_has_room(slot->at + slot->n, wsh_ptx_poll(known)))
        return true;
    freed = wsh_ptx_poll(word);
    if (freed < enough) {
        slot->wait.word = word;
        slot->wait.value = enough;
        return false;
    }
    wsh_ptx_acquire();
    wsh_ptx_put(known, (uint32_t)freed);
    return true;
}

/* Holds nothing but the address of what it waits for. */
inline WSH_DEV_CALL void wsh_dev_ring_wait_for_room(struct wsh_dev_ring_slot *slot)
{
#pragma unroll 1
    while (!wsh_dev_ring_slot_is_free(slot))
        wsh_dev_ring_idle(&slot->wait);
}

static WSH_DEV void wsh_dev_ring_pad(struct wsh_ring *ring, uint64_t at, uint32_t n)
{
    uint32_t before = WSH_RING_PIECES - (uint32_t)(at % WSH_RING_PIECES);

    wsh_dev_ring_store(ring, at, wsh_dev_ring_kind(WSH_RING_PAD), before);
    wsh_dev_ring_store(ring, at + before, wsh_dev_ring_kind(WSH_RING_PAD), n - before);
}

/* What has been reserved of ring r. */
static WSH_DEV uint64_t wsh_dev_ring_reserved(const struct wsh_dev_rings &rings, uint32_t r)
{
    return wsh_ptx_poll(&rings.heads->ring[r].head) & ~WSH_RING_KNOWN;
}

/* Once in the life of a ring, by those who come first: whoever quiets after them finds it. */
static WSH_DEV void wsh_dev_ring_make_known(const struct wsh_dev_rings &rings)
{
    wsh_ptx_or(&rings.heads->used, 1u << rings.mine);
    wsh_ptx_release();
    wsh_ptx_or(&rings.heads->ring[rings.mine].head, WSH_RING_KNOWN);
}

/* Of records that are posted now. */
static WSH_DEV uint32_t wsh_dev_ring_epoch(const struct wsh_dev_rings &rings)
{
    return wsh_ptx_poll(&rings.heads->epoch);
}

/*
 * n positions that are free to write, not across the ring's end. Lanes that come together and ask for equally many
 * share one addition. What is asked of the GPU's memory is asked for at once. SENDS: and all that is to happen before
 * the record's pieces are stored: its epoch is read, and each lane releases. (After a wait, for epochs held over a call
 * take a register of all that it calls.)
 */
template <bool SENDS>
static WSH_DEV uint64_t wsh_dev_ring_slots(struct wsh_dev_rings *rings, uint32_t *pieces, uint32_t *epoch,
                                           const struct wsh_dev_request **request = nullptr)
{
    uint32_t freed = wsh_ptx_poll(&rings->heads->ring[rings->mine].freed);
    struct wsh_dev_ring_slot slot;
    uint32_t n = *pieces;
    uint64_t at;

    if (SENDS)
        *epoch = wsh_dev_ring_epoch(*rings);
#pragma unroll 1
    for (;;) {
        at = wsh_ptx_add_together<SENDS>(&rings->heads->ring[rings->mine].head, n);
        if (!(at & WSH_RING_KNOWN))
            wsh_dev_ring_make_known(*rings);
        at &= ~WSH_RING_KNOWN;
        if (!wsh_dev_ring_has_room(at + n, freed)) {
            slot.rings = *rings;
            slot.at = at;
            slot.n = n;
            slot.wait = wsh_dev_wait{"a full ring to the proxy", nullptr, 0, 0, 0};
            if (request)
                slot.request = *request;
            wsh_dev_ring_wait_for_room(&slot);
            wsh_ptx_again(&slot);
            *rings = slot.rings;
            at = slot.at;
            *pieces = n = slot.n;
            if (request)
                *request = slot.request;
            if (SENDS)
                *epoch = wsh_dev_ring_epoch(*rings);
        }
        if (at % WSH_RING_PIECES + n <= WSH_RING_PIECES)
            return at;
        wsh_dev_ring_pad(&rings->ring[rings->mine], at, n);
    }
}

/* For a record with payload, or with a slot for it. */
static WSH_DEV uint64_t wsh_dev_ring_reserve(struct wsh_dev_rings rings, uint32_t n)
{
    return wsh_dev_ring_slots<false>(&rings, &n, nullptr);
}

static WSH_DEV unsigned char *wsh_dev_ring_payload(const struct wsh_dev_rings &rings, uint64_t at)
{
    return rings.ring[rings.mine].payload + at % WSH_RING_PIECES * WSH_RING_CHUNK;
}

static WSH_DEV uint32_t wsh_dev_ring_chunks(uint32_t len)
{
    return (len + WSH_RING_CHUNK - 1) / WSH_RING_CHUNK;
}

/* Further piece i: a word of 64 bits, and an address. */
static WSH_DEV void wsh_dev_ring_store_word(struct wsh_ring *ring, uint64_t at, uint64_t value, uint64_t second)
{
    wsh_dev_ring_store(ring, at, (value & WSH_RING_PARITY) >> 1 | second, value & ~WSH_RING_PARITY);
}

/* The pieces of a record, after its payload was released, in this order or any other. `words`: further pieces. */
static WSH_DEV void wsh_dev_ring_pieces(const struct wsh_dev_rings &rings, uint64_t at, uint32_t epoch,
                                        const struct wsh_dev_request &request, unsigned words)
{
    struct wsh_ring *ring = &rings.ring[rings.mine];
    uint64_t low = epoch & WSH_RING_LOW(WSH_RING_EPOCH_BITS);

    if (words > 1)
        wsh_dev_ring_store_word(ring, at + 2, request.compare, request.third);
    if (words > 0)
        wsh_dev_ring_store_word(ring, at + 1, request.value, request.second);
    wsh_dev_ring_store(ring, at, request.first_a | request.sym,
                       low << WSH_RING_EPOCH_AT | (uint64_t)(uint32_t)request.pe << WSH_RING_PE_AT | request.len);
}

/* A record whose payload has been stored, and the release of it. */
static WSH_DEV void wsh_dev_ring_post(const struct wsh_dev_rings &rings, uint64_t at,
                                      const struct wsh_dev_request &request, unsigned words)
{
    wsh_ptx_release();
    wsh_dev_ring_pieces(rings, at, wsh_dev_ring_epoch(rings), request, words);
}

/* A record without payload, and the release of all that it stands for. Returns its position. */
static WSH_DEV uint64_t wsh_dev_ring_send(struct wsh_dev_rings rings, const struct wsh_dev_request &request,
                                          unsigned words)
{
    const struct wsh_dev_request *record = &request;
    uint32_t epoch, n = words + 1;
    uint64_t at = wsh_dev_ring_slots<true>(&rings, &n, &epoch, &record);

    wsh_dev_ring_pieces(rings, at, epoch, *record, n - 1);
    return at;
}

static WSH_DEV struct wsh_ptx_pair *wsh_dev_ring_answer(const struct wsh_dev_rings &rings, uint64_t at)
{
    return (struct wsh_ptx_pair *)&rings.ring[rings.mine].answer[at % WSH_RING_PIECES];
}

/* Until the record at `at` has its answer: the result, if a word. A longer one is in the payload after an acquire. */
static WSH_DEV uint64_t wsh_dev_ring_await(const struct wsh_dev_rings &rings, uint64_t at)
{
    struct wsh_dev_wait wait = {"an answer of the proxy", wsh_dev_ring_answer(rings, at), WSH_RING_TAG(at),
                                0, 0};
    struct wsh_ptx_pair seen = wsh_ptx_get((const struct wsh_ptx_pair *)wait.word);

#pragma unroll 1
    while (((seen.a ^ wait.value) | (seen.b ^ wait.value)) >> 32) {
        wsh_dev_ring_idle(&wait);
        wsh_ptx_again(&wait);
        seen = wsh_ptx_get((const struct wsh_ptx_pair *)wait.word);
    }
    return (uint32_t)seen.a | seen.b << 32;
}

/*
 * The slot may be used again. By the lane that awaited a word, after a branch that asked for it; after a payload, by
 * one lane when all have read it, behind a release.
 */
static WSH_DEV void wsh_dev_ring_take(const struct wsh_dev_rings &rings, uint64_t at)
{
    wsh_ptx_put(wsh_dev_ring_answer(rings, at), wsh_ptx_pair{0, 0});
}

#include "ring_order.cuh"

/*
 * The same of a single ring, which its consumer has alone: the record that asks comes behind all others, so it need not
 * be asked again. It takes fewer registers.
 */
template <bool SOURCES> inline WSH_DEV_CALL void wsh_dev_ring_complete(const struct wsh_dev_rings &rings)
{
    const uint64_t *word = wsh_dev_ring_word<SOURCES>(&rings.ring[0]);

    if (wsh_ptx_poll(&rings.heads->used) && wsh_ptx_poll(word) < wsh_dev_ring_reserved(rings, 0))
        wsh_dev_ring_reach(wsh_dev_ring_routine<SOURCES>(), word, wsh_dev_ring_ask<SOURCES>(rings));
    wsh_ptx_acquire();
}

#endif
