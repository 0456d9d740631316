/* SPDX-License-Identifier: BSD-3-Clause */
/* Each mistake of one who posts into queues in memory is found by the running device. */
#include "emulator/queues/queues.h"
#include "emulator/unit/poster.h"

#include "test/common/unit.h"

#include <stdlib.h>

#define WAIT_MS 20000

static const struct wish srd = {.type = IBV_QPT_DRIVER, .flags = EMU_QP_UNSOLICITED, .cq_entries = 1024};

/* The request ends with an error, and the violation is counted. */
static void fails(struct pair *pair, enum emu_violation violation, uint64_t before)
{
    struct emu_report report = pair_next(pair, 0);

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
    request = pair_write_of(&pair, 1, 8);
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
    request = pair_write_of(&pair, 1, 8);
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
    request = pair_write_of(&pair, 1, 8);
    request.pieces = 2;
    pair_post(&pair, &request);
    request.pieces = 1;
    pair_post(&pair, &request);
    /* In any order. */
    CU_ASSERT_EQUAL(pair_next(&pair, 0).status + pair_next(&pair, 0).status, EMU_QP_INTERNAL + EMU_FLUSHED);
    CU_ASSERT_EQUAL(emu_violations(EMU_WRONG_PIECES), before + 1);
    verbs_close(pair.end);
}

static void seventeen_without_a_doorbell_fail(void)
{
    uint64_t before = emu_violations(EMU_WRONG_BATCH);
    struct emu_request request;
    struct pair pair;

    pair_open(&pair, &srd);
    request = pair_write_of(&pair, 1, 8);
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
    request = pair_write_of(&pair, 1, 8);
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
        struct emu_request request = pair_write_of(&pair, i, 8);

        pair_post(&pair, &request);
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
    request = pair_write_of(&pair, 1, 8);
    request.piece[0].key = pair.end[1].mr->lkey;
    pair_post(&pair, &request);
    CU_ASSERT_EQUAL(pair_next(&pair, 0).status, EMU_INVALID_LKEY);
    request.piece[0].key = pair.end[0].mr->lkey;
    request.ahn = 999;
    pair_post(&pair, &request);
    CU_ASSERT_EQUAL(pair_next(&pair, 0).status, EMU_INVALID_AH);
    verbs_close(pair.end);
}

__attribute__((constructor)) static void start(void)
{
    verbs_start("timeout 20ms");
    setenv("EFA_EMULATOR_PROFILE", "p5en", 1);
}

const struct unit_test unit_tests[] = {
    {"a wrong phase fails", a_wrong_phase_fails},
    {"a torn request fails", a_torn_request_fails},
    {"two pieces of a write fail", two_pieces_fail},
    {"17 requests without a doorbell fail", seventeen_without_a_doorbell_fail},
    {"a doorbell that never comes is reported", a_doorbell_that_never_comes_is_reported},
    {"a completion queue that is not drained is reported", a_queue_that_is_not_drained_is_reported},
    {"keys of another NIC and unknown address handles are refused", a_key_of_another_nic_is_refused},
    {NULL, NULL},
};
