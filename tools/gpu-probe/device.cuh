// SPDX-License-Identifier: BSD-3-Clause
// The few device instructions the questions are about, one function each.
#pragma once
#include <stdint.h>

__device__ __forceinline__ uint64_t clock_ns()
{
    uint64_t ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

__device__ __forceinline__ void store_relaxed(uint64_t *at, uint64_t value)
{
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}

__device__ __forceinline__ void store_release(uint64_t *at, uint64_t value)
{
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}

__device__ __forceinline__ uint64_t load_relaxed(const uint64_t *at)
{
    uint64_t value;

    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}

__device__ __forceinline__ uint64_t load_acquire(const uint64_t *at)
{
    uint64_t value;

    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}

// Waits until *at >= value, or until the global timer passes `end`; false then.
__device__ __forceinline__ bool wait_for(const uint64_t *at, uint64_t value, uint64_t end)
{
    for (unsigned n = 1; load_relaxed(at) < value; n++)
        if (n % 64 == 0 && clock_ns() > end)
            return false;
    return true;
}

// The three ways to store 16 bytes, and to load them.
enum piece { PIECE_V4, PIECE_V2, PIECE_B128 };

template <int P> __device__ __forceinline__ void store_piece(void *at, uint64_t low, uint64_t high)
{
    if (P == PIECE_V4)
        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"((uint32_t)low),
                     "r"((uint32_t)(low >> 32)), "r"((uint32_t)high), "r"((uint32_t)(high >> 32))
                     : "memory");
    else if (P == PIECE_V2)
        asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(low), "l"(high)
                     : "memory");
    else
        asm volatile(
            "{\n\t.reg .b128 t;\n\tmov.b128 t, {%1, %2};\n\tst.relaxed.sys.global.b128 [%0], t;\n\t}" ::"l"(
                at),
            "l"(low), "l"(high)
            : "memory");
}

template <int P> __device__ __forceinline__ void load_piece(const void *at, uint64_t &low, uint64_t &high)
{
    uint32_t w[4];

    if (P == PIECE_V4) {
        asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                     : "l"(at)
                     : "memory");
        low = (uint64_t)w[1] << 32 | w[0];
        high = (uint64_t)w[3] << 32 | w[2];
    } else if (P == PIECE_V2) {
        asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                     : "=l"(low), "=l"(high)
                     : "l"(at)
                     : "memory");
    } else {
        asm volatile("{\n\t.reg .b128 t;\n\tld.relaxed.sys.global.b128 t, [%2];\n\tmov.b128 {%0, %1}, t;\n\t}"
                     : "=l"(low), "=l"(high)
                     : "l"(at)
                     : "memory");
    }
}

// Which fence, and the two flavours of a flag that include one.
enum fence_kind {
    FENCE_NONE,
    FENCE_ACQ_REL_SYS,
    FENCE_RELEASE_SYS,
    FENCE_ACQUIRE_SYS,
    FENCE_SC_SYS,
    FENCE_MEMBAR_SYS,
    FENCE_ACQ_REL_GPU,
    FENCE_STORE_RELEASE,
    FENCE_LOAD_RELAXED,
    FENCE_LOAD_ACQUIRE,
    FENCE_LOAD_THEN_ACQUIRE,
    FENCE_KINDS
};

template <int K> __device__ __forceinline__ uint64_t fence(uint64_t *flag)
{
    uint64_t value = 0;

    if (K == FENCE_ACQ_REL_SYS)
        asm volatile("fence.acq_rel.sys;" ::: "memory");
    if (K == FENCE_RELEASE_SYS)
        asm volatile("fence.release.sys;" ::: "memory");
    if (K == FENCE_SC_SYS)
        asm volatile("fence.sc.sys;" ::: "memory");
    if (K == FENCE_MEMBAR_SYS)
        asm volatile("membar.sys;" ::: "memory");
    if (K == FENCE_ACQ_REL_GPU)
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
    if (K == FENCE_STORE_RELEASE)
        store_release(flag, 1);
    if (K == FENCE_LOAD_RELAXED || K == FENCE_LOAD_THEN_ACQUIRE)
        value = load_relaxed(flag);
    if (K == FENCE_LOAD_ACQUIRE)
        value = load_acquire(flag);
    if (K == FENCE_LOAD_THEN_ACQUIRE)
        asm volatile("" ::"l"(value) : "memory");
    if (K == FENCE_ACQUIRE_SYS || K == FENCE_LOAD_THEN_ACQUIRE)
        asm volatile("fence.acquire.sys;" ::: "memory");
    return value;
}
