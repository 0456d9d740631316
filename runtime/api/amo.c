/* SPDX-License-Identifier: BSD-3-Clause */
/* The public atomics (section 9.7): below the shells there are only width, operator and bits. */
#include "runtime/op/amo.h"
#include "runtime/api/api.h"
#include "runtime/api/check/overwrite.h"
#include "runtime/wait/poll.h"

#include <string.h>

/* wsh_amo or wsh_amo_nbi */
typedef int amo_fn(struct wsh_ctx *ctx, void *sym, const struct wsh_amo *amo, void *result, int pe);

/* The bit pattern of a 4- or 8-byte value of any type. */
static WSH_INLINE uint64_t word_bits(const void *value, size_t width)
{
    uint64_t wide;
    uint32_t narrow;

    if (width == sizeof narrow)
        return memcpy(&narrow, value, sizeof narrow), narrow;
    return memcpy(&wide, value, sizeof wide), wide;
}

/* `result` is not written here. */
static WSH_COLD void check_amo(const char *what, shmem_ctx_t handle, const void *sym, size_t width,
                               void *result, int pe)
{
    wsh_check_transfer(what, handle, &(struct wsh_check_blocks){sym, result, 0, 0, 1, 1, width}, pe);
    if (result)
        wsh_overwrite_forget(NULL);
}

static WSH_INLINE void amo_by(const char *what, amo_fn *core, shmem_ctx_t handle, const void *sym,
                              const struct wsh_amo *op, void *result, int pe)
{
    int rc = core(wsh_api_ctx(what, handle), (void *)sym, op, result, pe);

    if (wsh_unlikely(rc))
        wsh_api_fail(what, rc, handle, sym, op->width, pe);
}

/* Out of line: it takes no room on the stack of other calls. */
static __attribute__((noinline)) void amo_checked(const char *what, amo_fn *core, shmem_ctx_t handle,
                                                  const void *sym, const struct wsh_amo *op, void *result,
                                                  int pe)
{
    if (wsh_job.check)
        check_amo(what, handle, sym, op->width, result, pe);
    if (wsh_job_is_special(&wsh_job, WSH_SPECIAL_STATS))
        wsh_stats_atomic(&wsh_job, wsh_api_world_pe(what, handle, pe));
    amo_by(what, core, handle, sym, op, result, pe);
}

/* A word that stays as it is may be one that the program polls. */
static WSH_INLINE void word_amo(const char *what, amo_fn *core, shmem_ctx_t handle, const void *sym,
                                const struct wsh_amo *op, void *result, int pe)
{
    const size_t width = op->width;

    if (wsh_unlikely(wsh_job.closer))
        amo_checked(what, core, handle, sym, op, result, pe);
    else
        amo_by(what, core, handle, sym, op, result, pe);
    if (result && core == wsh_amo && wsh_unlikely(wsh_job_is_special(&wsh_job, WSH_SPECIAL_POLLED)))
        wsh_poll_seen(&wsh_job, sym, word_bits(result, width));
}

static WSH_INLINE void amo_nbi(const char *what, shmem_ctx_t handle, const void *sym,
                               const struct wsh_amo *op, void *fetch, int pe)
{
    if (wsh_unlikely(!fetch))
        wsh_api_bad(what, "fetch is NULL");
    word_amo(what, wsh_amo_nbi, handle, sym, op, fetch, pe);
}

/* The operation OPERATOR of core with its operand, and with what it compares. */
#define WSH_OP(OPERATOR, TYPE, operand, compare) \
    (&(struct wsh_amo){WSH_AMO_##OPERATOR, sizeof(TYPE), operand, compare})
#define WSH_BITS(value) word_bits(&(value), sizeof(value))

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

/* Deprecated names (section 9.7.1), which have no context. */

/* shmem_TAG, which gives the old value. SIDE: its symmetric argument, OP: what it does. */
#define WSH_OLD_FETCHING(TAG, TYPE, ARGS, SIDE, OP)                                        \
    WSH_SHELL(TYPE, TAG, ARGS)                                                             \
    {                                                                                      \
        TYPE old;                                                                          \
        word_amo("shmem_" #TAG ": " #SIDE, wsh_amo, SHMEM_CTX_DEFAULT, SIDE, OP, &old, pe);     \
        return old;                                                                        \
    }

#define WSH_OLD_PLAIN(TAG, ARGS, OP)                                                       \
    WSH_SHELL(void, TAG, ARGS)                                                             \
    {                                                                                      \
        word_amo("shmem_" #TAG ": dest", wsh_amo, SHMEM_CTX_DEFAULT, dest, OP, NULL, pe);       \
    }

#define WSH_EXTENDED(NAME, TYPE)                                                           \
    WSH_OLD_FETCHING(NAME##_fetch, TYPE, (const TYPE *source, int pe), source,             \
                     WSH_OP(FETCH, TYPE, 0, 0))                                            \
    WSH_OLD_PLAIN(NAME##_set, (TYPE *dest, TYPE value, int pe),                            \
                  WSH_OP(SET, TYPE, WSH_BITS(value), 0))                                   \
    WSH_OLD_FETCHING(NAME##_swap, TYPE, (TYPE *dest, TYPE value, int pe), dest,            \
                     WSH_OP(SWAP, TYPE, WSH_BITS(value), 0))
WSH_AMO_OLD_EXTENDED_TYPES(WSH_EXTENDED)
#undef WSH_EXTENDED

#define WSH_STANDARD(NAME, TYPE)                                                           \
    WSH_OLD_FETCHING(NAME##_cswap, TYPE, (TYPE *dest, TYPE cond, TYPE value, int pe), dest, \
                     WSH_OP(CSWAP, TYPE, WSH_BITS(value), WSH_BITS(cond)))                 \
    WSH_OLD_FETCHING(NAME##_finc, TYPE, (TYPE *dest, int pe), dest, WSH_OP(ADD, TYPE, 1, 0)) \
    WSH_OLD_PLAIN(NAME##_inc, (TYPE *dest, int pe), WSH_OP(ADD, TYPE, 1, 0))               \
    WSH_OLD_FETCHING(NAME##_fadd, TYPE, (TYPE *dest, TYPE value, int pe), dest,            \
                     WSH_OP(ADD, TYPE, WSH_BITS(value), 0))                                \
    WSH_OLD_PLAIN(NAME##_add, (TYPE *dest, TYPE value, int pe),                            \
                  WSH_OP(ADD, TYPE, WSH_BITS(value), 0))
WSH_AMO_OLD_TYPES(WSH_STANDARD)
#undef WSH_STANDARD
#undef WSH_OLD_FETCHING
#undef WSH_OLD_PLAIN
