/* SPDX-License-Identifier: BSD-3-Clause */
/* The public atomics (section 9.7): below the shells there are only width, operator and bits. */
#include "runtime/api/amo_shell.h"

/* clang-format off */

/* Operators that take a value: shmem_<NAME>_atomic_<OP>. */
#define WSH_VALUE(NAME, TYPE, OP, OPERATOR)                                                        \
    WSH_SHELL(void, NAME##_atomic_##OP, (TYPE *dest, TYPE value, int pe))                          \
    {                                                                                              \
        word_amo("shmem_" #NAME "_atomic_" #OP ": dest", wsh_amo, SHMEM_CTX_DEFAULT, dest,              \
            WSH_OP(OPERATOR, TYPE, WSH_BITS(value), 0), NULL, pe);                                 \
    }                                                                                              \
    WSH_SHELL(void, ctx_##NAME##_atomic_##OP,                                                      \
              (shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe))                                   \
    {                                                                                              \
        word_amo("shmem_ctx_" #NAME "_atomic_" #OP ": dest", wsh_amo, ctx, dest,                        \
            WSH_OP(OPERATOR, TYPE, WSH_BITS(value), 0), NULL, pe);                                 \
    }

/* The same, which give the old value: returned, or (_nbi) stored in *fetch. */
#define WSH_FETCH_VALUE(NAME, TYPE, OP, OPERATOR)                                                  \
    WSH_SHELL(TYPE, NAME##_atomic_##OP, (TYPE *dest, TYPE value, int pe))                          \
    {                                                                                              \
        TYPE old;                                                                                  \
        word_amo("shmem_" #NAME "_atomic_" #OP ": dest", wsh_amo, SHMEM_CTX_DEFAULT, dest,              \
            WSH_OP(OPERATOR, TYPE, WSH_BITS(value), 0), &old, pe);                                 \
        return old;                                                                                \
    }                                                                                              \
    WSH_SHELL(TYPE, ctx_##NAME##_atomic_##OP,                                                      \
              (shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe))                                   \
    {                                                                                              \
        TYPE old;                                                                                  \
        word_amo("shmem_ctx_" #NAME "_atomic_" #OP ": dest", wsh_amo, ctx, dest,                        \
            WSH_OP(OPERATOR, TYPE, WSH_BITS(value), 0), &old, pe);                                 \
        return old;                                                                                \
    }                                                                                              \
    WSH_SHELL(void, NAME##_atomic_##OP##_nbi, (TYPE *fetch, TYPE *dest, TYPE value, int pe))       \
    {                                                                                              \
        amo_nbi("shmem_" #NAME "_atomic_" #OP "_nbi: dest", SHMEM_CTX_DEFAULT, dest,               \
                WSH_OP(OPERATOR, TYPE, WSH_BITS(value), 0), fetch, pe);                            \
    }                                                                                              \
    WSH_SHELL(void, ctx_##NAME##_atomic_##OP##_nbi,                                                \
              (shmem_ctx_t ctx, TYPE *fetch, TYPE *dest, TYPE value, int pe))                      \
    {                                                                                              \
        amo_nbi("shmem_ctx_" #NAME "_atomic_" #OP "_nbi: dest", ctx, dest,                         \
                WSH_OP(OPERATOR, TYPE, WSH_BITS(value), 0), fetch, pe);                            \
    }

/*
 * Operators without a value (its place is taken by CONSTANT), which give the old value. POINTEE: of
 * SIDE.
 */
#define WSH_FETCH_ONLY(NAME, TYPE, OP, OPERATOR, CONSTANT, POINTEE, SIDE)                          \
    WSH_SHELL(TYPE, NAME##_atomic_##OP, (POINTEE *SIDE, int pe))                                   \
    {                                                                                              \
        TYPE old;                                                                                  \
        word_amo("shmem_" #NAME "_atomic_" #OP ": " #SIDE, wsh_amo, SHMEM_CTX_DEFAULT, SIDE,            \
            WSH_OP(OPERATOR, TYPE, CONSTANT, 0), &old, pe);                                        \
        return old;                                                                                \
    }                                                                                              \
    WSH_SHELL(TYPE, ctx_##NAME##_atomic_##OP, (shmem_ctx_t ctx, POINTEE *SIDE, int pe))            \
    {                                                                                              \
        TYPE old;                                                                                  \
        word_amo("shmem_ctx_" #NAME "_atomic_" #OP ": " #SIDE, wsh_amo, ctx, SIDE,                      \
            WSH_OP(OPERATOR, TYPE, CONSTANT, 0), &old, pe);                                        \
        return old;                                                                                \
    }                                                                                              \
    WSH_SHELL(void, NAME##_atomic_##OP##_nbi, (TYPE *fetch, POINTEE *SIDE, int pe))                \
    {                                                                                              \
        amo_nbi("shmem_" #NAME "_atomic_" #OP "_nbi: " #SIDE, SHMEM_CTX_DEFAULT, SIDE,             \
                WSH_OP(OPERATOR, TYPE, CONSTANT, 0), fetch, pe);                                   \
    }                                                                                              \
    WSH_SHELL(void, ctx_##NAME##_atomic_##OP##_nbi,                                                \
              (shmem_ctx_t ctx, TYPE *fetch, POINTEE *SIDE, int pe))                               \
    {                                                                                              \
        amo_nbi("shmem_ctx_" #NAME "_atomic_" #OP "_nbi: " #SIDE, ctx, SIDE,                       \
                WSH_OP(OPERATOR, TYPE, CONSTANT, 0), fetch, pe);                                   \
    }

#define WSH_EXTENDED(NAME, TYPE)                                         \
    WSH_VALUE(NAME, TYPE, set, SET)                                      \
    WSH_FETCH_VALUE(NAME, TYPE, swap, SWAP)                              \
    WSH_FETCH_ONLY(NAME, TYPE, fetch, FETCH, 0, const TYPE, source)
WSH_AMO_EXTENDED_TYPES(WSH_EXTENDED)
#undef WSH_EXTENDED

#define WSH_STANDARD(NAME, TYPE)                                 \
    WSH_VALUE(NAME, TYPE, add, ADD)                              \
    WSH_FETCH_VALUE(NAME, TYPE, fetch_add, ADD)                  \
    WSH_FETCH_ONLY(NAME, TYPE, fetch_inc, ADD, 1, TYPE, dest)
WSH_AMO_TYPES(WSH_STANDARD)
#undef WSH_STANDARD

#define WSH_BITWISE(NAME, TYPE)                 \
    WSH_VALUE(NAME, TYPE, and, AND)             \
    WSH_VALUE(NAME, TYPE, or, OR)               \
    WSH_VALUE(NAME, TYPE, xor, XOR)             \
    WSH_FETCH_VALUE(NAME, TYPE, fetch_and, AND) \
    WSH_FETCH_VALUE(NAME, TYPE, fetch_or, OR)   \
    WSH_FETCH_VALUE(NAME, TYPE, fetch_xor, XOR)
WSH_AMO_BITWISE_TYPES(WSH_BITWISE)
#undef WSH_BITWISE
#undef WSH_VALUE
#undef WSH_FETCH_VALUE
#undef WSH_FETCH_ONLY

#define WSH_INC(NAME, TYPE)                                                            \
    WSH_SHELL(void, NAME##_atomic_inc, (TYPE *dest, int pe))                           \
    {                                                                                  \
        word_amo("shmem_" #NAME "_atomic_inc: dest", wsh_amo, SHMEM_CTX_DEFAULT, dest,      \
            WSH_OP(ADD, TYPE, 1, 0), NULL, pe);                                        \
    }                                                                                  \
    WSH_SHELL(void, ctx_##NAME##_atomic_inc, (shmem_ctx_t ctx, TYPE *dest, int pe))    \
    {                                                                                  \
        word_amo("shmem_ctx_" #NAME "_atomic_inc: dest", wsh_amo, ctx, dest,                \
            WSH_OP(ADD, TYPE, 1, 0), NULL, pe);                                        \
    }
WSH_AMO_TYPES(WSH_INC)
#undef WSH_INC

#define WSH_CSWAP(NAME, TYPE)                                                                      \
    WSH_SHELL(TYPE, NAME##_atomic_compare_swap, (TYPE *dest, TYPE cond, TYPE value, int pe))       \
    {                                                                                              \
        TYPE old;                                                                                  \
        word_amo("shmem_" #NAME "_atomic_compare_swap: dest", wsh_amo, SHMEM_CTX_DEFAULT, dest,         \
            WSH_OP(CSWAP, TYPE, WSH_BITS(value), WSH_BITS(cond)), &old, pe);                       \
        return old;                                                                                \
    }                                                                                              \
    WSH_SHELL(TYPE, ctx_##NAME##_atomic_compare_swap,                                              \
              (shmem_ctx_t ctx, TYPE *dest, TYPE cond, TYPE value, int pe))                        \
    {                                                                                              \
        TYPE old;                                                                                  \
        word_amo("shmem_ctx_" #NAME "_atomic_compare_swap: dest", wsh_amo, ctx, dest,                   \
            WSH_OP(CSWAP, TYPE, WSH_BITS(value), WSH_BITS(cond)), &old, pe);                       \
        return old;                                                                                \
    }                                                                                              \
    WSH_SHELL(void, NAME##_atomic_compare_swap_nbi,                                                \
              (TYPE *fetch, TYPE *dest, TYPE cond, TYPE value, int pe))                            \
    {                                                                                              \
        amo_nbi("shmem_" #NAME "_atomic_compare_swap_nbi: dest", SHMEM_CTX_DEFAULT, dest,          \
                WSH_OP(CSWAP, TYPE, WSH_BITS(value), WSH_BITS(cond)), fetch, pe);                  \
    }                                                                                              \
    WSH_SHELL(void, ctx_##NAME##_atomic_compare_swap_nbi,                                          \
              (shmem_ctx_t ctx, TYPE *fetch, TYPE *dest, TYPE cond, TYPE value, int pe))           \
    {                                                                                              \
        amo_nbi("shmem_ctx_" #NAME "_atomic_compare_swap_nbi: dest", ctx, dest,                    \
                WSH_OP(CSWAP, TYPE, WSH_BITS(value), WSH_BITS(cond)), fetch, pe);                  \
    }
WSH_AMO_TYPES(WSH_CSWAP)
#undef WSH_CSWAP
