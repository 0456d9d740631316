/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions and scans of every type and operation, typed and generic, on the world team and the shared one: element by
 * element what the language's operators give.
 * paths: local:1,3 tcp:2 mixed:4 single
 */
#include "test/types/values.h"

#include <string.h>

static char *dest, *source;

/* Small numbers, so that no sum or product of four leaves any type; bits differ between PEs. */
#define PART(TYPE, pe, i) ((TYPE)(((pe)*3 + (i)*5) % 4 + 1))

#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define SUM(a, b) ((a) + (b))
#define PROD(a, b) ((a) * (b))

static int world(shmem_team_t team, int pe)
{
    return shmem_team_translate_pe(team, pe, SHMEM_TEAM_WORLD);
}

/* clang-format off */

/* FIRST and LAST: the members that count; what is expected of no member is 0. */
#define CHECK(FUNCTION, CALL, TYPE, OP, LAST)                                                       \
    static void FUNCTION##_check(shmem_team_t team)                                                 \
    {                                                                                               \
        TYPE *to = (TYPE *)dest, *from = (TYPE *)source;                                            \
        int n = shmem_team_n_pes(team), me = shmem_team_my_pe(team);                                \
        for (int i = 0; i < VALUES; i++)                                                            \
            from[i] = PART(TYPE, mp_me, i);                                                         \
        mp_check(CALL(team, to, from, VALUES) == 0, #FUNCTION " failed");                           \
        for (int i = 0; i < VALUES; i++) {                                                          \
            TYPE want = (LAST) < 0 ? (TYPE)0 : PART(TYPE, world(team, 0), i);                       \
            for (int pe = 1; pe <= (LAST); pe++)                                                    \
                want = (TYPE)OP(want, PART(TYPE, world(team, pe), i));                              \
            mp_check(to[i] == want, #FUNCTION ": element %d of %d PEs at %d", i, n, me);            \
        }                                                                                           \
        mp_check(CALL(team, from, from, VALUES) == 0, #FUNCTION " in place failed");                \
        mp_check(memcmp(from, to, sizeof *to) == 0 || from[0] == to[0], #FUNCTION " in place");     \
    }
#define BOTH(TAG, GENERIC, TYPE, OP, LAST)                   \
    CHECK(typed_##TAG, shmem_##TAG, TYPE, OP, LAST)          \
    CHECK(generic_##TAG, GENERIC, TYPE, OP, LAST)
#define BITWISE(NAME, TYPE)                                              \
    BOTH(NAME##_and_reduce, shmem_and_reduce, TYPE, AND, n - 1)          \
    BOTH(NAME##_or_reduce, shmem_or_reduce, TYPE, OR, n - 1)             \
    BOTH(NAME##_xor_reduce, shmem_xor_reduce, TYPE, XOR, n - 1)
#define ORDERED(NAME, TYPE)                                              \
    BOTH(NAME##_max_reduce, shmem_max_reduce, TYPE, MAX, n - 1)          \
    BOTH(NAME##_min_reduce, shmem_min_reduce, TYPE, MIN, n - 1)
#define ARITHMETIC(NAME, TYPE)                                           \
    BOTH(NAME##_sum_reduce, shmem_sum_reduce, TYPE, SUM, n - 1)          \
    BOTH(NAME##_prod_reduce, shmem_prod_reduce, TYPE, PROD, n - 1)       \
    BOTH(NAME##_sum_inscan, shmem_sum_inscan, TYPE, SUM, me)             \
    BOTH(NAME##_sum_exscan, shmem_sum_exscan, TYPE, SUM, me - 1)
WSH_REDUCE_BITWISE_TYPES(BITWISE)
WSH_REDUCE_ORDERED_TYPES(ORDERED)
WSH_REDUCE_ARITHMETIC_TYPES(ARITHMETIC)
#undef BITWISE
#undef ORDERED
#undef ARITHMETIC
#undef BOTH
#undef CHECK

static void check_extremes(void)
{
    signed char *to = (signed char *)dest, *from = (signed char *)source;

    from[0] = (signed char)(mp_me ? -128 : 127);
    mp_check(shmem_max_reduce(SHMEM_TEAM_WORLD, to, from, 1) == 0 && to[0] == 127, "max of signed is %d", to[0]);
    mp_check(shmem_min_reduce(SHMEM_TEAM_WORLD, to, from, 1) == 0 && to[0] == (mp_npes > 1 ? -128 : 127),
             "min of signed is %d", to[0]);
    mp_check(shmem_uchar_max_reduce(SHMEM_TEAM_WORLD, (unsigned char *)dest, (unsigned char *)source, 1) == 0 &&
                 *(unsigned char *)dest == (mp_npes > 1 ? 128 : 127), "max of unsigned");
    mp_check(shmem_int_sum_reduce(SHMEM_TEAM_WORLD, NULL, NULL, 0) == 0, "a sum of nothing failed");
}

#define RUN_BOTH(TAG) typed_##TAG##_check(teams[t]); generic_##TAG##_check(teams[t]);
#define BITWISE(NAME, TYPE) RUN_BOTH(NAME##_and_reduce) RUN_BOTH(NAME##_or_reduce) RUN_BOTH(NAME##_xor_reduce)
#define ORDERED(NAME, TYPE) RUN_BOTH(NAME##_max_reduce) RUN_BOTH(NAME##_min_reduce)
#define ARITHMETIC(NAME, TYPE)                                        \
    RUN_BOTH(NAME##_sum_reduce) RUN_BOTH(NAME##_prod_reduce)          \
    RUN_BOTH(NAME##_sum_inscan) RUN_BOTH(NAME##_sum_exscan)

int main(void)
{
    static const shmem_team_t teams[] = {SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED};

    types_begin();
    dest = mp_alloc(VALUES * sizeof(long double));
    source = mp_alloc(VALUES * sizeof(long double));
    for (int t = 0; t < 2; t++) {
        WSH_REDUCE_BITWISE_TYPES(BITWISE)
        WSH_REDUCE_ORDERED_TYPES(ORDERED)
        WSH_REDUCE_ARITHMETIC_TYPES(ARITHMETIC)
        shmem_barrier_all();
    }
    check_extremes();
    shmem_free(source);
    shmem_free(dest);
    return types_end();
}
/* clang-format on */
#undef RUN_BOTH
#undef BITWISE
#undef ORDERED
#undef ARITHMETIC
