/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The atomic memory operations of the library, as a CPU performs them on host memory. All transports use these
 * functions, so operations through shared memory, over the network and of the PE itself exclude each other.
 */
#ifndef WSH_BASE_ATOMIC_H
#define WSH_BASE_ATOMIC_H

#include "base/amo_op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Applies `op` to the naturally aligned word of `width` bytes (4 or 8) at `addr` and returns its old value
 * in the low bytes. `operand` and `compare` are bit patterns in the low bytes.
 *
 * Order: sequentially consistent read-modify-writes; FETCH is an acquire load, partner of SET's release store
 * and of every other operation's release half.
 */
static inline uint64_t wsh_amo_apply32(void *addr, enum wsh_amo_op op, uint64_t operand, uint64_t compare)
{
    uint32_t *word = addr, value = (uint32_t)operand, expected = (uint32_t)compare;

    switch (op) {
    case WSH_AMO_FETCH: return __atomic_load_n(word, __ATOMIC_ACQUIRE);
    case WSH_AMO_SET: __atomic_store_n(word, value, __ATOMIC_RELEASE); return 0;
    case WSH_AMO_SWAP: return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
    case WSH_AMO_CSWAP:
        __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return expected;
    case WSH_AMO_ADD: return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
    case WSH_AMO_AND: return __atomic_fetch_and(word, value, __ATOMIC_SEQ_CST);
    case WSH_AMO_OR: return __atomic_fetch_or(word, value, __ATOMIC_SEQ_CST);
    case WSH_AMO_XOR: return __atomic_fetch_xor(word, value, __ATOMIC_SEQ_CST);
    default: return 0;
    }
}

static inline uint64_t wsh_amo_apply64(void *addr, enum wsh_amo_op op, uint64_t operand, uint64_t compare)
{
    uint64_t *word = addr, value = (uint64_t)operand, expected = (uint64_t)compare;

    switch (op) {
    case WSH_AMO_FETCH: return __atomic_load_n(word, __ATOMIC_ACQUIRE);
    case WSH_AMO_SET: __atomic_store_n(word, value, __ATOMIC_RELEASE); return 0;
    case WSH_AMO_SWAP: return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
    case WSH_AMO_CSWAP:
        __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return expected;
    case WSH_AMO_ADD: return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
    case WSH_AMO_AND: return __atomic_fetch_and(word, value, __ATOMIC_SEQ_CST);
    case WSH_AMO_OR: return __atomic_fetch_or(word, value, __ATOMIC_SEQ_CST);
    case WSH_AMO_XOR: return __atomic_fetch_xor(word, value, __ATOMIC_SEQ_CST);
    default: return 0;
    }
}

static inline uint64_t wsh_amo_apply(void *addr, enum wsh_amo_op op, unsigned width, uint64_t operand,
                                     uint64_t compare)
{
    return width == 4 ? wsh_amo_apply32(addr, op, operand, compare)
                      : wsh_amo_apply64(addr, op, operand, compare);
}

/* Stores the low `width` (4 or 8) bytes of an operation's old value. */
static inline void wsh_amo_store_result(void *result, unsigned width, uint64_t value)
{
    uint32_t low = (uint32_t)value;

    if (width == 4)
        memcpy(result, &low, 4);
    else
        memcpy(result, &value, 8);
}

/*
 * Order between two threads of this process that passes through another process (a word in shared memory, a peer, a
 * message back) is real, but ThreadSanitizer cannot see it. These calls declare it: `leaves` before a word that a peer
 * may answer to is stored or sent, `returns` before what a peer sent is stored or read here. They do nothing in other
 * builds.
 */
#ifdef __SANITIZE_THREAD__
extern char wsh_order_outside;
void __tsan_acquire(void *token);
void __tsan_release(void *token);

static inline void wsh_order_leaves(void)
{
    __tsan_release(&wsh_order_outside);
}

static inline void wsh_order_returns(void)
{
    __tsan_acquire(&wsh_order_outside);
}
#else
static inline void wsh_order_leaves(void)
{
}

static inline void wsh_order_returns(void)
{
}
#endif

/* The line at `addr` will be written: bring it here meanwhile. GCC's own is a load by default on x86. */
static inline void wsh_cpu_will_write(const void *addr)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)addr));
#else
    __builtin_prefetch(addr, 1);
#endif
}

/* Tells the core that it spins, without giving it up. */
static inline void wsh_cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" ::: "memory");
#endif
}

/*
 * For the functions that every operation runs through, whose locals are scalars and structs without arrays: nothing
 * there can run over, and a stack protector costs 6 instructions a function.
 */
#if defined __has_attribute
#if __has_attribute(no_stack_protector)
#define WSH_NO_ARRAYS __attribute__((no_stack_protector))
#endif
#endif
#ifndef WSH_NO_ARRAYS
#define WSH_NO_ARRAYS
#endif

#define wsh_likely(x) __builtin_expect(!!(x), 1)
#define wsh_unlikely(x) __builtin_expect(!!(x), 0)
#define WSH_INLINE inline __attribute__((always_inline))

#endif
