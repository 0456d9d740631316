/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The teams that are there from the start: of a node, of the PEs of the same place on all nodes, of those that share
 * memory.
 * paths: fakegpu:2,4 gpu:2,4 gpu1:2,4 gpumixed:2,4 fakegpumixed:4
 * timeout: 120
 */
#include "program.cuh"

int main()
{
    begin_host();
    int *words = symmetric<int>(2), node_pe = nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE), on_node, same;

    on_node = nvshmem_team_n_pes(NVSHMEMX_TEAM_NODE);
    same = nvshmem_team_n_pes(NVSHMEMX_TEAM_SAME_MYPE_NODE);
    CHECK(node_pe >= 0 && node_pe < on_node && same >= 1);
    CHECK(on_node * same == n); /* nodes are alike here */
    CHECK(nvshmem_team_n_pes(NVSHMEM_TEAM_SHARED) <= on_node);
    for (int i = 0; i < on_node; i++) {
        int pe = nvshmem_team_translate_pe(NVSHMEMX_TEAM_NODE, i, NVSHMEM_TEAM_WORLD);

        CHECK(pe >= 0 && pe < n && (pe == me) == (i == node_pe));
    }
    /* Each tells the members of its second team where it is on its node. */
    nvshmem_int_p(words, node_pe, me);
    CHECK(!nvshmem_barrier(NVSHMEMX_TEAM_SAME_MYPE_NODE));
    for (int i = 0; i < same; i++)
        CHECK(nvshmem_int_g(words, nvshmem_team_translate_pe(NVSHMEMX_TEAM_SAME_MYPE_NODE, i, NVSHMEM_TEAM_WORLD)) ==
              node_pe);
    CHECK(!nvshmem_barrier(NVSHMEMX_TEAM_NODE));
    nvshmem_barrier_all();
    nvshmem_free(words);
    return finish_host();
}
