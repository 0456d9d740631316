/* SPDX-License-Identifier: BSD-3-Clause */
/* Claims about atomics and signals. */
#include "test/common/unit.h"
#include "test/contract/group_gpu.h"
#include "test/contract/suite.h"

#include <stdlib.h>
#include <string.h>

static void one_op(struct group_pe *pe, enum wsh_amo_op op, unsigned width, bool fetch, uint64_t *model)
{
    uint64_t operand = 0x0123456789abcdefull * (op + 3), compare = *model, expected, old;
    const uint64_t mask = width == 4 ? 0xffffffffull : ~0ull;

    if (op == WSH_AMO_CSWAP && width == 4 && fetch)
        compare++; /* once in vain */
    expected = wsh_amo_apply(model, op, width, operand, compare);
    if (fetch) {
        old = group_fetch(pe, 1, 64, op, width, operand, compare);
        if (op != WSH_AMO_SET)
            group_check(pe, (old & mask) == (expected & mask), "op %d on %u bytes: old value %llx, not %llx",
                        op, width, (unsigned long long)old, (unsigned long long)expected);
    } else {
        const struct wsh_amo amo = {op, width, operand, compare};
        double start = group_now();

        while (pe->ops->amo(pe->ctx, &pe->rmem[1][WSH_SEG_HEAP], 64, &amo, NULL, NULL) == -EAGAIN &&
               group_spin(pe, start))
            ;
    }
    group_quiet(pe);
    group_check(pe, group_load(pe->heap[1] + 64) == *model, "op %d on %u bytes: %llx left, not %llx", op,
                width, (unsigned long long)group_load(pe->heap[1] + 64), (unsigned long long)*model);
}

static void every_op(struct group_pe *pe)
{
    uint64_t model = 0x1122334455667788ull;

    if (pe->me == 0) {
        group_put_done(pe, 1, 64, &model, 8);
        group_quiet(pe);
        for (int op = 0; op < WSH_AMO_OPS; op++)
            for (unsigned width = 4; width <= 8; width += 4)
                for (int fetch = 0; fetch < 2 && !group_failed(pe); fetch++)
                    if (fetch || op != WSH_AMO_FETCH)
                        one_op(pe, (enum wsh_amo_op)op, width, fetch, &model);
    }
    group_barrier(pe);
}

void claim_amo_every_op(void)
{
    group_run(2, every_op);
}

enum { CONTENDED = 2000 };

/* The target's own CPU takes part: one atomicity domain. */
static void contended(struct group_pe *pe)
{
    const int rounds = unit_rounds(CONTENDED);
    uint64_t seen = 0;

    for (int i = 0; i < rounds && !group_failed(pe); i++) {
        group_amo(pe, 0, 64, WSH_AMO_ADD, 8, 1);
        seen += group_fetch(pe, 0, 72, WSH_AMO_ADD, 4, 1, 0) < (uint64_t)(rounds * pe->n);
        if (pe->me == 0 && group_path.gpu == GROUP_REAL_GPU) /* words of a GPU are no CPU's */
            group_amo(pe, 0, 64, WSH_AMO_ADD, 8, 1);
        else if (pe->me == 0)
            wsh_amo_apply64(pe->heap[0] + 64, WSH_AMO_ADD, 1, 0);
    }
    group_quiet(pe);
    group_barrier(pe);
    group_check(pe, seen == (uint64_t)rounds, "old values out of range");
    group_check(pe, group_load(pe->heap[0] + 64) == (uint64_t)(rounds * (pe->n + 1)), "%llu instead of %d",
                (unsigned long long)group_load(pe->heap[0] + 64), rounds * (pe->n + 1));
    group_check(pe, group_load(pe->heap[0] + 72) == (uint64_t)(rounds * pe->n), "4-byte counter");
    group_barrier(pe);
}

void claim_amo_contended(void)
{
    group_run(3, contended);
}

static const size_t sizes[] = {1, 8, 100, 1024, 4000, 4096, 5000, 65536, 300000};
enum { SIGNAL_ROUNDS = 100, DATA = 4096, LARGEST = 300000 };

static void send_rounds(struct group_pe *pe, size_t len)
{
    char *src = malloc(LARGEST);

    for (int round = 1; round <= unit_rounds(SIGNAL_ROUNDS) && !group_failed(pe); round++) {
        group_fill(src, len, (unsigned)round);
        group_put_signal(pe, 1, DATA, src, len, 64, WSH_AMO_SET, (uint64_t)round);
        group_await(pe, 1, round);
    }
    group_quiet(pe);
    free(src);
}

static void see_rounds(struct group_pe *pe, size_t len)
{
    double start = group_now();

    for (int round = 1; round <= unit_rounds(SIGNAL_ROUNDS); round++) {
        while (group_load(pe->heap[1] + 64) != (uint64_t)round)
            if (!group_spin(pe, start))
                return;
        if (!group_check(pe, !group_wrong(pe->heap[1] + DATA, len, (unsigned)round),
                         "the signal of %zu bytes came before them in round %d", len, round))
            return;
        group_set_slot(pe, 1, round);
    }
}

static void put_signal_orders(struct group_pe *pe)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && !group_failed(pe); i++) {
        if (pe->me == 1) {
            memset(pe->heap[1], 0, 4096);
            group_set_slot(pe, 1, 0);
        }
        group_barrier(pe);
        if (pe->me == 0)
            send_rounds(pe, sizes[i]);
        else
            see_rounds(pe, sizes[i]);
        group_barrier(pe);
    }
}

void claim_put_signal_orders(void)
{
    group_run(2, put_signal_orders);
}

/* Nobody waits for `done`: many of every size are under way together. */
static void signal_add(struct group_pe *pe)
{
    enum { EACH = 400 };
    const struct wsh_rmem *rmem = &pe->rmem[0][WSH_SEG_HEAP];
    const struct wsh_sig sig = {rmem, 64, WSH_AMO_ADD, 1};
    char *src = calloc(1, LARGEST);
    size_t n = sizeof sizes / sizeof sizes[0];

    for (int i = 0; i < EACH && !group_failed(pe); i++) {
        double start = group_now();

        while (pe->ops->put_signal(pe->ctx, rmem, DATA + (size_t)pe->me * LARGEST, src, sizes[(size_t)i % n],
                                   &sig, NULL) == -EAGAIN &&
               group_spin(pe, start))
            ;
    }
    group_quiet(pe);
    group_barrier(pe);
    group_check(pe, group_load(pe->heap[0] + 64) == (uint64_t)(EACH * pe->n), "%llu signals of %d",
                (unsigned long long)group_load(pe->heap[0] + 64), EACH * pe->n);
    group_barrier(pe);
    free(src);
}

void claim_signal_add_counts(void)
{
    group_run(3, signal_add);
}
