/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * broadcast, collect, fcollect and alltoalls of every type, typed, generic and mem, on the world team and the shared
 * one: extremes and patterns whole, where they belong.
 * paths: local:1,3 tcp:2 mixed:4 single
 */
#include "test/types/values.h"

static char *dest, *source;

/* clang-format off */

#define FILL(TYPE) \
    for (int i = 0; i < n * VALUES; i++) from[i] = VALUE(TYPE, i % VALUES, me * n + i / VALUES)
#define SAME(TYPE, i, member, block) (to[i] == VALUE(TYPE, (i) % VALUES, (member) * n + (block)))

#define CHECK(FUNCTION, NAME, PREFIX, TYPE)                                                                     \
    static void FUNCTION##_check(shmem_team_t team)                                                             \
    {                                                                                                           \
        TYPE *to = (TYPE *)dest, *from = (TYPE *)source;                                                        \
        int me = shmem_team_my_pe(team), n = shmem_team_n_pes(team), half = VALUES / 2;                         \
        FILL(TYPE);                                                                                             \
        mp_check(PREFIX##broadcast(team, to, from, VALUES, n - 1) == 0, #NAME "_broadcast failed");             \
        for (int i = 0; i < VALUES; i++)                                                                        \
            mp_check(SAME(TYPE, i, n - 1, 0), #NAME "_broadcast: element %d", i);                               \
        shmem_team_sync(team);                                                                                  \
        mp_check(PREFIX##fcollect(team, to, from, VALUES) == 0, #NAME "_fcollect failed");                      \
        for (int i = 0; i < n * VALUES; i++)                                                                    \
            mp_check(SAME(TYPE, i, i / VALUES, 0), #NAME "_fcollect: element %d", i);                           \
        shmem_team_sync(team);                                                                                  \
        mp_check(PREFIX##collect(team, to, from, (size_t)(me ? VALUES : half)) == 0, #NAME "_collect failed");  \
        for (int i = 0; i < half + (n - 1) * VALUES; i++)                                                       \
            mp_check(to[i] == VALUE(TYPE, i < half ? i : (i - half) % VALUES,                                   \
                                    (i < half ? 0 : (i - half) / VALUES + 1) * n), #NAME "_collect: %d", i);    \
        shmem_team_sync(team);                                                                                  \
        mp_check(PREFIX##alltoalls(team, to, from, 2, 1, VALUES) == 0, #NAME "_alltoalls failed");              \
        for (int i = 0; i < n * VALUES; i++)                                                                    \
            mp_check(to[2 * i] == VALUE(TYPE, i % VALUES, i / VALUES * n + me), #NAME "_alltoalls: %d", i);     \
        shmem_team_sync(team);                                                                                  \
    }
#define FORMS_OF(NAME, TYPE)                             \
    CHECK(typed_##NAME, NAME, shmem_##NAME##_, TYPE)     \
    CHECK(generic_##NAME, NAME, shmem_, TYPE)
WSH_COLL_TYPES(FORMS_OF)
#undef FORMS_OF
#undef CHECK
#undef SAME
#undef FILL
/* clang-format on */

static void check_mem(shmem_team_t team)
{
    int me = shmem_team_my_pe(team), n = shmem_team_n_pes(team);

    mp_fill(source, VALUES, (uint64_t)me);
    mp_check(shmem_broadcastmem(team, dest, source, VALUES, 0) == 0, "broadcastmem failed");
    mp_check(!mp_wrong(dest, VALUES, 0), "broadcastmem");
    shmem_team_sync(team);
    mp_check(shmem_collectmem(team, dest, source, VALUES) == 0, "collectmem failed");
    for (int i = 0; i < n; i++)
        mp_check(!mp_wrong(dest + i * VALUES, VALUES, (uint64_t)i), "collectmem: member %d", i);
    shmem_team_sync(team);
    mp_check(shmem_fcollectmem(team, dest, source, VALUES) == 0, "fcollectmem failed");
    mp_check(!mp_wrong(dest + (n - 1) * VALUES, VALUES, (uint64_t)(n - 1)), "fcollectmem");
    shmem_team_sync(team);
    for (int i = 0; i < 2 * n; i++)
        source[i] = (char)(me * 16 + i / 2);
    mp_check(shmem_alltoallsmem(team, dest, source, 3, 2, 1) == 0, "alltoallsmem failed");
    for (int i = 0; i < n; i++)
        mp_check(dest[3 * i] == i * 16 + me, "alltoallsmem: member %d", i);
    mp_check(shmem_broadcastmem(team, NULL, NULL, 0, 0) == 0 && shmem_fcollectmem(team, NULL, NULL, 0) == 0 &&
                 shmem_collectmem(team, NULL, NULL, 0) == 0 &&
                 shmem_alltoallsmem(team, NULL, NULL, 1, 1, 0) == 0,
             "a collective of nothing failed");
    shmem_team_sync(team);
}

int main(void)
{
    static const shmem_team_t teams[] = {SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED};
    size_t len;

    types_begin();
    len = (size_t)mp_npes * VALUES * sizeof(long double);
    dest = mp_alloc(2 * len);
    source = mp_alloc(len);
    for (int t = 0; t < 2; t++) {
#define RUN(NAME, TYPE)             \
    typed_##NAME##_check(teams[t]); \
    generic_##NAME##_check(teams[t]);
        WSH_COLL_TYPES(RUN)
#undef RUN
        check_mem(teams[t]);
        shmem_barrier_all();
    }
    shmem_free(source);
    shmem_free(dest);
    return types_end();
}
