/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words of symmetric objects that a program reads or changes for their value: relaxed, at system scope, as those of
 * ptx.cuh, whose instructions they become. But nvcc's own operations, not asm, which it takes for something that all
 * lanes of a warp must meet at: so a loop that asks the same question in each turn (is the PE mapped?) has the question
 * before it, and several loads or atomics in flight. None is left out, merged or taken from the L1: polls stay polls.
 *
 * Atomics take a generic address. Of one whose value nobody uses ptxas then awaits nothing (ATOM to RZ without a
 * scoreboard). At a global address each turn of a loop awaits what the last one has sent: a kernel with fences that
 * acquire, as in a quiet or a wait, keeps the atomic, where ptxas would make it a reduction.
 * A part of ptx.cuh.
 */
#ifndef WSH_DEVICE_PTX_WORD_CUH
#define WSH_DEVICE_PTX_WORD_CUH

#include "ptx.cuh"

#ifdef __clang__ /* which has none of nvcc's functions where it makes bitcode */
#define WSH_PTX_WORD(NAME, CALL)                                                  \
    template <class T> static WSH_DEV T wsh_ptx_word_##NAME(T *g_word, T operand) \
    {                                                                             \
        return wsh_ptx_##NAME(g_word, operand);                                   \
    }

template <class T> static WSH_DEV T wsh_ptx_word(const T *g_word)
{
    return wsh_ptx_get(g_word);
}

template <class T> static WSH_DEV T wsh_ptx_word_compare_swap(T *g_word, T cond, T value)
{
    return wsh_ptx_compare_swap(g_word, cond, value);
}
#else

/* The word as one that the compiler knows to be in global memory; and as one anywhere. */
template <class T, class AT> static WSH_DEV T *wsh_ptx_word_at(AT *g_word)
{
    return (T *)__cvta_global_to_generic((size_t)g_word);
}

template <class T, class AT> static WSH_DEV T *wsh_ptx_word_any(AT *g_word)
{
    return (T *)g_word;
}

#define WSH_PTX_WORD(NAME, CALL)                                                                \
    static WSH_DEV uint32_t wsh_ptx_word_##NAME(uint32_t *g_word, uint32_t operand)             \
    {                                                                                           \
        return CALL(wsh_ptx_word_any<unsigned>(g_word), operand);                               \
    }                                                                                           \
    static WSH_DEV uint64_t wsh_ptx_word_##NAME(uint64_t *g_word, uint64_t operand)             \
    {                                                                                           \
        return CALL(wsh_ptx_word_any<unsigned long long>(g_word), (unsigned long long)operand); \
    }

/* Volatile is how CUDA spells ld.relaxed.sys. T is an unsigned type of 1 to 8 bytes. */
template <class T> static WSH_DEV T wsh_ptx_word(const T *g_word)
{
    return *wsh_ptx_word_at<const volatile T>(g_word);
}

static WSH_DEV uint32_t wsh_ptx_word_compare_swap(uint32_t *g_word, uint32_t cond, uint32_t value)
{
    return atomicCAS_system(wsh_ptx_word_any<unsigned>(g_word), cond, value);
}

static WSH_DEV uint64_t wsh_ptx_word_compare_swap(uint64_t *g_word, uint64_t cond, uint64_t value)
{
    return atomicCAS_system(wsh_ptx_word_any<unsigned long long>(g_word), (unsigned long long)cond,
                            (unsigned long long)value);
}
#endif

WSH_PTX_WORD(swap, atomicExch_system)
WSH_PTX_WORD(fetch_add, atomicAdd_system)
WSH_PTX_WORD(fetch_and, atomicAnd_system)
WSH_PTX_WORD(fetch_or, atomicOr_system)
WSH_PTX_WORD(fetch_xor, atomicXor_system)
#undef WSH_PTX_WORD

#endif
