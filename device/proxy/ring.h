/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings by which device code asks the proxy for operations on memory that its GPU does not reach: their layout in
 * memory and the form of a record. Read by C, C++ and CUDA.
 *
 * A ring has WSH_RING_PIECES slots. A *position* counts slots for ever; slot = position modulo WSH_RING_PIECES,
 * lap = position / WSH_RING_PIECES. With every slot go 16 bytes of record (a piece), WSH_RING_CHUNK bytes of payload
 * and 16 bytes of answer. A record has as many consecutive positions as its pieces or its payload need, never across
 * the ring's end; its payload begins with the chunk of its first position.
 *
 * The order, in the words used at both ends. The producer *reserves* positions by one addition to `head`, waits until
 * they are *freed* (position + n - freed <= WSH_RING_PIECES), stores the payload, releases it, and stores the pieces.
 * Both halves of a piece carry the lap's parity in bit 63, so that the consumer needs no store of 16 bytes to arrive
 * whole, nor any order between pieces: it takes a record when all its pieces show the parity, with acquire, and stamps
 * the parity itself on the slots of a record that have no piece. It counts what it has taken: `started` (handed to a
 * transport), `done` (complete at the target), `read` (no transport needs the sources any more, and gets are here),
 * `freed` (slots that may be written again: the payload was read, the answer taken). Each of the four is released by
 * the consumer and acquired by whoever waits for it.
 *
 * Answers: both words of the answer of a record's first slot carry the tag of its position in their upper halves. A
 * result of up to 8 bytes lies in their lower halves, so that one look brings it, whatever arrives first; a longer one
 * lies in the payload, before the tags are released. The producer, having read the result, stores zeros there, and only
 * then is the slot freed.
 *
 * Zero-copy: a put whose source lies in memory that the transports of the host read themselves has no payload, but
 * the address of its source. What the source holds was stored by the threads of the call; its barrier and then the
 * release before the pieces, the same one that a payload has, come before the consumer's acquire of the pieces, and so
 * before whatever reads the source on its behalf, a NIC too. The consumer frees the slots of such a record when it has
 * started it. Nobody may store to the source of a nonblocking put until `read` or `done` has passed it; a blocking one
 * asks for an answer, which comes when the source was read. A get names where its data go in the same way, and ends
 * alike; they are visible to the GPU before `read`, `done` or the answer.
 *
 * Short records: an operation on a word whose operand is small has it in place of the length, so that lanes which come
 * together fill whole lines, which is what crosses PCIe fast.
 *
 * Fence: an epoch counted by the GPU travels in every record. Device code counts it up after `started` of all rings
 * has passed their heads; the consumer fences when a record shows a later epoch than any before. So every record that
 * comes after a fence, in whatever ring, is fenced from every record before it, in whatever ring, and nothing drains.
 *
 * Several consumers: each has so many consecutive rings, and all records to one PE go to rings of one consumer. A fence
 * orders what goes to the same PE, so it concerns one consumer at a time, and they need not know of each other.
 *
 * Strides: elements lie side by side in the payload, whose size so bounds what any record stages; the strides of the
 * GPU's own memory are no matter of the consumer's.
 *
 * Quiet: a record WSH_RING_QUIET asks its consumer to take what is visible in all its rings, and then nothing more
 * until everything taken is complete. Device code asks each consumer that has something to do, and waits for `done` of
 * every ring to pass its head. A flush is the same with WSH_RING_FLUSH and `read`. Both words also rise unasked, when
 * nothing is under way, or nothing is read.
 *
 * Units compiled with another form of records than the library's are refused by WSH_DEVICE_ABI (view.h).
 */
#ifndef WSH_DEVICE_RING_H
#define WSH_DEVICE_RING_H

#include "../../base/amo_op.h"

#ifndef __CUDACC_RTC__
#include <stdint.h>
#else
#include <shmem/types.h>
#endif

#ifdef __cplusplus
#define WSH_RING_ALIGN(n) alignas(n)
#else
#define WSH_RING_ALIGN(n) _Alignas(n)
#endif

#ifndef WSH_RING_PIECES
#define WSH_RING_PIECES 4096u /* a power of two */
#endif
#ifndef WSH_RING_CHUNK
#define WSH_RING_CHUNK 256u
#endif
#define WSH_RING_PART (WSH_RING_PIECES / 16u * WSH_RING_CHUNK) /* longest payload of a record */
#define WSH_RINGS_MAX 16
#define WSH_CONSUMERS_MAX 8

/* What a record asks for; 0 is none. */
enum wsh_ring_kind {
    WSH_RING_PAD = 1,   /* nothing; len positions */
    WSH_RING_PUT,       /* len bytes of payload */
    WSH_RING_SIGNAL,    /* the same, then the signal: `op` with `value` on the word at `second` */
    WSH_RING_PUT_WORD,  /* the low len bytes of value */
    WSH_RING_GET,       /* len bytes into the payload; answered */
    WSH_RING_GET_WORD,  /* len bytes, at most 8, into the answer */
    WSH_RING_AMO,       /* `op` on a word of len bytes; answered with the old value if WSH_RING_ANSWER */
    WSH_RING_AMO_SHORT, /* the same in one piece: WSH_RING_SHORT_* */
    WSH_RING_IPUT, /* payload: elements of 1 << op bytes, side by side; at the PE one every `value` bytes */
    WSH_RING_IGET, /* the same the other way; answered */
    WSH_RING_QUIET,
    WSH_RING_PUT_ZERO_COPY,    /* len bytes from the address at `second`; answered if WSH_RING_ANSWER */
    WSH_RING_SIGNAL_ZERO_COPY, /* the same, then the signal in the third piece */
    WSH_RING_GET_ZERO_COPY,    /* len bytes to the address at `second`; answered if WSH_RING_ANSWER */
    WSH_RING_FLUSH,
    WSH_RING_KINDS
};

#define WSH_RING_PARITY ((uint64_t)1 << 63)
#define WSH_RING_ADDRESS (((uint64_t)1 << 48) - 1)
#define WSH_RING_LOW(n) (((uint64_t)1 << (n)) - 1)

/* First piece, a: address of the symmetric object (48 bits), flags, op (5), kind (5), parity. */
#define WSH_RING_FENCED ((uint64_t)1 << 51) /* fence before this record */
#define WSH_RING_ANSWER ((uint64_t)1 << 52)
#define WSH_RING_OP_AT 53
#define WSH_RING_KIND_AT 58
/* First piece, b: len (20 bits), global PE (20), epoch (23), parity. */
#define WSH_RING_LEN_BITS 20
#define WSH_RING_PE_BITS 20
#define WSH_RING_PES (1 << WSH_RING_PE_BITS)
#define WSH_RING_PE_AT 20
/* The length field of a short record: the operand, and whether the word has 8 bytes, not 4. */
#define WSH_RING_SHORT_BITS (WSH_RING_LEN_BITS - 1)
#define WSH_RING_SHORT_WIDE (1u << WSH_RING_SHORT_BITS)
#define WSH_RING_EPOCH_BITS 23
#define WSH_RING_EPOCH_AT 40
/*
 * Further pieces, a: `second` (48 bits), bit 63 of the value, parity; b: its other bits, parity. The third: compare. Of
 * zero-copy: the second has the local address, and above it the upper bits of the length; the third the signal.
 */
#define WSH_RING_VALUE_TOP ((uint64_t)1 << 62)
#define WSH_RING_LEN_TOP_AT 48
#define WSH_RING_LEN_TOP_BITS 14
#define WSH_RING_ZERO_COPY_MAX ((uint64_t)1 << 30) /* longest transfer of one zero-copy record */

struct wsh_ring_piece {
    WSH_RING_ALIGN(16) uint64_t a;
    uint64_t b;
};

/* The upper half of both words of the answer to the record at a position: never 0, and another in the lap before. */
#define WSH_RING_TAG(at) (((uint64_t)(at) | 0x80000000u) << 32)

/* The consumer's side, memory of the host that the GPU reaches; zeroed. */
struct wsh_ring {
    WSH_RING_ALIGN(128) uint64_t started;
    uint64_t done, freed, read;
    WSH_RING_ALIGN(128) struct wsh_ring_piece piece[WSH_RING_PIECES];
    struct wsh_ring_piece answer[WSH_RING_PIECES];
    WSH_RING_ALIGN(128) unsigned char payload[WSH_RING_PIECES * WSH_RING_CHUNK];
};

/*
 * The producers' side, in device memory; zeroed. `head`: with WSH_RING_KNOWN once the ring's bit is in `used` for all
 * who see it. `freed`: what was last seen of the consumer's, its low bits.
 */
#define WSH_RING_KNOWN ((uint64_t)1 << 63)

struct wsh_ring_head {
    WSH_RING_ALIGN(128) uint64_t head;
    uint32_t freed;
};

/* `used`: bit r = ring r has been pushed to. */
struct wsh_ring_heads {
    WSH_RING_ALIGN(128) uint32_t epoch;
    uint32_t used;
    struct wsh_ring_head ring[WSH_RINGS_MAX];
};

#endif
