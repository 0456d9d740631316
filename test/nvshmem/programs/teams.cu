/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams in kernels: split with a stride and in two dimensions; ranks, sizes, translation, and collectives of each team.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

__global__ void ask(nvshmem_team_t team, int *answers)
{
    answers[0] = nvshmem_team_my_pe(team);
    answers[1] = nvshmem_team_n_pes(team);
    answers[2] = nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, nvshmem_my_pe(), team);
    answers[3] = nvshmem_team_translate_pe(team, nvshmem_team_n_pes(team) - 1, NVSHMEM_TEAM_WORLD);
}

__global__ void collect(nvshmem_team_t team, int *words)
{
    nvshmemx_int_fcollect_block(team, words + 8, words, 1);
    nvshmemx_int_sum_reduce_block(team, words + 1, words, 1);
    nvshmemx_team_sync_block(team);
}

static void check(nvshmem_team_t team, int *words)
{
    int got[72], rank = nvshmem_team_my_pe(team), size = nvshmem_team_n_pes(team), sum = 0;

    CHECK(team != NVSHMEM_TEAM_INVALID && rank >= 0 && rank < size);
    RUN(ask<<<1, 1, 0, stream>>>(team, words + 2));
    to_host(got, words + 2, 4);
    CHECK(got[0] == rank && got[1] == size && got[2] == rank);
    CHECK(got[3] == nvshmem_team_translate_pe(team, size - 1, NVSHMEM_TEAM_WORLD));
    to_device(words, &me, 1);
    nvshmem_barrier(team);
    RUN(collect<<<1, 64, 0, stream>>>(team, words));
    to_host(got, words, 8 + size);
    for (int i = 0; i < size; i++) {
        CHECK(got[8 + i] == nvshmem_team_translate_pe(team, i, NVSHMEM_TEAM_WORLD));
        sum += got[8 + i];
    }
    CHECK(got[1] == sum);
    nvshmem_barrier(team);
}

int main(void)
{
    begin();
    int *words = symmetric<int>(72);
    nvshmem_team_t backwards, even, odd, row, column;
    nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;

    check(NVSHMEM_TEAM_WORLD, words);
    check(NVSHMEM_TEAM_SHARED, words);
    check(NVSHMEMX_TEAM_NODE, words);
    CHECK(!nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &backwards));
    check(backwards, words);
    CHECK(!nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, &config, 0, &even));
    CHECK(!nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 1, 2, n / 2, &config, 0, &odd));
    CHECK((even == NVSHMEM_TEAM_INVALID) == (me % 2 == 1) && (odd == NVSHMEM_TEAM_INVALID) == (me % 2 == 0));
    check(me % 2 ? odd : even, words);
    CHECK(!nvshmem_team_split_2d(backwards, 2, NULL, 0, &row, NULL, 0, &column));
    check(row, words);
    check(column, words);
    nvshmem_team_destroy(column);
    nvshmem_team_destroy(row);
    nvshmem_team_destroy(me % 2 ? odd : even);
    nvshmem_team_destroy(backwards);
    nvshmem_free(words);
    return finish();
}
