/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies a message at the target when its condition is met and its group is complete. */
#include "transports/efa/srd/rx_flow.h"

#include "base/invariant.h"

#include <errno.h>
#include <string.h>

void wsh_srd_rx_flow_init(struct wsh_srd_rx_flow *rx_flow, uint32_t window, struct wsh_srd_held *held,
                          uint16_t ack_after)
{
    memset(rx_flow, 0, sizeof *rx_flow);
    memset(held, 0, window * sizeof *held);
    rx_flow->window = window;
    rx_flow->held = held;
    rx_flow->ack_after = ack_after;
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

static uint32_t bits_count(const uint64_t *bits)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < WSH_SRD_WINDOW_MAX / 64; i++)
        n += (uint32_t)__builtin_popcountll(bits[i]);
    return n;
}

static uint32_t index_of(const struct wsh_srd_rx_flow *rx_flow, uint32_t seq)
{
    return seq & (rx_flow->window - 1);
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
static struct wsh_srd_count *count_of(struct wsh_srd_rx_flow *rx_flow, uint8_t group)
{
    struct wsh_srd_count *count = &rx_flow->group[wsh_srd_group_slot(group)];

    return count->generation == wsh_srd_group_generation(group) ? count : NULL;
}

static void group_retire(struct wsh_srd_count *count)
{
    count->count = 0;
    count->waiter = 0;
    count->generation = (count->generation + 1) & (WSH_SRD_GENERATIONS - 1);
}

/* 1: all `expected` writes of the group are here; 0: not yet. */
static int group_complete(struct wsh_srd_rx_flow *rx_flow, uint8_t group, uint32_t expected)
{
    const struct wsh_srd_count *count = count_of(rx_flow, group);

    if (!count || count->count > expected)
        return -EPROTO;
    return count->count == expected;
}

static void advance_applied(struct wsh_srd_rx_flow *rx_flow)
{
    while (bit_is(rx_flow->over, index_of(rx_flow, rx_flow->applied))) {
        bit_clear(rx_flow->over, index_of(rx_flow, rx_flow->applied));
        rx_flow->applied++;
    }
}

static int apply_held(struct wsh_srd_rx_flow *rx_flow, uint32_t index, const struct wsh_srd_sink *sink)
{
    const struct wsh_srd_stamp *stamp = &rx_flow->held[index].stamp;

    WSH_INVARIANT(!stamp->own_count || group_complete(rx_flow, stamp->own_group, stamp->own_count) == 1);
    WSH_INVARIANT(!bit_is(rx_flow->over, index));
    if (stamp->own_count)
        group_retire(count_of(rx_flow, stamp->own_group));
    bit_set(rx_flow->over, index);
    advance_applied(rx_flow);
    return sink->apply(sink->arg, rx_flow->held[index].msg);
}

/* The condition is met: applies the message, or lets it wait for its own group. */
static int pass_condition(struct wsh_srd_rx_flow *rx_flow, uint32_t index, const struct wsh_srd_sink *sink)
{
    const struct wsh_srd_stamp *stamp = &rx_flow->held[index].stamp;
    int complete = stamp->own_count ? group_complete(rx_flow, stamp->own_group, stamp->own_count) : 1;
    struct wsh_srd_count *count;

    if (complete < 0)
        return complete;
    if (complete)
        return apply_held(rx_flow, index, sink);
    count = count_of(rx_flow, stamp->own_group);
    if (count->waiter)
        return -EPROTO;
    count->waiter = (uint16_t)(index + 1);
    bit_set(rx_flow->lacking, index);
    return 0;
}

/* 1: the message's condition is met; 0: not yet. */
static int condition_may_hold(struct wsh_srd_rx_flow *rx_flow, const struct wsh_srd_stamp *stamp)
{
    if (wsh_srd_before(rx_flow->applied, wsh_srd_widen(rx_flow->applied, stamp->after)))
        return 0;
    if (!stamp->condition_count)
        return 1;
    return group_complete(rx_flow, stamp->condition_group, stamp->condition_count);
}

static bool condition_holds(const struct wsh_srd_rx_flow *rx_flow, const struct wsh_srd_stamp *stamp)
{
    return (int16_t)(uint16_t)(stamp->condition - rx_flow->condition) <= 0;
}

/*
 * Applies what can be applied. Numbers, epochs and conditions grow together, so the first message held
 * is one of the first condition that is not met, and none behind it can go before it.
 */
static int apply_held_ones(struct wsh_srd_rx_flow *rx_flow, const struct wsh_srd_sink *sink)
{
    while (rx_flow->n_shut) {
        uint32_t index = bit_first(rx_flow->shut, rx_flow->window, index_of(rx_flow, rx_flow->applied));
        const struct wsh_srd_stamp *stamp = &rx_flow->held[index].stamp;
        int rc;

        WSH_INVARIANT(rx_flow->n_shut == bits_count(rx_flow->shut));
        if (!condition_holds(rx_flow, stamp)) {
            rc = condition_may_hold(rx_flow, stamp);
            if (rc <= 0)
                return rc;
            rx_flow->condition = stamp->condition;
            if (stamp->condition_count)
                group_retire(count_of(rx_flow, stamp->condition_group));
        }
        bit_clear(rx_flow->shut, index);
        rx_flow->n_shut--;
        rc = pass_condition(rx_flow, index, sink);
        if (rc)
            return rc;
    }
    return 0;
}

bool wsh_srd_rx_flow_has(const struct wsh_srd_rx_flow *rx_flow, const struct wsh_srd_stamp *stamp)
{
    uint32_t seq = wsh_srd_widen(rx_flow->applied, stamp->seq), index = index_of(rx_flow, seq);

    if (wsh_srd_before(seq, rx_flow->applied))
        return true;
    return seq - rx_flow->applied < rx_flow->window &&
           (bit_is(rx_flow->shut, index) || bit_is(rx_flow->lacking, index) || bit_is(rx_flow->over, index));
}

void **wsh_srd_rx_flow_held(struct wsh_srd_rx_flow *rx_flow, const struct wsh_srd_stamp *stamp,
                            const void *msg)
{
    uint32_t index = index_of(rx_flow, stamp->seq);
    bool waits = bit_is(rx_flow->shut, index) || bit_is(rx_flow->lacking, index);

    return waits && rx_flow->held[index].msg == msg ? &rx_flow->held[index].msg : NULL;
}

int wsh_srd_rx_flow_message(struct wsh_srd_rx_flow *rx_flow, const struct wsh_srd_stamp *stamp, void *msg,
                            const struct wsh_srd_sink *sink)
{
    uint32_t ahead = wsh_srd_widen(rx_flow->applied, stamp->seq) - rx_flow->applied;
    uint32_t index = index_of(rx_flow, rx_flow->applied + ahead);
    int rc;

    if (rx_flow->failed)
        return -ESTALE;
    if (ahead >= rx_flow->window || bit_is(rx_flow->shut, index) || bit_is(rx_flow->lacking, index) ||
        bit_is(rx_flow->over, index))
        return -EPROTO;
    rx_flow->held[index] = (struct wsh_srd_held){msg, *stamp};
    if (condition_holds(rx_flow, stamp)) {
        rc = pass_condition(rx_flow, index, sink);
        if (rc)
            return rc;
    } else {
        bit_set(rx_flow->shut, index);
        rx_flow->n_shut++;
    }
    return apply_held_ones(rx_flow, sink);
}

int wsh_srd_rx_flow_write(struct wsh_srd_rx_flow *rx_flow, uint8_t group, const struct wsh_srd_sink *sink)
{
    struct wsh_srd_count *count = count_of(rx_flow, group);
    int rc = 0;

    if (rx_flow->failed)
        return -ESTALE;
    if (!count)
        return -EPROTO;
    rx_flow->counted++;
    count->count++;
    if (count->waiter) {
        uint32_t index = count->waiter - 1u;

        WSH_INVARIANT(bit_is(rx_flow->lacking, index));
        if (count->count < rx_flow->held[index].stamp.own_count)
            return 0;
        bit_clear(rx_flow->lacking, index);
        rc = apply_held(rx_flow, index, sink);
    }
    return rc ? rc : apply_held_ones(rx_flow, sink);
}

uint32_t wsh_srd_rx_flow_waiting(const struct wsh_srd_rx_flow *rx_flow)
{
    return rx_flow->n_shut + bits_count(rx_flow->lacking);
}

void wsh_srd_rx_flow_fail(struct wsh_srd_rx_flow *rx_flow, void (*drop)(void *arg, void *msg), void *arg)
{
    rx_flow->failed = true;
    for (uint32_t index = 0; index < rx_flow->window; index++) {
        if (bit_is(rx_flow->shut, index) || bit_is(rx_flow->lacking, index))
            drop(arg, rx_flow->held[index].msg);
    }
    memset(rx_flow->shut, 0, sizeof rx_flow->shut);
    memset(rx_flow->lacking, 0, sizeof rx_flow->lacking);
    rx_flow->n_shut = 0;
}
