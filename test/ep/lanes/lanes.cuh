/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets a host compiler build what kernels of expert parallelism run (ep/device/run.cuh and what it includes): each lane
 * of a small grid is a thread of control of its own, of which one runs at a time, until it waits for others.
 */
#ifndef WSH_TEST_EP_LANES_CUH
#define WSH_TEST_EP_LANES_CUH

#include "ep/interface.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EP_BLOCK_WARPS 2
#define EP_WATCH_POLLS 4
#define EP_RANK_EXPERTS 16
#define EP_RANK_BITS 16
#define EP_LOW_NVFP4 ((run)->shape.dtype == SHMEMX_EP_NVFP4)
#define EP_LOW_HALVES 1
#define EP_LOW_SIGNALS ((args)->signals != NULL)
#define EP_EXPANDED_OF(run) lanes_expanded
#define EP_EXPANDS 1
#define EP_PULL_FAR 1
enum { LANES_BLOCKS = 3, LANES_A_BLOCK = EP_BLOCK_WARPS * 32, LANES = LANES_BLOCKS * LANES_A_BLOCK };

/* Of the dispatch that lanes run, or NULL. */
extern const shmemx_ep_rows_expanded_t *lanes_expanded;

/* Runs body(arg) in all lanes, until all have ended. */
void lanes_run(void (*body)(void *arg), void *arg);

/* The calling lane lets others run. */
void lanes_yield(void);

/* Memory of each block: so many bytes of it from now on; that of the calling lane's. */
void lanes_share(size_t bytes);
char *lanes_shared(void);
#define EP_GROUP_MEMORY(name) char *const name = lanes_shared()

/* Whether LANES_MUTANT names this mistake, which a test must notice. */
bool lanes_mutant(const char *name);

/* The calling lane has polled a word in vain. */
void lanes_poll(void);

/* All lanes of the warp: returns what lane `from` gave. */
uint64_t lanes_exchange(uint64_t value, int from);

/* All lanes of the warp: returns a bit of each lane. */
unsigned lanes_ballot(bool says);

/* All lanes of the block: whether one says so. */
bool lanes_barrier(bool says);

struct lanes_index {
    unsigned x;
};
extern struct lanes_index threadIdx, blockIdx;
static const struct lanes_index gridDim = {LANES_BLOCKS}, blockDim = {LANES_A_BLOCK};

struct uint2 {
    unsigned x, y;
};
struct uint4 {
    unsigned x, y, z, w;
};

static inline struct uint2 make_uint2(unsigned x, unsigned y)
{
    return {x, y};
}

static inline struct uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return {x, y, z, w};
}

template <class T> static inline T __shfl_sync(unsigned, T value, int from)
{
    uint64_t bits = 0;

    memcpy(&bits, &value, sizeof value);
    bits = lanes_exchange(bits, from);
    memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T> static inline T __shfl_xor_sync(unsigned mask, T value, int by)
{
    return __shfl_sync(mask, value, (int)(threadIdx.x % 32) ^ by);
}

static inline unsigned __ballot_sync(unsigned, bool says)
{
    return lanes_ballot(says);
}

static inline bool __all_sync(unsigned, bool says)
{
    return lanes_ballot(says) == 0xffffffffu;
}

static inline void __syncwarp()
{
    lanes_ballot(true);
}

/* A mutant has no barrier here: flags may be raised before other lanes have stored. */
static inline void wsh_ptx_warp_sync()
{
    if (!lanes_mutant("early_flags"))
        lanes_ballot(true);
}

static inline void __syncthreads()
{
    lanes_barrier(false);
}

static inline bool __syncthreads_or(bool says)
{
    return lanes_barrier(says);
}

static inline void __threadfence()
{
}

template <class T, class V> static inline T atomicAdd(T *word, V value)
{
    T before = *word;

    *word = before + (T)value;
    lanes_yield();
    return before;
}

template <class T> static inline T atomicCAS(T *word, T expected, T value)
{
    T before = *word;

    if (before == expected)
        *word = value;
    lanes_yield();
    return before;
}

/* PEs are masked by such: one that is late comes meanwhile, and other groups see what this one has not waited for. */
#define EP_AGREES() (!lanes_mutant("no_agreement"))
void lanes_masked(void);

template <class T> static inline T atomicExch(T *word, T value)
{
    T before = *word;

    *word = value;
    if (sizeof value == 4)
        lanes_masked();
    lanes_yield();
    return before;
}

/* A mutant loses a bit now and then, as without atomics. */
static inline void atomicOr(uint32_t *word, uint32_t bits)
{
    static unsigned times;

    if (!lanes_mutant("lost_bits") || ++times % 5)
        *word |= bits;
}

static inline uint64_t wsh_ptx_poll(const uint64_t *word)
{
    lanes_poll();
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* A mutant takes every word of a program to have come. */
static inline uint32_t wsh_ptx_poll(const uint32_t *word)
{
    lanes_poll();
    return lanes_mutant("early_signals") ? UINT32_MAX : __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void wsh_ptx_put(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static inline void wsh_ptx_signal_set(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    if (lanes_mutant("early_flags"))
        usleep(100); /* other processes poll */
    lanes_yield();
}

static inline uint64_t wsh_ptx_nanoseconds()
{
    struct timespec now;

    if (lanes_mutant("no_limit")) /* no wait is ever over */
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void wsh_ptx_acquire()
{
}

static inline void __nanosleep(unsigned)
{
    lanes_yield();
}

static inline unsigned atomicInc(unsigned *word, unsigned most)
{
    unsigned before = *word;

    *word = before >= most ? 0 : before + 1;
    return before;
}

template <class T> static inline T __ldcg(const T *at)
{
    return *at;
}

static inline int __ffs(int bits)
{
    return __builtin_ffs(bits);
}

static inline int __popc(unsigned bits)
{
    return __builtin_popcount(bits);
}

/* The library's calls by a warp: its first lane makes them. */
void lanes_put(void *dest, const void *source, size_t len, shmemx_counter_t counter, int pe);
void lanes_flush(void);
void lanes_wait(shmemx_counter_t counter, uint64_t value);
int lanes_look(shmemx_counter_t counter, uint64_t value);
uint64_t lanes_fetch(shmemx_counter_t counter);
#define shmemx_putmem_counted_nbi_warp lanes_put
#define shmemx_flush_warp lanes_flush
/* The host reads a handle's numbers where they are. */
#define shmem_putmem_nbi_warp(dest, source, len, pe) ((void)(dest), (void)(source))
#define shmem_putmem_signal_nbi_warp(dest, source, len, word, value, set, pe) ((void)(word))
#define shmemx_counter_wait_until lanes_wait
#define shmemx_counter_wait_until_timeout(counter, value, seconds) lanes_look(counter, value)
#define shmemx_counter_fetch lanes_fetch

#define EP_SHARED(type, name, n)            \
    static type name##_of[LANES_BLOCKS][n]; \
    type *const name = name##_of[blockIdx.x]
#define __device__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))

#include "ep/device/run.cuh"

#endif
