/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of internode, each of one block. Iterations are numbered from 1 on, and signals are set to the number.
 * Iterations take the two halves of dest and of the signals in turn, and none begins before the one two before it was
 * seen by its receivers: so no word is set twice at a time, and no data is overwritten that somebody looks at.
 */
#ifndef PERFTEST_DEVICE_INTER_KERNELS_CUH
#define PERFTEST_DEVICE_INTER_KERNELS_CUH

#include "perftest/device/api.cuh"

extern "C" {
#include "perftest/device/internode.h"
}

/* Threads of a block at most. */
#define INTER_THREADS 512

/* Words from one answer of a receiver to the next; of all signals of a memory. */
#define INTER_ACK_WORDS 16
#define INTER_PINNED (64 * 64 + 64)
#define INTER_FLAG_WORDS (2 * INTER_BATCH + 2 * INTER_ACK_WORDS)

struct inter_args {
    char *dest;      /* symmetric, of the row's memory: two halves of `half` bytes */
    char *source;    /* symmetric, device memory; of host rows the row's memory */
    uint64_t *flag;  /* symmetric, of the row's memory: two halves of INTER_BATCH words */
    uint64_t *ack;   /* likewise, INTER_ACK_WORDS a half */
    char *load;      /* of this GPU */
    unsigned *wrong; /* of this GPU: bytes that were not right */
    uint64_t *posted;  /* of this GPU: ns that lanes have posted for */
    ulonglong2 *pinned; /* of the host: INTER_PINNED bytes */
    shmemx_put_t *list; /* of this GPU: a window */
    shmemx_counter_t counter;
    uint64_t counted; /* by it before */
    size_t half, len, window;
    long n;         /* iterations */
    uint64_t first; /* those before */
    int me, npes, peer;
    bool begins; /* of two PEs */
    bool checks; /* data is made for this iteration, and compared by who waited for it */
};

typedef void inter_kernel(struct inter_args);

#include "perftest/device/inter_limits.cuh"

static __device__ uint64_t *inter_flags(const struct inter_args &a, uint64_t number)
{
    return a.flag + number % 2 * INTER_BATCH;
}

static __device__ uint64_t *inter_ack(const struct inter_args &a, uint64_t number)
{
    return a.ack + number % 2 * INTER_ACK_WORDS;
}

static __device__ char *inter_dest(const struct inter_args &a, uint64_t number)
{
    return a.dest + number % 2 * a.half;
}

/* Eight bytes from offset 8 * word on of what PE `from` sends in iteration `number`. */
static __device__ uint64_t inter_word(size_t word, int from, uint64_t number)
{
    uint64_t mixed = (word + 1) * 0x9e3779b97f4a7c15u ^ (number * 4096 + (uint64_t)from + 1) * 0xbf58476d1ce4e5b9u;

    mixed ^= mixed >> 29;
    return mixed * 0x94d049bb133111ebu;
}

/* All threads of the block. */
static __device__ void inter_fill(const struct inter_args &a, size_t len, uint64_t number)
{
    uint64_t *to = (uint64_t *)a.source;

    for (size_t i = threadIdx.x; i < (len + 7) / 8; i += blockDim.x)
        to[i] = inter_word(i, a.me, number);
    __syncthreads();
}

/* All threads of the block: `len` bytes that are to be those from offset `off` on of PE `from`. */
static __device__ void inter_compare(const struct inter_args &a, const char *at, size_t off, size_t len, int from,
                                     uint64_t number)
{
    for (size_t i = threadIdx.x; i < len; i += blockDim.x)
        if ((unsigned char)at[i] != (unsigned char)(inter_word((off + i) / 8, from, number) >> (off + i) % 8 * 8))
            atomicAdd(a.wrong, 1u);
    __syncthreads();
}

/* Put k of an iteration, by a warp, with what the order says to be done for each. */
template <int ORDER> static __device__ void inter_order_put(const struct inter_args &a, uint64_t number, int k)
{
    char *dest = inter_dest(a, number) + k * a.len, *source = a.source + k * a.len;
    uint64_t *flag = inter_flags(a, number) + k;

    if (ORDER == INTER_ORDER_COUNTED) {
        shmemx_putmem_counted_nbi_warp(dest, source, a.len, a.counter, a.peer);
        return;
    }
    if (ORDER == INTER_ORDER_PUT_SIGNAL) {
        perf_putmem_signal_nbi<DEV_WARP>(dest, source, a.len, flag, number, PERF_SIGNAL_SET, a.peer);
        return;
    }
    perf_putmem_nbi<DEV_WARP>(dest, source, a.len, a.peer);
    if (ORDER == INTER_ORDER_FENCE_EACH)
        perf_fence<DEV_WARP>();
    if (ORDER == INTER_ORDER_QUIET_EACH)
        perf_quiet<DEV_WARP>();
    if ((ORDER == INTER_ORDER_FENCE_EACH || ORDER == INTER_ORDER_QUIET_EACH) && perf_leads<DEV_WARP>())
        PERF_X(signal_op)(flag, number, PERF_SIGNAL_SET, a.peer);
}

/* What follows a batch, by one thread behind a barrier. */
template <int ORDER> static __device__ void inter_order_signal(const struct inter_args &a, uint64_t number)
{
    if (ORDER == INTER_ORDER_FENCE)
        PERF_ONE(fence)();
    if (ORDER == INTER_ORDER_QUIET || ORDER == INTER_ORDER_NONE)
        PERF_ONE(quiet)();
    if (ORDER == INTER_ORDER_FENCE || ORDER == INTER_ORDER_QUIET || ORDER == INTER_ORDER_NONE)
        PERF_X(signal_op)(inter_flags(a, number), number, PERF_SIGNAL_SET, a.peer);
}

/* Without order no flag can announce a batch before the kernel's end. */
template <int ORDER> static __device__ void inter_order_send(const struct inter_args &a)
{
    uint64_t last = a.first + (uint64_t)a.n;

#pragma unroll 1
    for (uint64_t number = a.first + 1; number <= last; number++) {
        if (ORDER != INTER_ORDER_NONE && number > 2 && threadIdx.x == 0)
            PERF_ONE(signal_wait_until)(inter_ack(a, number), PERF_GE, number - 2);
        __syncthreads();
        if (a.checks)
            inter_fill(a, INTER_BATCH * a.len, number);
#pragma unroll 1
        for (int k = threadIdx.x / 32; k < INTER_BATCH; k += blockDim.x / 32)
            inter_order_put<ORDER>(a, number, k);
        __syncthreads();
        if (threadIdx.x == 0 && (ORDER != INTER_ORDER_NONE || number == last))
            inter_order_signal<ORDER>(a, number);
    }
    if (threadIdx.x == 0)
        PERF_ONE(signal_wait_until)(inter_ack(a, last), PERF_GE, last);
}

template <int ORDER> static __device__ void inter_order_receive(const struct inter_args &a)
{
    constexpr bool each = ORDER == INTER_ORDER_PUT_SIGNAL || ORDER == INTER_ORDER_FENCE_EACH ||
                          ORDER == INTER_ORDER_QUIET_EACH;
    uint64_t last = a.first + (uint64_t)a.n;

#pragma unroll 1
    for (uint64_t number = ORDER == INTER_ORDER_NONE ? last : a.first + 1; number <= last; number++) {
        if (ORDER == INTER_ORDER_COUNTED && threadIdx.x == 0)
            shmemx_counter_wait_until(a.counter, a.counted + (number - a.first) * INTER_BATCH);
        for (int k = threadIdx.x; k < (each ? INTER_BATCH : ORDER != INTER_ORDER_COUNTED) && threadIdx.x < 32; k += 32)
            PERF_ONE(signal_wait_until)(inter_flags(a, number) + k, PERF_GE, number);
        __syncthreads();
        if (a.checks)
            inter_compare(a, inter_dest(a, number), 0, INTER_BATCH * a.len, a.peer, number);
        if (threadIdx.x == 0)
            PERF_X(signal_op)(inter_ack(a, number), number, PERF_SIGNAL_SET, a.peer);
    }
}

template <int ORDER> __global__ void __launch_bounds__(INTER_THREADS) inter_order(struct inter_args a)
{
    if (a.begins)
        inter_order_send<ORDER>(a);
    else
        inter_order_receive<ORDER>(a);
}

/* The block fills the buffer; one thread, or all together, pushes windows of it. */
template <int S, bool BLOCKING> __global__ void __launch_bounds__(INTER_THREADS) inter_push(struct inter_args a)
{
    inter_fill(a, a.window * a.len, a.first + (uint64_t)a.n);
    if (S == DEV_THREAD && threadIdx.x)
        return;
#pragma unroll 1
    for (long i = 0; i < a.n; i++) {
#pragma unroll 1
        for (size_t k = 0; k < a.window; k++) {
            perf_putmem_nbi<S>(a.dest + k * a.len, a.source + k * a.len, a.len, a.peer);
            if (BLOCKING)
                perf_quiet<S>();
        }
        if (!BLOCKING)
            perf_quiet<S>();
    }
}

static __device__ uint64_t inter_clock()
{
    uint64_t ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    return ns;
}

template <int S, int WHAT> static __device__ void inter_post_one(const struct inter_args &a, size_t k)
{
    char *dest = a.dest + k * a.len, *source = a.source + k * a.len;

    if (WHAT == INTER_POST_BARE)
        inter_post_bare(a, k);
    else if (WHAT == INTER_POST_COUNTED && S == DEV_WARP)
        shmemx_putmem_counted_nbi_warp(dest, source, a.len, a.counter, a.peer);
    else if (WHAT == INTER_POST_COUNTED)
        shmemx_putmem_counted_nbi(dest, source, a.len, a.counter, a.peer);
    else if (WHAT == INTER_POST_SIGNAL)
        perf_putmem_signal_nbi<S>(dest, source, a.len, a.flag + k, 1, PERF_SIGNAL_SET, a.peer);
    else
        perf_putmem_nbi<S>(dest, source, a.len, a.peer);
}

static __device__ void inter_list_fill(const struct inter_args &a)
{
    for (size_t k = threadIdx.x; k < a.window; k += blockDim.x)
        a.list[k] = shmemx_put_t{a.dest + k * a.len, a.source + k * a.len, a.len, SHMEMX_COUNTER_INVALID, a.peer};
    __syncthreads();
}

/* Puts of a list; 0: the row is not about that. */
static __host__ __device__ constexpr size_t inter_run(int what)
{
    return what == INTER_POST_RUN_1 ? 1 : what == INTER_POST_RUN_4 ? 4 : what == INTER_POST_RUN_16 ? 16 : 0;
}

static __device__ void inter_post_runs(const struct inter_args &a, size_t run)
{
#pragma unroll 1
    for (size_t k = 0; k < a.window; k += run)
        shmemx_putmem_list_nbi(a.list + k, a.window - k < run ? a.window - k : run);
}

/* A window. */
template <int S, int WHAT> static __device__ void inter_post_all(const struct inter_args &a)
{
    constexpr bool lanes = WHAT == INTER_POST_LANES;

    if (inter_run(WHAT))
        inter_post_runs(a, inter_run(WHAT));
    else if (WHAT == INTER_POST_BARE_RUN)
        for (size_t k = 0; k < a.window; k += S == DEV_WARP ? 16 : 1)
            inter_post_bare_run(a, k, S == DEV_WARP ? 16 : 1);
    else if (WHAT == INTER_POST_LIST && S == DEV_WARP)
        shmemx_putmem_list_nbi_warp(a.list, a.window);
    else if (WHAT == INTER_POST_LIST)
        shmemx_putmem_list_nbi(a.list, a.window);
    else
#pragma unroll 1
        for (size_t k = lanes ? threadIdx.x : 0; k < a.window; k += lanes ? 32 : 1)
            inter_post_one<S, WHAT>(a, k);
    __syncwarp();
}

/* One thread or warp, or each lane of a warp, posts windows. Only posting is timed, by the lane that began it last. */
template <int S, int WHAT> __global__ void __launch_bounds__(32) inter_post(struct inter_args a)
{
    inter_list_fill(a);
    inter_fill(a, inter_is_bare(WHAT) ? 0 : a.window * a.len, a.first + (uint64_t)a.n);
#pragma unroll 1
    for (long i = 0; i < a.n; i++) {
        uint64_t began = inter_clock();

        inter_post_all<S, WHAT>(a);
        if (threadIdx.x == 0)
            *a.posted += inter_clock() - began;
        perf_quiet<S>();
    }
}

/* As inter_push, of rows in which the host pushes. */
static __global__ void inter_fill_window(struct inter_args a, uint64_t number)
{
    inter_fill(a, a.window * a.len, number);
}

static __global__ void inter_compare_window(struct inter_args a, uint64_t number)
{
    inter_compare(a, a.dest, 0, a.window * a.len, a.peer, number);
}

static __global__ void inter_fill_alltoall(struct inter_args a, uint64_t number)
{
    inter_fill(a, (size_t)a.npes * a.len, number);
}

/* Every PE's block for this one. */
static __global__ void inter_compare_alltoall(struct inter_args a, uint64_t number)
{
    for (int from = 0; from < a.npes; from++)
        inter_compare(a, inter_dest(a, number) + from * a.len, a.me * a.len, a.len, from, number);
}

/* A PE goes on to the next iteration when all others have sent theirs, and so have seen the one before it. */
template <bool SIGNAL> __global__ void __launch_bounds__(INTER_THREADS) inter_alltoall(struct inter_args a)
{
#pragma unroll 1
    for (uint64_t number = a.first + 1; number <= a.first + (uint64_t)a.n; number++) {
        char *dest = inter_dest(a, number) + a.me * a.len;
        uint64_t *flags = inter_flags(a, number);

#pragma unroll 1
        for (int i = 1; i <= a.npes; i++) {
            int to = (a.me + i) % a.npes;

            if (SIGNAL) {
                perf_putmem_signal_nbi<DEV_BLOCK>(dest, a.source + to * a.len, a.len, flags + a.me, number,
                                                  PERF_SIGNAL_SET, to);
                continue;
            }
            perf_putmem_nbi<DEV_BLOCK>(dest, a.source + to * a.len, a.len, to);
            perf_quiet<DEV_BLOCK>();
            if (threadIdx.x == 0)
                PERF_X(signal_op)(flags + a.me, number, PERF_SIGNAL_SET, to);
        }
        for (int from = threadIdx.x; from < a.npes && threadIdx.x < 32; from += 32)
            PERF_ONE(signal_wait_until)(flags + from, PERF_GE, number);
        __syncthreads();
    }
}

/* Waits for `number` by the library's call, or by a loop that acquires with each look. */
template <bool POLLS> static __device__ void inter_await(uint64_t *flag, uint64_t number)
{
    if (!POLLS)
        PERF_ONE(signal_wait_until)(flag, PERF_GE, number);
    else
        while (PERF_ONE(signal_fetch)(flag) < number)
            continue;
}

template <bool POLLS> __global__ void inter_wait(struct inter_args a)
{
#pragma unroll 1
    for (uint64_t number = a.first + 1; number <= a.first + (uint64_t)a.n; number++) {
        if (a.begins)
            PERF_X(signal_op)(a.flag, number, PERF_SIGNAL_SET, a.peer);
        inter_await<POLLS>(a.flag, number);
        if (!a.begins)
            PERF_X(signal_op)(a.flag, number, PERF_SIGNAL_SET, a.peer);
    }
}

/* Reads all of `load` n times, each time from another place on. */
static __device__ uint64_t inter_read(const struct inter_args &a, unsigned thread, unsigned threads)
{
    const ulonglong2 *words = (const ulonglong2 *)a.load;
    size_t count = a.len / sizeof *words, shift = 0;
    uint64_t sum = 0;

#pragma unroll 1
    for (long i = 0; i < a.n; i++, shift += threads) {
#pragma unroll 4
        for (size_t at = thread; at < count; at += threads) {
            ulonglong2 word = words[at + shift < count ? at + shift : at];

            sum += word.x ^ word.y;
        }
        shift = shift < count / 2 ? shift : 0;
    }
    return sum;
}

/* Warp 0 waits for a signal that this PE sends itself when the other warps have read. WAIT: 0 not, 1 calls, 2 polls. */
template <int WAIT> __global__ void __launch_bounds__(INTER_THREADS) inter_load(struct inter_args a)
{
    __shared__ unsigned ended;
    uint64_t number = a.first + (uint64_t)a.n, sum;

    ended = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        if (WAIT && threadIdx.x == 0)
            inter_await<WAIT == 2>(a.flag, number);
        return;
    }
    sum = inter_read(a, threadIdx.x - 32, blockDim.x - 32);
    if (sum == 1) /* never: so that the reads are needed */
        atomicAdd(a.wrong, 1u);
    if (atomicAdd(&ended, 1u) + 1 == blockDim.x - 32)
        PERF_X(signal_op)(a.flag, number, PERF_SIGNAL_SET, a.me);
}

#endif
