/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a reduction by one warp: one lane alone works out the last element, in a function that is out of line and
 * whose loop yields, and stores it to all members; only then may any lane tell them. Values are new each round, so that
 * a wrong one says what went wrong. Rounds inside a kernel, and a kernel a round.
 *
 * Places reported: 1000 * kind + element; kind 1: this member's own source, in place; 2: the result of the round
 * before; 3: another.
 * paths: gpu:1,2,4 gpu1:2,4,8
 * timeout: 300
 */
#include "test/device/coll.cuh"

enum { ELEMENTS = 129, ROUNDS = 40, OWN = 1000, BEFORE = 2000, OTHER = 3000 };

struct arrays {
    uint64_t *dest, *source;
    struct dev_report *report;
};

static __device__ uint64_t value(uint64_t round, int from, unsigned i)
{
    return (round * 64 + (uint64_t)from + 1) * 1000 + i;
}

static __device__ uint64_t sum(uint64_t round, int n_pes, unsigned i)
{
    uint64_t all = 0;

    for (int from = 0; from < n_pes; from++)
        all += value(round, from, i);
    return all;
}

static __device__ void check(const struct arrays &a, uint64_t round, unsigned i, bool in_place)
{
    int n_pes = shmem_n_pes();
    uint64_t got = in_place ? a.source[i] : a.dest[i], right = sum(round, n_pes, i);
    unsigned kind = in_place && got == value(round, shmem_my_pe(), i) ? OWN
                    : got == sum(round - 1, n_pes, i)                 ? BEFORE
                                                                      : OTHER;

    dev_expect(a.report, kind + i, right, got);
}

__global__ void rounds(struct arrays a, uint64_t from, uint64_t to, bool in_place)
{
    for (uint64_t round = from; round < to; round++) {
        for (unsigned i = threadIdx.x; i < ELEMENTS; i += blockDim.x)
            a.source[i] = value(round, shmem_my_pe(), i);
        __syncthreads();
        shmem_uint64_sum_reduce_warp(SHMEM_TEAM_WORLD, in_place ? a.source : a.dest, a.source, ELEMENTS);
        __syncthreads();
        for (unsigned i = threadIdx.x; i < ELEMENTS; i += blockDim.x)
            check(a, round, i, in_place);
        __syncthreads();
        shmem_barrier_all_warp();
    }
}

static uint64_t run(const struct arrays &a, uint64_t round, bool in_place)
{
    dev_case("rounds in a kernel, %s", in_place ? "in place" : "apart");
    rounds<<<1, 32>>>(a, round, round + ROUNDS, in_place);
    dev_check_report(a.report, "the end of a reduction");
    dev_case("a kernel a round, %s", in_place ? "in place" : "apart");
    for (int i = ROUNDS; i < 2 * ROUNDS; i++)
        rounds<<<1, 32>>>(a, round + i, round + i + 1, in_place);
    dev_check_report(a.report, "the end of a reduction");
    return round + 2 * ROUNDS;
}

int main(void)
{
    struct arrays a;
    uint64_t round = 1;

    dev_begin();
    dev_case("memory");
    a.report = (struct dev_report *)dev_share(sizeof *a.report);
    a.dest = (uint64_t *)dev_alloc(ELEMENTS * sizeof *a.dest);
    a.source = (uint64_t *)dev_alloc(ELEMENTS * sizeof *a.source);
    for (bool in_place : {false, true})
        round = run(a, round, in_place);
    return dev_end();
}
