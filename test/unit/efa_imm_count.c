/* SPDX-License-Identifier: BSD-3-Clause */
/* transports/efa/ops/imm_count.c: when the target acknowledges counter writes, and what may be lazy. */
#include "test/common/unit.h"
#include "transports/efa/set/set.h"
#include "transports/efa/ops/imm_count.h"

#include <errno.h>
#include <stdlib.h>

enum { IMMS = 8, WINDOW = 16 };

static struct wsh_efa_set *set;
static struct wsh_efa *efa;
static struct wsh_efa_peer *peer;
static unsigned counted;

static int count(void *core, uint32_t counter, uint32_t generation, uint32_t mask)
{
    (void)core;
    (void)generation;
    (void)mask;
    counted++;
    return counter < 100 ? 0 : -EPROTO;
}

static void start(void)
{
    if (peer)
        free(peer->imm_count.part);
    free(peer);
    free(efa);
    free(set);
    set = calloc(1, sizeof *set);
    efa = calloc(1, sizeof *efa);
    peer = calloc(1, sizeof *peer);
    set->efa = efa;
    set->peers = peer;
    set->n_pes = 1;
    set->limits.imms = IMMS;
    set->imm = true;
    set->imm_counts.count = count;
    peer->link = (struct wsh_srd_link){.msgs_max = WINDOW, .imms_max = IMMS};
    counted = 0;
}

static int add(uint16_t counter, uint8_t generation, uint8_t pieces)
{
    const struct wsh_srd_imm imm = {
        .by_counter = true, .counter = counter, .generation = generation, .pieces = pieces};

    return wsh_efa_imm_count_add(set, &imm);
}

static void arrive(unsigned n)
{
    while (n--)
        CU_ASSERT_EQUAL(add(5, 1, 1), 0);
}

static void half_of_the_credits(void)
{
    start();
    arrive(IMMS / 2 - 1);
    CU_ASSERT(!peer->imm_count.ack_due && !set->imm_counts.n_acks);
    arrive(1);
    CU_ASSERT(peer->imm_count.ack_due && set->imm_counts.n_acks == 1 && counted == IMMS / 2);
}

static void a_question(void)
{
    start();
    wsh_efa_imm_count_requested(set, 0, 2);
    arrive(1);
    CU_ASSERT(!peer->imm_count.ack_due);
    arrive(1);
    CU_ASSERT(peer->imm_count.ack_due);
}

/* The network reorders questions: the later one counts. */
static void questions_out_of_order(void)
{
    start();
    wsh_efa_imm_count_requested(set, 0, 3);
    wsh_efa_imm_count_requested(set, 0, 1);
    arrive(2);
    CU_ASSERT(!peer->imm_count.ack_due);
    arrive(1);
    CU_ASSERT(peer->imm_count.ack_due);
}

/* Of what was acknowledged already. */
static void a_late_question(void)
{
    start();
    arrive(2);
    peer->imm_count.acked = 2;
    wsh_efa_imm_count_requested(set, 0, 2);
    CU_ASSERT(!peer->imm_count.has_wanted && !peer->imm_count.ack_due);
    arrive(1);
    CU_ASSERT(!peer->imm_count.ack_due);
}

static void no_such_counter(void)
{
    start();
    CU_ASSERT_EQUAL(add(100, 0, 1), -EPROTO);
    CU_ASSERT(set->failed == -EPROTO && peer->imm_count.counted == 0);
}

/* Each holds a credit; the put counts once, by the last, whatever comes between. */
static void pieces_count_together(void)
{
    start();
    CU_ASSERT(!add(5, 1, 3) && !add(5, 1, 3) && !counted);
    CU_ASSERT(!add(5, 0, 3) && !add(6, 1, 3) && !add(5, 1, 2) && !counted);
    CU_ASSERT(!add(5, 1, 1) && counted == 1);
    CU_ASSERT(!add(5, 1, 3) && counted == 2 && peer->imm_count.counted == 7);
    CU_ASSERT(!add(5, 1, 2) && counted == 3 && peer->imm_count.n_parts == 2);
    CU_ASSERT(!add(5, 1, 3) && counted == 3);
}

/* The pieces of the next put may be seen before some of this one, which is there then: counts are as many as puts. */
static void pieces_of_two_puts(void)
{
    start();
    CU_ASSERT(!add(5, 1, 2) && !add(5, 1, 2) && counted == 1);
    CU_ASSERT(!add(5, 1, 2) && counted == 1 && !add(5, 1, 2) && counted == 2 && !peer->imm_count.n_parts);
}

/* No peer has more puts in pieces under way than credits: it is somebody else's write. */
static void too_many_puts_in_pieces(void)
{
    start();
    for (unsigned i = 0; i < IMMS; i++)
        CU_ASSERT_EQUAL(add((uint16_t)i, 1, 2), 0);
    CU_ASSERT(add(IMMS, 1, 2) == -EPROTO && !set->failed && peer->imm_count.counted == IMMS && !counted);
}

/* One put in pieces to a peer at a time, with a counter that the immediate data can name, and credits to spare. */
static void what_may_go_in_pieces(void)
{
    start();
    CU_ASSERT(wsh_efa_imm_count_takes(set, 0, 5, 1) && wsh_efa_imm_count_takes(set, 0, 5, IMMS / 2));
    CU_ASSERT(!wsh_efa_imm_count_takes(set, 0, 5, IMMS / 2 + 1));
    CU_ASSERT(!wsh_efa_imm_count_takes(set, 0, WSH_SRD_IMM_PIECE_COUNTERS, 2));
    CU_ASSERT(wsh_efa_imm_count_takes(set, 0, WSH_SRD_IMM_COUNTERS - 1, 1));
    CU_ASSERT(!wsh_efa_imm_count_takes(set, 0, WSH_SRD_IMM_COUNTERS, 1));
    peer->imm_count.in_pieces = true;
    CU_ASSERT(!wsh_efa_imm_count_takes(set, 0, 5, 2) && wsh_efa_imm_count_takes(set, 0, 5, 1));
}

/* Sends while the next may be lazy; how many are. */
static unsigned send_lazy(struct wsh_efa_flow *flow, bool counts)
{
    unsigned n = 0;

    for (; n < WINDOW && wsh_efa_lazy_fits(set, flow, 0, counts); n++)
        wsh_efa_lazy_sent(set, flow, true);
    return n;
}

static void some_credits_are_not_lazy(void)
{
    struct wsh_efa_ctx *ctx = calloc(1, sizeof *ctx);
    struct wsh_efa_flow flow = {.ctx = ctx, .srd = {.window = WINDOW}};
    unsigned n;

    start();
    ctx->set = set;
    CU_ASSERT_EQUAL(send_lazy(&flow, false), 0); /* no context of collectives */
    ctx->base.lazy = true;
    CU_ASSERT_EQUAL(send_lazy(&flow, false), WINDOW / 2);
    n = WINDOW / 2 + send_lazy(&flow, true);
    CU_ASSERT(n > WINDOW / 2 && n < WINDOW);
    CU_ASSERT(peer->imm_count.lazy == n && ctx->n_lazy == n && ctx->late == &flow);
    flow.srd.sent = WINDOW / 2;
    CU_ASSERT(wsh_efa_lazy_fits(set, &flow, 0, true) && wsh_efa_lazy_fits(set, &flow, 0, false));
    for (; n; n--)
        wsh_efa_lazy_applied(set, &flow);
    CU_ASSERT(!peer->imm_count.lazy && !ctx->n_lazy);
    free(ctx);
}

/* Or a question about the next would look older than the last answer. */
static void not_for_ever(void)
{
    struct wsh_efa_ctx *ctx = calloc(1, sizeof *ctx);
    struct wsh_efa_flow flow = {.ctx = ctx, .srd = {.window = WINDOW}};

    start();
    ctx->set = set;
    ctx->base.lazy = true;
    flow.srd.sent = flow.srd.acked = (uint32_t)1 << 30;
    CU_ASSERT(!wsh_efa_lazy_fits(set, &flow, 0, false) && !wsh_efa_lazy_fits(set, &flow, 0, true));
    wsh_efa_lazy_sent(set, &flow, false);
    flow.srd.sent++;
    CU_ASSERT(!wsh_efa_lazy_fits(set, &flow, 1 << 20, false)); /* behind so much data */
    CU_ASSERT(wsh_efa_lazy_fits(set, &flow, 0, false) && wsh_efa_lazy_fits(set, &flow, 0, true));
    free(ctx);
}

const struct unit_test unit_tests[] = {
    {"half of a source's credits are acknowledged", half_of_the_credits},
    {"what was asked for is acknowledged when it is there", a_question},
    {"a question that arrives behind a later one does no harm", questions_out_of_order},
    {"a question about what was acknowledged asks for nothing", a_late_question},
    {"a counter that is not in use ends the job", no_such_counter},
    {"a put in pieces counts once, when all are there", pieces_count_together},
    {"pieces of two puts with one counter", pieces_of_two_puts},
    {"more puts in pieces than credits", too_many_puts_in_pieces},
    {"what may go in pieces", what_may_go_in_pieces},
    {"flows leave credits for messages that are not lazy", some_credits_are_not_lazy},
    {"after very many lazy messages one is not", not_for_ever},
    {NULL, NULL},
};
