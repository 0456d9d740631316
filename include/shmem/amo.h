/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic memory operations: section 9.7 of OpenSHMEM 1.6. Read by shmem.h and pshmem.h under their names.
 *
 * Each routine reads or changes one naturally aligned object at a symmetric address of `pe`. It is
 * atomic with respect to all other atomic and signal operations on that object, by any PE and over any
 * transport, and to wait_until and test. Integers wrap around.
 */
#ifndef WSH_NAME
#include <shmem.h>
#else

/* clang-format off */
/*
 * fetch returns the object's value, set writes `value`, swap writes `value` and returns the old one.
 * Routines that return a value have completed on return; the others are complete when the context's
 * next quiet returns. Sections 9.7.1.1, .2, .4.
 *
 * Nonblocking (_nbi): returns at once; the old value is in *fetch, a local object, when the context's
 * next quiet has returned. Section 9.7.2.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    TYPE WSH_NAME(NAME##_atomic_fetch)(const TYPE *source, int pe);                                \
    TYPE WSH_NAME(ctx_##NAME##_atomic_fetch)(shmem_ctx_t ctx, const TYPE *source, int pe);         \
    void WSH_NAME(NAME##_atomic_set)(TYPE *dest, TYPE value, int pe);                              \
    void WSH_NAME(ctx_##NAME##_atomic_set)(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe);       \
    TYPE WSH_NAME(NAME##_atomic_swap)(TYPE *dest, TYPE value, int pe);                             \
    TYPE WSH_NAME(ctx_##NAME##_atomic_swap)(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe);      \
    void WSH_NAME(NAME##_atomic_fetch_nbi)(TYPE *fetch, const TYPE *source, int pe);               \
    void WSH_NAME(ctx_##NAME##_atomic_fetch_nbi)(shmem_ctx_t ctx, TYPE *fetch,                     \
                                                 const TYPE *source, int pe);                      \
    void WSH_NAME(NAME##_atomic_swap_nbi)(TYPE *fetch, TYPE *dest, TYPE value, int pe);            \
    void WSH_NAME(ctx_##NAME##_atomic_swap_nbi)(shmem_ctx_t ctx, TYPE *fetch, TYPE *dest,          \
                                                TYPE value, int pe);
WSH_AMO_EXTENDED_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

/*
 * compare_swap writes `value` if the object equals `cond`, and returns the old value in any case; add
 * adds `value`, inc adds 1. Sections 9.7.1.3, .5 to .8, 9.7.2.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    TYPE WSH_NAME(NAME##_atomic_compare_swap)(TYPE *dest, TYPE cond, TYPE value, int pe);          \
    TYPE WSH_NAME(ctx_##NAME##_atomic_compare_swap)(shmem_ctx_t ctx, TYPE *dest, TYPE cond,        \
                                                    TYPE value, int pe);                           \
    TYPE WSH_NAME(NAME##_atomic_fetch_inc)(TYPE *dest, int pe);                                    \
    TYPE WSH_NAME(ctx_##NAME##_atomic_fetch_inc)(shmem_ctx_t ctx, TYPE *dest, int pe);             \
    void WSH_NAME(NAME##_atomic_inc)(TYPE *dest, int pe);                                          \
    void WSH_NAME(ctx_##NAME##_atomic_inc)(shmem_ctx_t ctx, TYPE *dest, int pe);                   \
    TYPE WSH_NAME(NAME##_atomic_fetch_add)(TYPE *dest, TYPE value, int pe);                        \
    TYPE WSH_NAME(ctx_##NAME##_atomic_fetch_add)(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe); \
    void WSH_NAME(NAME##_atomic_add)(TYPE *dest, TYPE value, int pe);                              \
    void WSH_NAME(ctx_##NAME##_atomic_add)(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe);       \
    void WSH_NAME(NAME##_atomic_compare_swap_nbi)(TYPE *fetch, TYPE *dest, TYPE cond, TYPE value,  \
                                                  int pe);                                         \
    void WSH_NAME(ctx_##NAME##_atomic_compare_swap_nbi)(shmem_ctx_t ctx, TYPE *fetch, TYPE *dest,  \
                                                        TYPE cond, TYPE value, int pe);            \
    void WSH_NAME(NAME##_atomic_fetch_inc_nbi)(TYPE *fetch, TYPE *dest, int pe);                   \
    void WSH_NAME(ctx_##NAME##_atomic_fetch_inc_nbi)(shmem_ctx_t ctx, TYPE *fetch, TYPE *dest,     \
                                                     int pe);                                      \
    void WSH_NAME(NAME##_atomic_fetch_add_nbi)(TYPE *fetch, TYPE *dest, TYPE value, int pe);       \
    void WSH_NAME(ctx_##NAME##_atomic_fetch_add_nbi)(shmem_ctx_t ctx, TYPE *fetch, TYPE *dest,     \
                                                     TYPE value, int pe);
WSH_AMO_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

/* and, or and xor combine the object with `value` bit by bit. Sections 9.7.1.9 to .14, 9.7.2. */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    TYPE WSH_NAME(NAME##_atomic_fetch_and)(TYPE *dest, TYPE value, int pe);                        \
    TYPE WSH_NAME(ctx_##NAME##_atomic_fetch_and)(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe); \
    void WSH_NAME(NAME##_atomic_and)(TYPE *dest, TYPE value, int pe);                              \
    void WSH_NAME(ctx_##NAME##_atomic_and)(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe);       \
    TYPE WSH_NAME(NAME##_atomic_fetch_or)(TYPE *dest, TYPE value, int pe);                         \
    TYPE WSH_NAME(ctx_##NAME##_atomic_fetch_or)(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe);  \
    void WSH_NAME(NAME##_atomic_or)(TYPE *dest, TYPE value, int pe);                               \
    void WSH_NAME(ctx_##NAME##_atomic_or)(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe);        \
    TYPE WSH_NAME(NAME##_atomic_fetch_xor)(TYPE *dest, TYPE value, int pe);                        \
    TYPE WSH_NAME(ctx_##NAME##_atomic_fetch_xor)(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe); \
    void WSH_NAME(NAME##_atomic_xor)(TYPE *dest, TYPE value, int pe);                              \
    void WSH_NAME(ctx_##NAME##_atomic_xor)(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe);       \
    void WSH_NAME(NAME##_atomic_fetch_and_nbi)(TYPE *fetch, TYPE *dest, TYPE value, int pe);       \
    void WSH_NAME(ctx_##NAME##_atomic_fetch_and_nbi)(shmem_ctx_t ctx, TYPE *fetch, TYPE *dest,     \
                                                     TYPE value, int pe);                          \
    void WSH_NAME(NAME##_atomic_fetch_or_nbi)(TYPE *fetch, TYPE *dest, TYPE value, int pe);        \
    void WSH_NAME(ctx_##NAME##_atomic_fetch_or_nbi)(shmem_ctx_t ctx, TYPE *fetch, TYPE *dest,      \
                                                    TYPE value, int pe);                           \
    void WSH_NAME(NAME##_atomic_fetch_xor_nbi)(TYPE *fetch, TYPE *dest, TYPE value, int pe);       \
    void WSH_NAME(ctx_##NAME##_atomic_fetch_xor_nbi)(shmem_ctx_t ctx, TYPE *fetch, TYPE *dest,     \
                                                     TYPE value, int pe);
WSH_AMO_BITWISE_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

/*
 * Deprecated since 1.4: the names of before "atomic". fetch, set and swap as atomic_fetch, atomic_set
 * and atomic_swap; cswap as atomic_compare_swap; finc, inc, fadd, add as atomic_fetch_inc, atomic_inc,
 * atomic_fetch_add and atomic_add. Section 9.7.1.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    TYPE WSH_NAME(NAME##_fetch)(const TYPE *source, int pe);                                       \
    void WSH_NAME(NAME##_set)(TYPE *dest, TYPE value, int pe);                                     \
    TYPE WSH_NAME(NAME##_swap)(TYPE *dest, TYPE value, int pe);
WSH_AMO_OLD_EXTENDED_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

#define WSH_DECLARE(NAME, TYPE)                                                                    \
    TYPE WSH_NAME(NAME##_cswap)(TYPE *dest, TYPE cond, TYPE value, int pe);                        \
    TYPE WSH_NAME(NAME##_finc)(TYPE *dest, int pe);                                                \
    void WSH_NAME(NAME##_inc)(TYPE *dest, int pe);                                                 \
    TYPE WSH_NAME(NAME##_fadd)(TYPE *dest, TYPE value, int pe);                                    \
    void WSH_NAME(NAME##_add)(TYPE *dest, TYPE value, int pe);
WSH_AMO_OLD_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

#endif
