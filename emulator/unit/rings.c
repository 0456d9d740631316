/* SPDX-License-Identifier: BSD-3-Clause */
/* One who posts into queues in memory as a kernel would: what it asks is done. */
#include "emulator/queues/checks.h"
#include "emulator/queues/queues.h"
#include "emulator/unit/poster.h"

#include "test/common/unit.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WAIT_MS 20000
#define NEVER_MS 30

/* The calls on counters, whose names and types newer headers declare. */
struct counter;
struct counter_attr {
    uint32_t comp_mask, type, flags;
};
struct location {
    void *ptr;
    uint64_t offset;
    int32_t fd, reserved;
    uint64_t type;
};
struct location_attr {
    uint64_t comp_mask, flags;
    struct location location[2];
};
struct attach_attr {
    uint32_t comp_mask, operations;
};
struct counter *counter_create(struct ibv_context *context,
                               struct counter_attr *attr) __asm__("ibv_create_comp_cntr");
struct counter *counter_create_at(struct ibv_context *context, struct counter_attr *attr,
                                  struct location_attr *efa, uint32_t len) __asm__("efadv_create_comp_cntr");
int counter_destroy(struct counter *counter) __asm__("ibv_destroy_comp_cntr");
int counter_read(struct counter *counter, uint64_t *value) __asm__("ibv_read_comp_cntr");
int counter_attach(struct ibv_qp *qp, struct counter *counter,
                   struct attach_attr *attr) __asm__("ibv_qp_attach_comp_cntr");

static const struct wish srd = {.type = IBV_QPT_DRIVER, .flags = EMU_QP_UNSOLICITED, .cq_entries = 1024};

static void writes_arrive(void)
{
    struct emu_report report;
    struct pair pair;

    pair_open(&pair, &srd);
    for (unsigned round = 1; round <= 200; round++) {
        struct emu_request request = pair_write_of(&pair, 0xabcd00000000 + round, 20000);

        memset(pair.end[0].buf, (int)round, 20000);
        request.has_imm = true;
        request.imm = round;
        pair_post(&pair, &request);
        report = pair_next(&pair, 1);
        CU_ASSERT_TRUE(report.has_imm && report.imm == round && report.len == 20000 && report.unsolicited);
        CU_ASSERT_EQUAL(memcmp(pair.end[0].buf, pair.end[1].buf, 20000), 0);
        report = pair_next(&pair, 0);
        CU_ASSERT_TRUE(report.of_send_queue && !report.status && report.operation == EMU_IO_WRITE);
        CU_ASSERT_EQUAL(report.id, 0xabcd00000000 + round);
    }
    CU_ASSERT_EQUAL(poster_served(&pair.poster[0]), 200);
    verbs_close(pair.end);
}

static void sends_find_receives(void)
{
    struct emu_report report;
    struct pair pair;

    pair_open(&pair, &srd);
    for (uint16_t round = 0; round < 300; round++) {
        struct emu_request request = pair_write_of(&pair, round, 100);

        request.operation = EMU_IO_SEND;
        pair.end[0].buf[99] = (unsigned char)round;
        poster_receive(&pair.poster[1], (uint16_t)(0x8000 | round), 4096);
        pair_post(&pair, &request);
        report = pair_next(&pair, 1);
        CU_ASSERT_TRUE(!report.of_send_queue && report.id == (0x8000u | round) && report.len == 100);
        CU_ASSERT_TRUE(pair.end[1].buf[99] == (unsigned char)round &&
                       report.src_qpn == pair.end[0].qp->qp_num);
        CU_ASSERT_EQUAL(pair_next(&pair, 0).status, 0);
    }
    verbs_close(pair.end);
}

static void reads_bring_the_data(void)
{
    struct emu_request request;
    struct pair pair;

    pair_open(&pair, &srd);
    memset(pair.end[1].buf, 4, 50000);
    request = pair_write_of(&pair, 1, 50000);
    request.operation = EMU_IO_READ;
    pair_post(&pair, &request);
    CU_ASSERT_EQUAL(pair_next(&pair, 0).status, 0);
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
    request = pair_write_of(&pair, 1, 80);
    request.is_inline = true;
    memset(request.data, 9, 80);
    pair_post(&pair, &request);
    CU_ASSERT_EQUAL(pair_next(&pair, 0).status, 0);
    CU_ASSERT_TRUE(pair.end[1].buf[0] == 9 && pair.end[1].buf[79] == 9 && !pair.end[1].buf[80]);
    verbs_close(pair.end);
}

/* Each request's eight bytes have a place of their own, which is looked at when it completes. */
static void many_complete_out_of_order(void)
{
    const char *rounds = getenv("WSH_TEST_LONG");
    uint64_t all = rounds && !strcmp(rounds, "1") ? 1000000 : 5000, posted = 0, done = 0, overtaken = 0;
    struct wish wish = srd;
    struct pair pair;

    wish.sends = 64;
    pair_open(&pair, &wish);
    while (done < all) {
        struct emu_report report;

        for (unsigned n = 0; n < EMU_MAX_BATCH && posted < all && posted - done < 64; n++, posted++) {
            struct emu_request request = pair_write_of(&pair, posted, 8);

            request.piece[0].addr += posted % 4096 * 8;
            request.remote.addr += posted % 4096 * 8;
            memcpy(pair.end[0].buf + posted % 4096 * 8, &posted, 8);
            poster_store(&pair.poster[0], &request);
        }
        poster_ring(&pair.poster[0]);
        report = pair_next(&pair, 0);
        CU_ASSERT_EQUAL_FATAL(report.status, 0);
        CU_ASSERT_EQUAL_FATAL(memcmp(pair.end[1].buf + report.id % 4096 * 8, &report.id, 8), 0);
        overtaken += report.id != done++;
    }
    CU_ASSERT_TRUE(overtaken > all / 10);
    verbs_close(pair.end);
}

/* In memory of the emulator's, or of the caller's. */
static struct counter *counter_on(struct end *end, uint32_t operations, uint64_t *word)
{
    struct attach_attr on = {.operations = operations};
    struct location_attr location = {.flags = 1, .location[0].ptr = word};
    struct counter_attr attr = {0};
    struct counter *counter = word ? counter_create_at(end->context, &attr, &location, sizeof location)
                                   : counter_create(end->context, &attr);
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
    uint64_t word = 0;
    struct pair pair;

    pair_open(&pair, &srd);
    counter[0] = counter_on(&pair.end[0], 1 << 4, NULL);  /* writes */
    counter[1] = counter_on(&pair.end[1], 1 << 5, &word); /* writes of others */
    CU_ASSERT_EQUAL(count_of(counter[1]), EMU_COUNTER_START);
    for (unsigned i = 1; i <= 100; i++) {
        struct emu_request request = pair_write_of(&pair, i, 20000);

        memset(pair.end[0].buf, (int)i, 20000);
        pair_post(&pair, &request);
        while (((__atomic_load_n(&word, __ATOMIC_ACQUIRE) - EMU_COUNTER_START) & 0x7fffffff) < i)
            sched_yield();
        CU_ASSERT_EQUAL(memcmp(pair.end[0].buf, pair.end[1].buf, 20000), 0);
        CU_ASSERT_EQUAL(pair_next(&pair, 0).status, 0);
    }
    verbs_close(pair.end);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(count_of(counter[i]), 36); /* it has wrapped */
        CU_ASSERT_EQUAL(counter_destroy(counter[i]), 0);
    }
}

static void completions_go_to_memory_of_the_caller(void)
{
    struct wish wish = srd;
    struct emu_request request;
    struct emu_report report;
    uint64_t *words;
    struct pair pair;

    wish.cq_fd = memfd_create("completions", MFD_CLOEXEC);
    CU_ASSERT_EQUAL_FATAL(ftruncate(wish.cq_fd, 2 * CQ_LOCATION), 0);
    words = mmap(NULL, CQ_LOCATION, PROT_READ, MAP_SHARED, wish.cq_fd, 0);
    pair_open(&pair, &wish);
    request = pair_write_of(&pair, 4711, 8);
    pair_post(&pair, &request);
    CU_ASSERT_EQUAL(pair_next(&pair, 0).id, 4711);
    emu_cqe_read(words, &report);
    CU_ASSERT_EQUAL(report.id, 4711);
    verbs_close(pair.end);
    munmap(words, CQ_LOCATION);
    close(wish.cq_fd);
}

static void nothing_moves_in_null_mode(void)
{
    struct pair pair;

    pair_open(&pair, &srd);
    pair.end[0].buf[0] = 5;
    emu.settings.null = true;
    for (unsigned i = 0; i < 2000; i++) {
        struct emu_request request = pair_write_of(&pair, i, 8);

        pair_post(&pair, &request);
        CU_ASSERT_EQUAL_FATAL(pair_next(&pair, 0).id, i);
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
    {"completions go to memory of the caller", completions_go_to_memory_of_the_caller},
    {"nothing moves in null mode", nothing_moves_in_null_mode},
    {NULL, NULL},
};
