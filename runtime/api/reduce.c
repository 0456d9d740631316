/* SPDX-License-Identifier: BSD-3-Clause */
/* The public reductions and scans over teams (section 9.10). */
#include "runtime/api/coll.h"

/* clang-format off */

#define WSH_REDUCE(TAG, OP, TYPE)                                                                    \
    WSH_SHELL(int, TAG, (shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce))         \
    {                                                                                                \
        return wsh_api_reduce(WSH_API_COLL(TAG), wsh_api_members("shmem_" #TAG, team), dest, source, \
                              nreduce, OP, WSH_API_NUM(TYPE));                                       \
    }
#define WSH_BITWISE(NAME, TYPE)                         \
    WSH_REDUCE(NAME##_and_reduce, WSH_REDUCE_AND, TYPE) \
    WSH_REDUCE(NAME##_or_reduce, WSH_REDUCE_OR, TYPE)   \
    WSH_REDUCE(NAME##_xor_reduce, WSH_REDUCE_XOR, TYPE)
#define WSH_ORDERED(NAME, TYPE)                         \
    WSH_REDUCE(NAME##_max_reduce, WSH_REDUCE_MAX, TYPE) \
    WSH_REDUCE(NAME##_min_reduce, WSH_REDUCE_MIN, TYPE)
#define WSH_ARITHMETIC(NAME, TYPE)                      \
    WSH_REDUCE(NAME##_sum_reduce, WSH_REDUCE_SUM, TYPE) \
    WSH_REDUCE(NAME##_prod_reduce, WSH_REDUCE_PROD, TYPE)
WSH_REDUCE_BITWISE_TYPES(WSH_BITWISE)
WSH_REDUCE_ORDERED_TYPES(WSH_ORDERED)
WSH_REDUCE_ARITHMETIC_TYPES(WSH_ARITHMETIC)
#undef WSH_BITWISE
#undef WSH_ORDERED
#undef WSH_ARITHMETIC
#undef WSH_REDUCE

static WSH_INLINE int numbers_scan(const struct wsh_api_coll *what, struct wsh_team *team, void *dest,
                                   const void *source, size_t nelems, enum wsh_num num, bool exclusive)
{
    const struct wsh_arith *arith = wsh_arith_find(WSH_REDUCE_SUM, num);

    wsh_api_numbers(what, team, dest, source, wsh_api_len(nelems, arith->width));
    if (!nelems)
        return 0;
    wsh_api_check(what->dest, wsh_scan(team, dest, source, nelems, arith, exclusive));
    return 0;
}

#define WSH_SCAN(TAG, TYPE, EXCLUSIVE)                                                              \
    WSH_SHELL(int, TAG, (shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems))         \
    {                                                                                               \
        return numbers_scan(WSH_API_COLL(TAG), wsh_api_members("shmem_" #TAG, team), dest, source, nelems,  \
                    WSH_API_NUM(TYPE), EXCLUSIVE);                                                  \
    }
#define WSH_SCANS(NAME, TYPE)                     \
    WSH_SCAN(NAME##_sum_inscan, TYPE, false)      \
    WSH_SCAN(NAME##_sum_exscan, TYPE, true)
WSH_REDUCE_ARITHMETIC_TYPES(WSH_SCANS)
#undef WSH_SCANS
#undef WSH_SCAN
