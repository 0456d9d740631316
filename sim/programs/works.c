/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives that a program may call. Each fills its source, calls, and looks at every byte of the result. */
#include "sim/programs/program.h"

#include "runtime/op/order.h"
#include "runtime/op/rma.h"

#define ALL (-1)

static size_t none(size_t len, size_t n)
{
    (void)len, (void)n;
    return 0;
}

static size_t one(size_t len, size_t n)
{
    (void)n;
    return len;
}

static size_t each(size_t len, size_t n)
{
    return len * n;
}

static void fill(struct sim_pe *pe, size_t off, size_t len, uint64_t round, int from, int to)
{
    uint64_t *words = (uint64_t *)(pe->heap + off);

    for (size_t i = 0; i < len / 8; i++)
        words[i] = sim_word(round, from, to, i);
}

static int check(struct sim_pe *pe, size_t off, size_t len, uint64_t round, int from, int to,
                 const char *what)
{
    const uint64_t *words = (const uint64_t *)(pe->heap + off);

    for (size_t i = 0; i < len / 8; i++) {
        if (words[i] == sim_word(round, from, to, i))
            continue;
        sim_violation("%s, call %llu: PE %d has left the call without word %zu of PE %d", what,
                      (unsigned long long)round, pe->number, i, from);
        return -EPROTO;
    }
    return 0;
}

static int run_sync(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    (void)call, (void)round;
    return wsh_sync(&pe->team, "shmem_sync");
}

static int run_barrier(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    (void)call, (void)round;
    return wsh_barrier(&pe->team, "shmem_barrier");
}

static int run_broadcast(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    int root = (int)(round * 7919 % (uint64_t)sim.n_pes), rc;

    if (pe->number == root)
        fill(pe, call->src, call->len, round, root, ALL);
    sim.debt = 0;
    rc = wsh_broadcast(&pe->team, pe->heap + call->dest, pe->heap + call->src, call->len, root, true);
    return rc ? rc : check(pe, call->dest, call->len, round, root, ALL, "broadcast");
}

static int run_fcollect(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    int rc;

    fill(pe, call->src, call->len, round, pe->number, ALL);
    sim.debt = 0;
    rc = wsh_fcollect(&pe->team, pe->heap + call->dest, pe->heap + call->src, call->len);
    for (int from = 0; from < sim.n_pes && !rc; from++)
        rc = check(pe, call->dest + (size_t)from * call->len, call->len, round, from, ALL, "fcollect");
    return rc;
}

/* Every third PE has nothing, the others 8 bytes more or less. */
static size_t collect_len(size_t len, uint64_t round, int pe)
{
    uint64_t turn = (round + (uint64_t)pe) % 3;

    return turn == 0 ? 0 : turn == 1 ? len : len - 8 + 8 * (len == 8);
}

static int run_collect(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    size_t mine = collect_len(call->len, round, pe->number), at = call->dest;
    int rc;

    fill(pe, call->src, mine, round, pe->number, ALL);
    sim.debt = 0;
    rc = wsh_collect(&pe->team, pe->heap + call->dest, pe->heap + call->src, mine);
    for (int from = 0; from < sim.n_pes && !rc; from++) {
        size_t len = collect_len(call->len, round, from);

        rc = check(pe, at, len, round, from, ALL, "collect");
        at += len;
    }
    return rc;
}

void sim_work_fill_each(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    for (int to = 0; to < sim.n_pes; to++)
        fill(pe, call->src + (size_t)to * call->len, call->len, round, pe->number, to);
    sim.debt = 0;
}

int sim_work_check_each(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    int rc = 0;

    for (int from = 0; from < sim.n_pes && !rc; from++)
        rc = check(pe, call->dest + (size_t)from * call->len, call->len, round, from, pe->number,
                   call->work->name);
    return rc;
}

static int run_alltoall(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    int rc;

    sim_work_fill_each(pe, call, round);
    rc = wsh_alltoall(&pe->team, pe->heap + call->dest, pe->heap + call->src, call->len);
    return rc ? rc : sim_work_check_each(pe, call, round);
}

/* Word i of a block at a PE: in the first step of a grid from column block / down for row block % down. */
static uint64_t block_word(const struct sim_reflection *reflection, const struct sim_pe *at, bool grid,
                           int block, size_t i)
{
    int across = sim.torus.across * sim.set.per_host, down = sim.torus.down;

    if (reflection->call->work->run != run_alltoall)
        return sim_word(reflection->round, block, ALL, i);
    if (!grid)
        return sim_word(reflection->round, block, at->number, i);
    return sim_word(reflection->round, at->number / across * across + block / down,
                    block % down * across + at->number % across, i);
}

/* What went to the target must be what belongs there; the sink gets what belongs there, from its source. */
static void reflect_data(const struct sim_reflection *reflection, size_t off, const char *from, size_t len)
{
    const struct sim_call *call = reflection->call;
    size_t first = off - call->dest, each = call->len / 8;
    bool grid =
        sim.grid && reflection->giver->host / sim.torus.across == reflection->target->host / sim.torus.across;
    uint64_t *dest = (uint64_t *)(reflection->sink->heap + call->dest);

    if (off < call->dest || first + len > (size_t)sim.n_pes * call->len || (first | len) % 8) {
        sim_violation("%s: PE %d has put %zu bytes to offset %zu of PE %d", call->work->name,
                      reflection->giver->number, len, off, reflection->target->number);
        return;
    }
    for (size_t i = first / 8; i < (first + len) / 8; i++) {
        int block = (int)(i / each);
        int turned = grid ? sim_mirror_block(reflection, block) : sim_mirror_pe(reflection, block);

        if (((const uint64_t *)from)[i - first / 8] !=
            block_word(reflection, reflection->target, grid, block, i % each))
            sim_violation("%s, call %llu: PE %d has put a wrong word to block %d of PE %d", call->work->name,
                          (unsigned long long)reflection->round, reflection->giver->number, block,
                          reflection->target->number);
        dest[(size_t)turned * each + i % each] =
            block_word(reflection, reflection->sink, grid, turned, i % each);
    }
}

static const struct sim_reflect reflect = {reflect_data, NULL};

static void sum_words(void *to, const void *a, const void *b, size_t n)
{
    uint64_t *sums = to;
    const uint64_t *left = a, *right = b;

    for (size_t i = 0; i < n; i++)
        sums[i] = left[i] + right[i];
    sim.debt += sim_copy_cost(8 * n);
}

static const struct wsh_arith sum = {sum_words, 8};

/* PE p has p + i + round in word i, so that the result is known without a second sum. */
static uint64_t sum_below(uint64_t n, uint64_t i, uint64_t round)
{
    return n * (n - 1) / 2 + n * (i + round);
}

static void fill_numbers(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    uint64_t *words = (uint64_t *)(pe->heap + call->src);

    for (size_t i = 0; i < call->len / 8; i++)
        words[i] = (uint64_t)pe->number + i + round;
    sim.debt = 0;
}

static int check_numbers(struct sim_pe *pe, const struct sim_call *call, uint64_t round, int n,
                         const char *what)
{
    const uint64_t *words = (const uint64_t *)(pe->heap + call->dest);

    for (size_t i = 0; i < call->len / 8; i++) {
        if (words[i] == sum_below((uint64_t)n, i, round))
            continue;
        sim_violation("%s, call %llu: PE %d has left the call with a wrong word %zu", what,
                      (unsigned long long)round, pe->number, i);
        return -EPROTO;
    }
    return 0;
}

static int run_reduce(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    int rc;

    fill_numbers(pe, call, round);
    rc = wsh_reduce(&pe->team, pe->heap + call->dest, pe->heap + call->src, call->len / 8, &sum);
    return rc ? rc : check_numbers(pe, call, round, sim.n_pes, "reduce");
}

static int run_scan(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    int rc;

    fill_numbers(pe, call, round);
    rc = wsh_scan(&pe->team, pe->heap + call->dest, pe->heap + call->src, call->len / 8, &sum, false);
    return rc ? rc : check_numbers(pe, call, round, pe->number + 1, "scan");
}

/* Puts to the PE behind me and the one a host away; a barrier completes them. */
static int run_put(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    int n = sim.n_pes, next = (pe->number + 1) % n, across = (pe->number + sim.set.per_host) % n, rc;

    fill(pe, call->src, call->len, round, pe->number, ALL);
    sim.debt = 0;
    rc = wsh_put_nbi(&sim.job.ctx, pe->heap + call->dest, pe->heap + call->src, call->len, next);
    if (!rc)
        rc = wsh_put_nbi(&sim.job.ctx, pe->heap + call->dest + call->len, pe->heap + call->src, call->len,
                         across);
    if (!rc)
        rc = wsh_barrier(&pe->team, "shmem_barrier");
    if (!rc)
        rc = check(pe, call->dest, call->len, round, (pe->number + n - 1) % n, ALL, "put");
    across = (pe->number + n - sim.set.per_host % n) % n;
    return rc ? rc : check(pe, call->dest + call->len, call->len, round, across, ALL, "put");
}

static size_t two(size_t len, size_t n)
{
    (void)n;
    return 2 * len;
}

#define MIRRORED(NAME, SRC, DEST)                                                               \
    &(const struct sim_work)                                                                    \
    {                                                                                           \
        .name = #NAME, .src_len = SRC, .dest_len = DEST, .run = run_##NAME, .reflect = &reflect \
    }
#define WORK(NAME, SRC, DEST)                                              \
    &(const struct sim_work)                                               \
    {                                                                      \
        .name = #NAME, .src_len = SRC, .dest_len = DEST, .run = run_##NAME \
    }

const struct sim_work *const sim_works[] = {
    MIRRORED(sync, none, none),
    MIRRORED(barrier, none, none),
    WORK(broadcast, one, one),
    MIRRORED(fcollect, one, each),
    WORK(collect, one, each),
    MIRRORED(alltoall, each, each),
    WORK(reduce, one, one),
    WORK(scan, one, one),
    WORK(put, one, two),
    &sim_bruck,
    &sim_requests,
    &sim_exchanges,
    &sim_gpu_whole,
    &sim_gpu_slices,
    &sim_decode,
    &sim_dispatch,
    &sim_combine,
    &sim_prefill,
    NULL,
};
