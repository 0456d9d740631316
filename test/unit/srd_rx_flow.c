/* SPDX-License-Identifier: BSD-3-Clause */
/* transports/efa/srd/rx_flow.c: when the target applies a message, what it owes, and what it refuses. */
#include "test/common/unit.h"
#include "transports/efa/srd/rx_flow.h"

#include <errno.h>

enum { WINDOW = 4 };

static struct wsh_srd_held held[WINDOW];
static int applied[16], n_applied, dropped, refusal;

static int apply(void *arg, void *msg)
{
    (void)arg;
    applied[n_applied++] = *(int *)msg;
    return refusal;
}

static const struct wsh_srd_sink sink = {apply, NULL};

static void drop(void *arg, void *msg)
{
    (void)arg;
    (void)msg;
    dropped++;
}

static void start(struct wsh_srd_rx_flow *rx_flow)
{
    wsh_srd_rx_flow_init(rx_flow, WINDOW, held, 2);
    n_applied = dropped = refusal = 0;
}

static int message(struct wsh_srd_rx_flow *rx_flow, const struct wsh_srd_stamp *stamp)
{
    static int number[16];

    number[stamp->seq % 16] = stamp->seq;
    return wsh_srd_rx_flow_message(rx_flow, stamp, &number[stamp->seq % 16], &sink);
}

static void immediate_bits(void)
{
    struct wsh_srd_imm imm = wsh_srd_imm_unpack(wsh_srd_imm_pack(0x3fff, 0x1ff, 0xff));

    CU_ASSERT_EQUAL(wsh_srd_imm_pack(1, 0, 0), 1u << 17);
    CU_ASSERT_EQUAL(wsh_srd_imm_pack(0, 1, 0), 1u << 8);
    CU_ASSERT_EQUAL(wsh_srd_imm_pack(0, 0, wsh_srd_group_name(5, 3)), 5 | 3 << 6);
    CU_ASSERT(imm.pe == 0x3fff && imm.ctx == 0x1ff && imm.group == 0xff && !imm.by_counter);
    imm = wsh_srd_imm_unpack(wsh_srd_imm_counter(0x3fff, 0x7fff, 3));
    CU_ASSERT(imm.by_counter && imm.pe == 0x3fff && imm.counter == 0x7fff && imm.generation == 1);
    imm = wsh_srd_imm_unpack(wsh_srd_imm_counter(1, 2, 4));
    CU_ASSERT(imm.by_counter && imm.pe == 1 && imm.counter == 2 && !imm.generation && imm.pieces == 1);
    for (uint32_t pieces = 2; pieces <= WSH_SRD_IMM_PIECES; pieces++) {
        imm = wsh_srd_imm_unpack(wsh_srd_imm_piece(1, 0xfff, 4, pieces));
        CU_ASSERT(imm.by_counter && imm.pe == 1 && imm.counter == 0xfff && !imm.generation &&
                  imm.pieces == pieces);
    }
    CU_ASSERT_EQUAL(wsh_srd_group_slot(wsh_srd_group_name(63, 6)), 63);
    CU_ASSERT_EQUAL(wsh_srd_group_generation(wsh_srd_group_name(63, 6)), 2);
    CU_ASSERT(wsh_srd_imm_fits(511, 16384, false) && !wsh_srd_imm_fits(511, 16385, false));
    CU_ASSERT(wsh_srd_imm_fits(511, 1 << 20, true) && !wsh_srd_imm_fits(512, 2, true));
}

static void low_bits(void)
{
    CU_ASSERT_EQUAL(wsh_srd_widen(0x1fffe, 1), 0x20001);
    CU_ASSERT_EQUAL(wsh_srd_widen(0x20001, 0xfffe), 0x1fffe);
    CU_ASSERT_EQUAL(wsh_srd_widen(0, 0xffff), UINT32_MAX);
    CU_ASSERT_EQUAL(wsh_srd_widen(UINT32_MAX, 5), 5);
    CU_ASSERT(wsh_srd_before(UINT32_MAX, 0) && !wsh_srd_before(0, UINT32_MAX) && !wsh_srd_before(7, 7));
    CU_ASSERT_EQUAL(sizeof(struct wsh_srd_stamp), 20);
}

static void any_order_within_an_epoch(void)
{
    struct wsh_srd_rx_flow rx_flow;

    start(&rx_flow);
    CU_ASSERT_EQUAL(message(&rx_flow, &(struct wsh_srd_stamp){.seq = 1}), 0);
    CU_ASSERT(n_applied == 1 && rx_flow.applied == 0 && !wsh_srd_rx_flow_has_ack(&rx_flow));
    CU_ASSERT_EQUAL(message(&rx_flow, &(struct wsh_srd_stamp){.seq = 0}), 0);
    CU_ASSERT(n_applied == 2 && rx_flow.applied == 2 && wsh_srd_rx_flow_urgent(&rx_flow));
}

static void signal_waits_for_its_group(void)
{
    struct wsh_srd_stamp stamp = {.seq = 0, .own_group = 5, .own_count = 2};
    struct wsh_srd_rx_flow rx_flow;

    start(&rx_flow);
    CU_ASSERT_EQUAL(wsh_srd_rx_flow_write(&rx_flow, 5, &sink), 0);
    CU_ASSERT_EQUAL(message(&rx_flow, &stamp), 0);
    CU_ASSERT_EQUAL(wsh_srd_rx_flow_write(&rx_flow, 6, &sink), 0); /* of another group */
    CU_ASSERT(n_applied == 0 && wsh_srd_rx_flow_waiting(&rx_flow) == 1);
    CU_ASSERT_EQUAL(wsh_srd_rx_flow_write(&rx_flow, 5, &sink), 0);
    CU_ASSERT(n_applied == 1 && rx_flow.counted == 3 && wsh_srd_rx_flow_waiting(&rx_flow) == 0);
    CU_ASSERT_EQUAL(wsh_srd_rx_flow_write(&rx_flow, 5, &sink), -EPROTO); /* that group is retired */
    CU_ASSERT_EQUAL(wsh_srd_rx_flow_write(&rx_flow, wsh_srd_group_name(5, 1), &sink),
                    0); /* the next group is not */
}

static void condition_waits_for_messages_and_writes(void)
{
    struct wsh_srd_stamp behind = {
        .seq = 1, .condition = 1, .after = 1, .condition_group = 9, .condition_count = 1};
    struct wsh_srd_stamp second = {.seq = 2, .condition = 2, .after = 2};
    struct wsh_srd_rx_flow rx_flow;

    start(&rx_flow);
    CU_ASSERT_EQUAL(message(&rx_flow, &second), 0);
    CU_ASSERT_EQUAL(message(&rx_flow, &behind), 0);
    CU_ASSERT_EQUAL(wsh_srd_rx_flow_write(&rx_flow, 9, &sink), 0);
    CU_ASSERT_EQUAL(n_applied, 0);
    CU_ASSERT_EQUAL(message(&rx_flow, &(struct wsh_srd_stamp){.seq = 0}), 0);
    CU_ASSERT(n_applied == 3 && applied[0] == 0 && applied[1] == 1 && applied[2] == 2);
    CU_ASSERT_EQUAL(rx_flow.applied, 3);
}

static void bad_messages_are_refused(void)
{
    struct wsh_srd_rx_flow rx_flow;

    start(&rx_flow);
    CU_ASSERT_EQUAL(message(&rx_flow, &(struct wsh_srd_stamp){.seq = 1}), 0);
    CU_ASSERT_EQUAL(message(&rx_flow, &(struct wsh_srd_stamp){.seq = 1}), -EPROTO);      /* twice */
    CU_ASSERT_EQUAL(message(&rx_flow, &(struct wsh_srd_stamp){.seq = WINDOW}), -EPROTO); /* too far ahead */
    CU_ASSERT_EQUAL(message(&rx_flow, &(struct wsh_srd_stamp){.seq = 0}), 0);
    CU_ASSERT_EQUAL(message(&rx_flow, &(struct wsh_srd_stamp){.seq = 0}), -EPROTO); /* long applied */
    CU_ASSERT_EQUAL(wsh_srd_rx_flow_write(&rx_flow, wsh_srd_group_name(0, 2), &sink), -EPROTO);
    CU_ASSERT_EQUAL(n_applied, 2);
    CU_ASSERT_EQUAL(wsh_srd_rx_flow_write(&rx_flow, 3, &sink), 0);
    CU_ASSERT_EQUAL(wsh_srd_rx_flow_write(&rx_flow, 3, &sink), 0);
    CU_ASSERT_EQUAL(message(&rx_flow, &(struct wsh_srd_stamp){.seq = 2, .own_group = 3, .own_count = 1}),
                    -EPROTO);
}

static void what_cannot_be_applied_is_reported(void)
{
    struct wsh_srd_rx_flow rx_flow;

    start(&rx_flow);
    refusal = -EIO;
    CU_ASSERT_EQUAL(message(&rx_flow, &(struct wsh_srd_stamp){.seq = 0}), -EIO);
}

static void one_ack_at_a_time(void)
{
    struct wsh_srd_rx_flow rx_flow;

    start(&rx_flow);
    message(&rx_flow, &(struct wsh_srd_stamp){.seq = 0});
    CU_ASSERT(wsh_srd_rx_flow_may_ack(&rx_flow) && !wsh_srd_rx_flow_urgent(&rx_flow));
    wsh_srd_rx_flow_ack_write(&rx_flow, true);
    message(&rx_flow, &(struct wsh_srd_stamp){.seq = 1});
    CU_ASSERT(wsh_srd_rx_flow_has_ack(&rx_flow) && !wsh_srd_rx_flow_may_ack(&rx_flow));
    wsh_srd_rx_flow_ack_write(&rx_flow, false);
    CU_ASSERT(wsh_srd_rx_flow_may_ack(&rx_flow));
    wsh_srd_rx_flow_acked(&rx_flow);
    CU_ASSERT(!wsh_srd_rx_flow_has_ack(&rx_flow));
}

static void after_a_failure(void)
{
    struct wsh_srd_rx_flow rx_flow;

    start(&rx_flow);
    message(&rx_flow, &(struct wsh_srd_stamp){.seq = 0, .own_group = 1, .own_count = 1});
    message(&rx_flow, &(struct wsh_srd_stamp){.seq = 1, .condition = 1, .after = 1});
    wsh_srd_rx_flow_fail(&rx_flow, drop, NULL);
    CU_ASSERT(dropped == 2 && n_applied == 0 && wsh_srd_rx_flow_waiting(&rx_flow) == 0);
    CU_ASSERT_EQUAL(wsh_srd_rx_flow_write(&rx_flow, 1, &sink), -ESTALE);
    CU_ASSERT_EQUAL(message(&rx_flow, &(struct wsh_srd_stamp){.seq = 2}), -ESTALE);
    CU_ASSERT(n_applied == 0 && !wsh_srd_rx_flow_may_ack(&rx_flow));
}

/* What a source may have sent twice: applied (also long ago), with a condition, lacking its group; never a new one. */
static void sent_twice(void)
{
    const struct wsh_srd_stamp first = {.seq = 0}, second = {.seq = 1}, third = {.seq = 2},
                               conditional = {.seq = 2, .condition = 1, .after = 2},
                               lacking = {.seq = 1, .own_count = 1, .own_group = 3};
    struct wsh_srd_rx_flow rx_flow;

    start(&rx_flow);
    CU_ASSERT_FALSE(wsh_srd_rx_flow_has(&rx_flow, &first));
    CU_ASSERT_FALSE(message(&rx_flow, &first));
    CU_ASSERT(wsh_srd_rx_flow_has(&rx_flow, &first));
    CU_ASSERT_FALSE(wsh_srd_rx_flow_has(&rx_flow, &second));
    CU_ASSERT_FALSE(message(&rx_flow, &conditional));
    CU_ASSERT(wsh_srd_rx_flow_has(&rx_flow, &conditional) && wsh_srd_rx_flow_has(&rx_flow, &third));
    CU_ASSERT_FALSE(message(&rx_flow, &lacking));
    CU_ASSERT(wsh_srd_rx_flow_has(&rx_flow, &second));
    CU_ASSERT_FALSE(wsh_srd_rx_flow_write(&rx_flow, 3, &sink));
    CU_ASSERT_EQUAL(n_applied, 3);
    CU_ASSERT(wsh_srd_rx_flow_has(&rx_flow, &first) && wsh_srd_rx_flow_has(&rx_flow, &third));
    CU_ASSERT_FALSE(wsh_srd_rx_flow_has(&rx_flow, &(struct wsh_srd_stamp){.seq = 3}));
    CU_ASSERT(wsh_srd_rx_flow_has(&rx_flow, &(struct wsh_srd_stamp){.seq = 0xfff0}));
    CU_ASSERT_FALSE(wsh_srd_rx_flow_has(&rx_flow, &(struct wsh_srd_stamp){.seq = 3 + WINDOW}));
}

const struct unit_test unit_tests[] = {
    {"what was sent twice is noticed", sent_twice},
    {"the immediate data holds group, context and PE in the bits of its table", immediate_bits},
    {"numbers are found again from their low bits", low_bits},
    {"without a fence messages are applied as they come", any_order_within_an_epoch},
    {"a signal waits for the exact count of its own group", signal_waits_for_its_group},
    {"a gate waits for earlier messages and for its writes", condition_waits_for_messages_and_writes},
    {"messages that cannot be are refused", bad_messages_are_refused},
    {"an error of the one who applies is handed on", what_cannot_be_applied_is_reported},
    {"only one ack is on its way", one_ack_at_a_time},
    {"what comes after a failure is left alone", after_a_failure},
    {NULL, NULL},
};
