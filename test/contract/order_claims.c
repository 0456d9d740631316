/* SPDX-License-Identifier: BSD-3-Clause */
/* Claims about fence, with every kind of operation before and behind it. */
#include "test/common/unit.h"
#include "test/contract/group.h"
#include "test/contract/suite.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 60, BIG = 150000, FIRST = 4096, SECOND = 1 << 20 };

/* Each leaves `round` in the last 8 of its bytes at `off` of PE 1; `src` holds BIG bytes. */
struct step {
    const char *name;
    void (*start)(struct group_pe *pe, size_t off, uint64_t *src, uint64_t round);
    size_t word; /* where `round` appears, from off */
};

static void start_small(struct group_pe *pe, size_t off, uint64_t *src, uint64_t round)
{
    (void)src;
    group_put_done(pe, 1, off, &round, 8);
}

static void start_medium(struct group_pe *pe, size_t off, uint64_t *src, uint64_t round)
{
    src[124] = round;
    group_put(pe, 1, off, src, 1000);
}

static void start_big(struct group_pe *pe, size_t off, uint64_t *src, uint64_t round)
{
    src[BIG / 8 - 1] = round;
    group_put(pe, 1, off, src, BIG);
}

static void start_amo(struct group_pe *pe, size_t off, uint64_t *src, uint64_t round)
{
    (void)src;
    group_amo(pe, 1, off, WSH_AMO_SET, 8, round);
}

static void start_fetch(struct group_pe *pe, size_t off, uint64_t *src, uint64_t round)
{
    (void)src;
    group_fetch(pe, 1, off, WSH_AMO_SWAP, 8, round, 0);
}

/* The signal's word is what the target looks at, the data lies beside it. */
static void start_signal(struct group_pe *pe, size_t off, uint64_t *src, uint64_t round)
{
    group_put_signal(pe, 1, off + 64, src, 64, off, WSH_AMO_SET, round);
}

static void start_big_signal(struct group_pe *pe, size_t off, uint64_t *src, uint64_t round)
{
    group_put_signal(pe, 1, off + 64, src, BIG, off, WSH_AMO_SET, round);
}

static const struct step steps[] = {
    {"put of 8", start_small, 0},
    {"put of 1000", start_medium, 992},
    {"put of 150000", start_big, BIG - 8},
    {"atomic set", start_amo, 0},
    {"swap", start_fetch, 0},
    {"signal", start_signal, 0},
    {"large put with signal", start_big_signal, 0},
};
#define N_STEPS (sizeof steps / sizeof steps[0])

static void issue_pair(struct group_pe *pe, const struct step *first, const struct step *second,
                       uint64_t *bufs[2])
{
    for (uint64_t round = 1; round <= (uint64_t)unit_rounds(ROUNDS) && !group_failed(pe); round++) {
        first->start(pe, FIRST, bufs[0], round);
        group_fence(pe);
        second->start(pe, SECOND, bufs[1], round);
        group_await(pe, 1, (long)round);
        group_quiet(pe);
    }
}

static void watch_pair(struct group_pe *pe, const struct step *first, const struct step *second)
{
    double start = group_now();

    for (uint64_t round = 1; round <= (uint64_t)unit_rounds(ROUNDS); round++) {
        while (group_load(pe->heap[1] + SECOND + second->word) != round)
            if (!group_spin(pe, start))
                return;
        if (!group_check(pe, group_load(pe->heap[1] + FIRST + first->word) == round,
                         "%s; fence; %s: the second came first in round %d", first->name, second->name,
                         (int)round))
            return;
        group_set_slot(pe, 1, (long)round);
    }
}

static void all_pairs(struct group_pe *pe)
{
    uint64_t *bufs[2] = {calloc(1, BIG), calloc(1, BIG)};

    for (size_t i = 0; i < N_STEPS * N_STEPS && !group_failed(pe); i++) {
        const struct step *first = &steps[i / N_STEPS], *second = &steps[i % N_STEPS];

        if (pe->me == 1) {
            memset(pe->heap[1], 0, SECOND + 2 * BIG);
            group_set_slot(pe, 1, 0);
        }
        group_barrier(pe);
        if (pe->me == 0)
            issue_pair(pe, first, second, bufs);
        else
            watch_pair(pe, first, second);
        group_barrier(pe);
    }
    free(bufs[0]);
    free(bufs[1]);
}

void claim_fence_orders_all_pairs(void)
{
    group_run(2, all_pairs);
}

static void orders_get(struct group_pe *pe)
{
    uint64_t *src = calloc(1, BIG), back;

    for (size_t i = 0; pe->me == 0 && i < N_STEPS; i++)
        for (uint64_t round = 1; round <= (uint64_t)unit_rounds(ROUNDS) && !group_failed(pe); round++) {
            steps[i].start(pe, FIRST, src, round);
            group_fence(pe);
            group_get_done(pe, 1, FIRST + steps[i].word, &back, 8);
            group_check(pe, back == round, "%s; fence; get: the get saw %d in round %d", steps[i].name,
                        (int)back, (int)round);
            group_quiet(pe);
        }
    group_barrier(pe);
    free(src);
}

void claim_fence_orders_get(void)
{
    group_run(2, orders_get);
}

enum { CHAIN_ROUNDS = 300 };

/* C is behind B, B behind A: the target that sees C must see all. Puts of every round go out without a pause. */
static void chain(struct group_pe *pe)
{
    uint64_t *a = calloc(1, BIG), *c = calloc(1, BIG);

    for (uint64_t round = 1; round <= (uint64_t)unit_rounds(CHAIN_ROUNDS) && !group_failed(pe); round++) {
        if (pe->me == 0) {
            start_big(pe, FIRST, a, round);
            group_fence(pe);
            start_small(pe, 8, NULL, round);
            group_amo(pe, 1, 16, WSH_AMO_ADD, 8, 1);
            group_fence(pe);
            start_big(pe, SECOND, c, round);
            group_await(pe, 1, (long)round);
            group_quiet(pe);
        } else {
            double start = group_now();

            while (group_load(pe->heap[1] + SECOND + BIG - 8) != round && group_spin(pe, start))
                ;
            group_check(pe,
                        group_load(pe->heap[1] + FIRST + BIG - 8) == round &&
                            group_load(pe->heap[1] + 8) == round && group_load(pe->heap[1] + 16) == round,
                        "the last put came before one of those behind two fences in round %d", (int)round);
            group_set_slot(pe, 1, (long)round);
        }
    }
    group_barrier(pe);
    free(a);
    free(c);
}

void claim_fence_chain(void)
{
    group_run(2, chain);
}
