/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a PE itself finds after a quiet, a barrier or a fence, without waiting for a flag:
 *   counted_barrier  counted puts, a quiet (or none, in every other round), a barrier: the target fetches the count,
 *                    which is complete, and finds the data.
 *   put_fence_get    put_nbi, fence, get from the same PE: the get brings what was put. A fence orders all operations
 *                    to a PE but nonblocking gets and the values that nonblocking atomics fetch (section 9.12.1 of
 *                    OpenSHMEM 1.6), so blocking gets too; by a block, a warp and a thread in turn.
 *   p_fence_g        the same of words, by one thread.
 * The last two in many lanes at once, whose memory lies at the PE to the right.
 *
 * WSH_LITMUS_ROUNDS: rounds of each kind. WSH_LITMUS_KINDS: names of kinds, with commas between; what has been run of
 * each is printed.
 * paths: gpu:2,4 gpuipc:2 gpureg:2 gpu1:2,4 gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4 gpugda:2,4
 * timeout: 300
 */
#include "test/device/dev.cuh"

#include <stdlib.h>

#define WORDS_MAX ((size_t)8192)

enum { LANES = 16, THREADS = 128, WARPS = THREADS / 32, SLOTS = 8 };

/* Symmetric: of each lane SLOTS sources, and a place for what comes from the left. `back`: what a get has brought. */
struct orders {
    uint64_t *source, *data, *back;
    shmemx_counter_t counter[WARPS];
    uint64_t first, rounds;
    struct dev_report *report;
};

static __device__ uint64_t value_of(uint64_t round, int pe, unsigned lane, size_t i)
{
    return (round * 1000003 + (uint64_t)pe * 7919 + lane) * WORDS_MAX + i;
}

static __device__ size_t words_of(uint64_t round, unsigned lane)
{
    static const unsigned short words[16] = {1, 2, 3, 8, 16, 63, 64, 65, 128, 1, 4, 300, 926, 64, 2048, WORDS_MAX};
    uint64_t which = (round * 2654435761u + lane * 977) >> 5;

    return words[which % 16 == 15 && which / 16 % 4 ? 12 : which % 16];
}

static __device__ int right()
{
    return (shmem_my_pe() + 1) % shmem_n_pes();
}

static __device__ int left()
{
    return (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes();
}

/* Each warp puts its part, which may be of no bytes, and has a counter of its own. */
static __device__ void put_counted(const struct orders &o, uint64_t round, size_t words)
{
    unsigned warp = threadIdx.x / 32;
    size_t part = words / WARPS, at = warp * part;

    for (size_t i = threadIdx.x; i < words; i += THREADS)
        o.source[i] = value_of(round, shmem_my_pe(), 0, i);
    __syncthreads();
    shmemx_putmem_counted_nbi_warp(o.data + at, o.source + at, (warp + 1 == WARPS ? words - at : part) * 8,
                                   o.counter[warp], right());
    __syncthreads();
}

__global__ void __launch_bounds__(THREADS) counted_barrier(struct orders o)
{
    for (uint64_t round = o.first; round < o.first + o.rounds; round++) {
        size_t words = words_of(round, 0);

        put_counted(o, round, words);
        if (round % 2)
            shmem_quiet_block();
        shmem_barrier_all_block();
        if (threadIdx.x < WARPS)
            dev_expect(o.report, round * 16 + 15, round, shmemx_counter_fetch(o.counter[threadIdx.x]));
        for (size_t i = threadIdx.x; i < words; i += THREADS)
            dev_expect(o.report, round * 16, value_of(round, left(), 0, i), o.data[i]);
        shmem_barrier_all_block();
    }
}

/* By as many threads as the round says. */
static __device__ void put_and_get(uint64_t *data, const uint64_t *from, uint64_t *back, uint64_t round, size_t words)
{
    if (round % 3 == 0) {
        shmem_uint64_put_nbi_block(data, from, words, right());
        shmem_fence_block();
        shmem_uint64_get_block(back, data, words, right());
    } else if (round % 3 == 1 && threadIdx.x < 32) {
        shmem_uint64_put_nbi_warp(data, from, words, right());
        shmem_fence_warp();
        shmem_uint64_get_warp(back, data, words, right());
    } else if (round % 3 == 2 && threadIdx.x == 0) {
        shmem_uint64_put_nbi(data, from, words, right());
        shmem_fence();
        shmem_uint64_get(back, data, words, right());
    }
    __syncthreads();
}

/* A source is filled again after a quiet. */
__global__ void __launch_bounds__(THREADS) put_fence_get(struct orders o)
{
    unsigned lane = blockIdx.x;
    uint64_t *data = o.data + lane * WORDS_MAX, *back = o.back + lane * WORDS_MAX;

    for (uint64_t round = o.first; round < o.first + o.rounds; round++) {
        uint64_t *from = o.source + (lane * SLOTS + round % SLOTS) * WORDS_MAX;
        size_t words = words_of(round, lane);

        if (round % SLOTS == 0)
            shmem_quiet_block();
        for (size_t i = threadIdx.x; i < words; i += THREADS)
            from[i] = value_of(round, shmem_my_pe(), lane, i);
        __syncthreads();
        put_and_get(data, from, back, round, words);
        for (size_t i = threadIdx.x; i < words; i += THREADS)
            dev_expect(o.report, round * 16 + 1, value_of(round, shmem_my_pe(), lane, i), back[i]);
        __syncthreads();
    }
}

__global__ void __launch_bounds__(THREADS) p_fence_g(struct orders o)
{
    uint64_t *data = o.data + blockIdx.x * WORDS_MAX + threadIdx.x;

    if (threadIdx.x >= SLOTS)
        return;
    for (uint64_t round = o.first; round < o.first + o.rounds; round++) {
        uint64_t value = value_of(round, shmem_my_pe(), blockIdx.x, threadIdx.x);

        shmem_uint64_p(data, value, right());
        shmem_fence();
        dev_expect(o.report, round * 16 + 2, value, shmem_uint64_g(data, right()));
    }
}

/* `many`: rounds of a case, which ends in time. */
static void run(const char *name, void (*kernel)(struct orders), struct orders o, unsigned blocks, uint64_t rounds,
                uint64_t many)
{
    if (!dev_litmus_wants(name))
        return;
    for (uint64_t done = 0; done < rounds; done += o.rounds) {
        o.first = done + 1;
        o.rounds = rounds - done < many ? rounds - done : many;
        dev_case("%s, rounds %lu to %lu in %u lanes", name, (unsigned long)o.first, (unsigned long)(done + o.rounds),
                 blocks);
        kernel<<<blocks, THREADS>>>(o);
        dev_check_report(o.report, name);
    }
    shmem_barrier_all();
    mp_note("%s: %lu rounds", name, (unsigned long)(rounds * blocks));
}

int main(void)
{
    const char *given = getenv("WSH_LITMUS_ROUNDS");
    bool remote = dev_has_other_hosts();
    uint64_t rounds, each;
    struct orders o = {};

    dev_begin();
    if (!dev_litmus_wants("counted_barrier") && !dev_litmus_wants("put_fence_get") && !dev_litmus_wants("p_fence_g"))
        mp_skip("WSH_LITMUS_KINDS names none of this program's kinds");
    rounds = given ? strtoull(given, NULL, 10) : (uint64_t)(remote ? mp_rounds(2000, 100000) : mp_rounds(50000,
                                                                                                         1000000));
    each = rounds / LANES + 1;
    o.report = (struct dev_report *)dev_share(sizeof *o.report);
    o.source = (uint64_t *)dev_alloc(LANES * SLOTS * WORDS_MAX * 8);
    o.data = (uint64_t *)dev_alloc(LANES * WORDS_MAX * 8);
    o.back = (uint64_t *)dev_alloc(LANES * WORDS_MAX * 8);
    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, WARPS, o.counter), "no counters");
    run("counted_barrier", counted_barrier, o, 1, rounds, remote ? 5000 : 200000);
    run("put_fence_get", put_fence_get, o, LANES, each, remote ? 500 : 50000);
    run("p_fence_g", p_fence_g, o, LANES, each, remote ? 500 : 50000);
    return dev_end();
}
