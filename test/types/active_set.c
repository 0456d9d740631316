/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deprecated collectives over active sets of every type, operation and size, over all PEs: the same results as
 * those over the world team.
 * paths: local:1,3 tcp:2 mixed:4 single
 */
#include "test/types/values.h"

#include <string.h>

static char *dest, *source, *wanted, *pwrk;
static size_t area_len;
static long psync[SHMEM_SYNC_SIZE];

static void compare(const char *what, size_t len)
{
    mp_check(memcmp(dest, wanted, len) == 0, "%s differs from what the team routine gives", what);
    memset(dest, 0, area_len);
    memset(wanted, 0, area_len);
    shmem_barrier_all();
}

/* clang-format off */

/* Element by element: a long double has bytes that mean nothing. */
#define CHECK(NAME, TYPE, OP, TEAM_ROUTINE)                                                                       \
    static void NAME##_##OP##_check(void)                                                                         \
    {                                                                                                             \
        TYPE *to = (TYPE *)dest, *from = (TYPE *)source, *want = (TYPE *)wanted;                                  \
        for (int i = 0; i < VALUES; i++)                                                                          \
            from[i] = (TYPE)((mp_me * 3 + i * 5) % 4 + 1);                                                        \
        TEAM_ROUTINE;                                                                                             \
        shmem_##NAME##_##OP##_to_all(to, from, VALUES, 0, 0, mp_npes, (TYPE *)pwrk, psync);                       \
        for (int i = 0; i < VALUES; i++)                                                                          \
            mp_check(to[i] == want[i], "shmem_" #NAME "_" #OP "_to_all: element %d", i);                          \
        shmem_barrier_all();                                                                                      \
    }
#define COMBINE(TYPE, OP)                                                                  \
    shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, from, VALUES * sizeof(TYPE));                \
    for (int i = 0; i < VALUES; i++) {                                                     \
        want[i] = to[i];                                                                   \
        for (int pe = 1; pe < mp_npes; pe++) want[i] = (TYPE)OP(want[i], to[pe * VALUES + i]); \
    }                                                                                      \
    shmem_barrier_all()
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define SUM(a, b) ((a) + (b))
#define PROD(a, b) ((a) * (b))
#define BITWISE(NAME, TYPE)                           \
    CHECK(NAME, TYPE, and, COMBINE(TYPE, AND))        \
    CHECK(NAME, TYPE, or, COMBINE(TYPE, OR))          \
    CHECK(NAME, TYPE, xor, COMBINE(TYPE, XOR))
#define ORDERED(NAME, TYPE)                           \
    CHECK(NAME, TYPE, max, COMBINE(TYPE, MAX))        \
    CHECK(NAME, TYPE, min, COMBINE(TYPE, MIN))
#define ARITHMETIC(NAME, TYPE)                        \
    CHECK(NAME, TYPE, sum, COMBINE(TYPE, SUM))        \
    CHECK(NAME, TYPE, prod, COMBINE(TYPE, PROD))
WSH_TO_ALL_BITWISE_TYPES(BITWISE)
WSH_TO_ALL_ORDERED_TYPES(ORDERED)
WSH_TO_ALL_ARITHMETIC_TYPES(ARITHMETIC)
#undef BITWISE
#undef ORDERED
#undef ARITHMETIC
#undef COMBINE
#undef CHECK

#define SIZED(BITS)                                                                                           \
    static void check_##BITS(void)                                                                            \
    {                                                                                                         \
        size_t len = VALUES * (BITS / 8), all = len * (size_t)mp_npes;                                        \
        mp_fill(source, all, (uint64_t)mp_me);                                                                \
        shmem_broadcast##BITS(dest, source, VALUES, 0, 0, 0, mp_npes, psync);                                 \
        mp_check(mp_me == 0 || !mp_wrong(dest, len, 0), "shmem_broadcast" #BITS);                             \
        memset(dest, 0, area_len); \
        shmem_barrier_all();                                                                                  \
        shmem_fcollect##BITS(dest, source, VALUES, 0, 0, mp_npes, psync);                                     \
        shmem_fcollectmem(SHMEM_TEAM_WORLD, wanted, source, len);                                             \
        compare("shmem_fcollect" #BITS, all);                                                                 \
        shmem_collect##BITS(dest, source, (size_t)(mp_me % 3), 0, 0, mp_npes, psync);                         \
        shmem_collectmem(SHMEM_TEAM_WORLD, wanted, source, (size_t)(mp_me % 3) * (BITS / 8));                 \
        compare("shmem_collect" #BITS, all);                                                                  \
        shmem_alltoall##BITS(dest, source, VALUES, 0, 0, mp_npes, psync);                                     \
        shmem_alltoallmem(SHMEM_TEAM_WORLD, wanted, source, len);                                             \
        compare("shmem_alltoall" #BITS, all);                                                                 \
        shmem_alltoalls##BITS(dest, source, 3, 2, VALUES / 2, 0, 0, mp_npes, psync);                          \
        shmem_int##BITS##_alltoalls(SHMEM_TEAM_WORLD, (int##BITS##_t *)wanted, (int##BITS##_t *)source, 3, 2, \
                                    VALUES / 2);                                                              \
        compare("shmem_alltoalls" #BITS, 2 * all);                                                            \
    }
WSH_ACTIVE_SIZES(SIZED)
#undef SIZED

#define BITWISE(NAME, TYPE) NAME##_and_check(); NAME##_or_check(); NAME##_xor_check();
#define ORDERED(NAME, TYPE) NAME##_max_check(); NAME##_min_check();
#define ARITHMETIC(NAME, TYPE) NAME##_sum_check(); NAME##_prod_check();

int main(void)
{
    size_t len;

    types_begin();
    area_len = len = (size_t)mp_npes * VALUES * sizeof(long double);
    dest = mp_alloc(len);
    wanted = mp_alloc(len);
    source = mp_alloc(len);
    pwrk = mp_alloc(len + SHMEM_REDUCE_MIN_WRKDATA_SIZE);
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    shmem_barrier(0, 0, mp_npes, psync);
    shmem_sync(0, 0, mp_npes, psync);
    WSH_TO_ALL_BITWISE_TYPES(BITWISE)
    WSH_TO_ALL_ORDERED_TYPES(ORDERED)
    WSH_TO_ALL_ARITHMETIC_TYPES(ARITHMETIC)
    check_32();
    check_64();
    shmem_free(pwrk);
    shmem_free(source);
    shmem_free(wanted);
    shmem_free(dest);
    return types_end();
}
/* clang-format on */
#undef BITWISE
#undef ORDERED
#undef ARITHMETIC
