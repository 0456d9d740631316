/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of collectives in kernels share: arrays, teams of every shape, and values by which a member
 * sees who has sent what in which round.
 */
#ifndef WSH_TEST_COLL_CUH
#define WSH_TEST_COLL_CUH

#include "test/device/dev.cuh"

/* Lengths in elements: nothing, odd ones, an LL line's, around what fits the LL lines, and beyond. */
static const size_t coll_lengths[] = {0, 1, 2, 3, 7, 64, 255, 512, 513, 1000, 4099};
enum { COLL_MAX = 4099 };

/* The team in kernels and on the host. */
struct coll_team {
    const char *name;
    shmem_team_t handle; /* SHMEM_TEAM_INVALID: this PE is no member */
    int my_pe, n_pes;
};

enum { COLL_TEAMS = 5 };

/* World, shared, the even PEs, all in reverse order, this PE alone. Collective. */
static inline void coll_split(struct coll_team teams[COLL_TEAMS])
{
    int n = shmem_n_pes();

    teams[0] = coll_team{"world", SHMEM_TEAM_WORLD, 0, 0};
    teams[1] = coll_team{"shared", SHMEM_TEAM_SHARED, 0, 0};
    teams[2] = coll_team{"even", SHMEM_TEAM_INVALID, 0, 0};
    teams[3] = coll_team{"reverse", SHMEM_TEAM_INVALID, 0, 0};
    teams[4] = coll_team{"one", SHMEM_TEAM_INVALID, 0, 0};
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, NULL, 0, &teams[2].handle);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, n > 1 ? -1 : 1, n, NULL, 0, &teams[3].handle);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, 1, 1, NULL, 0, &teams[4].handle);
    for (int i = 0; i < COLL_TEAMS; i++) {
        teams[i].my_pe = shmem_team_my_pe(teams[i].handle);
        teams[i].n_pes = shmem_team_n_pes(teams[i].handle);
    }
}

static inline void coll_split_end(struct coll_team teams[COLL_TEAMS])
{
    for (int i = 2; i < COLL_TEAMS; i++)
        shmem_team_destroy(teams[i].handle);
}

/* Element i of what member `from` sends to member `to` in `round`. */
static __host__ __device__ inline unsigned coll_value(unsigned round, int from, int to, size_t i)
{
    return round * 2654435761u + (unsigned)from * 40503u + (unsigned)to * 977u + (unsigned)i * 31u;
}

#endif
