/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall of every type, typed and generic, and alltoallmem, on the world team and the shared one: block i goes to
 * member i, extremes and patterns whole.
 * paths: local:2,3 tcp:2 shm:2 mixed:4 single
 */
#include "test/types/values.h"

static char *dest, *source;

/* clang-format off */

#define CHECK(NAME, TYPE)                                                                          \
    static void NAME##_check(shmem_team_t team, bool generic)                                      \
    {                                                                                              \
        TYPE *to = (TYPE *)dest, *from = (TYPE *)source;                                           \
        int me = shmem_team_my_pe(team), n = shmem_team_n_pes(team), rc;                           \
        for (int i = 0; i < n * VALUES; i++)                                                       \
            from[i] = VALUE(TYPE, i % VALUES, me * n + i / VALUES);                                \
        rc = generic ? shmem_alltoall(team, to, from, VALUES)                                      \
                     : shmem_##NAME##_alltoall(team, to, from, VALUES);                            \
        mp_check(rc == 0, #NAME "_alltoall returned %d", rc);                                      \
        for (int i = 0; i < n * VALUES; i++)                                                       \
            mp_check(to[i] == VALUE(TYPE, i % VALUES, i / VALUES * n + me),                        \
                     #NAME "_alltoall: element %d from member %d", i % VALUES, i / VALUES);        \
        shmem_team_sync(team);                                                                     \
    }
WSH_COLL_TYPES(CHECK)
#undef CHECK
/* clang-format on */

static void check_mem(shmem_team_t team)
{
    int me = shmem_team_my_pe(team), n = shmem_team_n_pes(team);

    for (int i = 0; i < n; i++)
        mp_fill(source + i * VALUES, VALUES, (uint64_t)(me * n + i));
    mp_check(shmem_alltoallmem(team, dest, source, VALUES) == 0, "shmem_alltoallmem failed");
    for (int i = 0; i < n; i++)
        mp_check(!mp_wrong(dest + i * VALUES, VALUES, (uint64_t)(i * n + me)), "alltoallmem: from member %d",
                 i);
    mp_check(shmem_alltoallmem(team, NULL, NULL, 0) == 0, "shmem_alltoallmem of nothing failed");
    shmem_sync(team);
}

int main(void)
{
    static const shmem_team_t teams[] = {SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED};
    size_t len;

    types_begin();
    len = (size_t)mp_npes * VALUES * sizeof(long double);
    dest = mp_alloc(len);
    source = mp_alloc(len);
    for (int t = 0; t < 2; t++) {
#define RUN(NAME, TYPE)            \
    NAME##_check(teams[t], false); \
    NAME##_check(teams[t], true);
        WSH_COLL_TYPES(RUN)
#undef RUN
        check_mem(teams[t]);
        shmem_barrier_all();
    }
    shmem_free(source);
    shmem_free(dest);
    return types_end();
}
