/* SPDX-License-Identifier: BSD-3-Clause */
/* The first PE of a host asks PE 0 for its time, again and again: the shortest round trip has the least error. */
#include "trace/clocks.h"

#include "trace/trace.h"

#include <string.h>

#define ROUNDS 24
#define SECONDS 1.0 /* of a wait, after which it looks for failures */

/* What one PE asks, and is answered; and, of all PEs, the first of each host. */
struct wsh_trace_block {
    uint64_t time, answered;
    int first; /* number of the first PE of this PE's host */
    struct {
        uint64_t asked; /* at PE 0 */
        int first;
    } of[];
};

void wsh_trace_clocks_open(struct wsh_trace_clocks *clocks, int me, int n_pes)
{
    struct wsh_trace_block *block =
        WSH_LIBRARY(pshmem_calloc)(1, sizeof *block + (size_t)n_pes * sizeof block->of[0]);
    int first = WSH_LIBRARY(pshmem_team_translate_pe)(SHMEM_TEAM_SHARED, 0, SHMEM_TEAM_WORLD);

    *clocks = (struct wsh_trace_clocks){me, n_pes, first < 0 ? me : first, 0, block};
    if (!block)
        return;
    WSH_LIBRARY(pshmem_int_p)(&block->of[me].first, clocks->leader, 0);
    WSH_LIBRARY(pshmem_barrier_all)();
}

/* Wait for a word of another PE; false where a PE has failed, which may be that one. */
static bool word_await(uint64_t *word, uint64_t value)
{
    __typeof__(&shmemx_uint64_wait_until_timeout) wait = WSH_EXTENSION(shmemx_uint64_wait_until_timeout);
    __typeof__(&shmemx_failure_generation) failures = WSH_EXTENSION(shmemx_failure_generation);

    while (!failures())
        if (!wait(word, SHMEM_CMP_EQ, value, SECONDS))
            return true;
    return false;
}

static void answer(struct wsh_trace_clocks *clocks)
{
    struct wsh_trace_block *block = clocks->block;

    for (int pe = 1; pe < clocks->n_pes; pe++)
        for (uint64_t i = 1; block->of[pe].first == pe && i <= ROUNDS; i++) {
            uint64_t now;

            if (!word_await(&block->of[pe].asked, clocks->round + i))
                return;
            now = wsh_trace_ns();
            WSH_LIBRARY(pshmem_uint64_put_signal)
            (&block->time, &now, 1, &block->answered, clocks->round + i, SHMEM_SIGNAL_SET, pe);
        }
}

static void ask(struct wsh_trace_clocks *clocks, struct wsh_trace_ahead *ahead)
{
    struct wsh_trace_block *block = clocks->block;
    uint64_t shortest = UINT64_MAX;

    for (uint64_t i = 1; i <= ROUNDS; i++) {
        uint64_t from = wsh_trace_ns(), to;

        WSH_LIBRARY(pshmem_uint64_atomic_set)(&block->of[clocks->me].asked, clocks->round + i, 0);
        if (!word_await(&block->answered, clocks->round + i))
            return;
        to = wsh_trace_ns();
        if (to - from >= shortest)
            continue;
        shortest = to - from;
        if (ahead)
            *ahead = (struct wsh_trace_ahead){(int64_t)(block->time - (from + shortest / 2)),
                                              (int64_t)(shortest / 2) + 1, from};
    }
}

void wsh_trace_clocks_compare(struct wsh_trace_clocks *clocks, struct wsh_trace_ahead *ahead)
{
    if (!clocks->block)
        return;
    WSH_LIBRARY(pshmem_barrier_all)();
    if (clocks->me == 0)
        answer(clocks);
    else if (clocks->leader == clocks->me)
        ask(clocks, ahead);
    if (clocks->leader == 0 && ahead)
        *ahead = (struct wsh_trace_ahead){0, 0, wsh_trace_ns()};
    clocks->round += ROUNDS;
    WSH_LIBRARY(pshmem_barrier_all)();
}

void wsh_trace_clocks_close(struct wsh_trace_clocks *clocks)
{
    WSH_LIBRARY(pshmem_free)(clocks->block);
    clocks->block = NULL;
}
