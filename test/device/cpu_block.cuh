/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets a host compiler build puts, gets and collectives of device code (device/coll/scan.cuh and what it includes): CPU
 * threads stand for the lanes of one or a few blocks of at most one warp each, which meet at a barrier; the view is an
 * ordinary object, filled as a unit's constant memory is.
 */
#ifndef WSH_TEST_DEVICE_CPU_BLOCK_CUH
#define WSH_TEST_DEVICE_CPU_BLOCK_CUH

#include "test/device/cpu_ring.cuh"

#include <cassert>
#include <cstdlib>
#include <sched.h>
#include <thread>
#include <time.h>
#include <vector>

#define __constant__
#define __shared__ static /* there is one block */

/* In place of device/api/launch.cuh: nothing is launched. */
#define WSH_DEVICE_LAUNCH_CUH
static inline int wsh_launch_find(const void *, void **)
{
    return 1;
}

/* As CUDA's: 0 is success. */
template <class T> static inline int cudaMemcpyToSymbol(T &symbol, const void *from, size_t len)
{
    memcpy(&symbol, from, len);
    return 0;
}

enum { CPU_BLOCKS = 4 };
extern thread_local struct cpu_dim blockIdx;
extern struct cpu_dim gridDim;

static inline bool __isGlobal(const void *)
{
    return true;
}

template <class T> static inline T wsh_ptx_swap(T *word, T value)
{
    return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL);
}

template <class T> static inline T wsh_ptx_compare_swap(T *word, T cond, T value)
{
    __atomic_compare_exchange_n(word, &cond, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return cond;
}

static inline uint32_t wsh_ptx_count(uint32_t *word)
{
    return __atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL);
}

static inline uint32_t wsh_ptx_count_only(uint32_t *word)
{
    return __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
}

#define CPU_FETCH(OP)                                                         \
    template <class T> static inline T wsh_ptx_fetch_##OP(T *word, T operand) \
    {                                                                         \
        return __atomic_fetch_##OP(word, operand, __ATOMIC_ACQ_REL);          \
    }
CPU_FETCH(add)
CPU_FETCH(and)
CPU_FETCH(or)
CPU_FETCH(xor)
#undef CPU_FETCH

/*
 * Not a fence, which ThreadSanitizer does not know; as strong on the processors that tests run on. Others may take the
 * processor here, now and then for long.
 */
static inline void wsh_ptx_fence_sc()
{
    static unsigned calls;
    const struct timespec some = {0, 6000000};

    if (__atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST) % 64)
        sched_yield();
    else
        nanosleep(&some, NULL);
}

static inline void wsh_ptx_now(uint64_t &)
{
}

static inline void wsh_ptx_here(uint32_t &)
{
}

static inline void wsh_ptx_fence()
{
}

/* In place of device/ptx/half.cuh: numbers of 16 bits are worked out by GPUs alone. */
#define WSH_DEVICE_PTX_HALF_CUH
float wsh_ptx_from_half(uint16_t bits);
uint16_t wsh_ptx_to_half(float value);
float wsh_ptx_from_bfloat16(uint16_t bits);
uint16_t wsh_ptx_to_bfloat16(float value);

/* Asked for between looks. */
static inline uint64_t wsh_ptx_nanoseconds()
{
    struct timespec now;

    sched_yield();
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void wsh_ptx_exit()
{
}

[[noreturn]] static inline void wsh_ptx_trap()
{
    abort();
}

/* Runs call() by n threads at once in each of so many blocks, each as a lane. */
template <class CALL> static void cpu_grid_run(unsigned n_blocks, unsigned n, const CALL &call)
{
    void cpu_grid_begin(unsigned n_blocks, unsigned n);
    std::vector<std::thread> lanes;

    cpu_grid_begin(n_blocks, n);
    for (unsigned i = 0; i < n_blocks * n; i++)
        lanes.emplace_back([i, n, &call] {
            threadIdx = cpu_dim{i % n, 0, 0};
            blockIdx = cpu_dim{i / n, 0, 0};
            call();
        });
    for (std::thread &lane : lanes)
        lane.join();
}

template <class CALL> static void cpu_block_run(unsigned n, const CALL &call)
{
    cpu_grid_run(1, n, call);
}

#endif
