/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A yardstick for alltoalls, which the library does not have: Bruck's algorithm, ceil(log2(PEs)) steps with half of all
 * blocks in each. It has memory for every step, so that nobody ever waits for room.
 */
#include "sim/programs/program.h"

#include "runtime/coll/memory/sync_area.h"
#include "runtime/op/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t src_len(size_t len, size_t n)
{
    return len * n;
}

/* The result, then a word and half of all blocks for each step. */
static size_t dest_len(size_t len, size_t n)
{
    return len * n + (size_t)wsh_sync_area_rounds((int)n) * (sizeof(uint64_t) + (n + 1) / 2 * len);
}

struct step {
    struct sim_pe *pe;
    char *area;     /* where its blocks arrive */
    uint64_t *word; /* and what says that they have */
    uint64_t want;
};

static struct step step_of(struct sim_pe *pe, const struct sim_call *call, int bit, uint64_t round)
{
    size_t n = (size_t)sim.n_pes, at = call->dest + n * call->len;

    return (struct step){pe,
                         pe->heap + at + (size_t)wsh_sync_area_rounds(sim.n_pes) * 8 +
                             (size_t)bit * ((n + 1) / 2) * call->len,
                         (uint64_t *)(pe->heap + at) + bit, round + 1};
}

static int arrived(void *arg)
{
    const struct step *step = arg;

    return __atomic_load_n(step->word, __ATOMIC_ACQUIRE) == step->want ? 0
                                                                       : -EAGAIN; /* partner: the network */
}

/* Blocks whose number has that bit, to `packed` or from it. Their number. */
static size_t blocks_move(char *blocks, size_t len, int bit, char *packed, bool pack)
{
    size_t n = 0;

    for (size_t i = 0; i < (size_t)sim.n_pes; i++) {
        if (!(i >> bit & 1))
            continue;
        memcpy(pack ? packed + n * len : blocks + i * len, pack ? blocks + i * len : packed + n * len, len);
        n++;
    }
    return n;
}

static int step_do(const struct step *step, char *blocks, size_t len, int bit, char *packed)
{
    static const struct wsh_wait_why why = {.routine = "bruck"};
    struct wsh_ctx *ctx = &step->pe->coll.ctx;
    const struct wsh_signal signal = {step->word, step->want, WSH_AMO_SET, 0};
    size_t n = blocks_move(blocks, len, bit, packed, true);
    int to = (step->pe->number + (1 << bit)) % sim.n_pes;
    int rc = wsh_put_signal_nbi(ctx, step->area, packed, n * len, &signal, to);

    if (!rc)
        rc = wsh_wait(&sim.job, &why, arrived, (void *)step);
    blocks_move(blocks, len, bit, step->area, false);
    return rc;
}

/* Block i is for the PE i behind me; at the end it is from the PE i before me. */
static int bruck(struct sim_pe *pe, const struct sim_call *call, uint64_t round, char *blocks, char *packed)
{
    size_t n = (size_t)sim.n_pes, me = (size_t)pe->number, len = call->len;
    const char *src = pe->heap + call->src;
    char *dest = pe->heap + call->dest;
    int rc = 0;

    memcpy(blocks, src + me * len, (n - me) * len);
    memcpy(blocks + (n - me) * len, src, me * len);
    for (int bit = 0; 1UL << bit < n && !rc; bit++) {
        const struct step step = step_of(pe, call, bit, round);

        rc = step_do(&step, blocks, len, bit, packed + (size_t)bit * ((n + 1) / 2) * len);
    }
    for (size_t i = 0; i < n; i++)
        memcpy(dest + (me + n - i) % n * len, blocks + i * len, len);
    return rc ? rc : wsh_quiet(&pe->coll.ctx);
}

static int run(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    size_t n = (size_t)sim.n_pes;
    char *blocks = malloc(dest_len(call->len, n));
    int rc;

    if (!blocks)
        abort();
    sim_work_fill_each(pe, call, round);
    rc = bruck(pe, call, round, blocks, blocks + n * call->len);
    free(blocks);
    return rc ? rc : sim_work_check_each(pe, call, round);
}

const struct sim_work sim_bruck = {.name = "bruck", .src_len = src_len, .dest_len = dest_len, .run = run};
