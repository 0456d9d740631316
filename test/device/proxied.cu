/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels reach the host heap and the device heap of PEs of another host: put, put_signal, get, p, g and atomics at
 * each scope, checked by the waiting kernel of the target; puts of any few bytes; a quiet by one thread of a later
 * kernel completes what 132 blocks put.
 * paths: gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4 gpugda:2
 * timeout: 300
 */
#include "test/device/dev.cuh"

#define WORDS_MAX ((size_t)30000)
#define BLOCKS 132

DEV_SCOPED(uint64_put_signal)
DEV_SCOPED(uint64_get)
DEV_SCOPED(putmem)
DEV_SCOPED(getmem)

struct place {
    uint64_t *data, *signal, *words; /* in the host heap, or in the device heap */
    uint64_t *source, *target;       /* device memory */
    int peer;
};

static __device__ uint64_t value(uint64_t round, int from, size_t i)
{
    return round * 1000003 + (uint64_t)from * 7919 + i;
}

/* One round: send to the far PE, wait for its own, check, read it back from there. */
template <int S> __global__ void round_trip(struct place p, size_t words, uint64_t round, struct dev_report *report)
{
    for (size_t i = S == THREAD ? 0 : threadIdx.x; i < words; i += blockDim.x)
        p.source[i] = value(round, shmem_my_pe(), i);
    dev_uint64_put_signal<S>(p.data, p.source, words, p.signal, (uint64_t)1, SHMEM_SIGNAL_ADD, p.peer);
    if (threadIdx.x == 0)
        shmem_signal_wait_until(p.signal, SHMEM_CMP_GE, round);
    __syncthreads();
    for (size_t i = threadIdx.x; i < words; i += blockDim.x)
        dev_expect(report, i, value(round, p.peer, i), p.data[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        shmem_quiet(); /* no other call keeps a get behind a put */
    __syncthreads();
    dev_uint64_get<S>(p.target, p.data, words, p.peer);
    __syncthreads();
    for (size_t i = threadIdx.x; i < words; i += blockDim.x)
        dev_expect(report, i, value(round, shmem_my_pe(), i), p.target[i]);
}

static uint64_t rounds;
static const char *kind;

/* A word of this PE, wherever it lies. */
static uint64_t own(const uint64_t *word)
{
    return shmem_uint64_atomic_fetch(word, mp_me);
}

template <int S> static void run(struct place p, struct dev_report *report)
{
    static const size_t words[] = {1, 2, 31, 32, 33, 1000, 8192, 8193, WORDS_MAX};

    dev_case("%s: %s scope", kind, dev_scope_name[S]);
    for (size_t len : words)
        for (int i = 0; i < mp_rounds(5, 100); i++) {
            round_trip<S><<<1, dev_threads[S]>>>(p, len, ++rounds, report);
            dev_check_report(report, "put_signal, get");
            shmem_barrier_all();
        }
}

/* Puts without a signal, each followed by others. */
template <int S> __global__ void few_bytes(struct place p, uint64_t round, struct dev_report *report)
{
    char *source = (char *)p.source, *target = (char *)p.target, *peer = (char *)p.data;

    for (size_t len = 1; len <= 300; len++) {
        for (size_t i = S == THREAD ? 0 : threadIdx.x; i < len; i += blockDim.x)
            source[i] = (char)value(round, shmem_my_pe(), len + i);
        dev_putmem<S>(peer, source, len, p.peer);
        if (threadIdx.x == 0)
            shmem_quiet();
        __syncthreads();
        dev_getmem<S>(target, peer, len, p.peer);
        __syncthreads();
        for (size_t i = threadIdx.x; i < len; i += blockDim.x)
            dev_expect(report, i, (unsigned char)value(round, shmem_my_pe(), len + i), (unsigned char)target[i]);
        __syncthreads();
    }
}

template <int S> static void run_few_bytes(struct place p, struct dev_report *report)
{
    dev_case("%s scope, puts of few bytes", dev_scope_name[S]);
    few_bytes<S><<<1, dev_threads[S]>>>(p, 1 + S, report);
    dev_check_report(report, "putmem, quiet, getmem");
    shmem_barrier_all();
}

/* All lanes at once, so that a warp reserves for all of them. */
__global__ void words_of_lanes(struct place p, uint64_t round, struct dev_report *report)
{
    unsigned me = threadIdx.x;

    shmem_uint64_p(p.words + me, value(round, shmem_my_pe(), me), p.peer);
    shmem_fence();
    shmem_uint64_atomic_add(p.words + 256 + me % 4, 1, p.peer);
    dev_expect(report, me, value(round, shmem_my_pe(), me), shmem_uint64_g(p.words + me, p.peer));
    shmem_uint64_atomic_inc(p.words + 300, 0);
    shmem_uint64_atomic_fetch_add(p.words + 301, 1, 0);
    shmem_quiet();
}

static void lanes(struct place p, struct dev_report *report)
{
    const uint64_t n = (uint64_t)mp_rounds(20, 500);

    dev_case("%s: words of 256 lanes", kind);
    for (uint64_t round = 1; round <= n; round++)
        words_of_lanes<<<1, 256>>>(p, round, report);
    dev_check_report(report, "p, fence, g");
    shmem_barrier_all();
    for (int i = 0; i < 4; i++)
        mp_check(own(&p.words[256 + i]) == n * 64, "word %d counts %llu", i,
                 (unsigned long long)own(&p.words[256 + i]));
    if (mp_me == 0)
        mp_check(own(&p.words[300]) == n * 256 * (uint64_t)mp_npes && own(&p.words[301]) == own(&p.words[300]),
                 "PE 0 counts %llu and %llu", (unsigned long long)own(&p.words[300]),
                 (unsigned long long)own(&p.words[301]));
    shmem_barrier_all();
}

__global__ void put_from_all_blocks(struct place p, uint64_t round)
{
    size_t at = (size_t)blockIdx.x * 200 + threadIdx.x;

    if (threadIdx.x < 200)
        p.source[at] = value(round, shmem_my_pe(), at);
    __syncthreads();
    shmem_uint64_put_nbi_block(p.data + (size_t)blockIdx.x * 200, p.source + (size_t)blockIdx.x * 200, 200, p.peer);
}

__global__ void quiet_then_signal(struct place p)
{
    shmem_quiet();
    shmem_signal_add(p.signal, 1, p.peer);
}

__global__ void wait_and_check(struct place p, uint64_t round, struct dev_report *report)
{
    if (threadIdx.x == 0)
        shmem_signal_wait_until(p.signal, SHMEM_CMP_GE, round);
    __syncthreads();
    for (size_t i = threadIdx.x; i < BLOCKS * 200; i += blockDim.x)
        dev_expect(report, i, value(round, p.peer, i), p.data[i]);
}

static void quiet_covers_all_blocks(struct place p, struct dev_report *report)
{
    dev_case("%s: a quiet by one thread after %d blocks", kind, BLOCKS);
    for (int i = 0; i < mp_rounds(50, 1000); i++) {
        rounds++;
        put_from_all_blocks<<<BLOCKS, 256>>>(p, rounds);
        quiet_then_signal<<<1, 1>>>(p);
        wait_and_check<<<1, 256>>>(p, rounds, report);
        dev_check_report(report, "data after the signal");
        shmem_barrier_all();
    }
}

static void run_all(struct place p, bool on_gpu, struct dev_report *report)
{
    kind = on_gpu ? "device memory" : "host memory";
    rounds = 0;
    p.data = (uint64_t *)(on_gpu ? dev_alloc(WORDS_MAX * 8) : mp_alloc(WORDS_MAX * 8));
    p.signal = (uint64_t *)(on_gpu ? dev_alloc(8) : mp_alloc(8));
    p.words = (uint64_t *)(on_gpu ? dev_alloc(512 * 8) : mp_alloc(512 * 8));
    mp_check(!shmem_ptr(p.data, p.peer), "PE %d is not on another host", p.peer);
    DEV_EACH_SCOPE(run_few_bytes<S>(p, report));
    DEV_EACH_SCOPE(run<S>(p, report));
    lanes(p, report);
    quiet_covers_all_blocks(p, report);
}

int main(void)
{
    struct dev_report *report;
    struct place p;

    dev_begin();
    report = (struct dev_report *)dev_share(sizeof *report);
    p.source = (uint64_t *)dev_alloc(WORDS_MAX * 8);
    p.target = (uint64_t *)dev_alloc(WORDS_MAX * 8);
    p.peer = (mp_me + mp_npes / 2) % mp_npes;
    run_all(p, false, report);
    run_all(p, true, report);
    return dev_end();
}
