/* SPDX-License-Identifier: BSD-3-Clause */
/* transports/efa/gda/cq.c: completions of queues that kernels write, read from memory and counted; queues for a PE. */
#include "transports/efa/gda/cq.h"

#include "test/common/unit.h"

#include <errno.h>
#include <string.h>

enum { ENTRIES = 64, BYTES = 32, WINDOW = 256 };

static _Alignas(16) unsigned char memory[ENTRIES * BYTES];
static struct wsh_efa_cq cq;
static uint64_t written; /* entries, by what stands for the NIC */

static void start(void)
{
    memset(memory, 0, sizeof memory);
    cq = (struct wsh_efa_cq){memory, BYTES, ENTRIES, 0};
    written = 0;
}

/* As a NIC writes it: sent, not read, unless `kind` says otherwise. Everything that is not looked at is ones. */
static void nic_write(uint64_t id, uint8_t status, uint8_t kind)
{
    unsigned char *entry = memory + written % ENTRIES * BYTES;
    uint16_t part[8] = {(uint16_t)id, 0, 0xffff, 0, 0, 0, 0xffff, 0xffff};

    part[1] = (uint16_t)(status | (kind | !(written / ENTRIES & 1)) << 8);
    part[3] = (uint16_t)(id >> 16);
    part[4] = (uint16_t)(id >> 32);
    part[5] = (uint16_t)(id >> 48);
    memset(entry, 0xff, BYTES);
    memcpy(entry, part, sizeof part);
    written++;
}

enum { SENT = 1 << 1, RECEIVED = 2 << 1, READ = 1 << 4, WRITE = 2 << 4 };

static void nothing_is_there_at_first(void)
{
    struct wsh_efa_completion one = {0};

    start();
    CU_ASSERT(!wsh_efa_cq_take(&cq, &one));
    CU_ASSERT_EQUAL(cq.taken, 0);
}

static void ids_have_64_bits(void)
{
    struct wsh_efa_completion one = {0};

    start();
    for (unsigned bit = 0; bit < 64; bit++) {
        nic_write((uint64_t)1 << bit, 0, SENT | WRITE);
        CU_ASSERT(wsh_efa_cq_take(&cq, &one));
        CU_ASSERT_EQUAL(one.id, (uint64_t)1 << bit);
        CU_ASSERT(one.sent && !one.read && one.status == 0);
    }
    nic_write(UINT64_MAX, 0, SENT);
    CU_ASSERT(wsh_efa_cq_take(&cq, &one) && one.id == UINT64_MAX);
}

static void status_and_kind(void)
{
    struct wsh_efa_completion one = {0};

    start();
    nic_write(1, 7, SENT | READ);
    nic_write(2, 0xff, RECEIVED | WRITE);
    CU_ASSERT(wsh_efa_cq_take(&cq, &one));
    CU_ASSERT(one.id == 1 && one.status == 7 && one.sent && one.read);
    CU_ASSERT(wsh_efa_cq_take(&cq, &one));
    CU_ASSERT(one.id == 2 && one.status == 0xff && !one.sent && !one.read);
    CU_ASSERT(!wsh_efa_cq_take(&cq, &one));
}

/* What the last turn left there is not taken again, and each new one once, however full the ring is. */
static void phases_over_many_turns(void)
{
    struct wsh_efa_completion one = {0};
    uint64_t id = 0;

    start();
    for (unsigned burst = 1; id < 40 * ENTRIES; burst = burst % ENTRIES + 1) {
        for (unsigned i = 0; i < burst; i++)
            nic_write(written, 0, SENT);
        for (unsigned i = 0; i < burst; i++)
            CU_ASSERT(wsh_efa_cq_take(&cq, &one) && one.id == id++);
        CU_ASSERT(!wsh_efa_cq_take(&cq, &one));
    }
}

static struct wsh_efa_window window;

static void window_start(uint64_t mark)
{
    wsh_efa_window_close(&window);
    CU_ASSERT_EQUAL(wsh_efa_window_open(&window, WINDOW), 0);
    window.mark = window.count = mark;
}

static void window_in_order(void)
{
    window_start(0);
    for (uint64_t i = 0; i < 5 * WINDOW; i++) {
        CU_ASSERT(wsh_efa_window_add(&window, i));
        wsh_efa_window_advance(&window);
        CU_ASSERT(window.mark == i + 1 && window.count == i + 1);
    }
}

static void window_waits_for_the_first(void)
{
    window_start(3 * WINDOW + 5);
    for (uint64_t i = 1; i < WINDOW; i++)
        CU_ASSERT(wsh_efa_window_add(&window, 3 * WINDOW + 5 + i));
    wsh_efa_window_advance(&window);
    CU_ASSERT(window.mark == 3 * WINDOW + 5 && window.count == 4 * WINDOW + 4);
    CU_ASSERT(wsh_efa_window_add(&window, 3 * WINDOW + 5));
    wsh_efa_window_advance(&window);
    CU_ASSERT(window.mark == 4 * WINDOW + 5 && window.count == 4 * WINDOW + 5);
    for (unsigned i = 0; i < WINDOW / 64; i++)
        CU_ASSERT_EQUAL(window.bits[i], 0);
}

/* Twice, before the first, or beyond those that may be under way: refused, and nothing changes. */
static void window_refuses(void)
{
    window_start(1000);
    CU_ASSERT(!wsh_efa_window_add(&window, 999));
    CU_ASSERT(!wsh_efa_window_add(&window, 1000 + WINDOW));
    CU_ASSERT(wsh_efa_window_add(&window, 1000 + WINDOW - 1));
    CU_ASSERT(!wsh_efa_window_add(&window, 1000 + WINDOW - 1));
    wsh_efa_window_advance(&window);
    CU_ASSERT(window.mark == 1000 && window.count == 1001);
}

/* Ids bring 40 bits of it, and the PE above them is no part of it. */
static void numbers_wrap_after_40_bits(void)
{
    uint64_t first = ((uint64_t)7 << WSH_EFA_GDA_NUMBER_BITS) - 100,
             low = ((uint64_t)1 << WSH_EFA_GDA_NUMBER_BITS) - 1;

    window_start(first);
    for (uint64_t i = 0; i < 200; i++)
        CU_ASSERT(wsh_efa_window_add(&window,
                                     ((first + 199 - i) & low) | (uint64_t)12345 << WSH_EFA_GDA_NUMBER_BITS));
    wsh_efa_window_advance(&window);
    CU_ASSERT(window.mark == first + 200 && window.count == first + 200);
}

/* Any order that a NIC may take: the mark is what a plain list says. */
static void window_in_any_order(void)
{
    enum { TOTAL = 40 * WINDOW };
    static bool done[TOTAL + WINDOW];
    uint64_t mark = 0, count = 0, state = 88172645463325252u;

    window_start(0);
    while (mark < TOTAL) {
        uint64_t pick;

        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        pick = window.mark + state % WINDOW;
        if (!done[pick]) {
            CU_ASSERT(wsh_efa_window_add(&window, pick));
            done[pick] = true, count++;
        }
        while (mark < TOTAL && done[mark])
            mark++;
        if (state >> 60 && mark < TOTAL)
            continue;
        wsh_efa_window_advance(&window);
        CU_ASSERT(window.count == count && (window.mark == mark || mark == TOTAL));
    }
    wsh_efa_window_close(&window);
}

/* So many as were asked for; what was received is skipped; the first that is wrong ends it, and says which it was. */
static void drains(void)
{
    struct wsh_efa_completion bad = {0};

    start();
    window_start(0);
    CU_ASSERT_EQUAL(wsh_efa_cq_drain(&cq, &window, 10, &bad), 0);
    for (unsigned i = 0; i < 7; i++)
        nic_write(6 - i, 0, i == 3 ? RECEIVED : SENT);
    CU_ASSERT_EQUAL(wsh_efa_cq_drain(&cq, &window, 5, &bad), 5);
    CU_ASSERT(window.count == 4 && window.mark == 0);
    CU_ASSERT_EQUAL(wsh_efa_cq_drain(&cq, &window, 10, &bad), 2);
    CU_ASSERT(window.count == 6 && window.mark == 3);
    nic_write(3, 0, SENT | READ);
    nic_write(7 | (uint64_t)5 << WSH_EFA_GDA_NUMBER_BITS, 13, SENT | WRITE);
    nic_write(8, 0, SENT);
    CU_ASSERT_EQUAL(wsh_efa_cq_drain(&cq, &window, 10, &bad), -EIO);
    CU_ASSERT(bad.status == 13 && bad.id >> WSH_EFA_GDA_NUMBER_BITS == 5 && !bad.read);
    nic_write(8, 0, SENT);
    CU_ASSERT_EQUAL(wsh_efa_cq_drain(&cq, &window, 10, &bad), -EPROTO);
    CU_ASSERT(bad.id == 8 && bad.status == 0);
}

/* A queue goes on while one request takes long. */
static void window_grows(void)
{
    struct wsh_efa_completion bad = {0};
    uint64_t first = 7 * WINDOW + 77, id = first + 1;

    start();
    window_start(first);
    for (; id < first + 100 * WINDOW; id++) {
        nic_write(id % 3 ? id : id | (uint64_t)9 << WSH_EFA_GDA_NUMBER_BITS, 0, SENT);
        CU_ASSERT_EQUAL(wsh_efa_cq_drain(&cq, &window, 2, &bad), 1);
    }
    CU_ASSERT(window.mark == first && window.count == first + 100 * WINDOW - 1);
    nic_write(first + 50 * WINDOW, 0, SENT);
    CU_ASSERT_EQUAL(wsh_efa_cq_drain(&cq, &window, 2, &bad), -EPROTO);
    nic_write(first, 0, SENT);
    CU_ASSERT_EQUAL(wsh_efa_cq_drain(&cq, &window, 2, &bad), 1);
    CU_ASSERT(window.mark == id && window.count == id);
    for (unsigned i = 0; i < window.entries / 64; i++)
        CU_ASSERT_EQUAL(window.bits[i], 0);
    nic_write(id + WSH_EFA_GDA_WINDOW_MAX, 0, SENT);
    CU_ASSERT_EQUAL(wsh_efa_cq_drain(&cq, &window, 2, &bad), -EPROTO);
    nic_write(id - 1, 0, SENT);
    CU_ASSERT_EQUAL(wsh_efa_cq_drain(&cq, &window, 2, &bad), -EPROTO);
}

static void queues_for_each_pe(void)
{
    static const struct {
        unsigned pes, rails, nics, most;
    } rows[] = {
        {1, 1, 1, 128},  {8, 2, 16, 256}, {8, 4, 16, 256}, {16, 1, 16, 128}, {64, 4, 16, 32},
        {128, 1, 1, 1},  {129, 1, 1, 0},  {1000, 4, 8, 0}, {3, 1, 2, 64},    {192, 1, 16, 10},
        {512, 4, 16, 4}, {513, 4, 16, 0}, {0, 1, 1, 128},  {2, 1, 0, 64},
    };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(wsh_efa_gda_share(rows[i].pes, rows[i].rails, rows[i].nics), rows[i].most);
}

/* All PEs of the host together never take more than half of any NIC's queue pairs, nor fewer than there is room for. */
static void queues_of_all_pes(void)
{
    for (unsigned nics = 1; nics <= 32; nics *= 2)
        for (unsigned rails = 1; rails <= 4 && rails <= nics; rails++)
            for (unsigned pes = 1; pes <= 400; pes++) {
                unsigned most = wsh_efa_gda_share(pes, rails, nics) / rails,
                         sharers = (pes * rails + nics - 1) / nics;

                CU_ASSERT(most * sharers <= 128 && (most + 1) * sharers > 128);
            }
}

const struct unit_test unit_tests[] = {
    {"an empty ring has nothing", nothing_is_there_at_first},
    {"ids have 64 bits", ids_have_64_bits},
    {"status, sent or received, read or write", status_and_kind},
    {"over many turns each is taken once", phases_over_many_turns},
    {"window: in order", window_in_order},
    {"window: the mark waits for the first", window_waits_for_the_first},
    {"window: what is not under way is refused", window_refuses},
    {"window: numbers wrap after 40 bits", numbers_wrap_after_40_bits},
    {"window: any order", window_in_any_order},
    {"window: grows where one request takes long", window_grows},
    {"what is taken at a time, and what ends it", drains},
    {"queues for each PE", queues_for_each_pe},
    {"queues of all PEs", queues_of_all_pes},
    {NULL, NULL},
};
