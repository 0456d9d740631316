/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a reduction by one warp: one lane alone works out the last element, in a function that is out of line and
 * loads from four members at once, and stores it to all; then all lanes release and tell. Values are new each round, so
 * that a wrong one says what went wrong. Rounds inside a kernel, and a kernel a round.
 *
 * Places reported: 1000 * kind + element; kind 1: this member's own source, in place; 2: the result of the round
 * before; 3: another.
 * roads: gpu:1,2,4 gpu1:2,4,8
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

#ifdef __CUDA_ARCH__ /* the bodies of the library are there for the GPU alone */
typedef wsh_dev_integer<uint64_t> number;

/* One unit a lane and round; all loads of four members start before the first is looked at. */
template <class V>
static __device__ __noinline__ void fold_ahead(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                               struct wsh_dev_range range)
{
    wsh_dev_reduce_blocks<WSH_WARP, number, 1, V>(group, what, range);
}

static __device__ __noinline__ void reduce_ahead(const struct arrays &a, bool in_place)
{
    struct wsh_dev_reduction what = {WSH_SUM, (char *)(in_place ? a.source : a.dest), (const char *)a.source,
                                     ELEMENTS * sizeof(uint64_t), false};
    struct wsh_dev_group group = wsh_dev_enter<WSH_WARP>("tail", SHMEM_TEAM_WORLD);
    struct wsh_dev_range mine = wsh_dev_slice(group, what.len);
    size_t middle = wsh_dev_reduce_middle(group, what, mine);

    wsh_dev_meet<WSH_WARP>(group, wsh_dev_arrived(group));
    fold_ahead<uint4>(group, what, wsh_dev_range{mine.begin, middle});
    fold_ahead<uint64_t>(group, what, wsh_dev_range{middle, mine.end});
    wsh_dev_meet<WSH_WARP>(group, wsh_dev_done(group));
}
#else
static __device__ void reduce_ahead(const struct arrays &, bool)
{
}
#endif

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
        reduce_ahead(a, in_place);
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
