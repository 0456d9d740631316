/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams from host code: with a stride, backwards, in two dimensions, of a team; ranks, translation, configuration,
 * barriers.
 * paths: fakegpu:2,4 gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

/* Its members meet in it, and each finds the others by translation. */
static void check(nvshmem_team_t team, int *words)
{
    int rank = nvshmem_team_my_pe(team), size = nvshmem_team_n_pes(team);

    for (int i = 0; i < size; i++) {
        int pe = nvshmem_team_translate_pe(team, i, NVSHMEM_TEAM_WORLD);

        CHECK(pe >= 0 && nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, pe, team) == i);
        nvshmem_int_p(words + rank, me + 1, pe);
    }
    CHECK(!nvshmem_barrier(team));
    for (int i = 0; i < size; i++)
        CHECK(nvshmem_int_g(words + i, me) == nvshmem_team_translate_pe(team, i, NVSHMEM_TEAM_WORLD) + 1);
    CHECK(!nvshmem_team_sync(team));
}

int main()
{
    begin_host();
    int *words = symmetric<int>(64);
    nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER, got = NVSHMEM_TEAM_CONFIG_INITIALIZER;
    nvshmem_team_t backwards, half, row, column;

    CHECK(nvshmem_team_my_pe(NVSHMEM_TEAM_WORLD) == me && nvshmem_team_n_pes(NVSHMEM_TEAM_WORLD) == n);
    CHECK(nvshmem_team_my_pe(NVSHMEM_TEAM_INVALID) == -1 && nvshmem_team_n_pes(NVSHMEM_TEAM_INVALID) == -1);
    check(NVSHMEM_TEAM_WORLD, words);
    config.num_contexts = 2;
    CHECK(!nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, n - 1, -1, n, &config, NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS,
                                      &backwards));
    nvshmem_team_get_config(backwards, &got);
    CHECK(got.num_contexts == 2 && nvshmem_team_my_pe(backwards) == n - 1 - me);
    check(backwards, words);
    CHECK(!nvshmem_team_split_strided(backwards, 0, 1, n / 2, NULL, 0, &half));
    CHECK((half != NVSHMEM_TEAM_INVALID) == (n - 1 - me < n / 2));
    if (half != NVSHMEM_TEAM_INVALID)
        check(half, words);
    nvshmem_barrier_all();
    CHECK(!nvshmem_team_split_2d(NVSHMEM_TEAM_WORLD, 2, NULL, 0, &row, NULL, 0, &column));
    CHECK(nvshmem_team_my_pe(row) == me % 2 && nvshmem_team_my_pe(column) == me / 2);
    check(row, words);
    nvshmem_barrier_all();
    check(column, words);
    nvshmem_barrier_all();
    nvshmem_team_destroy(column);
    nvshmem_team_destroy(row);
    nvshmem_team_destroy(half);
    nvshmem_team_destroy(backwards);
    nvshmem_free(words);
    return finish_host();
}
