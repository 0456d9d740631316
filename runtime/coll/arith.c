/* SPDX-License-Identifier: BSD-3-Clause */
/* One loop for each operation and kind of number, simple enough for the compiler to vectorize it. */
#include "runtime/coll/arith.h"

#include <complex.h>
#include <stdint.h>

/* An element depends on none before it, also where dst is a or b. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* there are no vectors of long double, which is no fault */
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#pragma GCC optimize("O3") /* -O2 makes no vectors of loops whose length it does not know */
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define SUM(a, b) ((a) + (b))
#define PROD(a, b) ((a) * (b))

#define LOOP(NAME, TYPE, OP)                                            \
    static void NAME(void *dst, const void *a, const void *b, size_t n) \
    {                                                                   \
        const TYPE *x = a, *y = b;                                      \
        TYPE *to = dst;                                                 \
                                                                        \
        INDEPENDENT                                                     \
        for (size_t i = 0; i < n; i++)                                  \
            to[i] = (TYPE)OP(x[i], y[i]);                               \
    }

/* Sums and products of integers wrap around, as two's complement does: worked out without sign. */
#define UNSIGNED(BITS)                     \
    LOOP(and_##BITS, uint##BITS##_t, AND)  \
    LOOP(or_##BITS, uint##BITS##_t, OR)    \
    LOOP(xor_##BITS, uint##BITS##_t, XOR)  \
    LOOP(max_u##BITS, uint##BITS##_t, MAX) \
    LOOP(min_u##BITS, uint##BITS##_t, MIN) \
    LOOP(max_i##BITS, int##BITS##_t, MAX)  \
    LOOP(min_i##BITS, int##BITS##_t, MIN)  \
    LOOP(sum_##BITS, uint##BITS##_t, SUM)
UNSIGNED(8)
UNSIGNED(16)
UNSIGNED(32)
UNSIGNED(64)
#undef UNSIGNED

/* Narrow factors would become int, which may overflow. */
#define WIDE_PROD(a, b) (1U * (a) * (b))
LOOP(prod_8, uint8_t, WIDE_PROD)
LOOP(prod_16, uint16_t, WIDE_PROD)
LOOP(prod_32, uint32_t, PROD)
LOOP(prod_64, uint64_t, PROD)

#define REAL(NAME, TYPE)        \
    LOOP(max_##NAME, TYPE, MAX) \
    LOOP(min_##NAME, TYPE, MIN) \
    LOOP(sum_##NAME, TYPE, SUM) \
    LOOP(prod_##NAME, TYPE, PROD)
REAL(float, float)
REAL(double, double)
REAL(longdouble, long double)
#undef REAL

#define COMPLEX(NAME, TYPE)     \
    LOOP(sum_##NAME, TYPE, SUM) \
    LOOP(prod_##NAME, TYPE, PROD)
COMPLEX(complexf, float _Complex)
COMPLEX(complexd, double _Complex)
#undef COMPLEX
#undef LOOP

/* clang-format off */
#define INTEGER_ROW(BITS, SIGN) \
    {{and_##BITS, BITS / 8}, {or_##BITS, BITS / 8}, {xor_##BITS, BITS / 8}, {max_##SIGN##BITS, BITS / 8}, \
     {min_##SIGN##BITS, BITS / 8}, {sum_##BITS, BITS / 8}, {prod_##BITS, BITS / 8}}
#define REAL_ROW(NAME, TYPE)                                                               \
    {{NULL, 0}, {NULL, 0}, {NULL, 0}, {max_##NAME, sizeof(TYPE)}, {min_##NAME, sizeof(TYPE)}, \
     {sum_##NAME, sizeof(TYPE)}, {prod_##NAME, sizeof(TYPE)}}
#define COMPLEX_ROW(NAME, TYPE)                                                  \
    {{NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {sum_##NAME, sizeof(TYPE)}, \
     {prod_##NAME, sizeof(TYPE)}}

static const struct wsh_arith table[WSH_NUMS][WSH_REDUCES] = {
    [WSH_NUM_I8] = INTEGER_ROW(8, i), [WSH_NUM_I16] = INTEGER_ROW(16, i),
    [WSH_NUM_I32] = INTEGER_ROW(32, i), [WSH_NUM_I64] = INTEGER_ROW(64, i),
    [WSH_NUM_U8] = INTEGER_ROW(8, u), [WSH_NUM_U16] = INTEGER_ROW(16, u),
    [WSH_NUM_U32] = INTEGER_ROW(32, u), [WSH_NUM_U64] = INTEGER_ROW(64, u),
    [WSH_NUM_FLOAT] = REAL_ROW(float, float), [WSH_NUM_DOUBLE] = REAL_ROW(double, double),
    [WSH_NUM_LONGDOUBLE] = REAL_ROW(longdouble, long double),
    [WSH_NUM_COMPLEXF] = COMPLEX_ROW(complexf, float _Complex),
    [WSH_NUM_COMPLEXD] = COMPLEX_ROW(complexd, double _Complex),
};
/* clang-format on */
#undef INTEGER_ROW
#undef REAL_ROW
#undef COMPLEX_ROW

const struct wsh_arith *wsh_arith_find(enum wsh_reduce op, enum wsh_num num)
{
    return &table[num][op];
}
