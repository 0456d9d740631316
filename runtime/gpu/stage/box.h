/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How messages about device memory lie in the host memory of two PEs, and the form of a message.
 *
 * A PE has a box for every PE. From A to B go messages of consecutive slots: A builds them in `out` of its box for B
 * and puts them to the same slots in `in` of B's box for A. A *position* counts slots for ever, from 0; its slot is
 * the position modulo their number; a message does not cross the end: a padding message fills it.
 *
 * The order, in the words used at both ends. A *sends* a message by a put with signal, whose signal sets the word
 * `arrived` of its first slot to position + 1: no two messages share a value, so nothing needs the order of two puts.
 * One that announces what another transport carries is sent when that is there; those behind it wait as long.
 * B *takes* messages in the order of positions and gives each to its GPU, in that order; so what A asks for is done in
 * the order in which A has asked, and a fence costs nothing. When the GPU is done, B *answers* gets and fetching
 * atomics by a put with signal from `in` into the same slots of `out` of A's box, whose signal sets `answered` to
 * position + 1. Then B *frees* the slots, in order, by adding their number to `credit` of A's box: what is freed is
 * complete at its target. A writes slots again when they are freed, their answer is taken, and the transport that
 * carried the message reads it no more.
 *
 * Room for an answer is there before its message is sent, and credit needs none: so neither waits for anything that the
 * other side has to read first, and no two PEs can wait for each other's room.
 */
#ifndef WSH_STAGE_BOX_H
#define WSH_STAGE_BOX_H

#include <stddef.h>
#include <stdint.h>

enum {
    WSH_STAGE_SLOT = 1024,
    WSH_STAGE_SLOTS_MIN = 32,
    WSH_STAGE_SLOTS_MAX = 1024,
    WSH_STAGE_MESSAGE_MAX = 128 /* slots; more messages are more copies by the GPU */
};

enum wsh_stage_kind {
    WSH_STAGE_PAD = 1,
    WSH_STAGE_PUT,
    WSH_STAGE_SIGNAL,
    WSH_STAGE_GET,
    WSH_STAGE_AMO,
    WSH_STAGE_FETCH,
    WSH_STAGE_KINDS
};

/* Begins a message; the payload of puts follows, and that of answers takes its place. */
struct wsh_stage_head {
    uint8_t kind, op, width; /* op, width: of an atomic */
    uint8_t signal_op;
    uint16_t seg, signal_seg; /* of `off`, of `signal_off` */
    uint16_t slots;
    uint16_t fenced; /* 1: the sender had a fence between what it put before and this */
    uint32_t len;    /* bytes put, or wanted */
    uint64_t off;
    uint64_t value, compare; /* of an atomic, or of a signal: value */
    uint64_t signal_off;
    uint64_t spare[2];
};

_Static_assert(sizeof(struct wsh_stage_head) == 64, "the payload is aligned as a copy likes it");

/* Offsets in a box. */
enum { WSH_STAGE_CREDIT = 0, WSH_STAGE_ARRIVED = 128 };

static inline size_t wsh_stage_box_answered(unsigned slots)
{
    return WSH_STAGE_ARRIVED + (size_t)slots * 8;
}

static inline size_t wsh_stage_box_in(unsigned slots)
{
    return WSH_STAGE_ARRIVED + (size_t)slots * 16;
}

static inline size_t wsh_stage_box_out(unsigned slots)
{
    return wsh_stage_box_in(slots) + (size_t)slots * WSH_STAGE_SLOT;
}

static inline size_t wsh_stage_box_len(unsigned slots)
{
    return wsh_stage_box_out(slots) + (size_t)slots * WSH_STAGE_SLOT;
}

/* The most slots, a power of two, of `n_pes` boxes in `len` bytes; 0: too few. */
static inline unsigned wsh_stage_box_slots(size_t len, int n_pes)
{
    unsigned slots = WSH_STAGE_SLOTS_MAX;

    while (slots >= WSH_STAGE_SLOTS_MIN && wsh_stage_box_len(slots) * (size_t)n_pes > len)
        slots /= 2;
    return slots >= WSH_STAGE_SLOTS_MIN ? slots : 0;
}

#endif
