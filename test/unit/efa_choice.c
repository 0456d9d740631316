/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rail an operation goes by: turns for small ones, load for large ones, and fewer pieces for a slow NIC. */
#include "transports/efa/nic/choice.h"

#include "test/common/unit.h"

#include <string.h>

enum { ALL = 0xf };

static struct wsh_efa_choice four(enum wsh_efa_policy policy)
{
    return (struct wsh_efa_choice){.n = 4, .policy = policy};
}

static void small_ones_take_turns(void)
{
    for (int policy = WSH_EFA_ADAPTIVE; policy <= WSH_EFA_ROUND_ROBIN; policy++) {
        struct wsh_efa_choice choice = four((enum wsh_efa_policy)policy);
        int seen[4] = {0};

        for (int i = 0; i < 400; i++)
            seen[wsh_efa_choice_rail(&choice, ALL, 8)]++;
        for (int i = 0; i < 4; i++)
            CU_ASSERT_EQUAL(seen[i], 100);
    }
}

static void small_ones_avoid_a_loaded_rail(void)
{
    struct wsh_efa_choice choice = four(WSH_EFA_ADAPTIVE);

    choice.bytes[2] = WSH_EFA_SLACK + 1;
    for (int i = 0; i < 100; i++)
        CU_ASSERT_NOT_EQUAL(wsh_efa_choice_rail(&choice, ALL, 8), 2);
    choice.bytes[2] = WSH_EFA_SLACK;
    for (int i = 0, seen = 0; i < 4; i++) {
        seen += wsh_efa_choice_rail(&choice, ALL, 8) == 2;
        CU_ASSERT(i < 3 || seen == 1);
    }
}

static void large_ones_go_to_the_lightest(void)
{
    struct wsh_efa_choice choice = four(WSH_EFA_ADAPTIVE);

    for (int i = 0; i < 4; i++)
        choice.bytes[i] = 5000 - (uint64_t)i;
    CU_ASSERT_EQUAL(wsh_efa_choice_rail(&choice, ALL, WSH_EFA_STRIPE), 3);
    CU_ASSERT_EQUAL(wsh_efa_choice_rail(&choice, 0x7, WSH_EFA_STRIPE), 2);
    CU_ASSERT_EQUAL(wsh_efa_choice_rail(&choice, 0x1, WSH_EFA_STRIPE), 0);
}

static void large_ones_wait_for_room(void)
{
    struct wsh_efa_choice choice = four(WSH_EFA_ADAPTIVE);

    for (int i = 0; i < 4; i++)
        choice.bytes[i] = WSH_EFA_ROOM;
    CU_ASSERT_EQUAL(wsh_efa_choice_rail(&choice, ALL, WSH_EFA_STRIPE), -1);
    CU_ASSERT(wsh_efa_choice_rail(&choice, ALL, 8) >= 0);
    choice.bytes[1] = WSH_EFA_ROOM - 1;
    CU_ASSERT_EQUAL(wsh_efa_choice_rail(&choice, ALL, WSH_EFA_STRIPE), 1);
    CU_ASSERT_EQUAL(wsh_efa_choice_rail(&choice, ALL & ~2u, WSH_EFA_STRIPE), -1);
    choice.policy = WSH_EFA_FIXED;
    CU_ASSERT(wsh_efa_choice_rail(&choice, ALL & ~2u, WSH_EFA_STRIPE) >= 0);
}

static void only_usable_rails(void)
{
    for (unsigned usable = 1; usable <= ALL; usable++)
        for (int policy = WSH_EFA_ADAPTIVE; policy <= WSH_EFA_ROUND_ROBIN; policy++) {
            struct wsh_efa_choice choice = four((enum wsh_efa_policy)policy);

            for (int i = 0; i < 20; i++) {
                int rail = wsh_efa_choice_rail(&choice, usable, i % 2 ? 8 : WSH_EFA_STRIPE);

                CU_ASSERT(rail >= 0 && rail < 4 && usable >> rail & 1);
            }
        }
}

/* Whatever the length: no piece above the limit, none (but the last) below a stripe, and the policy's number. */
static void pieces(void)
{
    struct wsh_efa_choice choice = four(WSH_EFA_ADAPTIVE);
    const size_t most = (size_t)1 << 30;

    CU_ASSERT_EQUAL(wsh_efa_choice_part(&choice, 1, most), 1);
    CU_ASSERT_EQUAL(wsh_efa_choice_part(&choice, 2 * WSH_EFA_STRIPE - 1, most), 2 * WSH_EFA_STRIPE - 1);
    CU_ASSERT_EQUAL(wsh_efa_choice_part(&choice, 2 * WSH_EFA_STRIPE, most), WSH_EFA_STRIPE);
    CU_ASSERT_EQUAL(wsh_efa_choice_part(&choice, (size_t)64 << 20, most), WSH_EFA_STRIPE_MAX);
    CU_ASSERT_EQUAL(wsh_efa_choice_part(&choice, (size_t)8 << 20, most), (size_t)256 << 10);
    CU_ASSERT_EQUAL(wsh_efa_choice_part(&choice, (size_t)8 << 20, 20000), 20000);
    choice.policy = WSH_EFA_FIXED;
    CU_ASSERT_EQUAL(wsh_efa_choice_part(&choice, (size_t)64 << 20, most), (size_t)16 << 20);
    CU_ASSERT_EQUAL(wsh_efa_choice_part(&choice, 4 * (1 << 20) + 1, most), (1 << 20) + 4096);
    CU_ASSERT_EQUAL(wsh_efa_choice_part(&choice, 3 * WSH_EFA_STRIPE, most), WSH_EFA_STRIPE);
    choice.policy = WSH_EFA_ROUND_ROBIN;
    CU_ASSERT_EQUAL(wsh_efa_choice_part(&choice, (size_t)64 << 20, most), (size_t)64 << 20);
    CU_ASSERT_EQUAL(wsh_efa_choice_part(&choice, (size_t)64 << 20, 1 << 20), 1 << 20);
}

static void note(struct wsh_efa_choice *choice, int pe, int n)
{
    while (n--)
        wsh_efa_choice_note(choice, pe, WSH_EFA_STRIPE);
}

/* Of counted puts: one a rail, shared by the peers of the last ones; never more, and whole for as many peers. */
static void pieces_of_counted_puts(void)
{
    struct wsh_efa_choice choice = four(WSH_EFA_ADAPTIVE);
    const size_t len = (size_t)64 << 20;

    CU_ASSERT_EQUAL(wsh_efa_choice_pieces(&choice, 4, 0, len), 4);
    note(&choice, 0, 1);
    CU_ASSERT_EQUAL(wsh_efa_choice_pieces(&choice, 4, 0, len), 4);
    CU_ASSERT_EQUAL(wsh_efa_choice_pieces(&choice, 3, 0, len), 3);
    CU_ASSERT_EQUAL(wsh_efa_choice_pieces(&choice, 4, 1, len), 2);
    note(&choice, 1, 1);
    CU_ASSERT_EQUAL(wsh_efa_choice_pieces(&choice, 4, 0, len), 2);
    CU_ASSERT_EQUAL(wsh_efa_choice_pieces(&choice, 4, 2, len), 1);
    CU_ASSERT_EQUAL(wsh_efa_choice_pieces(&choice, 1, 0, len), 1);
    note(&choice, 3, WSH_EFA_LATELY);
    CU_ASSERT_EQUAL(wsh_efa_choice_pieces(&choice, 4, 3, len), 4);
    for (int pe = 0; pe < 7; pe++)
        note(&choice, pe, 1);
    for (int pe = 0; pe < 7; pe++)
        CU_ASSERT_EQUAL(wsh_efa_choice_pieces(&choice, 4, pe, len), 1);
}

/* Short ones are whole, and do not count as peers; no piece is below a stripe. */
static void pieces_are_long(void)
{
    struct wsh_efa_choice choice = four(WSH_EFA_FIXED);

    CU_ASSERT_EQUAL(wsh_efa_choice_pieces(&choice, 4, 0, 2 * WSH_EFA_STRIPE - 1), 1);
    CU_ASSERT_EQUAL(wsh_efa_choice_pieces(&choice, 4, 0, 3 * WSH_EFA_STRIPE), 3);
    for (int pe = 1; pe < 9; pe++)
        wsh_efa_choice_note(&choice, pe, WSH_EFA_STRIPE - 1);
    CU_ASSERT_EQUAL(wsh_efa_choice_pieces(&choice, 4, 0, 4 * WSH_EFA_STRIPE), 4);
    CU_ASSERT_EQUAL(wsh_efa_choice_piece(100, 1, 1000), 100);
    CU_ASSERT_EQUAL(wsh_efa_choice_piece(100, 1, 10), 10);
    CU_ASSERT_EQUAL(wsh_efa_choice_piece(20000, 2, 100000), 12288);
    choice.policy = WSH_EFA_ROUND_ROBIN;
    CU_ASSERT_EQUAL(wsh_efa_choice_pieces(&choice, 4, 0, 4 * WSH_EFA_STRIPE), 1);
}

/* At the start, as if there had been puts to each host; what really is put decides from then on. */
static void hosts_are_supposed_peers(void)
{
    for (uint32_t hosts = 0; hosts < 12; hosts++) {
        struct wsh_efa_choice choice = four(WSH_EFA_ADAPTIVE);
        uint32_t pieces = hosts < 2 ? 4 : hosts < 5 ? 4 / hosts : 1;

        wsh_efa_choice_suppose(&choice, hosts);
        CU_ASSERT_EQUAL(wsh_efa_choice_pieces(&choice, 4, 5, 4 * WSH_EFA_STRIPE), pieces);
        note(&choice, 5, WSH_EFA_LATELY);
        CU_ASSERT_EQUAL(wsh_efa_choice_pieces(&choice, 4, 5, 4 * WSH_EFA_STRIPE), 4);
    }
}

struct nic {
    double free, end[2048]; /* when what it has will be done: all, each */
    size_t n, ended;
};

static struct nic *first_to_end(struct nic *nic)
{
    struct nic *first = nic;
    double time = 1e30;

    for (int i = 0; i < 4; i++)
        if (nic[i].ended < nic[i].n && nic[i].end[nic[i].ended] < time) {
            first = &nic[i];
            time = first->end[first->ended];
        }
    return first;
}

/* Time for 64 MiB over four NICs, in bytes at the speed of the first three; the last has `slow` times their speed. */
static double run(enum wsh_efa_policy policy, double slow)
{
    static struct nic nic[4];
    struct wsh_efa_choice choice = four(policy);
    size_t len = (size_t)64 << 20, part = wsh_efa_choice_part(&choice, len, len), left = len / part;
    size_t in_progress = 0;
    double now = 0;

    memset(nic, 0, sizeof nic);
    while (left || in_progress) {
        int rail = left ? wsh_efa_choice_rail(&choice, ALL, part) : -1;
        struct nic *at = rail < 0 ? first_to_end(nic) : &nic[rail];

        if (rail < 0) {
            now = at->end[at->ended++];
            choice.bytes[at - nic] -= part;
            in_progress--;
            continue;
        }
        at->free = (at->free > now ? at->free : now) + (double)part / (rail == 3 ? slow : 1);
        at->end[at->n++] = at->free;
        choice.bytes[rail] += part;
        left--;
        in_progress++;
    }
    return now;
}

static void a_slow_nic_takes_fewer(void)
{
    const double all = 64 << 20;

    CU_ASSERT(run(WSH_EFA_ADAPTIVE, 1) < all / 3.95);
    CU_ASSERT(run(WSH_EFA_FIXED, 1) < all / 3.95);
    CU_ASSERT(run(WSH_EFA_ADAPTIVE, 0.1) < all / 2.5);
    CU_ASSERT(run(WSH_EFA_FIXED, 0.1) > all * 2);
    CU_ASSERT(run(WSH_EFA_ADAPTIVE, 0.5) < all / 3.2);
}

const struct unit_test unit_tests[] = {
    {"small operations take turns", small_ones_take_turns},
    {"small operations avoid a loaded rail", small_ones_avoid_a_loaded_rail},
    {"large operations go to the lightest rail", large_ones_go_to_the_lightest},
    {"large operations wait for room", large_ones_wait_for_room},
    {"only rails that may be used", only_usable_rails},
    {"pieces", pieces},
    {"a counted put: a piece a NIC for few peers, whole for as many", pieces_of_counted_puts},
    {"pieces of counted puts are long", pieces_are_long},
    {"at the start hosts are supposed peers", hosts_are_supposed_peers},
    {"a slow NIC takes fewer pieces", a_slow_nic_takes_fewer},
    {NULL, NULL}};
