/* SPDX-License-Identifier: BSD-3-Clause */
/* transports/efa/srd/inlet.c: when the target applies a message, what it owes, and what it refuses. */
#include "test/common/unit.h"
#include "transports/efa/srd/inlet.h"

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

static void start(struct wsh_srd_inlet *inlet)
{
    wsh_srd_inlet_init(inlet, WINDOW, held, 2);
    n_applied = dropped = refusal = 0;
}

static int message(struct wsh_srd_inlet *inlet, const struct wsh_srd_stamp *stamp)
{
    static int number[16];

    number[stamp->seq % 16] = stamp->seq;
    return wsh_srd_inlet_message(inlet, stamp, &number[stamp->seq % 16], &sink);
}

static void immediate_bits(void)
{
    struct wsh_srd_imm imm = wsh_srd_imm_unpack(wsh_srd_imm_pack(0x3fff, 0x1ff, 0xff));

    CU_ASSERT_EQUAL(wsh_srd_imm_pack(1, 0, 0), 1u << 17);
    CU_ASSERT_EQUAL(wsh_srd_imm_pack(0, 1, 0), 1u << 8);
    CU_ASSERT_EQUAL(wsh_srd_imm_pack(0, 0, wsh_srd_group_name(5, 3)), 5 | 3 << 6);
    CU_ASSERT(imm.pe == 0x3fff && imm.ctx == 0x1ff && imm.group == 0xff && !imm.by_counter);
    imm = wsh_srd_imm_unpack(wsh_srd_imm_counter(0x3fff, 0xffff, 3));
    CU_ASSERT(imm.by_counter && imm.pe == 0x3fff && imm.counter == 0xffff && imm.generation == 1);
    imm = wsh_srd_imm_unpack(wsh_srd_imm_counter(1, 2, 4));
    CU_ASSERT(imm.by_counter && imm.pe == 1 && imm.counter == 2 && !imm.generation);
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
    struct wsh_srd_inlet inlet;

    start(&inlet);
    CU_ASSERT_EQUAL(message(&inlet, &(struct wsh_srd_stamp){.seq = 1}), 0);
    CU_ASSERT(n_applied == 1 && inlet.applied == 0 && !wsh_srd_inlet_has_ack(&inlet));
    CU_ASSERT_EQUAL(message(&inlet, &(struct wsh_srd_stamp){.seq = 0}), 0);
    CU_ASSERT(n_applied == 2 && inlet.applied == 2 && wsh_srd_inlet_urgent(&inlet));
}

static void signal_waits_for_its_group(void)
{
    struct wsh_srd_stamp stamp = {.seq = 0, .own_group = 5, .own_count = 2};
    struct wsh_srd_inlet inlet;

    start(&inlet);
    CU_ASSERT_EQUAL(wsh_srd_inlet_write(&inlet, 5, &sink), 0);
    CU_ASSERT_EQUAL(message(&inlet, &stamp), 0);
    CU_ASSERT_EQUAL(wsh_srd_inlet_write(&inlet, 6, &sink), 0); /* of another group */
    CU_ASSERT(n_applied == 0 && wsh_srd_inlet_waiting(&inlet) == 1);
    CU_ASSERT_EQUAL(wsh_srd_inlet_write(&inlet, 5, &sink), 0);
    CU_ASSERT(n_applied == 1 && inlet.counted == 3 && wsh_srd_inlet_waiting(&inlet) == 0);
    CU_ASSERT_EQUAL(wsh_srd_inlet_write(&inlet, 5, &sink), -EPROTO); /* that group is retired … */
    CU_ASSERT_EQUAL(wsh_srd_inlet_write(&inlet, wsh_srd_group_name(5, 1), &sink), 0); /* … the next is not */
}

static void gate_waits_for_messages_and_writes(void)
{
    struct wsh_srd_stamp behind = {.seq = 1, .gate = 1, .after = 1, .gate_group = 9, .gate_count = 1};
    struct wsh_srd_stamp second = {.seq = 2, .gate = 2, .after = 2};
    struct wsh_srd_inlet inlet;

    start(&inlet);
    CU_ASSERT_EQUAL(message(&inlet, &second), 0);
    CU_ASSERT_EQUAL(message(&inlet, &behind), 0);
    CU_ASSERT_EQUAL(wsh_srd_inlet_write(&inlet, 9, &sink), 0);
    CU_ASSERT_EQUAL(n_applied, 0);
    CU_ASSERT_EQUAL(message(&inlet, &(struct wsh_srd_stamp){.seq = 0}), 0);
    CU_ASSERT(n_applied == 3 && applied[0] == 0 && applied[1] == 1 && applied[2] == 2);
    CU_ASSERT_EQUAL(inlet.applied, 3);
}

static void bad_messages_are_refused(void)
{
    struct wsh_srd_inlet inlet;

    start(&inlet);
    CU_ASSERT_EQUAL(message(&inlet, &(struct wsh_srd_stamp){.seq = 1}), 0);
    CU_ASSERT_EQUAL(message(&inlet, &(struct wsh_srd_stamp){.seq = 1}), -EPROTO);      /* twice */
    CU_ASSERT_EQUAL(message(&inlet, &(struct wsh_srd_stamp){.seq = WINDOW}), -EPROTO); /* too far ahead */
    CU_ASSERT_EQUAL(message(&inlet, &(struct wsh_srd_stamp){.seq = 0}), 0);
    CU_ASSERT_EQUAL(message(&inlet, &(struct wsh_srd_stamp){.seq = 0}), -EPROTO); /* long applied */
    CU_ASSERT_EQUAL(wsh_srd_inlet_write(&inlet, wsh_srd_group_name(0, 2), &sink), -EPROTO);
    CU_ASSERT_EQUAL(n_applied, 2);
    CU_ASSERT_EQUAL(wsh_srd_inlet_write(&inlet, 3, &sink), 0);
    CU_ASSERT_EQUAL(wsh_srd_inlet_write(&inlet, 3, &sink), 0);
    CU_ASSERT_EQUAL(message(&inlet, &(struct wsh_srd_stamp){.seq = 2, .own_group = 3, .own_count = 1}),
                    -EPROTO);
}

static void what_cannot_be_applied_is_reported(void)
{
    struct wsh_srd_inlet inlet;

    start(&inlet);
    refusal = -EIO;
    CU_ASSERT_EQUAL(message(&inlet, &(struct wsh_srd_stamp){.seq = 0}), -EIO);
}

static void one_ack_at_a_time(void)
{
    struct wsh_srd_inlet inlet;

    start(&inlet);
    message(&inlet, &(struct wsh_srd_stamp){.seq = 0});
    CU_ASSERT(wsh_srd_inlet_may_ack(&inlet) && !wsh_srd_inlet_urgent(&inlet));
    wsh_srd_inlet_ack_write(&inlet, true);
    message(&inlet, &(struct wsh_srd_stamp){.seq = 1});
    CU_ASSERT(wsh_srd_inlet_has_ack(&inlet) && !wsh_srd_inlet_may_ack(&inlet));
    wsh_srd_inlet_ack_write(&inlet, false);
    CU_ASSERT(wsh_srd_inlet_may_ack(&inlet));
    wsh_srd_inlet_acked(&inlet);
    CU_ASSERT(!wsh_srd_inlet_has_ack(&inlet));
}

static void after_a_failure(void)
{
    struct wsh_srd_inlet inlet;

    start(&inlet);
    message(&inlet, &(struct wsh_srd_stamp){.seq = 0, .own_group = 1, .own_count = 1});
    message(&inlet, &(struct wsh_srd_stamp){.seq = 1, .gate = 1, .after = 1});
    wsh_srd_inlet_fail(&inlet, drop, NULL);
    CU_ASSERT(dropped == 2 && n_applied == 0 && wsh_srd_inlet_waiting(&inlet) == 0);
    CU_ASSERT_EQUAL(wsh_srd_inlet_write(&inlet, 1, &sink), -ESTALE);
    CU_ASSERT_EQUAL(message(&inlet, &(struct wsh_srd_stamp){.seq = 2}), -ESTALE);
    CU_ASSERT(n_applied == 0 && !wsh_srd_inlet_may_ack(&inlet));
}

/* What a source may have sent twice: applied (also long ago), behind a gate, lacking its group; never a new one. */
static void sent_twice(void)
{
    const struct wsh_srd_stamp first = {.seq = 0}, second = {.seq = 1}, third = {.seq = 2},
                               gated = {.seq = 2, .gate = 1, .after = 2},
                               lacking = {.seq = 1, .own_count = 1, .own_group = 3};
    struct wsh_srd_inlet inlet;

    start(&inlet);
    CU_ASSERT_FALSE(wsh_srd_inlet_has(&inlet, &first));
    CU_ASSERT_FALSE(message(&inlet, &first));
    CU_ASSERT(wsh_srd_inlet_has(&inlet, &first));
    CU_ASSERT_FALSE(wsh_srd_inlet_has(&inlet, &second));
    CU_ASSERT_FALSE(message(&inlet, &gated));
    CU_ASSERT(wsh_srd_inlet_has(&inlet, &gated) && wsh_srd_inlet_has(&inlet, &third));
    CU_ASSERT_FALSE(message(&inlet, &lacking));
    CU_ASSERT(wsh_srd_inlet_has(&inlet, &second));
    CU_ASSERT_FALSE(wsh_srd_inlet_write(&inlet, 3, &sink));
    CU_ASSERT_EQUAL(n_applied, 3);
    CU_ASSERT(wsh_srd_inlet_has(&inlet, &first) && wsh_srd_inlet_has(&inlet, &third));
    CU_ASSERT_FALSE(wsh_srd_inlet_has(&inlet, &(struct wsh_srd_stamp){.seq = 3}));
    CU_ASSERT(wsh_srd_inlet_has(&inlet, &(struct wsh_srd_stamp){.seq = 0xfff0}));
    CU_ASSERT_FALSE(wsh_srd_inlet_has(&inlet, &(struct wsh_srd_stamp){.seq = 3 + WINDOW}));
}

const struct unit_test unit_tests[] = {
    {"what was sent twice is noticed", sent_twice},
    {"the immediate data holds group, context and PE in the bits of its table", immediate_bits},
    {"numbers are found again from their low bits", low_bits},
    {"without a fence messages are applied as they come", any_order_within_an_epoch},
    {"a signal waits for the exact count of its own group", signal_waits_for_its_group},
    {"a gate waits for earlier messages and for its writes", gate_waits_for_messages_and_writes},
    {"messages that cannot be are refused", bad_messages_are_refused},
    {"an error of the one who applies is handed on", what_cannot_be_applied_is_reported},
    {"only one ack is on its way", one_ack_at_a_time},
    {"what comes after a failure is left alone", after_a_failure},
    {NULL, NULL},
};
