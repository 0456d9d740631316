/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of the typed routines share: values of any type that include its extremes, the forms in
 * which one routine can be called, and the contexts they are called on.
 */
#ifndef WSH_TEST_TYPES_VALUES_H
#define WSH_TEST_TYPES_VALUES_H

#include "test/common/mp.h"

#include <float.h>

/* A routine without and with a context, by its typed name and by its C11 generic one. */
enum form { PLAIN, CTX, GENERIC, GENERIC_CTX, FORMS };

#define IS_FLOATING(TYPE) ((TYPE)0.5 != 0)
#define IS_SIGNED(TYPE) ((TYPE)-1 < (TYPE)1)

static inline uintmax_t integer_max(size_t size, bool is_signed)
{
    return UINTMAX_MAX >> (8 * (sizeof(uintmax_t) - size) + is_signed);
}

#define MAX_OF(TYPE)                        \
    ((TYPE) _Generic((TYPE)0, float         \
                     : FLT_MAX, double      \
                     : DBL_MAX, long double \
                     : LDBL_MAX, default    \
                     : integer_max(sizeof(TYPE), IS_SIGNED(TYPE))))
#define MIN_OF(TYPE) \
    (IS_FLOATING(TYPE) ? (TYPE)-MAX_OF(TYPE) : IS_SIGNED(TYPE) ? (TYPE)(-MAX_OF(TYPE) - 1) : (TYPE)0)

/* Bits everywhere in an integer; a third of something in a floating-point number. */
#define PATTERN_OF(TYPE, i)                          \
    (IS_FLOATING(TYPE) ? (TYPE)((TYPE)(i) / (TYPE)3) \
                       : (TYPE)(UINT64_C(0x9e3779b97f4a7c15) * ((uint64_t)(i) + 1)))

/* Value number i of the series `salt`: extremes first, then patterns; series differ in the patterns. */
#define VALUE(TYPE, i, salt)   \
    ((i) == 0   ? MAX_OF(TYPE) \
     : (i) == 1 ? MIN_OF(TYPE) \
     : (i) == 2 ? (TYPE)-1     \
     : (i) == 3 ? (TYPE)0      \
                : PATTERN_OF(TYPE, (size_t)(i) + 16 * (size_t)(salt)))

#define VALUES 8 /* of a series: what most tests move */

/*
 * Symmetric scratch memory for arrays of any type, and a context of its own beside the default one: form CTX and
 * GENERIC_CTX use it.
 */
#define AREA_BYTES 8192
static char *area;
static shmem_ctx_t ctx = SHMEM_CTX_INVALID;

static inline void types_begin(void)
{
    mp_begin();
    area = mp_alloc(AREA_BYTES);
    mp_check(shmem_ctx_create(0, &ctx) == 0, "no context");
}

static inline int types_end(void)
{
    shmem_ctx_destroy(ctx);
    shmem_free(area);
    return mp_end();
}

/* Everybody's operations, on both contexts, are complete. */
static inline void types_barrier(void)
{
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
}

#endif
