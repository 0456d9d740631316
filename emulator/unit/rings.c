/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One who posts into queues in memory as a kernel would: what it asks is done, and each of its mistakes is found by the
 * running device.
 */
#include "emulator/queues/checks.h"
#include "emulator/queues/queues.h"
#include "emulator/unit/poster.h"

#include "test/common/unit.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 20000
#define NEVER_MS 30

/* The calls on counters, whose names and types newer headers declare. */
struct counter;
struct counter_attr {
    uint32_t comp_mask, type, flags;
};
struct attach_attr {
    uint32_t comp_mask, operations;
};
struct counter *counter_create(struct ibv_context *context,
                               struct counter_attr *attr) __asm__("ibv_create_comp_cntr");
int counter_destroy(struct counter *counter) __asm__("ibv_destroy_comp_cntr");
int counter_read(struct counter *counter, uint64_t *value) __asm__("ibv_read_comp_cntr");
int counter_attach(struct ibv_qp *qp, struct counter *counter,
                   struct attach_attr *attr) __asm__("ibv_qp_attach_comp_cntr");

static const struct wish srd = {.type = IBV_QPT_DRIVER, .flags = EMU_QP_UNSOLICITED, .cq_entries = 1024};

/* Two ends, the first of which posts by rings, the second receives by them. */
struct pair {
    struct end end[2];
    struct poster poster[2];
};

static void pair_open(struct pair *pair, const struct wish *wish)
{
    verbs_open(pair->end, wish);
    for (int i = 0; i < 2; i++)
        poster_open(&pair->poster[i], &pair->end[i]);
}

static struct emu_report next_of(struct pair *pair, int side)
{
    struct emu_report report = {.status = 99};

    CU_ASSERT_TRUE_FATAL(poster_poll(&pair->poster[side], WAIT_MS, &report));
    return report;
}

static struct emu_request write_of(struct pair *pair, uint64_t id, uint32_t len)
{
    return poster_write_of(&pair->poster[0], &pair->end[1], id, len);
}

static void post(struct pair *pair, const struct emu_request *request)
{
    poster_store(&pair->poster[0], request);
    poster_ring(&pair->poster[0]);
}

static void writes_arrive(void)
{
    struct emu_report report;
    struct pair pair;

    pair_open(&pair, &srd);
    for (unsigned round = 1; round <= 200; round++) {
        struct emu_request request = write_of(&pair, 0xabcd00000000 + round, 20000);

        memset(pair.end[0].buf, (int)round, 20000);
        request.has_imm = true;
        request.imm = round;
        post(&pair, &request);
        report = next_of(&pair, 1);
        CU_ASSERT_TRUE(report.has_imm && report.imm == round && report.len == 20000 && report.unsolicited);
        CU_ASSERT_EQUAL(memcmp(pair.end[0].buf, pair.end[1].buf, 20000), 0);
        report = next_of(&pair, 0);
        CU_ASSERT_TRUE(report.of_send_queue && !report.status && report.operation == EMU_IO_WRITE);
        CU_ASSERT_EQUAL(report.id, 0xabcd00000000 + round);
    }
    CU_ASSERT_EQUAL(((struct emu_qp *)pair.end[0].qp)->posted, 200);
    verbs_close(pair.end);
}

static void sends_find_receives(void)
{
    struct emu_report report;
    struct pair pair;

    pair_open(&pair, &srd);
    for (uint16_t round = 0; round < 300; round++) {
        struct emu_request request = write_of(&pair, round, 100);

        request.operation = EMU_IO_SEND;
        pair.end[0].buf[99] = (unsigned char)round;
        poster_receive(&pair.poster[1], (uint16_t)(0x8000 | round), 4096);
        post(&pair, &request);
        report = next_of(&pair, 1);
        CU_ASSERT_TRUE(!report.of_send_queue && report.id == (0x8000u | round) && report.len == 100);
        CU_ASSERT_TRUE(pair.end[1].buf[99] == (unsigned char)round &&
                       report.src_qpn == pair.end[0].qp->qp_num);
        CU_ASSERT_EQUAL(next_of(&pair, 0).status, 0);
    }
    verbs_close(pair.end);
}

static void reads_bring_the_data(void)
{
    struct emu_request request;
    struct pair pair;

    pair_open(&pair, &srd);
    memset(pair.end[1].buf, 4, 50000);
    request = write_of(&pair, 1, 50000);
    request.operation = EMU_IO_READ;
    post(&pair, &request);
    CU_ASSERT_EQUAL(next_of(&pair, 0).status, 0);
    CU_ASSERT_TRUE(pair.end[0].buf[0] == 4 && pair.end[0].buf[49999] == 4);
    verbs_close(pair.end);
}

static void wide_requests_write_inline(void)
{
    struct wish wish = {.type = IBV_QPT_DRIVER, .flags = EMU_QP_INLINE_WRITE, .max_inline = 80};
    struct emu_request request;
    struct pair pair;

    pair_open(&pair, &wish);
    CU_ASSERT_EQUAL(pair.poster[0].sq.entry_words, EMU_WIDE_WQE_WORDS);
    request = write_of(&pair, 1, 80);
    request.is_inline = true;
    memset(request.data, 9, 80);
    post(&pair, &request);
    CU_ASSERT_EQUAL(next_of(&pair, 0).status, 0);
    CU_ASSERT_TRUE(pair.end[1].buf[0] == 9 && pair.end[1].buf[79] == 9 && !pair.end[1].buf[80]);
    verbs_close(pair.end);
}

/* Each request's eight bytes have a place of their own, which is looked at when it completes. */
static void many_complete_out_of_order(void)
{
    const char *rounds = getenv("WSH_TEST_LONG");
    uint64_t all = rounds && !strcmp(rounds, "1") ? 1000000 : 20000, posted = 0, done = 0, overtaken = 0;
    struct wish wish = srd;
    struct pair pair;

    wish.sends = 64;
    pair_open(&pair, &wish);
    while (done < all) {
        struct emu_report report;

        for (unsigned n = 0; n < EMU_MAX_BATCH && posted < all && posted - done < 64; n++, posted++) {
            struct emu_request request = write_of(&pair, posted, 8);

            request.piece[0].addr += posted % 4096 * 8;
            request.remote.addr += posted % 4096 * 8;
            memcpy(pair.end[0].buf + posted % 4096 * 8, &posted, 8);
            poster_store(&pair.poster[0], &request);
        }
        poster_ring(&pair.poster[0]);
        report = next_of(&pair, 0);
        CU_ASSERT_EQUAL_FATAL(report.status, 0);
        CU_ASSERT_EQUAL_FATAL(memcmp(pair.end[1].buf + report.id % 4096 * 8, &report.id, 8), 0);
        overtaken += report.id != done++;
    }
    CU_ASSERT_TRUE(overtaken > all / 10);
    verbs_close(pair.end);
}

static struct counter *counter_on(struct end *end, uint32_t operations)
{
    struct attach_attr on = {.operations = operations};
    struct counter_attr attr = {0};
    struct counter *counter = counter_create(end->context, &attr);
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

    CU_ASSERT_PTR_NOT_NULL_FATAL(counter);
    CU_ASSERT_EQUAL(counter_attach(end->qp, counter, &on), EINVAL);
    ibv_modify_qp(end->qp, &reset, IBV_QP_STATE);
    CU_ASSERT_EQUAL(counter_attach(end->qp, counter, &on), 0);
    verbs_make_ready(end->qp);
    return counter;
}

static uint64_t count_of(struct counter *counter)
{
    uint64_t value;

    CU_ASSERT_EQUAL(counter_read(counter, &value), 0);
    return value;
}

static void a_count_says_that_data_is_there(void)
{
    struct counter *counter[2];
    struct pair pair;

    pair_open(&pair, &srd);
    counter[0] = counter_on(&pair.end[0], 1 << 4); /* writes */
    counter[1] = counter_on(&pair.end[1], 1 << 5); /* writes of others */
    CU_ASSERT_EQUAL(count_of(counter[1]), EMU_COUNTER_START);
    for (unsigned i = 1; i <= 100; i++) {
        struct emu_request request = write_of(&pair, i, 20000);

        memset(pair.end[0].buf, (int)i, 20000);
        post(&pair, &request);
        while (((count_of(counter[1]) - EMU_COUNTER_START) & 0x7fffffff) < i)
            sched_yield();
        CU_ASSERT_EQUAL(memcmp(pair.end[0].buf, pair.end[1].buf, 20000), 0);
        CU_ASSERT_EQUAL(next_of(&pair, 0).status, 0);
    }
    verbs_close(pair.end);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(count_of(counter[i]), 36); /* it has wrapped */
        CU_ASSERT_EQUAL(counter_destroy(counter[i]), 0);
    }
}

/* The request ends with an error, and the violation is counted. */
static void fails(struct pair *pair, enum emu_violation violation, uint64_t before)
{
    struct emu_report report = next_of(pair, 0);

    CU_ASSERT_EQUAL(report.status, EMU_QP_INTERNAL);
    CU_ASSERT_EQUAL(emu_violations(violation), before + 1);
    verbs_close(pair->end);
}

static void a_wrong_phase_fails(void)
{
    uint64_t words[EMU_WQE_WORDS], before = emu_violations(EMU_WRONG_PHASE);
    struct emu_request request;
    struct pair pair;

    pair_open(&pair, &srd);
    request = write_of(&pair, 1, 8);
    emu_wqe_write(&request, 1, words, EMU_WQE_WORDS);
    poster_store_words(&pair.poster[0], words, -1);
    poster_ring(&pair.poster[0]);
    fails(&pair, EMU_WRONG_PHASE, before);
}

static void a_torn_request_fails(void)
{
    uint64_t words[EMU_WQE_WORDS], before = emu_violations(EMU_WRONG_TORN);
    struct emu_request request;
    struct pair pair;

    pair_open(&pair, &srd);
    request = write_of(&pair, 1, 8);
    emu_wqe_write(&request, 0, words, EMU_WQE_WORDS);
    poster_store_words(&pair.poster[0], words, 7);
    poster_ring(&pair.poster[0]);
    fails(&pair, EMU_WRONG_TORN, before);
}

static void two_pieces_fail(void)
{
    uint64_t before = emu_violations(EMU_WRONG_PIECES);
    struct emu_request request;
    struct pair pair;

    pair_open(&pair, &srd);
    request = write_of(&pair, 1, 8);
    request.pieces = 2;
    post(&pair, &request);
    request.pieces = 1;
    post(&pair, &request);
    CU_ASSERT_EQUAL(next_of(&pair, 0).status, EMU_QP_INTERNAL);
    CU_ASSERT_EQUAL(next_of(&pair, 0).status, EMU_FLUSHED);
    CU_ASSERT_EQUAL(emu_violations(EMU_WRONG_PIECES), before + 1);
    verbs_close(pair.end);
}

static void seventeen_without_a_doorbell_fail(void)
{
    uint64_t before = emu_violations(EMU_WRONG_BATCH);
    struct emu_request request;
    struct pair pair;

    pair_open(&pair, &srd);
    request = write_of(&pair, 1, 8);
    for (unsigned i = 0; i < 17; i++)
        poster_store(&pair.poster[0], &request);
    fails(&pair, EMU_WRONG_BATCH, before);
}

static void a_doorbell_that_never_comes_is_reported(void)
{
    uint64_t unrung = emu_violations(EMU_WRONG_UNRUNG), left = emu_violations(EMU_WRONG_LEFT);
    struct emu_request request;
    struct emu_report report;
    struct pair pair;

    pair_open(&pair, &srd);
    request = write_of(&pair, 1, 8);
    poster_store(&pair.poster[0], &request);
    CU_ASSERT_FALSE(poster_poll(&pair.poster[0], 2500, &report));
    CU_ASSERT_EQUAL(emu_violations(EMU_WRONG_UNRUNG), unrung + 1);
    verbs_close(pair.end);
    CU_ASSERT_EQUAL(emu_violations(EMU_WRONG_LEFT), left + 1);
}

static void a_queue_that_is_not_drained_is_reported(void)
{
    struct wish wish = {.type = IBV_QPT_DRIVER, .flags = EMU_QP_UNSOLICITED, .cq_entries = 64, .sends = 256};
    uint64_t before = emu_violations(EMU_WRONG_UNDRAINED);
    struct emu_report report;
    struct pair pair;

    pair_open(&pair, &wish);
    pair.poster[0].silent = true;
    for (unsigned i = 0; i < 65; i++) {
        struct emu_request request = write_of(&pair, i, 8);

        post(&pair, &request);
        CU_ASSERT_TRUE(poster_poll(&pair.poster[0], WAIT_MS, &report));
        CU_ASSERT_EQUAL(emu_violations(EMU_WRONG_UNDRAINED), before + (i == 64));
    }
    verbs_close(pair.end);
}

static void a_key_of_another_nic_is_refused(void)
{
    struct emu_request request;
    struct pair pair;

    pair_open(&pair, &srd);
    request = write_of(&pair, 1, 8);
    request.piece[0].key = pair.end[1].mr->lkey;
    post(&pair, &request);
    CU_ASSERT_EQUAL(next_of(&pair, 0).status, EMU_INVALID_LKEY);
    request.piece[0].key = pair.end[0].mr->lkey;
    request.ahn = 999;
    post(&pair, &request);
    CU_ASSERT_EQUAL(next_of(&pair, 0).status, EMU_INVALID_AH);
    verbs_close(pair.end);
}

static void nothing_moves_in_null_mode(void)
{
    struct pair pair;

    pair_open(&pair, &srd);
    pair.end[0].buf[0] = 5;
    emu.settings.null = true;
    for (unsigned i = 0; i < 5000; i++) {
        struct emu_request request = write_of(&pair, i, 8);

        post(&pair, &request);
        CU_ASSERT_EQUAL_FATAL(next_of(&pair, 0).id, i);
    }
    emu.settings.null = false;
    CU_ASSERT_EQUAL(pair.end[1].buf[0], 0);
    verbs_close(pair.end);
}

__attribute__((constructor)) static void start(void)
{
    verbs_start("timeout 20ms; reorder 100us; drop 1% late 200us; duplicate 2% late 100us");
    setenv("EFA_EMULATOR_PROFILE", "p5en", 1);
}

const struct unit_test unit_tests[] = {
    {"writes arrive, and their completions say of what", writes_arrive},
    {"sends find the receives of a ring", sends_find_receives},
    {"reads bring the data", reads_bring_the_data},
    {"wide requests write 80 bytes inline", wide_requests_write_inline},
    {"many complete out of order, under drops and duplicates", many_complete_out_of_order},
    {"a count says that data is there, and wraps at 2^31", a_count_says_that_data_is_there},
    {"a wrong phase fails", a_wrong_phase_fails},
    {"a torn request fails", a_torn_request_fails},
    {"two pieces of a write fail", two_pieces_fail},
    {"17 requests without a doorbell fail", seventeen_without_a_doorbell_fail},
    {"a doorbell that never comes is reported", a_doorbell_that_never_comes_is_reported},
    {"a completion queue that is not drained is reported", a_queue_that_is_not_drained_is_reported},
    {"keys of another NIC and unknown address handles are refused", a_key_of_another_nic_is_refused},
    {"nothing moves in null mode", nothing_moves_in_null_mode},
    {NULL, NULL},
};
