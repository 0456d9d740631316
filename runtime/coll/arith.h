/* SPDX-License-Identifier: BSD-3-Clause */
/* Combines arrays of numbers element by element. */
#ifndef WSH_COLL_ARITH_H
#define WSH_COLL_ARITH_H

#include <stddef.h>

enum wsh_reduce {
    WSH_REDUCE_AND,
    WSH_REDUCE_OR,
    WSH_REDUCE_XOR,
    WSH_REDUCE_MAX,
    WSH_REDUCE_MIN,
    WSH_REDUCE_SUM,
    WSH_REDUCE_PROD,
    WSH_REDUCES
};

/* Kinds of number. Integers: by width, signed ones first. */
enum wsh_num {
    WSH_NUM_I8,
    WSH_NUM_I16,
    WSH_NUM_I32,
    WSH_NUM_I64,
    WSH_NUM_U8,
    WSH_NUM_U16,
    WSH_NUM_U32,
    WSH_NUM_U64,
    WSH_NUM_FLOAT,
    WSH_NUM_DOUBLE,
    WSH_NUM_LONGDOUBLE,
    WSH_NUM_COMPLEXF,
    WSH_NUM_COMPLEXD,
    WSH_NUMS
};

/* dst[i] = a[i] (op) b[i] for n elements; dst may be a or b. */
typedef void (*wsh_arith_fn)(void *dst, const void *a, const void *b, size_t n);

struct wsh_arith {
    wsh_arith_fn combine; /* NULL: there is no such operation on such numbers */
    size_t width;         /* bytes of an element */
};

const struct wsh_arith *wsh_arith_find(enum wsh_reduce op, enum wsh_num num);

#endif
