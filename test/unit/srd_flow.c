/* SPDX-License-Identifier: BSD-3-Clause */
/* transports/efa/srd/flow.c and issue.c: what goes at once, as what, what is deferred or refused, what is pending. */
#include "test/common/unit.h"
#include "transports/efa/srd/flow.h"

#include <errno.h>

enum { WINDOW = 4, SLOTS = 2 };

static struct wsh_srd_names named[WINDOW];
static struct wsh_srd_link link;
static struct wsh_srd_ctx ctx;
static struct wsh_srd_flow flow;
static struct wsh_srd_stamp last;
static int writes, reads, sends, room, dropped;

static int io_write(void *arg, struct wsh_srd_op *op)
{
    (void)arg;
    (void)op;
    if (!room)
        return -EAGAIN;
    room--;
    writes++;
    return 0;
}

static int io_read(void *arg, struct wsh_srd_op *op)
{
    (void)arg;
    (void)op;
    reads++;
    return 0;
}

static int io_send(void *arg, struct wsh_srd_op *op, struct wsh_srd_stamp *stamp)
{
    (void)arg;
    (void)op;
    if (!room)
        return -EAGAIN;
    room--;
    last = *stamp;
    sends++;
    return 0;
}

static const struct wsh_srd_io io = {io_write, io_read, io_send, NULL};

static void start(bool imm)
{
    link = (struct wsh_srd_link){.msgs_max = 3, .imms_max = 4, .fetches_max = 1};
    ctx = (struct wsh_srd_ctx){.epoch = 0};
    wsh_srd_flow_init(&flow, &link, WINDOW, SLOTS, imm, named);
    writes = reads = sends = dropped = 0;
    room = 1000;
}

static int submit(struct wsh_srd_op *op)
{
    return wsh_srd_submit(&ctx, &flow, op, &io);
}

static void drop(void *arg, struct wsh_srd_op *op)
{
    (void)arg;
    (void)op;
    dropped++;
}

static void plain_put_is_counts_only(void)
{
    start(true);
    CU_ASSERT(wsh_srd_put_fast(&ctx, &flow) && wsh_srd_put_fast(&ctx, &flow));
    CU_ASSERT(wsh_srd_flow_pending(&flow) == 2 && wsh_srd_ctx_pending(&ctx) == 2);
    wsh_srd_put_refused(&ctx, &flow);
    wsh_srd_put_ended(&ctx, &flow, 1);
    CU_ASSERT(wsh_srd_flow_pending(&flow) == 0 && wsh_srd_ctx_pending(&ctx) == 0);
    wsh_srd_fence(&ctx);
    CU_ASSERT(!wsh_srd_put_fast(&ctx, &flow)); /* the first one checks what the fence requires */
    CU_ASSERT_EQUAL(wsh_srd_put_kind(&ctx, &flow, true), WSH_SRD_PUT);
    CU_ASSERT(wsh_srd_put_fast(&ctx, &flow)); /* it requires nothing: the others are fast again */
}

static void small_put_behind_a_fence_goes_at_once(void)
{
    struct wsh_srd_op counted = {.kind = WSH_SRD_PUT, .segments = 1, .counted = true, .keep = true};
    struct wsh_srd_op msg = {.kind = WSH_SRD_MSG};

    start(true);
    CU_ASSERT_EQUAL(submit(&counted), 0);
    CU_ASSERT(counted.grouped && link.imms == 1);
    wsh_srd_fence(&ctx);
    CU_ASSERT_EQUAL(wsh_srd_put_kind(&ctx, &flow, false), WSH_SRD_PUT);
    CU_ASSERT_EQUAL(wsh_srd_put_kind(&ctx, &flow, true), WSH_SRD_MSG);
    CU_ASSERT_EQUAL(submit(&msg), 0);
    CU_ASSERT(sends == 1 && last.condition == 1 && last.condition_count == 1 &&
              last.condition_group == counted.group);
    CU_ASSERT_EQUAL(wsh_srd_flow_pending(&flow), 2);
}

static void uncounted_put_holds_the_message(void)
{
    struct wsh_srd_op msg = {.kind = WSH_SRD_MSG}, kept = {.kind = WSH_SRD_MSG, .keep = true};

    start(true);
    wsh_srd_put_fast(&ctx, &flow);
    CU_ASSERT(!wsh_srd_wants_counts(&flow));
    wsh_srd_fence(&ctx);
    CU_ASSERT_EQUAL(submit(&msg), -EAGAIN);
    CU_ASSERT_EQUAL(wsh_srd_flow_pending(&flow), 1); /* refused: nothing of it is left */
    CU_ASSERT_EQUAL(submit(&kept), 0);
    CU_ASSERT(sends == 0 && wsh_srd_flow_deferred(&flow) && wsh_srd_wants_counts(&flow));
    wsh_srd_put_ended(&ctx, &flow, 1);
    CU_ASSERT_EQUAL(wsh_srd_pump(&flow, &io), 0);
    CU_ASSERT(sends == 1 && !wsh_srd_flow_deferred(&flow) && wsh_srd_op_over(&kept));
    CU_ASSERT_EQUAL(wsh_srd_flow_acked(&ctx, &flow, 1, 0), 1);
    CU_ASSERT_EQUAL(wsh_srd_flow_pending(&flow), 0);
}

/* put A, fence, small p B, fence, large put C: C waits for B applied, not only for A complete. */
static void chain(void)
{
    struct wsh_srd_op a = {.kind = WSH_SRD_PUT, .segments = 1, .counted = true, .keep = true};
    struct wsh_srd_op b = {.kind = WSH_SRD_MSG}, c = {.kind = WSH_SRD_PUT, .segments = 1, .keep = true};

    start(true);
    submit(&a);
    wsh_srd_fence(&ctx);
    submit(&b);
    wsh_srd_fence(&ctx);
    CU_ASSERT_EQUAL(submit(&c), 0);
    wsh_srd_op_ended(&ctx, &flow, &a);
    wsh_srd_pump(&flow, &io);
    CU_ASSERT(writes == 1 && sends == 1);
    CU_ASSERT_EQUAL(wsh_srd_flow_acked(&ctx, &flow, 1, 1), 1);
    wsh_srd_pump(&flow, &io);
    CU_ASSERT_EQUAL(writes, 2);
}

static void get_behind_a_fence(void)
{
    struct wsh_srd_op blocking = {.kind = WSH_SRD_GET, .segments = 1, .keep = true};
    struct wsh_srd_op free = {.kind = WSH_SRD_GET, .segments = 1, .unordered = true};

    start(true);
    wsh_srd_put_fast(&ctx, &flow);
    wsh_srd_fence(&ctx);
    CU_ASSERT_EQUAL(submit(&blocking), 0);
    CU_ASSERT_EQUAL(reads, 0);
    CU_ASSERT_EQUAL(submit(&free), 0);
    CU_ASSERT_EQUAL(reads, 1);
    wsh_srd_put_ended(&ctx, &flow, 1);
    wsh_srd_pump(&flow, &io);
    CU_ASSERT_EQUAL(reads, 2);
}

static void signal_with_and_without_immediate_data(void)
{
    for (int imm = 0; imm < 2; imm++) {
        struct wsh_srd_op op = {.kind = WSH_SRD_SIGNAL, .segments = 2, .keep = true};

        start(imm);
        CU_ASSERT_EQUAL(submit(&op), 0);
        CU_ASSERT(writes == 2 && sends == imm && op.grouped == (bool)imm);
        CU_ASSERT_EQUAL(wsh_srd_flow_pending(&flow), 3);
        wsh_srd_op_ended(&ctx, &flow, &op);
        wsh_srd_pump(&flow, &io);
        CU_ASSERT_EQUAL(sends, imm);
        wsh_srd_op_ended(&ctx, &flow, &op);
        wsh_srd_pump(&flow, &io);
        CU_ASSERT(sends == 1 && last.own_count == 2 * imm && wsh_srd_op_over(&op));
        CU_ASSERT_EQUAL(wsh_srd_flow_acked(&ctx, &flow, 1, 2 * (uint32_t)imm), 1);
        CU_ASSERT(wsh_srd_flow_pending(&flow) == 0 && link.imms == 0 && link.msgs == 0);
    }
}

static void scarce_things(void)
{
    struct wsh_srd_op op[4], fetch[2], msg = {.kind = WSH_SRD_MSG};

    start(true);
    for (int i = 0; i < 4; i++) {
        op[i] = (struct wsh_srd_op){.kind = WSH_SRD_SIGNAL, .segments = 1, .keep = true};
        submit(&op[i]);
    }
    CU_ASSERT(op[0].grouped && op[1].grouped && !op[2].grouped); /* two slots */
    CU_ASSERT_EQUAL(op[0].group, 0);
    CU_ASSERT_EQUAL(submit(&msg), 0);
    CU_ASSERT_EQUAL(submit(&msg), -EAGAIN); /* three messages */
    wsh_srd_flow_acked(&ctx, &flow, 3, 2);
    fetch[0] = fetch[1] = (struct wsh_srd_op){.kind = WSH_SRD_FETCH};
    CU_ASSERT_EQUAL(submit(&fetch[0]), 0);
    CU_ASSERT_EQUAL(submit(&fetch[1]), -EAGAIN); /* one reply to come */
    CU_ASSERT_EQUAL(wsh_srd_flow_replied(&ctx, &flow), 0);
    CU_ASSERT_EQUAL(submit(&fetch[1]), 0);
    op[0] = (struct wsh_srd_op){.kind = WSH_SRD_SIGNAL, .segments = 1, .keep = true};
    submit(&op[0]);
    CU_ASSERT(op[0].grouped && op[0].group == wsh_srd_group_name(0, 1)); /* the slot's next generation */
}

static void refused_leaves_nothing(void)
{
    struct wsh_srd_op put = {.kind = WSH_SRD_PUT, .segments = 2, .counted = true};
    struct wsh_srd_op signal = {.kind = WSH_SRD_SIGNAL, .segments = 2};
    struct wsh_srd_flow before;

    start(true);
    before = flow;
    room = 0;
    CU_ASSERT_EQUAL(submit(&put), -EAGAIN);
    CU_ASSERT_EQUAL(submit(&signal), -EAGAIN);
    CU_ASSERT(link.imms == 0 && flow.imms == 0 && flow.free_slots == before.free_slots && !flow.open_count);
    CU_ASSERT_EQUAL(wsh_srd_flow_pending(&flow), 0);
    room = 1;
    CU_ASSERT_EQUAL(submit(&put), 0); /* one part has gone: the rest is kept */
    CU_ASSERT(put.started == 1 && wsh_srd_flow_deferred(&flow));
    room = 1;
    wsh_srd_pump(&flow, &io);
    CU_ASSERT(put.started == 2 && !wsh_srd_flow_deferred(&flow));
}

static void full_group_is_not_joined(void)
{
    struct wsh_srd_op put = {.kind = WSH_SRD_PUT, .segments = 2, .counted = true, .keep = true};

    start(true);
    submit(&put);
    flow.open_count = WSH_SRD_GROUP_MAX - 1;
    CU_ASSERT_EQUAL(submit(&put), 0);
    CU_ASSERT(!put.grouped && put.class == WSH_SRD_PLAIN);
}

static void counts_that_are_of_no_use_end(void)
{
    struct wsh_srd_op put = {.kind = WSH_SRD_PUT, .segments = 1, .counted = true, .keep = true};
    struct wsh_srd_op msg = {.kind = WSH_SRD_MSG};
    uint32_t n = 0;

    start(true);
    wsh_srd_put_fast(&ctx, &flow);
    wsh_srd_fence(&ctx);
    submit(&msg);
    wsh_srd_put_ended(&ctx, &flow, 1);
    for (n = 0; wsh_srd_wants_counts(&flow) && n < 1000; n++) {
        submit(&put);
        wsh_srd_op_ended(&ctx, &flow, &put);
        wsh_srd_flow_acked(&ctx, &flow, 0, n + 1);
    }
    CU_ASSERT(n > 8 && n < 1000);
    start(false);
    wsh_srd_put_fast(&ctx, &flow);
    wsh_srd_fence(&ctx);
    submit(&msg);
    CU_ASSERT(!wsh_srd_wants_counts(&flow)); /* nothing can be counted here */
}

static void old_and_impossible_acks(void)
{
    struct wsh_srd_op msg = {.kind = WSH_SRD_MSG};

    start(true);
    submit(&msg);
    submit(&msg);
    CU_ASSERT_EQUAL(wsh_srd_flow_acked(&ctx, &flow, 2, 0), 1);
    CU_ASSERT_EQUAL(wsh_srd_flow_acked(&ctx, &flow, 1, 0), 0); /* an older one */
    CU_ASSERT_EQUAL(wsh_srd_flow_acked(&ctx, &flow, 3, 0), -EPROTO);
    CU_ASSERT_EQUAL(wsh_srd_flow_acked(&ctx, &flow, 2, 1), -EPROTO);
    CU_ASSERT_EQUAL(wsh_srd_flow_replied(&ctx, &flow), -EPROTO);
    CU_ASSERT(link.msgs == 0 && wsh_srd_flow_pending(&flow) == 0);
}

/* Messages carry copies; the reply to a fetch writes where it belongs. */
static void what_is_unread(void)
{
    struct wsh_srd_op msg = {.kind = WSH_SRD_MSG, .keep = true};
    struct wsh_srd_op fetch = {.kind = WSH_SRD_FETCH, .keep = true};
    struct wsh_srd_op signal = {.kind = WSH_SRD_SIGNAL, .segments = 2, .keep = true};

    start(true);
    submit(&msg);
    CU_ASSERT(wsh_srd_ctx_pending(&ctx) == 1 && wsh_srd_ctx_unread(&ctx) == 0);
    submit(&fetch);
    CU_ASSERT(wsh_srd_ctx_pending(&ctx) == 3 && wsh_srd_ctx_unread(&ctx) == 1);
    submit(&signal);
    CU_ASSERT(wsh_srd_ctx_pending(&ctx) == 6 && wsh_srd_ctx_unread(&ctx) == 3);
    wsh_srd_op_ended(&ctx, &flow, &signal);
    wsh_srd_op_ended(&ctx, &flow, &signal);
    CU_ASSERT(wsh_srd_flow_replied(&ctx, &flow) == 0);
    CU_ASSERT(wsh_srd_ctx_pending(&ctx) == 3 && wsh_srd_ctx_unread(&ctx) == 0);
    CU_ASSERT_EQUAL(wsh_srd_flow_acked(&ctx, &flow, 3, 2), 1);
    CU_ASSERT(wsh_srd_ctx_pending(&ctx) == 0 && wsh_srd_ctx_unread(&ctx) == 0);
}

static void after_a_failure(void)
{
    struct wsh_srd_op signal = {.kind = WSH_SRD_SIGNAL, .segments = 1, .late = true, .keep = true};
    struct wsh_srd_op put = {.kind = WSH_SRD_PUT, .segments = 1, .keep = true};
    struct wsh_srd_op msg = {.kind = WSH_SRD_MSG, .keep = true};

    start(true);
    submit(&signal);
    wsh_srd_put_fast(&ctx, &flow);
    wsh_srd_fence(&ctx);
    submit(&put);
    submit(&msg);
    CU_ASSERT(wsh_srd_flow_pending(&flow) > 0 && wsh_srd_ctx_unread(&ctx) > 0);
    wsh_srd_flow_fail(&ctx, &flow, drop, NULL);
    CU_ASSERT(wsh_srd_ctx_pending(&ctx) == 0 && wsh_srd_ctx_unread(&ctx) == 0);
    CU_ASSERT(dropped == 2 && wsh_srd_flow_pending(&flow) == 0 && wsh_srd_ctx_pending(&ctx) == 0);
    CU_ASSERT_EQUAL(submit(&put), -ECONNRESET);
    CU_ASSERT(!wsh_srd_put_fast(&ctx, &flow));
    wsh_srd_op_ended(&ctx, &flow, &signal);
    wsh_srd_put_ended(&ctx, &flow, 1);
    CU_ASSERT_EQUAL(wsh_srd_flow_acked(&ctx, &flow, 77, 0), 0);
    CU_ASSERT_EQUAL(wsh_srd_pump(&flow, &io), 0);
    CU_ASSERT(signal.ended == 1 && sends == 0 && wsh_srd_flow_pending(&flow) == 0);
}

static struct wsh_srd_op counter_put(void)
{
    return (struct wsh_srd_op){.kind = WSH_SRD_PUT, .segments = 1, .by_counter = true, .keep = true};
}

/* Each holds a credit until the peer has counted it, and others go on. */
static void counter_puts_hold_credits(void)
{
    struct wsh_srd_op put[5], plain = {.kind = WSH_SRD_PUT, .segments = 1};

    start(true);
    for (int i = 0; i < 5; i++) {
        put[i] = counter_put();
        CU_ASSERT_EQUAL(submit(&put[i]), 0);
    }
    CU_ASSERT(writes == 4 && link.counter_writes == 4 && link.imms == 4 && wsh_srd_flow_deferred(&flow));
    for (int i = 0; i < 4; i++)
        wsh_srd_op_ended(&ctx, &flow, &put[i]);
    CU_ASSERT(wsh_srd_pump(&flow, &io) == 0 && writes == 4);
    CU_ASSERT(wsh_srd_link_counted(&link, 2) == 1 && wsh_srd_link_counted(&link, 1) == 0);
    CU_ASSERT(wsh_srd_pump(&flow, &io) == 0 && writes == 5 && link.counter_writes == 5 && link.imms == 3);
    CU_ASSERT_EQUAL(wsh_srd_link_counted(&link, 6), -EPROTO);
    wsh_srd_op_ended(&ctx, &flow, &put[4]);
    CU_ASSERT_EQUAL(wsh_srd_ctx_pending(&ctx), 0);
    CU_ASSERT(submit(&plain) == 0 && !plain.grouped && writes == 6);
}

/* All its pieces, or none: they wait for as many credits, and give as many back where they find no room. */
static void counter_put_in_pieces(void)
{
    struct wsh_srd_op first = counter_put(), second = counter_put(), third = counter_put();

    start(true);
    first.segments = second.segments = third.segments = 2;
    third.keep = false;
    CU_ASSERT(submit(&first) == 0 && writes == 2 && link.imms == 2 && link.counter_writes == 2);
    CU_ASSERT(wsh_srd_counter_fast(&ctx, &flow) && submit(&second) == 0 && writes == 2 && link.imms == 3);
    CU_ASSERT(wsh_srd_link_counted(&link, 1) == 1 && wsh_srd_pump(&flow, &io) == 0);
    CU_ASSERT(writes == 4 && link.imms == 4 && link.counter_writes == 5);
    for (int i = 0; i < 2; i++) {
        wsh_srd_op_ended(&ctx, &flow, &first);
        wsh_srd_op_ended(&ctx, &flow, &second);
    }
    CU_ASSERT(wsh_srd_link_counted(&link, 5) == 1 && !link.imms);
    room = 0;
    CU_ASSERT(submit(&third) == -EAGAIN && link.imms == 0 && link.counter_writes == 5);
}

/* It is a put like any: it waits for the writes of an earlier epoch, and a message behind a fence waits for it. */
static void counter_put_is_ordered(void)
{
    struct wsh_srd_op first = counter_put(), second = counter_put(),
                      msg = {.kind = WSH_SRD_MSG, .keep = true};

    start(true);
    submit(&first);
    wsh_srd_fence(&ctx);
    submit(&second);
    submit(&msg);
    CU_ASSERT(writes == 1 && sends == 0);
    wsh_srd_op_ended(&ctx, &flow, &first);
    CU_ASSERT(wsh_srd_pump(&flow, &io) == 0 && writes == 2 && sends == 1);
}

/* One that finds no room and is not kept gives its credit and its number back. */
static void refused_counter_put_leaves_nothing(void)
{
    struct wsh_srd_op op = counter_put();

    start(true);
    op.keep = false;
    room = 0;
    CU_ASSERT(submit(&op) == -EAGAIN && link.imms == 0 && link.counter_writes == 0 &&
              flow.out[WSH_SRD_PLAIN] == 0);
}

/* Without an operation of the engine: the same credits, and no way past what waits. */
static void fast_counter_puts(void)
{
    struct wsh_srd_op op = counter_put();

    start(true);
    for (int i = 0; i < 4; i++)
        CU_ASSERT(wsh_srd_counter_fast(&ctx, &flow));
    CU_ASSERT(!wsh_srd_counter_fast(&ctx, &flow) && link.imms == 4 && link.counter_writes == 4);
    wsh_srd_counter_refused(&ctx, &flow);
    CU_ASSERT(link.imms == 3 && link.counter_writes == 3 && wsh_srd_ctx_pending(&ctx) == 3);
    room = 0;
    CU_ASSERT(submit(&op) == 0 && wsh_srd_flow_deferred(&flow) && link.imms == 4);
    wsh_srd_put_ended(&ctx, &flow, 3);
    CU_ASSERT(wsh_srd_link_counted(&link, 2) == 1 && !wsh_srd_counter_fast(&ctx, &flow));
    room = 1;
    CU_ASSERT(wsh_srd_pump(&flow, &io) == 0 && wsh_srd_counter_fast(&ctx, &flow));
    wsh_srd_fence(&ctx);
    CU_ASSERT(!wsh_srd_counter_fast(&ctx, &flow));
}

const struct unit_test unit_tests[] = {
    {"a put without a fence is counted and no more", plain_put_is_counts_only},
    {"a small put behind a fence goes at once, with a gate", small_put_behind_a_fence_goes_at_once},
    {"uncounted puts hold the message behind the fence, and are counted from then on",
     uncounted_put_holds_the_message},
    {"a large put behind a small one waits until that is applied", chain},
    {"a blocking get does not pass a fence, a nonblocking one may", get_behind_a_fence},
    {"a signal goes with its data, or behind it where that cannot be counted",
     signal_with_and_without_immediate_data},
    {"what is scarce is waited for or done without", scarce_things},
    {"a refused operation leaves nothing behind", refused_leaves_nothing},
    {"a group takes no more writes than its count can say", full_group_is_not_joined},
    {"puts are counted only while that is of use", counts_that_are_of_no_use_end},
    {"older acks do nothing, impossible ones are refused", old_and_impossible_acks},
    {"a message's bytes are read when it is begun", what_is_unread},
    {"a failed peer leaves nothing pending", after_a_failure},
    {"counter puts hold credits until the peer has counted them", counter_puts_hold_credits},
    {"a counter put in pieces holds as many credits", counter_put_in_pieces},
    {"counter puts that are no operations of the engine", fast_counter_puts},
    {"a counter put is ordered like any", counter_put_is_ordered},
    {"a refused counter put leaves nothing behind", refused_counter_put_leaves_nothing},
    {NULL, NULL},
};
