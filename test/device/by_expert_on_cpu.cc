/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of expansion, built for the CPU with a thread for each lane: places, copies, padding and sums of random
 * routings are those of loops over one row after the other, and nothing else is written. Needs no GPU.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <thread>
#include <vector>

struct cpu_dim {
    unsigned x;
};
static thread_local cpu_dim threadIdx, blockIdx;
static cpu_dim blockDim, gridDim;

#define __device__
#define __forceinline__ inline
#define __shared__ static

struct uint4 {
    uint32_t x, y, z, w;
};
static uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    return uint4{x, y, z, w};
}

enum { BLOCK = 64, GRID = 2 };
static pthread_barrier_t of_block, of_warp[BLOCK / 32];
static int32_t exchanged[BLOCK];

static void __syncthreads()
{
    pthread_barrier_wait(&of_block);
}

/* What the lane `from` of the warp gives. */
static int32_t exchange(int32_t value, unsigned from)
{
    pthread_barrier_t *barrier = &of_warp[threadIdx.x / 32];
    int32_t got;

    exchanged[threadIdx.x] = value;
    pthread_barrier_wait(barrier);
    got = exchanged[threadIdx.x / 32 * 32 + from % 32];
    pthread_barrier_wait(barrier);
    return got;
}

static int32_t __shfl_sync(unsigned, int32_t value, int from)
{
    return exchange(value, (unsigned)from);
}

static int32_t __shfl_up_sync(unsigned, int32_t value, int by)
{
    int lane = (int)(threadIdx.x % 32);

    return exchange(value, (unsigned)(lane >= by ? lane - by : lane));
}

static unsigned __ballot_sync(unsigned, bool is)
{
    unsigned all = 0;

    for (unsigned lane = 0; lane < 32; lane++)
        all |= (unsigned)exchange(is, lane) << lane;
    return all;
}

static int32_t atomicAdd(int32_t *word, int32_t by)
{
    return __atomic_fetch_add(word, by, __ATOMIC_RELAXED);
}

static int __ffs(int word)
{
    return __builtin_ffs(word);
}

static float __uint_as_float(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint16_t __float2bfloat16_rn(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static uint16_t __bfloat16_as_ushort(uint16_t value)
{
    return value;
}

#define LAYOUT_BINS 5 /* fewer than a block has */
#include "ep/device/by_expert.cuh"

template <class F> static void run(unsigned grid, const F &kernel)
{
    blockDim.x = BLOCK;
    gridDim.x = grid;
    for (unsigned block = 0; block < grid; block++) {
        std::vector<std::thread> threads;

        for (unsigned i = 0; i < BLOCK; i++)
            threads.emplace_back([&, i] {
                threadIdx.x = i;
                blockIdx.x = block;
                kernel();
            });
        for (std::thread &thread : threads)
            thread.join();
    }
}

/* A routing, and what is to be of it. */
struct job {
    int received, topk, step, local, alignment, expanded;
    std::vector<int32_t> chosen, counts, ends, places, ids;
    std::vector<int64_t> sources;
};

static job make(int received, int topk, int local, int alignment, int missing)
{
    job j = {received, topk, topk + 2, local, alignment, 0, {}, {}, {}, {}, {}, {}};
    int first = 0;
    std::vector<int> next;

    j.counts.assign((size_t)local, 0);
    for (int i = 0; i < received * j.step; i++) {
        int expert = rand() % (2 * local);

        for (int k = i / j.step * j.step; k < i; k++) /* each names an expert once */
            expert = j.chosen[(size_t)k] == expert ? -1 : expert;
        j.chosen.push_back(i % j.step < topk ? (expert < local ? expert : -1) : 0);
        if (i % j.step < topk && expert >= 0 && expert < local)
            j.counts[(size_t)expert]++;
    }
    for (int count : j.counts) {
        next.push_back(first);
        j.ends.push_back(first + count);
        first += (count + alignment - 1) / alignment * alignment;
    }
    j.expanded = first + missing > 0 ? first + missing : 0;
    j.sources.assign((size_t)j.expanded, -1);
    j.ids.assign((size_t)j.expanded, -1);
    for (int i = 0; i < received * topk; i++) {
        int expert = j.chosen[(size_t)(i / topk * j.step + i % topk)];
        int at = expert < 0 ? j.expanded : next[(size_t)expert]++;

        j.places.push_back(at < j.expanded ? at : -1);
        if (at < j.expanded) {
            j.sources[(size_t)at] = i / topk;
            j.ids[(size_t)at] = expert;
        }
    }
    return j;
}

static int failures;

static void check(bool good, const char *what, const job &j)
{
    failures += !good;
    if (!good)
        printf("%s: %d rows, top-%d, %d experts, alignment %d, %d expanded\n", what, j.received, j.topk,
               j.local, j.alignment, j.expanded);
}

static void check_places(const job &j, bool is_wide)
{
    std::vector<int32_t> ends(j.ends.size(), 7), places(j.places.size() + 1, 7), ids(j.ids.size() + 1, 7);
    std::vector<int64_t> sources(j.sources.size() + 1, 7);
    std::vector<int64_t> wide(j.chosen.begin(), j.chosen.end());
    const void *chosen = is_wide ? (const void *)wide.data() : (const void *)j.chosen.data();
    ep_places of = {chosen,     j.counts.data(), ends.data(), places.data(), sources.data(),
                    ids.data(), j.received,      j.topk,      j.step,        is_wide,
                    j.local,    j.alignment,     j.expanded};

    run((unsigned)j.local, [&] { place_all(of); });
    check(ends == j.ends && places.back() == 7 && ids.back() == 7 && sources.back() == 7, "places: ends", j);
    places.pop_back();
    ids.pop_back();
    sources.pop_back();
    check(places == j.places && sources == j.sources && ids == j.ids, "places", j);
}

/* Tokens of random experts, some named twice, some none; hosts of `inside` ranks, 0: they are not asked for. */
static void check_layout(int tokens, int topk, int ranks, int inside, int local, bool is_wide)
{
    size_t hosts = inside ? (size_t)(ranks / inside) : 0, experts = (size_t)(ranks * local);
    std::vector<int64_t> wide;
    std::vector<int32_t> chosen, of_rank((size_t)ranks + 1), of_host(hosts + 1), of_expert(experts + 1);
    std::vector<uint8_t> goes((size_t)(tokens * ranks) + 1);
    std::vector<int32_t> got_rank(of_rank.size(), 7), got_host(of_host.size(), 7),
        got_expert(of_expert.size(), 7);
    std::vector<uint8_t> got(goes.size(), 7);

    for (int i = 0; i < tokens * topk; i++)
        wide.push_back(rand() % 4 ? rand() % (ranks * local) : rand() % 2 ? -1 : ranks * local);
    chosen.assign(wide.begin(), wide.end());
    for (int token = 0; token < tokens; token++) {
        std::vector<bool> on(hosts);

        for (int k = 0; k < topk; k++) {
            int expert = chosen[(size_t)(token * topk + k)];

            if (expert < 0 || expert >= ranks * local)
                continue;
            of_expert[(size_t)expert]++;
            goes[(size_t)(token * ranks + expert / local)] = 1;
        }
        for (int rank = 0; rank < ranks; rank++) {
            uint8_t here = goes[(size_t)(token * ranks + rank)];

            of_rank[(size_t)rank] += here;
            if (inside && here && !on[(size_t)(rank / inside)]) {
                on[(size_t)(rank / inside)] = true;
                of_host[(size_t)(rank / inside)]++;
            }
        }
    }
    of_rank.back() = of_host.back() = of_expert.back() = goes.back() = 7;
    ep_layout of = {is_wide ? (const void *)wide.data() : (const void *)chosen.data(),
                    got_rank.data(),
                    inside ? got_host.data() : NULL,
                    got_expert.data(),
                    got.data(),
                    tokens,
                    topk,
                    is_wide,
                    ranks,
                    inside ? inside : ranks,
                    local};
    run(3, [&] { layout_all(of); });
    failures += got_rank != of_rank || got_host != of_host || got_expert != of_expert || got != goes;
    if (got_rank != of_rank || got_host != of_host || got_expert != of_expert || got != goes)
        printf("layout: %d tokens, top-%d, %d ranks of %d, %d experts each\n", tokens, topk, ranks, inside,
               local);
}

static void check_sums(const job &j)
{
    std::vector<int32_t> sources = {0, 5, 5, 0, 5, 9, 14, 2}, come(2, 7), padded((size_t)j.local, 7), want;
    ep_sums of = {sources.data(), j.counts.data(), come.data(), padded.data(), 4, 2, j.local, j.alignment};
    int sum = 0;

    for (int count : j.counts)
        want.push_back(sum += (count + j.alignment - 1) / j.alignment * j.alignment);
    run(1, [&] { sums_all(of); });
    check(come == std::vector<int32_t>({14, 16}) && padded == want, "sums", j);
}

enum { BYTES = 16 * 150, COLUMNS = 35, HIDDEN = 8 * 37 };

static void check_expand(const job &j, bool zero)
{
    size_t rows = (size_t)j.received, out_rows = (size_t)j.expanded;
    std::vector<char> x(rows * BYTES + 1), out(out_rows * BYTES + 1, 7), want(out);
    std::vector<uint32_t> scales(rows * COLUMNS + 1), got(out_rows * COLUMNS + 1, 7), wanted(got);
    std::vector<float> weights(rows * (size_t)j.step + 1), given(out_rows + 1, 7), due(given);
    ep_expand of = {j.places.data(), j.sources.data(), x.data(),   out.data(), scales.data(), got.data(),
                    weights.data(),  given.data(),     j.received, j.topk,     j.expanded,    BYTES,
                    COLUMNS,         j.step,           zero};

    if (!rows) /* as torch has them of tensors without elements */
        of.rows = NULL, of.scales = NULL, of.weights = NULL;
    for (char &byte : x)
        byte = (char)rand();
    for (uint32_t &word : scales)
        word = (uint32_t)rand();
    for (float &weight : weights)
        weight = (float)rand();
    for (int at = 0; at < j.expanded; at++) {
        int64_t row = j.sources[(size_t)at];

        if (row < 0 && zero) {
            memset(&want[(size_t)at * BYTES], 0, BYTES);
            memset(&wanted[(size_t)at * COLUMNS], 0, COLUMNS * sizeof(uint32_t));
        } else if (row >= 0) {
            memcpy(&want[(size_t)at * BYTES], &x[(size_t)row * BYTES], BYTES);
            memcpy(&wanted[(size_t)at * COLUMNS], &scales[(size_t)row * COLUMNS], COLUMNS * sizeof(uint32_t));
        }
        due[(size_t)at] = 0;
        for (int k = 0; k < j.topk && row >= 0; k++)
            if (j.places[(size_t)(row * j.topk + k)] == at)
                due[(size_t)at] = weights[(size_t)(row * j.step + k)];
    }
    run(GRID, [&] { expand_all(of); });
    check(out == want && got == wanted && given == due, zero ? "expand with zeros" : "expand", j);
}

static void check_fold(const job &j)
{
    std::vector<uint16_t> x((size_t)j.expanded * HIDDEN + 8), out((size_t)j.received * HIDDEN + 1, 7),
        want(out);
    ep_fold of = {j.places.data(), x.data(), out.data(), j.received, j.topk, HIDDEN};

    for (uint16_t &each : x)
        each = (uint16_t)((rand() & 0x80ff) | 0x3f00);
    for (size_t i = 0; i + 1 < want.size(); i++) {
        float sum = 0;

        for (int k = 0; k < j.topk; k++) {
            int32_t at = j.places[i / HIDDEN * (size_t)j.topk + (size_t)k];

            if (at >= 0)
                sum += __uint_as_float((uint32_t)x[(size_t)at * HIDDEN + i % HIDDEN] << 16);
        }
        want[i] = __float2bfloat16_rn(sum);
    }
    run(GRID, [&] { fold_all(of); });
    check(out == want, "fold", j);
}

int main()
{
    pthread_barrier_init(&of_block, NULL, BLOCK);
    for (pthread_barrier_t &barrier : of_warp)
        pthread_barrier_init(&barrier, NULL, 32);
    for (int received : {0, 1, 70})
        for (int missing : {0, 9, -4}) { /* rows beyond the last expert's; or there are too few */
            int local = missing ? 5 : 1;
            job j = make(received, received == 1 ? 3 : 4, local, local == 1 ? 1 : 8, missing);

            check_places(j, false);
            check_places(j, true);
            check_sums(j);
            check_expand(j, missing != 0);
            check_fold(j);
        }
    for (int tokens : {0, 1, 150})
        for (bool is_wide : {false, true}) {
            check_layout(tokens, 1, 1, 0, 3, is_wide);
            check_layout(tokens, 4, 6, 0, 5, is_wide);
            check_layout(tokens, 16, 16, 4, 2, is_wide);
        }
    return failures != 0;
}
