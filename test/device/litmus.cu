/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nobody sees a flag before the data. In each of many lanes a payload travels round the PEs inside one kernel: a block
 * waits for it, checks every word and forwards what it received; a second block, on another multiprocessor, waits for
 * the same flag and checks too. Both have the previous round's words in their L1 when they begin to wait, and
 * sometimes come late. Payloads of 1 word to 64 KiB, new values each round, sent in every way the API has.
 *
 * WSH_LITMUS_ROUNDS: rounds over all lanes and kinds (a million; with WSH_TEST_LONG ten; between hosts, where each word
 * that a thread puts is an operation of the host, so that these are 8 in a payload at most, 6,400 and 100,000).
 * WSH_LITMUS_KINDS: names of kinds, with commas between; what has been run of each is printed at the end.
 * paths: gpu:2,4 gpuipc:2,4 gpureg:2,4 gpu1:2,4,8 gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4 gpugda:2,4
 * timeout: 600
 */
#include "test/device/dev.cuh"

#include <stdlib.h>

#define LANES 64
#define WORDS_MAX ((size_t)8192)
#define SCRATCH 8192
#define WORDS_REMOTE ((size_t)8) /* one by one, to other hosts */

enum { THREADS = 128 };
enum kind {
    PUT_SIGNAL,
    WARPS_THEN_FENCE,
    THREADS_THEN_QUIET,
    ELEMENTS,
    BULK,
    WARP_PUT_SIGNAL,
    PUT_FENCE_P,
    COUNTED,
    FENCE_THEN_COUNTED,
    KINDS
};

static const char *const names[KINDS] = {"put_signal", "warps_fence", "threads_quiet", "elements", "bulk",
                                         "warp_put_signal", "put_fence_p", "counted", "fence_counted"};

/* Symmetric: of each lane a payload, a flag, and what the second block says to the first; `made`: new payloads. */
struct litmus {
    uint64_t *data, *flag, *seen, *made;
    shmemx_counter_t *counter; /* of each lane, instead of the flag: the last two kinds */
    uint64_t first, rounds;
    enum kind kind[KINDS]; /* of round r: number r % n_kinds of them */
    unsigned n_kinds, counted[KINDS + 1]; /* counted[i]: of the first i kinds behind number 0, those that are counted */
    bool remote; /* some PEs are on other hosts */
    struct dev_report *report;
};

static __device__ uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    return x ^ x >> 29;
}

static __device__ uint64_t value_of(uint64_t round, unsigned lane, size_t i)
{
    return mix(round * LANES + lane) + i;
}

static __device__ enum kind kind_of(const struct litmus &l, uint64_t round)
{
    return l.kind[round % l.n_kinds];
}

/* Most payloads are small, so that there are many rounds. */
static __device__ size_t any_words(uint64_t round, unsigned lane)
{
    static const unsigned short words[16] = {1, 1, 2, 3, 8, 16, 17, 64, 1, 2, 33, 128, 300, 1024, 2048, WORDS_MAX};
    uint64_t which = mix(round * 31 + lane) >> 20;

    return words[which % 16 == 15 && which / 16 % 8 ? 12 : which % 16];
}

static __device__ size_t words_of(const struct litmus &l, uint64_t round, unsigned lane)
{
    enum kind kind = kind_of(l, round);
    size_t words = any_words(round, lane);

    return l.remote && (kind == THREADS_THEN_QUIET || kind == ELEMENTS) && words > WORDS_REMOTE ? WORDS_REMOTE : words;
}

/* The words of the last round are drawn into this multiprocessor's L1. */
static __device__ void warm(const uint64_t *data, size_t words, struct dev_report *report)
{
    uint64_t sum = 0;

    for (size_t i = threadIdx.x; i < words; i += THREADS)
        sum += data[i];
    if (sum == 0x123456789abcdefull) /* keeps the loads */
        report->where = sum;
}

static __device__ void check(const struct litmus &l, const uint64_t *data, uint64_t round, unsigned lane)
{
    size_t words = words_of(l, round, lane);

    for (size_t i = threadIdx.x; i < words; i += THREADS)
        dev_expect(l.report, round * 16 + kind_of(l, round), value_of(round, lane, i), data[i]);
}

static __device__ void arrive_late(uint64_t round, unsigned lane)
{
    long long until = clock64() + 6000;

    while (mix(round + lane * 977) % 8 == 0 && clock64() < until)
        continue;
}

static __device__ void by_warps(uint64_t *data, const uint64_t *from, size_t words, int pe)
{
    size_t part = (words + THREADS / 32 - 1) / (THREADS / 32), at = threadIdx.x / 32 * part;

    if (at < words)
        shmem_uint64_put_nbi_warp(data + at, from + at, at + part < words ? part : words - at, pe);
}

static __device__ void by_threads(uint64_t *data, const uint64_t *from, size_t words, int pe)
{
    for (size_t i = threadIdx.x; i < words; i += THREADS)
        shmem_uint64_put_nbi(data + i, from + i, 1, pe);
}

static __device__ void by_elements(uint64_t *data, const uint64_t *from, size_t words, int pe)
{
    for (size_t i = threadIdx.x; i < words; i += THREADS)
        shmem_uint64_p(data + i, from[i], pe);
}

/* How many of a lane's rounds up to this one were counted. Rounds begin at 1. */
static __device__ uint64_t counted_by(const struct litmus &l, uint64_t round)
{
    return round / l.n_kinds * l.counted[l.n_kinds] + l.counted[round % l.n_kinds];
}

/* All threads of the block. */
static __device__ void wait_for(const struct litmus &l, uint64_t round, unsigned lane)
{
    if (kind_of(l, round) >= COUNTED)
        shmemx_counter_wait_until_block(l.counter[lane], counted_by(l, round));
    else
        shmem_uint64_wait_until_block(l.flag + lane * 16, SHMEM_CMP_GE, round);
}

/* All of it by one thread. */
static __device__ void put_fence_p(uint64_t *data, const uint64_t *from, uint64_t *flag, uint64_t round, size_t words,
                                   int pe)
{
    if (threadIdx.x)
        return;
    shmem_uint64_put_nbi(data, from, words, pe);
    shmem_fence();
    shmem_uint64_p(flag, round, pe);
}

static __device__ void send(enum kind kind, uint64_t *data, const uint64_t *from, uint64_t *flag,
                            shmemx_counter_t counter, uint64_t round, size_t words, int pe)
{
    extern __shared__ __align__(128) char scratch[];

    if (kind == PUT_SIGNAL) {
        shmem_uint64_put_signal_nbi_block(data, from, words, flag, round, SHMEM_SIGNAL_SET, pe);
        return;
    }
    if (kind == COUNTED) {
        shmemx_putmem_counted_nbi_block(data, from, words * 8, counter, pe);
        return;
    }
    if (kind == PUT_FENCE_P) {
        put_fence_p(data, from, flag, round, words, pe);
        return;
    }
    if (kind == WARPS_THEN_FENCE || kind == FENCE_THEN_COUNTED)
        by_warps(data, from, words, pe);
    else if (kind == THREADS_THEN_QUIET)
        by_threads(data, from, words, pe);
    else if (kind == ELEMENTS)
        by_elements(data, from, words, pe);
    else if (kind == BULK)
        shmemx_putmem_bulk_block(data, from, words * 8, pe, scratch, SCRATCH);
    __syncthreads();
    if (kind == WARP_PUT_SIGNAL && threadIdx.x < 32)
        shmem_uint64_put_signal_warp(data, from, words, flag, 1, SHMEM_SIGNAL_ADD, pe);
    if (kind == WARP_PUT_SIGNAL || threadIdx.x)
        return;
    if (kind == THREADS_THEN_QUIET)
        shmem_quiet();
    else
        shmem_fence();
    if (kind == ELEMENTS)
        shmem_uint64_atomic_set(flag, round, pe);
    else if (kind == FENCE_THEN_COUNTED)
        shmemx_putmem_counted_nbi(data, from, 0, counter, pe);
    else
        shmem_signal_set(flag, round, pe);
}

/* PE 0 makes each round's payload, beside the one that comes back to it at the round's end. */
static __device__ void forward(const struct litmus &l, uint64_t *data, uint64_t round, unsigned lane, bool make)
{
    int pe = (shmem_my_pe() + 1) % shmem_n_pes();
    uint64_t *from = make ? l.made + lane * WORDS_MAX : data;
    size_t words = words_of(l, round, lane);

    for (size_t i = threadIdx.x; make && i < words; i += THREADS)
        from[i] = value_of(round, lane, i);
    __syncthreads();
    send(kind_of(l, round), data, from, l.flag + lane * 16, l.counter[lane], round, words, pe);
}

static __device__ void first_block(const struct litmus &l, uint64_t *data, uint64_t round, unsigned lane)
{
    bool origin = shmem_my_pe() == 0;

    if (origin)
        forward(l, data, round, lane, true);
    warm(data, words_of(l, round, lane), l.report);
    arrive_late(round, lane);
    wait_for(l, round, lane);
    check(l, data, round, lane);
    shmem_uint64_wait_until_block(l.seen + lane * 16, SHMEM_CMP_GE, round);
    if (!origin)
        forward(l, data, round, lane, false);
}

static __device__ void second_block(const struct litmus &l, const uint64_t *data, uint64_t round, unsigned lane)
{
    warm(data, words_of(l, round, lane), l.report);
    arrive_late(round + 5, lane);
    wait_for(l, round, lane);
    check(l, data, round, lane);
    __syncthreads();
    if (threadIdx.x == 0)
        shmem_signal_set(l.seen + lane * 16, round, shmem_my_pe());
}

__global__ void __launch_bounds__(THREADS) travel(struct litmus l)
{
    unsigned lane = blockIdx.x / 2;
    uint64_t *data = l.data + lane * WORDS_MAX;

    for (uint64_t round = l.first; round < l.first + l.rounds; round++) {
        if (blockIdx.x % 2)
            second_block(l, data, round, lane);
        else
            first_block(l, data, round, lane);
    }
}

/* The blocks of all PEs wait for each other: no more than a GPU holds at once, shared by the PEs that use it. */
static int lanes_that_fit(void)
{
    int gpus = 1, processors = 0, blocks = 0, sharing;

    cudaGetDeviceCount(&gpus);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    mp_check(!cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, travel, THREADS, SCRATCH), "occupancy");
    sharing = (mp_npes + gpus - 1) / gpus;
    return processors * blocks / sharing / 2 < LANES ? processors * blocks / sharing / 2 : LANES;
}

static uint64_t rounds(void)
{
    return (uint64_t)(dev_has_other_hosts() ? mp_rounds(6400, 100000) : mp_rounds(1000000, 10000000));
}

/* Those that WSH_LITMUS_KINDS names, or all. */
static void choose_kinds(struct litmus *l)
{
    l->n_kinds = 0;
    for (int kind = 0; kind < KINDS; kind++)
        if (dev_litmus_wants(names[kind]))
            l->kind[l->n_kinds++] = (enum kind)kind;
    if (!l->n_kinds)
        mp_skip("WSH_LITMUS_KINDS names none of this program's kinds");
    l->counted[0] = 0;
    for (unsigned i = 1; i <= l->n_kinds; i++)
        l->counted[i] = l->counted[i - 1] + (l->kind[i % l->n_kinds] >= COUNTED);
}

/* Of rounds 1 to `each` of every lane. */
static void note_rounds(const struct litmus *l, uint64_t each, int lanes)
{
    for (unsigned i = 0; i < l->n_kinds; i++)
        mp_note("%s: %lu rounds", names[l->kind[i]],
                (unsigned long)(((each + l->n_kinds - i) / l->n_kinds - (i == 0)) * (uint64_t)lanes));
}

int main(void)
{
    const char *given = getenv("WSH_LITMUS_ROUNDS");
    uint64_t many = dev_has_other_hosts() ? 50 : 5000, each, done = 0;
    int lanes;
    struct litmus l;

    dev_begin();
    choose_kinds(&l);
    l.remote = dev_has_other_hosts();
    l.report = (struct dev_report *)dev_share(sizeof *l.report);
    l.data = (uint64_t *)dev_alloc(LANES * WORDS_MAX * 8);
    l.made = (uint64_t *)dev_alloc(LANES * WORDS_MAX * 8);
    l.flag = (uint64_t *)dev_alloc(LANES * 16 * 8);
    l.seen = (uint64_t *)dev_alloc(LANES * 16 * 8);
    l.counter = (shmemx_counter_t *)dev_share(LANES * sizeof *l.counter);
    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, LANES, l.counter), "no counters");
    lanes = lanes_that_fit();
    each = (given ? strtoull(given, NULL, 10) : rounds()) / lanes + 1;
    while (done < each) {
        l.first = done + 1;
        l.rounds = each - done < many ? each - done : many;
        dev_case("rounds %lu to %lu in %d lanes", (unsigned long)l.first, (unsigned long)(done + l.rounds), lanes);
        travel<<<2 * lanes, THREADS, SCRATCH>>>(l);
        dev_check_report(l.report, "data after the flag (round x 16 + kind)");
        done += l.rounds;
    }
    mp_note("%lu rounds in %d lanes", (unsigned long)done * lanes, lanes);
    note_rounds(&l, done, lanes);
    return dev_end();
}
