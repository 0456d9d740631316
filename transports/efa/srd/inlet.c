/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies a message at the target when its gate is open and its group is complete. */
#include "transports/efa/srd/inlet.h"

#include <errno.h>
#include <string.h>

void wsh_srd_inlet_init(struct wsh_srd_inlet *inlet, uint32_t window, struct wsh_srd_held *held,
                        uint16_t ack_after)
{
    memset(inlet, 0, sizeof *inlet);
    memset(held, 0, window * sizeof *held);
    inlet->window = window;
    inlet->held = held;
    inlet->ack_after = ack_after;
}

static bool bit_is(const uint64_t *bits, uint32_t at)
{
    return bits[at / 64] >> at % 64 & 1;
}

static void bit_set(uint64_t *bits, uint32_t at)
{
    bits[at / 64] |= (uint64_t)1 << at % 64;
}

static void bit_clear(uint64_t *bits, uint32_t at)
{
    bits[at / 64] &= ~((uint64_t)1 << at % 64);
}

static uint32_t place_of(const struct wsh_srd_inlet *inlet, uint32_t seq)
{
    return seq & (inlet->window - 1);
}

/* The first bit at or (cyclically) behind `from`; one is set. */
static uint32_t bit_first(const uint64_t *bits, uint32_t window, uint32_t from)
{
    uint32_t at = from;

    for (;;) {
        uint64_t rest = bits[at / 64] >> at % 64;

        if (rest)
            return at + (uint32_t)__builtin_ctzll(rest);
        at = (at | 63) + 1;
        if (at >= window)
            at = 0;
    }
}

/* The count of the group's writes, if the name is that of the group which has the slot now. */
static struct wsh_srd_count *count_of(struct wsh_srd_inlet *inlet, uint8_t group)
{
    struct wsh_srd_count *count = &inlet->group[wsh_srd_group_slot(group)];

    return count->generation == wsh_srd_group_generation(group) ? count : NULL;
}

static void group_retire(struct wsh_srd_count *count)
{
    count->count = 0;
    count->waiter = 0;
    count->generation = (count->generation + 1) & (WSH_SRD_GENERATIONS - 1);
}

/* 1: all `expected` writes of the group are here; 0: not yet. */
static int group_complete(struct wsh_srd_inlet *inlet, uint8_t group, uint32_t expected)
{
    const struct wsh_srd_count *count = count_of(inlet, group);

    if (!count || count->count > expected)
        return -EPROTO;
    return count->count == expected;
}

static void advance_applied(struct wsh_srd_inlet *inlet)
{
    while (bit_is(inlet->over, place_of(inlet, inlet->applied))) {
        bit_clear(inlet->over, place_of(inlet, inlet->applied));
        inlet->applied++;
    }
}

static int apply_held(struct wsh_srd_inlet *inlet, uint32_t place, const struct wsh_srd_sink *sink)
{
    const struct wsh_srd_stamp *stamp = &inlet->held[place].stamp;

    if (stamp->own_count)
        group_retire(count_of(inlet, stamp->own_group));
    bit_set(inlet->over, place);
    advance_applied(inlet);
    return sink->apply(sink->arg, inlet->held[place].msg);
}

/* The gate is open: applies the message, or lets it wait for its own group. */
static int pass_gate(struct wsh_srd_inlet *inlet, uint32_t place, const struct wsh_srd_sink *sink)
{
    const struct wsh_srd_stamp *stamp = &inlet->held[place].stamp;
    int complete = stamp->own_count ? group_complete(inlet, stamp->own_group, stamp->own_count) : 1;
    struct wsh_srd_count *count;

    if (complete < 0)
        return complete;
    if (complete)
        return apply_held(inlet, place, sink);
    count = count_of(inlet, stamp->own_group);
    if (count->waiter)
        return -EPROTO;
    count->waiter = (uint16_t)(place + 1);
    bit_set(inlet->lacking, place);
    return 0;
}

/* 1: what the message's gate asks for is there; 0: not yet. */
static int gate_may_open(struct wsh_srd_inlet *inlet, const struct wsh_srd_stamp *stamp)
{
    if (wsh_srd_before(inlet->applied, wsh_srd_widen(inlet->applied, stamp->after)))
        return 0;
    return stamp->gate_count ? group_complete(inlet, stamp->gate_group, stamp->gate_count) : 1;
}

static bool gate_is_open(const struct wsh_srd_inlet *inlet, const struct wsh_srd_stamp *stamp)
{
    return (int16_t)(uint16_t)(stamp->gate - inlet->gate) <= 0;
}

/*
 * Opens what can be opened. Numbers, epochs and gates grow together, so the first message held is one of the first
 * gate that is shut, and none behind it can go before it.
 */
static int open_gates(struct wsh_srd_inlet *inlet, const struct wsh_srd_sink *sink)
{
    while (inlet->n_shut) {
        uint32_t place = bit_first(inlet->shut, inlet->window, place_of(inlet, inlet->applied));
        const struct wsh_srd_stamp *stamp = &inlet->held[place].stamp;
        int rc;

        if (!gate_is_open(inlet, stamp)) {
            rc = gate_may_open(inlet, stamp);
            if (rc <= 0)
                return rc;
            inlet->gate = stamp->gate;
            if (stamp->gate_count)
                group_retire(count_of(inlet, stamp->gate_group));
        }
        bit_clear(inlet->shut, place);
        inlet->n_shut--;
        rc = pass_gate(inlet, place, sink);
        if (rc)
            return rc;
    }
    return 0;
}

bool wsh_srd_inlet_has(const struct wsh_srd_inlet *inlet, const struct wsh_srd_stamp *stamp)
{
    uint32_t seq = wsh_srd_widen(inlet->applied, stamp->seq), place = place_of(inlet, seq);

    if (wsh_srd_before(seq, inlet->applied))
        return true;
    return seq - inlet->applied < inlet->window &&
           (bit_is(inlet->shut, place) || bit_is(inlet->lacking, place) || bit_is(inlet->over, place));
}

void **wsh_srd_inlet_held(struct wsh_srd_inlet *inlet, const struct wsh_srd_stamp *stamp, const void *msg)
{
    uint32_t place = place_of(inlet, stamp->seq);
    bool waits = bit_is(inlet->shut, place) || bit_is(inlet->lacking, place);

    return waits && inlet->held[place].msg == msg ? &inlet->held[place].msg : NULL;
}

int wsh_srd_inlet_message(struct wsh_srd_inlet *inlet, const struct wsh_srd_stamp *stamp, void *msg,
                          const struct wsh_srd_sink *sink)
{
    uint32_t ahead = wsh_srd_widen(inlet->applied, stamp->seq) - inlet->applied;
    uint32_t place = place_of(inlet, inlet->applied + ahead);
    int rc;

    if (inlet->failed)
        return -ESTALE;
    if (ahead >= inlet->window || bit_is(inlet->shut, place) || bit_is(inlet->lacking, place) ||
        bit_is(inlet->over, place))
        return -EPROTO;
    inlet->held[place] = (struct wsh_srd_held){msg, *stamp};
    if (gate_is_open(inlet, stamp)) {
        rc = pass_gate(inlet, place, sink);
        if (rc)
            return rc;
    } else {
        bit_set(inlet->shut, place);
        inlet->n_shut++;
    }
    return open_gates(inlet, sink);
}

int wsh_srd_inlet_write(struct wsh_srd_inlet *inlet, uint8_t group, const struct wsh_srd_sink *sink)
{
    struct wsh_srd_count *count = count_of(inlet, group);
    int rc = 0;

    if (inlet->failed)
        return -ESTALE;
    if (!count)
        return -EPROTO;
    inlet->counted++;
    count->count++;
    if (count->waiter) {
        uint32_t place = count->waiter - 1u;

        if (count->count < inlet->held[place].stamp.own_count)
            return 0;
        bit_clear(inlet->lacking, place);
        rc = apply_held(inlet, place, sink);
    }
    return rc ? rc : open_gates(inlet, sink);
}

static uint32_t bits_count(const uint64_t *bits)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < WSH_SRD_WINDOW_MAX / 64; i++)
        n += (uint32_t)__builtin_popcountll(bits[i]);
    return n;
}

uint32_t wsh_srd_inlet_waiting(const struct wsh_srd_inlet *inlet)
{
    return inlet->n_shut + bits_count(inlet->lacking);
}

void wsh_srd_inlet_fail(struct wsh_srd_inlet *inlet, void (*drop)(void *arg, void *msg), void *arg)
{
    inlet->failed = true;
    for (uint32_t place = 0; place < inlet->window; place++) {
        if (bit_is(inlet->shut, place) || bit_is(inlet->lacking, place))
            drop(arg, inlet->held[place].msg);
    }
    memset(inlet->shut, 0, sizeof inlet->shut);
    memset(inlet->lacking, 0, sizeof inlet->lacking);
    inlet->n_shut = 0;
}
