/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two schedules by which kernels reduce among members of several hosts (device/coll/hosts_combine.cuh), as messages
 * of the host's code: each member puts all that it has to every other one, or slices that are combined and put again.
 */
#include "sim/programs/program.h"

#include "runtime/coll/memory/blocks.h"

struct part {
    size_t begin, len;
};

static size_t src_len(size_t len, size_t n)
{
    (void)n;
    return len;
}

/* The result, then room for what each member puts. */
static size_t dest_len(size_t len, size_t n)
{
    return (n + 1) * len;
}

/* As wsh_dev_slice_len. */
static struct part slice_of(size_t len, int member)
{
    size_t n = (size_t)sim.n_pes, slice = ((len + n - 1) / n + 15) / 16 * 16, begin = (size_t)member * slice;

    begin = begin < len ? begin : len;
    return (struct part){begin, len - begin < slice ? len - begin : slice};
}

static void fill(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    uint64_t *words = (uint64_t *)(pe->heap + call->src);

    for (size_t i = 0; i < call->len / 8; i++)
        words[i] = (uint64_t)pe->number + i + round;
    sim.debt = 0;
}

/* My part of all sources, those of others from their places behind the result. */
static void fold(struct sim_pe *pe, const struct sim_call *call, struct part mine)
{
    uint64_t *sums = (uint64_t *)(pe->heap + call->dest + mine.begin);

    for (size_t i = 0; i < mine.len / 8; i++)
        sums[i] = ((uint64_t *)(pe->heap + call->src + mine.begin))[i];
    for (int from = 0; from < sim.n_pes; from++) {
        const uint64_t *theirs = (uint64_t *)(pe->heap + call->dest + (size_t)(from + 1) * call->len);

        for (size_t i = 0; i < mine.len / 8 && from != pe->number; i++)
            sums[i] += theirs[i];
    }
    sim.debt += sim_copy_cost(mine.len * (size_t)sim.n_pes);
}

static int parts_send(struct sim_pe *pe, const struct sim_call *call, bool whole)
{
    const struct wsh_blocks blocks = wsh_blocks_begin(&pe->team, "reduce");
    char *room = pe->heap + call->dest + (size_t)(pe->number + 1) * call->len;
    int rc = 0;

    for (int k = 1; k < sim.n_pes && !rc; k++) {
        int to = (pe->number + k) % sim.n_pes;
        struct part part = whole ? (struct part){0, call->len} : slice_of(call->len, to);

        rc = wsh_blocks_send(&blocks, room, pe->heap + call->src + part.begin, part.len, to);
    }
    return rc ? rc : wsh_blocks_end(&blocks);
}

static int result_send(struct sim_pe *pe, const struct sim_call *call, struct part mine)
{
    const struct wsh_blocks blocks = wsh_blocks_begin(&pe->team, "reduce");
    char *at = pe->heap + call->dest + mine.begin;
    int rc = 0;

    for (int k = 1; k < sim.n_pes && !rc; k++)
        rc = wsh_blocks_send(&blocks, at, at, mine.len, (pe->number + k) % sim.n_pes);
    return rc ? rc : wsh_blocks_end(&blocks);
}

static int check(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    const uint64_t *words = (const uint64_t *)(pe->heap + call->dest), n = (uint64_t)sim.n_pes;

    for (uint64_t i = 0; i < call->len / 8; i++) {
        if (words[i] == n * (n - 1) / 2 + n * (i + round))
            continue;
        sim_violation("%s, call %llu: PE %d has left the call with a wrong word %llu", call->work->name,
                      (unsigned long long)round, pe->number, (unsigned long long)i);
        return -EPROTO;
    }
    return 0;
}

static int reduce(struct sim_pe *pe, const struct sim_call *call, uint64_t round, bool whole)
{
    struct part mine = whole ? (struct part){0, call->len} : slice_of(call->len, pe->number);
    int rc;

    fill(pe, call, round);
    rc = parts_send(pe, call, whole);
    if (rc)
        return rc;
    fold(pe, call, mine);
    if (!whole)
        rc = result_send(pe, call, mine);
    return rc ? rc : check(pe, call, round);
}

static int run_whole(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    return reduce(pe, call, round, true);
}

static int run_slices(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    return reduce(pe, call, round, false);
}

const struct sim_work sim_gpu_whole = {
    .name = "gpu-whole", .src_len = src_len, .dest_len = dest_len, .run = run_whole};
const struct sim_work sim_gpu_slices = {
    .name = "gpu-slices", .src_len = src_len, .dest_len = dest_len, .run = run_slices};
