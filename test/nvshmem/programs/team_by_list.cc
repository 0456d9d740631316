/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams of PEs with no common stride, by a unique id of the team: all but the second, in an order of its own.
 * paths: fakegpu:2,4 gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

/* Rank i of the team is the PE of list[i]. */
static void team_of(const int *list, int count, uint64_t *ids)
{
    nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
    nvshmem_team_t team;
    int rank = -1;

    for (int i = 0; i < count; i++)
        rank = list[i] == me ? i : rank;
    if (me == list[0]) {
        CHECK(!nvshmemx_team_get_uniqueid(&config.uniqueid));
        for (int i = 1; i < count; i++)
            nvshmem_uint64_p(ids, config.uniqueid, list[i]);
        nvshmem_uint64_p(ids, config.uniqueid, me);
    }
    nvshmem_barrier_all();
    if (rank < 0)
        return;
    config.uniqueid = nvshmem_uint64_g(ids, me);
    CHECK(!nvshmemx_team_init(&team, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, count, rank));
    CHECK(nvshmem_team_my_pe(team) == rank && nvshmem_team_n_pes(team) == count);
    for (int i = 0; i < count; i++)
        CHECK(nvshmem_team_translate_pe(team, i, NVSHMEM_TEAM_WORLD) == list[i]);
    CHECK(!nvshmem_barrier(team) && !nvshmem_team_sync(team));
    nvshmem_team_destroy(team);
}

int main()
{
    begin_host();
    uint64_t *ids = symmetric<uint64_t>(1);
    int *list = (int *)malloc(n * sizeof *list), count = 0;

    for (int pe = n - 1; pe >= 0; pe--)
        if (pe != 1)
            list[count++] = pe;
    team_of(list, count, ids);
    nvshmem_barrier_all();
    for (int i = 0; i < n; i++)
        list[i] = i % 2 ? n - 1 - i / 2 : i / 2; /* 0, n - 1, 1, n - 2 and so on */
    team_of(list, n, ids);
    nvshmem_barrier_all();
    free(list);
    nvshmem_free(ids);
    return finish_host();
}
