/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles, the time model, random numbers and the heap of due times: the emulator's pure parts. */
#include "emulator/wire/heap.h"
#include "emulator/wire/profile.h"
#include "emulator/wire/random.h"
#include "emulator/wire/rate.h"

#include "test/common/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void profiles_have_their_nics(void)
{
    static const struct {
        const char *name;
        unsigned nics, gbps;
        bool writes, reads;
    } rows[] = {{"p4d", 4, 100, false, true},
                {"p5", 32, 100, true, true},
                {"p5en", 16, 200, true, true},
                {"p6", 8, 400, true, true},
                {"minimal", 1, 25, false, false}};
    struct emu_nic nic[EMU_NICS_MAX];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct emu_profile *profile = emu_profile_find(rows[i].name);

        CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
        CU_ASSERT_EQUAL(emu_profile_nics(profile, nic), rows[i].nics);
        CU_ASSERT_EQUAL(profile->gbps, rows[i].gbps);
        CU_ASSERT_EQUAL(!!(profile->caps & EMU_CAP_WRITE), rows[i].writes);
        CU_ASSERT_EQUAL(!!(profile->caps & EMU_CAP_READ), rows[i].reads);
        CU_ASSERT_PTR_NOT_NULL(strstr(emu_profile_names(), rows[i].name));
    }
    CU_ASSERT_PTR_NULL(emu_profile_find("p7"));
}

static void nics_are_named_for_their_addresses(void)
{
    struct emu_nic nic[EMU_NICS_MAX];
    char address[16], bad[32];
    uint32_t mask;
    unsigned n = emu_profile_nics(emu_profile_find("p5"), nic);

    CU_ASSERT_STRING_EQUAL(nic[0].name, "rdmap79s0");
    emu_nic_address(&nic[0], address, sizeof address);
    CU_ASSERT_STRING_EQUAL(address, "0000:4f:00.0");
    CU_ASSERT_EQUAL(emu_nic_select(NULL, nic, n, &mask, bad, sizeof bad), 0);
    CU_ASSERT_EQUAL(mask, UINT32_MAX);
    CU_ASSERT_EQUAL(emu_nic_select("1,rdmap79s0,31", nic, n, &mask, bad, sizeof bad), 0);
    CU_ASSERT_EQUAL(mask, 0x80000003u);
    CU_ASSERT_EQUAL(emu_nic_select("0,32", nic, n, &mask, bad, sizeof bad), -EINVAL);
    CU_ASSERT_STRING_EQUAL(bad, "32");
}

static void scales_are_read(void)
{
    static const struct {
        const char *text;
        int rc;
        double scale;
    } rows[] = {{"1", 0, 1.0 / 40}, {"1/1", 0, 1},       {"1/40", 0, 1.0 / 40}, {"0.5", 0, 0.5},
                {"0", -EINVAL, 0},  {"1/0", -EINVAL, 0}, {"x", -EINVAL, 0},     {"1/2x", -EINVAL, 0}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double scale = 0;

        CU_ASSERT_EQUAL(emu_rate_parse(rows[i].text, &scale), rows[i].rc);
        if (!rows[i].rc)
            CU_ASSERT_DOUBLE_EQUAL(scale, rows[i].scale, 1e-12);
    }
}

static void segments_share_their_nics(void)
{
    const struct emu_profile *p5 = emu_profile_find("p5");
    struct emu_rate rate;
    uint64_t busy = 0, left = 0;

    emu_rate_init(&rate, p5, 1.0 / 40);
    for (int i = 0; i < 100; i++)
        left = emu_rate_depart(&rate, 0, 8192, i == 0, &busy);
    /* 100 x 8192 bytes at 12.5 bytes/ns / 40, and one message's cost */
    CU_ASSERT_EQUAL(left, 100 * (uint64_t)(8192 * 8.0 / 100 * 40) + 200 * 40);
    CU_ASSERT_EQUAL(emu_rate_depart(&rate, left + 5, 0, false, &busy), left + 5);
    CU_ASSERT_EQUAL(emu_rate_arrive(&rate, 1000, 0, 0), 1000 + p5->latency_us * 1000 * 40);
    CU_ASSERT_EQUAL(emu_rate_arrive(&rate, 0, 8192, 100000000),
                    100000000 + (uint64_t)(8192 * 8.0 / 100 * 40));
    emu_rate_init(&rate, p5, 0);
    CU_ASSERT_EQUAL(emu_rate_depart(&rate, 77, 1 << 20, true, &busy), 77);
    CU_ASSERT_EQUAL(emu_rate_arrive(&rate, 77, 1 << 20, 1ull << 60), 77 + p5->latency_us * 1000);
}

static void a_seed_gives_the_same_numbers(void)
{
    struct emu_random a, b, c;
    unsigned same = 0, hits = 0;

    emu_random_init(&a, 5, 0);
    emu_random_init(&b, 5, 0);
    emu_random_init(&c, 5, 1);
    for (int i = 0; i < 1000; i++) {
        uint64_t number = emu_random_next(&a);

        CU_ASSERT_EQUAL(number, emu_random_next(&b));
        same += number == emu_random_next(&c);
    }
    CU_ASSERT_EQUAL(same, 0);
    for (int i = 0; i < 100000; i++)
        hits += emu_random_hits(&a, 20000);
    CU_ASSERT_TRUE(hits > 1800 && hits < 2200);
    CU_ASSERT_EQUAL(emu_random_below(&a, 0), 0);
}

static void the_heap_gives_the_earliest_first(void)
{
    struct emu_heap heap = {0};
    struct emu_random random;
    uint64_t last_due = 0, last_order = 0;

    emu_random_init(&random, 1, 0);
    for (uint64_t i = 0; i < 5000; i++)
        emu_heap_push(&heap, (struct emu_segment){.due = emu_random_below(&random, 500), .order = i});
    while (heap.n) {
        struct emu_segment segment = emu_heap_pop(&heap);

        CU_ASSERT_TRUE(segment.due > last_due || (segment.due == last_due && segment.order >= last_order));
        last_due = segment.due;
        last_order = segment.order;
    }
    free(heap.at);
}

static void the_heap_forgets_a_queue_pair(void)
{
    static struct emu_qp one, other;
    struct emu_op *doomed = calloc(1, sizeof *doomed), kept = {.qp = &other};
    struct emu_heap heap = {0};

    doomed->qp = &one;
    for (uint64_t i = 0; i < 100; i++) {
        struct emu_op *op = i % 2 ? &kept : doomed;

        op->left++;
        emu_heap_push(&heap, (struct emu_segment){.due = 100 - i, .order = i, .op = op});
    }
    emu_heap_drop(&heap, &one); /* frees `doomed` with its last segment */
    CU_ASSERT_EQUAL(heap.n, 50);
    CU_ASSERT_EQUAL(kept.left, 50);
    for (uint64_t due = 1; heap.n; due += 2) {
        struct emu_segment segment = emu_heap_pop(&heap);

        CU_ASSERT_EQUAL(segment.due, due);
        CU_ASSERT_PTR_EQUAL(segment.op, &kept);
    }
    free(heap.at);
}

const struct unit_test unit_tests[] = {
    {"profiles have their NICs", profiles_have_their_nics},
    {"NICs are named for their addresses, and chosen by name or index", nics_are_named_for_their_addresses},
    {"scales are read", scales_are_read},
    {"segments share their NICs' time", segments_share_their_nics},
    {"a seed gives the same numbers", a_seed_gives_the_same_numbers},
    {"the heap gives the earliest first", the_heap_gives_the_earliest_first},
    {"the heap forgets a queue pair", the_heap_forgets_a_queue_pair},
    {NULL, NULL},
};
