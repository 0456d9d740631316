/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What both ends of the ordering engine share: the design, the 32 bits of immediate data, and the stamp of every
 * message. The engine is pure: no libfabric, no I/O, no clock, no memory of its own.
 *
 * The network delivers everything once, in any order. Two things travel:
 *   writes (and reads)  one-sided; the provider's completion (FI_DELIVERY_COMPLETE) says that the bytes are there. A
 *                       write may carry immediate data, which the target counts: such a write is *counted*.
 *   messages            small puts, signals, atomics, small gets; the target's CPU applies them. They are numbered
 *                       per flow, and the target tells back `applied`: all messages before that number are applied.
 *                       One number serves quiet (equal to sent) and fences (not before the number at the fence).
 *
 * flow (flow.h)             source: one per (context, peer); go, go with a condition or defer; what is pending
 * link (flow.h)             source: one per peer, shared by the contexts; the credits that the peer granted at set-up
 * receive flow (rx_flow.h)  target: one per (source, context); counts, holds, applies, owes the source two numbers
 *
 * A *group* is a set of counted writes with one name; whoever waits for it knows the exact number of its writes. A
 * large put with signal is a group of its own, named by its message. Counted puts go into the flow's open group, which
 * the first message after a fence names and so closes. A *condition* is what a fence requires of messages behind it.
 * Fences only count up the context's epoch; a flow looks at the epoch at its next operation.
 *
 * ORDER (the same words stand at the source and at the target)
 *  1. Epochs start in order: nothing of a flow starts while an operation of an earlier epoch has a part not started.
 *  2. A write or ordered read starts only when all writes of earlier epochs are complete and all their messages are
 *     known as applied. So all writes under way, but those of groups with a message, are of one epoch.
 *  3. A message starts only when all uncounted writes of earlier epochs are complete. If anything else of them is under
 *     way it goes behind a new condition: {number, after: the first message number of its epoch, group and exact count
 *     of the counted puts}. All messages of one epoch carry the same condition.
 *  4. A condition is met when all messages before `after` are applied (hence all earlier conditions are met) and its
 *     group has its exact count; the target applies no message before its condition is met.
 *  5. The message of a put with signal also waits for the exact count of its own group. Without immediate data (or
 *     group, or credit) it stays at the source until its writes are complete.
 *  6. A group's slot is taken again only when `applied` has passed the first message that named it. The target has
 *     retired it then, so one count never mixes two groups.
 *  7. What a held message waits for was given to the provider before it, with its credits. So what is held can always
 *     be applied in the end, whatever else lacks credits.
 *  8. A counter write is counted for the program, not for a message: here it is an uncounted put that also holds a
 *     credit of the link, which comes back when the peer tells how many it has counted of all contexts. A counted put
 *     in several pieces is as many of them; it starts when the link has credits for all.
 *
 * LOCKS. One lock per peer (or a wider one) guards its link, the flows to it and the receive flows from it, in all
 * calls but: wsh_srd_fence, wsh_srd_put_fast, wsh_srd_put_refused, wsh_srd_flow_pending and wsh_srd_ctx_pending, which
 * belong to the thread that uses the context and take no lock; progress may run in other threads at the same time. The
 * caller of put_fast still needs what the endpoint needs.
 */
#ifndef WSH_SRD_H
#define WSH_SRD_H

#include <stdbool.h>
#include <stdint.h>

#define WSH_SRD_SLOTS 64u                  /* groups of a flow at a time */
#define WSH_SRD_GENERATIONS 4u             /* names of one slot before the first comes again */
#define WSH_SRD_WINDOW_MAX 256u            /* messages of a flow at a time; a power of two */
#define WSH_SRD_GROUP_MAX 0xffffu          /* writes of a group */
#define WSH_SRD_CONTEXTS 512u              /* contexts whose writes can be counted */
#define WSH_SRD_IMM_SOURCES 0x4000u        /* PEs that the immediate data can name */
#define WSH_SRD_IMM_COUNTERS 0x8000u       /* counters that it can name */
#define WSH_SRD_IMM_PIECE_COUNTERS 0x1000u /* the same of puts in pieces, */
#define WSH_SRD_IMM_PIECES 8u              /* of which there are at most so many */

/*
 * Immediate data (fi_writedata, 4 bytes):
 *   bits  0-5   slot of the group
 *   bits  6-7   generation of the slot: counts up with every group in it, so that a stray write is noticed
 *   bits  8-16  context of the source
 *   bits 17-30  PE of the source, for providers whose completions do not name it (fi_cq_readfrom)
 *   bit  31     0; 1: the write counts at a counter of the program, and instead of the lower 17 bits there are
 *   bits  0-14  the counter
 *   bit  15     0; 1: the write is a piece of a put, which counts when all are there, and the lower 15 bits are
 *   bits  0-11  the counter
 *   bits 12-14  pieces of the put, less 1
 *   bit  16     the counter's generation, the lowest bit: another program's use of the same counter is noticed
 * At most 64 of 256 names of groups are in use at a time: less than half of the space.
 */
struct wsh_srd_imm {
    bool by_counter; /* counter and generation; else ctx and group */
    uint32_t pe;
    uint16_t ctx;
    uint8_t group; /* slot and generation */
    uint16_t counter;
    uint8_t generation;
    uint8_t pieces; /* of the put that counts */
};

#define WSH_SRD_IMM_PE_AT 17
#define WSH_SRD_IMM_BY_COUNTER (1u << 31)
#define WSH_SRD_IMM_PIECE (1u << 15)
#define WSH_SRD_IMM_PIECES_AT 12

static inline uint32_t wsh_srd_imm_source(uint32_t pe)
{
    return (pe & (WSH_SRD_IMM_SOURCES - 1)) << WSH_SRD_IMM_PE_AT;
}

static inline uint32_t wsh_srd_imm_pack(uint32_t pe, uint16_t ctx, uint8_t group)
{
    return wsh_srd_imm_source(pe) | (ctx & (WSH_SRD_CONTEXTS - 1)) << 8 | group;
}

static inline uint32_t wsh_srd_imm_counter(uint32_t pe, uint32_t counter, uint32_t generation)
{
    return WSH_SRD_IMM_BY_COUNTER | wsh_srd_imm_source(pe) | (generation & 1) << 16 |
           (counter & (WSH_SRD_IMM_COUNTERS - 1));
}

/* Of one of 2 to WSH_SRD_IMM_PIECES pieces. */
static inline uint32_t wsh_srd_imm_piece(uint32_t pe, uint32_t counter, uint32_t generation, uint32_t pieces)
{
    return wsh_srd_imm_counter(pe, 0, generation) | WSH_SRD_IMM_PIECE |
           ((pieces - 1) & (WSH_SRD_IMM_PIECES - 1)) << WSH_SRD_IMM_PIECES_AT |
           (counter & (WSH_SRD_IMM_PIECE_COUNTERS - 1));
}

static inline struct wsh_srd_imm wsh_srd_imm_unpack_counter(uint32_t imm)
{
    bool piece = imm & WSH_SRD_IMM_PIECE;

    return (struct wsh_srd_imm){
        .by_counter = true,
        .pe = imm >> WSH_SRD_IMM_PE_AT & (WSH_SRD_IMM_SOURCES - 1),
        .counter = (uint16_t)(imm & ((piece ? WSH_SRD_IMM_PIECE_COUNTERS : WSH_SRD_IMM_COUNTERS) - 1)),
        .generation = imm >> 16 & 1,
        .pieces = (uint8_t)(piece ? (imm >> WSH_SRD_IMM_PIECES_AT & (WSH_SRD_IMM_PIECES - 1)) + 1 : 1)};
}

static inline struct wsh_srd_imm wsh_srd_imm_unpack(uint32_t imm)
{
    uint32_t pe = imm >> WSH_SRD_IMM_PE_AT & (WSH_SRD_IMM_SOURCES - 1);

    if (imm & WSH_SRD_IMM_BY_COUNTER)
        return wsh_srd_imm_unpack_counter(imm);
    return (struct wsh_srd_imm){
        .pe = pe, .ctx = (uint16_t)(imm >> 8 & (WSH_SRD_CONTEXTS - 1)), .group = (uint8_t)imm};
}

/* Whether writes of context `ctx` in a job of n_pes can be counted (`from_cq`: completions name their source). */
static inline bool wsh_srd_imm_fits(uint32_t ctx, uint32_t n_pes, bool from_cq)
{
    return ctx < WSH_SRD_CONTEXTS && (from_cq || n_pes <= WSH_SRD_IMM_SOURCES);
}

static inline uint8_t wsh_srd_group_name(uint32_t slot, uint32_t generation)
{
    return (uint8_t)(slot | (generation & (WSH_SRD_GENERATIONS - 1)) << 6);
}

static inline uint32_t wsh_srd_group_slot(uint8_t group)
{
    return group & (WSH_SRD_SLOTS - 1);
}

static inline uint32_t wsh_srd_group_generation(uint8_t group)
{
    return group >> 6;
}

/*
 * The engine's part of a message's header; goes over the wire as it is (little-endian). Numbers of 16 bits are the low
 * bits of longer ones: never more than WSH_SRD_WINDOW_MAX apart from what the receiver knows, since a message under way
 * holds its window. What may lag without bound (applied, counted) is whole.
 */
struct wsh_srd_stamp {
    uint32_t applied;         /* of the receiver's flow of the same context: what wsh_srd_rx_flow_ack said */
    uint32_t counted;         /* the same of writes; both filled by whoever sends */
    uint16_t seq;             /* number of this message in its flow */
    uint16_t condition;       /* number of its condition */
    uint16_t after;           /* the condition is met when all messages before this one are applied */
    uint16_t condition_count; /* and so many writes of condition_group have arrived (0: of none) */
    uint16_t own_count;       /* the message waits for so many writes of own_group (0: for none) */
    uint8_t condition_group, own_group;
};

/* The number next to `around` whose low bits are `low`. */
static inline uint32_t wsh_srd_widen(uint32_t around, uint16_t low)
{
    return around + (uint16_t)(low - around + 0x8000u) - 0x8000u;
}

/* a comes before b, both modulo 2^32. */
static inline bool wsh_srd_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

#endif
