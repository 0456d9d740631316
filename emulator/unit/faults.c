/* SPDX-License-Identifier: BSD-3-Clause */
/* A fault script says what goes wrong, where and when; one that cannot be read is refused with the place. */
#include "emulator/wire/faults.h"

#include "test/common/unit.h"

#include <errno.h>
#include <string.h>

#define MS 1000000ull
#define WINDOW 7000

static struct emu_faults script;
static const struct emu_end rank0 = {0, 0}, rank1 = {1, 0}, rank1nic2 = {1, 2};

static int parse(const char *text)
{
    char why[256];

    return emu_faults_parse(text, &script, why, sizeof why);
}

static struct emu_link at(uint64_t now, struct emu_end src, struct emu_end dst)
{
    struct emu_link link;

    emu_faults_link(&script, now, src, dst, WINDOW, &link);
    return link;
}

static void is_empty_by_default(void)
{
    struct emu_link link;

    CU_ASSERT_EQUAL(parse(" ; # nothing; drop 5%\n\n"), 0);
    CU_ASSERT_EQUAL(script.nrules, 0);
    link = at(0, rank0, rank1);
    CU_ASSERT_EQUAL(link.reorder_ns, WINDOW);
    CU_ASSERT_EQUAL(link.drop_ppm, 0);
    CU_ASSERT_FALSE(link.down || link.removed || link.stalled_until_ns);
    CU_ASSERT_EQUAL(link.timeout_ns, 250 * MS);
    CU_ASSERT_EQUAL(link.rnr_ns, 100000);
}

static void reads_every_action(void)
{
    struct emu_link link;

    CU_ASSERT_EQUAL(
        parse("seed 18446744073709551615; reorder 5us; drop 2.5% late 3ms; duplicate 1% late 2ms\n"
              "timeout 1.5s; rnr 20us; fail 8 10%; full 0.5%"),
        0);
    CU_ASSERT_TRUE(script.seeded);
    CU_ASSERT_EQUAL(script.seed, UINT64_MAX);
    link = at(0, rank0, rank1);
    CU_ASSERT_EQUAL(link.reorder_ns, 5000);
    CU_ASSERT_EQUAL(link.drop_ppm, 25000);
    CU_ASSERT_EQUAL(link.late_ns, 3 * MS);
    CU_ASSERT_EQUAL(link.duplicate_ppm, 10000);
    CU_ASSERT_EQUAL(link.again_ns, 2 * MS);
    CU_ASSERT_EQUAL(link.timeout_ns, 1500 * MS);
    CU_ASSERT_EQUAL(link.rnr_ns, 20000);
    CU_ASSERT_EQUAL(link.fail_status, 8);
    CU_ASSERT_EQUAL(link.fail_ppm, 100000);
    CU_ASSERT_EQUAL(link.full_ppm, 5000);
}

static void keeps_to_links_and_times(void)
{
    CU_ASSERT_EQUAL(
        parse("from 0 to 1.2 drop 10%; during 5ms..6ms to 1 down; at 10ms from * to * reorder 0us"), 0);
    CU_ASSERT_EQUAL(at(0, rank0, rank1nic2).drop_ppm, 100000);
    CU_ASSERT_EQUAL(at(0, rank0, rank1).drop_ppm, 0);
    CU_ASSERT_EQUAL(at(0, rank1nic2, rank0).drop_ppm, 0);
    CU_ASSERT_FALSE(at(5 * MS - 1, rank0, rank1).down);
    CU_ASSERT_TRUE(at(5 * MS, rank0, rank1).down);
    CU_ASSERT_FALSE(at(6 * MS, rank0, rank1).down);
    CU_ASSERT_FALSE(at(5 * MS, rank1, rank0).down);
    CU_ASSERT_EQUAL(at(10 * MS - 1, rank1, rank0).reorder_ns, WINDOW);
    CU_ASSERT_EQUAL(at(10 * MS, rank1, rank0).reorder_ns, 0);
}

static void later_statements_win(void)
{
    CU_ASSERT_EQUAL(parse("down; at 2ms up; reorder 1us; to 1 reorder 2us"), 0);
    CU_ASSERT_TRUE(at(MS, rank0, rank1).down);
    CU_ASSERT_FALSE(at(2 * MS, rank0, rank1).down);
    CU_ASSERT_EQUAL(at(0, rank0, rank1).reorder_ns, 2000);
    CU_ASSERT_EQUAL(at(0, rank1, rank0).reorder_ns, 1000);
}

static void stalls_once_and_again(void)
{
    CU_ASSERT_EQUAL(parse("during 1ms..3ms stall"), 0);
    CU_ASSERT_EQUAL(at(2 * MS, rank0, rank1).stalled_until_ns, 3 * MS);
    CU_ASSERT_EQUAL(at(3 * MS, rank0, rank1).stalled_until_ns, 0);
    CU_ASSERT_EQUAL(parse("stall 2ms every 10ms"), 0);
    CU_ASSERT_EQUAL(at(31 * MS, rank0, rank1).stalled_until_ns, 32 * MS);
    CU_ASSERT_EQUAL(at(33 * MS, rank0, rank1).stalled_until_ns, 0);
}

static void a_removed_nic_is_seen_from_both_sides(void)
{
    CU_ASSERT_EQUAL(parse("at 1ms from 1.2 remove"), 0);
    CU_ASSERT_TRUE(at(MS, rank1nic2, rank0).removed);
    CU_ASSERT_FALSE(at(MS, rank0, rank1nic2).removed);
    CU_ASSERT_TRUE(at(MS, rank0, rank1nic2).down);
    CU_ASSERT_FALSE(at(MS, rank0, rank1).down);
    CU_ASSERT_TRUE(emu_faults_removed(&script, MS, rank1nic2));
    CU_ASSERT_FALSE(emu_faults_removed(&script, MS - 1, rank1nic2));
    CU_ASSERT_FALSE(emu_faults_removed(&script, MS, rank1));
}

static void refuses_what_it_cannot_read(void)
{
    static const struct {
        const char *text, *place;
    } rows[] = {
        {"drop", "'end of statement' where a share such as 2% is expected, in statement 1"},
        {"drop 5", "'5' where"},
        {"drop 100%", "'down' loses everything"},
        {"drop 5% late", "a time such as"},
        {"reorder 5", "'5' where a time"},
        {"reorder -5us", "'-5us' where a time"},
        {"reorder nanms", "'nanms' where a time"},
        {"drop nan%", "'nan%' where a share"},
        {"reorder 1us; dorp 5%", "'dorp' where seed, reorder,"},
        {"reorder 1us; dorp 5%", "in statement 2"},
        {"during 2ms..1ms down", "'2ms..1ms' where a span"},
        {"from x down", "'x' where a rank"},
        {"from 1.x down", "a NIC's index"},
        {"from 1 remove", "'from P.N' before remove"},
        {"stall", "'during T..T' before stall"},
        {"stall 2ms every 1ms", "longer than the stall"},
        {"fail 16 1%", "'16' where a number"},
        {"up now", "'now' where end of statement"},
        {"seed x", "'x' where a number"},
        {"a b c d e f g h i j k l m n o p q", "too many or too long words"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char why[256] = "";
        int rc = emu_faults_parse(rows[i].text, &script, why, sizeof why);

        CU_ASSERT_EQUAL(rc, -EINVAL);
        if (!strstr(why, rows[i].place))
            CU_FAIL(why);
    }
}

const struct unit_test unit_tests[] = {
    {"an empty script changes nothing", is_empty_by_default},
    {"every action is read", reads_every_action},
    {"a statement keeps to its link and its time", keeps_to_links_and_times},
    {"later statements win", later_statements_win},
    {"stalls come once or again and again", stalls_once_and_again},
    {"a removed NIC is seen from both sides", a_removed_nic_is_seen_from_both_sides},
    {"a script that cannot be read is refused with the place", refuses_what_it_cannot_read},
    {NULL, NULL},
};
