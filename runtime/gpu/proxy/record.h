/* SPDX-License-Identifier: BSD-3-Clause */
/* How the pieces of a record in a device ring (device/proxy/ring.h) are read, and what a sound record is. */
#ifndef WSH_PROXY_RECORD_H
#define WSH_PROXY_RECORD_H

#include "runtime/gpu/proxy/ring.h"

static inline uint64_t wsh_record_parity(uint64_t at)
{
    return at / WSH_RING_PIECES % 2 ? 0 : WSH_RING_PARITY;
}

/* Both halves of the piece at `at`, without the parity; false: it is not there yet. Acquire: partner is the release
 * before the producer's pieces. */
static inline bool wsh_record_piece(const struct wsh_ring *ring, uint64_t at, struct wsh_ring_piece *piece)
{
    const struct wsh_ring_piece *from = &ring->piece[at % WSH_RING_PIECES];

    piece->a = __atomic_load_n(&from->a, __ATOMIC_ACQUIRE) ^ wsh_record_parity(at);
    piece->b = __atomic_load_n(&from->b, __ATOMIC_ACQUIRE) ^ wsh_record_parity(at);
    return !((piece->a | piece->b) & WSH_RING_PARITY);
}

/* It asks the consumer itself. */
static inline bool wsh_record_is_request(enum wsh_ring_kind kind)
{
    return kind == WSH_RING_QUIET || kind == WSH_RING_FLUSH;
}

/* Its data are not in the ring. */
static inline bool wsh_record_is_zero_copy(enum wsh_ring_kind kind)
{
    return kind == WSH_RING_PUT_ZERO_COPY || kind == WSH_RING_SIGNAL_ZERO_COPY ||
           kind == WSH_RING_GET_ZERO_COPY;
}

static inline unsigned wsh_record_pieces(enum wsh_ring_kind kind, enum wsh_amo_op op)
{
    switch (kind) {
    case WSH_RING_SIGNAL:
    case WSH_RING_PUT_WORD:
    case WSH_RING_IPUT:
    case WSH_RING_PUT_ZERO_COPY:
    case WSH_RING_GET_ZERO_COPY:
    case WSH_RING_IGET: return 2;
    case WSH_RING_SIGNAL_ZERO_COPY: return 3;
    case WSH_RING_AMO: return op == WSH_AMO_CSWAP ? 3 : 2;
    default: return 1;
    }
}

static inline unsigned wsh_record_positions(enum wsh_ring_kind kind, unsigned pieces, size_t len)
{
    unsigned chunks = (unsigned)((len + WSH_RING_CHUNK - 1) / WSH_RING_CHUNK);

    if (kind == WSH_RING_PAD)
        return (unsigned)len;
    if (wsh_record_is_zero_copy(kind))
        return pieces;
    return chunks > pieces ? chunks : pieces;
}

/* Expands a short record. *ask is written once, as a whole: the next read of it would wait for separate stores. */
static inline void wsh_record_decode(const struct wsh_ring_piece *piece, struct wsh_ring_request *request)
{
    enum wsh_ring_kind kind = piece->a >> WSH_RING_KIND_AT;
    enum wsh_amo_op op = piece->a >> WSH_RING_OP_AT & 31;
    uint64_t len = piece->b & WSH_RING_LOW(WSH_RING_LEN_BITS), value = 0;
    unsigned pieces = wsh_record_pieces(kind, op);

    if (kind == WSH_RING_AMO_SHORT) {
        kind = WSH_RING_AMO;
        value = len & WSH_RING_LOW(WSH_RING_SHORT_BITS);
        len = len & WSH_RING_SHORT_WIDE ? 8 : 4;
    }
    *request =
        (struct wsh_ring_request){.kind = kind,
                                  .op = op,
                                  .fenced = piece->a & WSH_RING_FENCED,
                                  .answer = piece->a & WSH_RING_ANSWER,
                                  .pieces = pieces,
                                  .positions = wsh_record_positions(kind, pieces, len),
                                  .pe = (int)(piece->b >> WSH_RING_PE_AT & WSH_RING_LOW(WSH_RING_PE_BITS)),
                                  .len = len,
                                  .sym = piece->a & WSH_RING_ADDRESS,
                                  .value = value};
}

static inline uint64_t wsh_record_value(const struct wsh_ring_piece *piece)
{
    return piece->b | (piece->a & WSH_RING_VALUE_TOP) << 1;
}

/* The second piece of a zero-copy record. */
static inline void wsh_record_zero_copy(const struct wsh_ring_piece *piece, struct wsh_ring_request *request)
{
    uint64_t top = piece->a >> WSH_RING_LEN_TOP_AT & WSH_RING_LOW(WSH_RING_LEN_TOP_BITS);

    request->len |= top << WSH_RING_LEN_BITS;
    request->payload = (void *)(uintptr_t)(piece->a & WSH_RING_ADDRESS);
}

/* The record at `at`, whole, and its epoch; false: not all of it is there. */
static inline bool wsh_record_see(struct wsh_ring *ring, uint64_t at, struct wsh_ring_request *request,
                                  uint32_t *epoch)
{
    struct wsh_ring_piece piece;

    if (!wsh_record_piece(ring, at, &piece))
        return false;
    wsh_record_decode(&piece, request);
    *epoch = (uint32_t)(piece.b >> WSH_RING_EPOCH_AT);
    request->payload = ring->payload + at % WSH_RING_PIECES * WSH_RING_CHUNK;
    if (request->pieces > 1) {
        if (!wsh_record_piece(ring, at + 1, &piece))
            return false;
        request->value = wsh_record_value(&piece);
        request->second = piece.a & WSH_RING_ADDRESS;
        if (wsh_record_is_zero_copy(request->kind))
            wsh_record_zero_copy(&piece, request);
    }
    if (request->pieces > 2) {
        if (!wsh_record_piece(ring, at + 2, &piece))
            return false;
        request->compare = wsh_record_value(&piece);
        if (wsh_record_is_zero_copy(request->kind)) {
            request->second = piece.a & WSH_RING_ADDRESS;
            request->value = request->compare;
        }
    }
    return true;
}

/*
 * Stamps the parity on slots without a piece: else these would still show an old piece in the next lap but one.
 * Relaxed: released with `freed`.
 */
static inline void wsh_record_stamp(struct wsh_ring *ring, uint64_t at, unsigned pieces, unsigned n)
{
    for (unsigned i = pieces; i < n; i++) {
        struct wsh_ring_piece *piece = &ring->piece[(at + i) % WSH_RING_PIECES];

        __atomic_store_n(&piece->a, wsh_record_parity(at), __ATOMIC_RELAXED);
        __atomic_store_n(&piece->b, wsh_record_parity(at), __ATOMIC_RELAXED);
    }
}

/* Whole elements of a size that there is, within what an address can count. */
static inline bool wsh_record_strides_are_sound(const struct wsh_ring_request *request)
{
    size_t n = request->len >> request->op;

    return request->op <= 4 && n && request->len == n << request->op &&
           (n == 1 || request->value <= WSH_RING_ADDRESS / n);
}

static inline bool wsh_record_is_sound(const struct wsh_ring_request *request, uint64_t at)
{
    bool strided = request->kind == WSH_RING_IPUT || request->kind == WSH_RING_IGET;

    return request->kind >= WSH_RING_PAD && request->kind < WSH_RING_KINDS && request->op < WSH_AMO_OPS &&
           request->positions && at % WSH_RING_PIECES + request->positions <= WSH_RING_PIECES &&
           (!strided || wsh_record_strides_are_sound(request)) &&
           (request->kind != WSH_RING_GET_WORD || request->len <= sizeof(uint64_t)) &&
           (!wsh_record_is_zero_copy(request->kind) ||
            (request->len && request->len <= WSH_RING_ZERO_COPY_MAX));
}

#endif
