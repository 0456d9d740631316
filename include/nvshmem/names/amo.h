/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics, on the host and in kernels. */
#ifndef WSH_NV_AMO_H
#define WSH_NV_AMO_H

#include "shell.h"

/* clang-format off */

#define WSH_NV_EXTENDED(NAME, TYPE)                                                                          \
    WSH_NV_BOTH TYPE nvshmem_##NAME##_atomic_fetch(const TYPE *source, int pe)                               \
    {                                                                                                        \
        return shmem_##NAME##_atomic_fetch(source, pe);                                                      \
    }                                                                                                        \
    WSH_NV_BOTH void nvshmem_##NAME##_atomic_set(TYPE *dest, TYPE value, int pe)                             \
    {                                                                                                        \
        shmem_##NAME##_atomic_set(dest, value, pe);                                                          \
    }                                                                                                        \
    WSH_NV_BOTH TYPE nvshmem_##NAME##_atomic_swap(TYPE *dest, TYPE value, int pe)                            \
    {                                                                                                        \
        return shmem_##NAME##_atomic_swap(dest, value, pe);                                                  \
    }
WSH_AMO_EXTENDED_TYPES(WSH_NV_EXTENDED)
#undef WSH_NV_EXTENDED

#define WSH_NV_STANDARD(NAME, TYPE)                                                                          \
    WSH_NV_BOTH TYPE nvshmem_##NAME##_atomic_compare_swap(TYPE *dest, TYPE cond, TYPE value, int pe)         \
    {                                                                                                        \
        return shmem_##NAME##_atomic_compare_swap(dest, cond, value, pe);                                    \
    }                                                                                                        \
    WSH_NV_BOTH TYPE nvshmem_##NAME##_atomic_fetch_add(TYPE *dest, TYPE value, int pe)                       \
    {                                                                                                        \
        return shmem_##NAME##_atomic_fetch_add(dest, value, pe);                                             \
    }                                                                                                        \
    WSH_NV_BOTH TYPE nvshmem_##NAME##_atomic_fetch_inc(TYPE *dest, int pe)                                   \
    {                                                                                                        \
        return shmem_##NAME##_atomic_fetch_inc(dest, pe);                                                    \
    }                                                                                                        \
    WSH_NV_BOTH void nvshmem_##NAME##_atomic_add(TYPE *dest, TYPE value, int pe)                             \
    {                                                                                                        \
        shmem_##NAME##_atomic_add(dest, value, pe);                                                          \
    }                                                                                                        \
    WSH_NV_BOTH void nvshmem_##NAME##_atomic_inc(TYPE *dest, int pe)                                         \
    {                                                                                                        \
        shmem_##NAME##_atomic_inc(dest, pe);                                                                 \
    }
WSH_AMO_TYPES(WSH_NV_STANDARD)
#undef WSH_NV_STANDARD

#define WSH_NV_BITWISE(NAME, TYPE, OP)                                                                       \
    WSH_NV_BOTH TYPE nvshmem_##NAME##_atomic_fetch_##OP(TYPE *dest, TYPE value, int pe)                      \
    {                                                                                                        \
        return shmem_##NAME##_atomic_fetch_##OP(dest, value, pe);                                            \
    }                                                                                                        \
    WSH_NV_BOTH void nvshmem_##NAME##_atomic_##OP(TYPE *dest, TYPE value, int pe)                            \
    {                                                                                                        \
        shmem_##NAME##_atomic_##OP(dest, value, pe);                                                         \
    }
#define WSH_NV_ALL_BITWISE(NAME, TYPE)  \
    WSH_NV_BITWISE(NAME, TYPE, and)     \
    WSH_NV_BITWISE(NAME, TYPE, or)      \
    WSH_NV_BITWISE(NAME, TYPE, xor)
WSH_AMO_BITWISE_TYPES(WSH_NV_ALL_BITWISE)
#undef WSH_NV_ALL_BITWISE
#undef WSH_NV_BITWISE

#ifdef __cplusplus

/*
 * Sums of floating-point words: of kernels the GPU's own, where it reaches the word; else they are swapped in, until
 * nobody has come between. Both are atomic with respect to each other and to the other atomics of the word.
 */
#if defined __CUDA_ARCH__ && defined WSH_NV_KERNELS

#define WSH_NV_FLOATING(NAME, TYPE, INTEGER, WORD)                                                           \
    WSH_NV_BOTH TYPE nvshmemx_##NAME##_atomic_fetch_add(TYPE *dest, TYPE value, int pe)                      \
    {                                                                                                        \
        return shmemx_##NAME##_atomic_fetch_add(dest, value, pe);                                            \
    }                                                                                                        \
    WSH_NV_BOTH void nvshmemx_##NAME##_atomic_add(TYPE *dest, TYPE value, int pe)                            \
    {                                                                                                        \
        shmemx_##NAME##_atomic_add(dest, value, pe);                                                         \
    }

#else

#define WSH_NV_FLOATING(NAME, TYPE, INTEGER, WORD)                                                           \
    WSH_NV_BOTH TYPE nvshmemx_##NAME##_atomic_fetch_add(TYPE *dest, TYPE value, int pe)                      \
    {                                                                                                        \
        WORD *word = (WORD *)dest, seen = shmem_##INTEGER##_atomic_fetch(word, pe), before, bits;            \
        TYPE old, sum;                                                                                       \
                                                                                                             \
        do {                                                                                                 \
            before = seen;                                                                                   \
            wsh_nv_copy(&old, &before);                                                                      \
            sum = old + value;                                                                               \
            wsh_nv_copy(&bits, &sum);                                                                        \
            seen = shmem_##INTEGER##_atomic_compare_swap(word, before, bits, pe);                            \
        } while (seen != before);                                                                            \
        return old;                                                                                          \
    }                                                                                                        \
    WSH_NV_BOTH void nvshmemx_##NAME##_atomic_add(TYPE *dest, TYPE value, int pe)                            \
    {                                                                                                        \
        nvshmemx_##NAME##_atomic_fetch_add(dest, value, pe);                                                 \
    }

#endif

/* The bits of one type as those of another. */
template <class T, class F>
WSH_NV_INNER void wsh_nv_copy(T *to, const F *from)
{
    static_assert(sizeof *to == sizeof *from, "as many bits");
    for (unsigned i = 0; i < sizeof *to; i++)
        ((char *)to)[i] = ((const char *)from)[i];
}

WSH_NV_FLOATING(float, float, uint32, uint32_t)
WSH_NV_FLOATING(double, double, uint64, uint64_t)
#undef WSH_NV_FLOATING

#ifdef WSH_NV_HAS_HALF

/* The word of 32 bits that holds it, and how many bits lie below it there. */
struct wsh_nv_half_place {
    uint32_t *word;
    unsigned shift;
};

WSH_NV_INNER struct wsh_nv_half_place wsh_nv_half_find(const __half *at)
{
    struct wsh_nv_half_place place = {(uint32_t *)((uintptr_t)at & ~(uintptr_t)3), (unsigned)((uintptr_t)at & 2) * 8};

    return place;
}

WSH_NV_INNER __half wsh_nv_half_in(uint32_t word, unsigned shift)
{
    uint16_t bits = (uint16_t)(word >> shift);
    __half value;

    wsh_nv_copy(&value, &bits);
    return value;
}

WSH_NV_INNER uint32_t wsh_nv_half_into(uint32_t word, unsigned shift, __half value)
{
    uint16_t bits;

    wsh_nv_copy(&bits, &value);
    return (word & ~(0xffffu << shift)) | (uint32_t)bits << shift;
}

/* Replaces it by `value`, or by the sum of both. Its neighbour in the word keeps what others write meanwhile. */
WSH_NV_INNER __half wsh_nv_half_update(__half *dest, __half value, bool add, int pe)
{
    struct wsh_nv_half_place at = wsh_nv_half_find(dest);
    uint32_t seen = shmem_uint32_atomic_fetch(at.word, pe), before;
    __half old;

    do {
        before = seen;
        old = wsh_nv_half_in(before, at.shift);
        seen = shmem_uint32_atomic_compare_swap(
            at.word, before,
            wsh_nv_half_into(before, at.shift, add ? __float2half(__half2float(old) + __half2float(value)) : value),
            pe);
    } while (seen != before);
    return old;
}

WSH_NV_BOTH __half nvshmem_half_atomic_fetch(const __half *source, int pe)
{
    struct wsh_nv_half_place at = wsh_nv_half_find(source);

    return wsh_nv_half_in(shmem_uint32_atomic_fetch(at.word, pe), at.shift);
}

WSH_NV_BOTH void nvshmem_half_atomic_set(__half *dest, __half value, int pe)
{
    wsh_nv_half_update(dest, value, false, pe);
}

WSH_NV_BOTH __half nvshmem_half_atomic_swap(__half *dest, __half value, int pe)
{
    return wsh_nv_half_update(dest, value, false, pe);
}

WSH_NV_BOTH __half nvshmemx_half_atomic_fetch_add(__half *dest, __half value, int pe)
{
    return wsh_nv_half_update(dest, value, true, pe);
}

WSH_NV_BOTH void nvshmemx_half_atomic_add(__half *dest, __half value, int pe)
{
    wsh_nv_half_update(dest, value, true, pe);
}

#endif
#endif
#endif
