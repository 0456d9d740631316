/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels know their PE, the number of PEs, teams and contexts as the host does, and shmem_ptr gives addresses that
 * loads and stores reach; several PEs' memory, NULL for what is not symmetric and for PEs of other hosts.
 * paths: gpu:2,4 gpuipc:2,4 gpu1:2,4,8 gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4
 */
#include "test/device/dev.cuh"

struct expected {
    int my_pe, n_pes, shared_pe, shared_pes, translated;
    shmem_ctx_t ctx;
    shmem_team_t team[3]; /* the host's, the PEs with this number on theirs, one that was split off */
    int number[3], team_pe[3], team_pes[3];
};

/* By the handle of the host and by that of the number; the team's barrier, by each. */
__global__ void query_numbers(struct expected e, struct dev_report *report)
{
    for (unsigned i = 0; i < 3; i++) {
        shmem_team_t team = e.team[i], named = SHMEMX_TEAM(e.number[i]);

        dev_expect(report, 30 + i, (unsigned)e.number[i], (unsigned)shmemx_team_number(team));
        dev_expect(report, 40 + i, (unsigned)e.number[i], (unsigned)shmemx_team_number(named));
        dev_expect(report, 50 + i, (unsigned)e.team_pe[i], (unsigned)shmem_team_my_pe(team));
        dev_expect(report, 60 + i, (unsigned)e.team_pe[i], (unsigned)shmem_team_my_pe(named));
        dev_expect(report, 70 + i, (unsigned)e.team_pes[i], (unsigned)shmem_team_n_pes(named));
    }
    dev_expect(report, 80, (unsigned)-1, (unsigned)shmem_team_n_pes(SHMEMX_TEAM(4000)));
    dev_expect(report, 81, (unsigned)-1, (unsigned)shmemx_team_number(SHMEM_TEAM_INVALID));
    if (shmem_team_n_pes(SHMEM_TEAM_SHARED) == e.n_pes) { /* else in units for several hosts */
        shmemx_team_barrier(SHMEMX_TEAM(e.number[0]));
        shmemx_team_barrier(SHMEMX_TEAM(e.number[2]));
        shmemx_team_barrier(e.team[2]);
    }
}

/* Of this host. */
static __device__ bool is_mapped(int pe)
{
    return shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED) >= 0;
}

__global__ void query(struct expected e, int *word, struct dev_report *report)
{
    int local = 0;

    dev_expect(report, 1, (unsigned)e.my_pe, (unsigned)shmem_my_pe());
    dev_expect(report, 2, (unsigned)e.n_pes, (unsigned)shmem_n_pes());
    dev_expect(report, 3, (unsigned)e.my_pe, (unsigned)shmem_team_my_pe(SHMEM_TEAM_WORLD));
    dev_expect(report, 4, (unsigned)e.n_pes, (unsigned)shmem_team_n_pes(SHMEM_TEAM_WORLD));
    dev_expect(report, 5, (unsigned)e.shared_pe, (unsigned)shmem_team_my_pe(SHMEM_TEAM_SHARED));
    dev_expect(report, 6, (unsigned)e.shared_pes, (unsigned)shmem_team_n_pes(SHMEM_TEAM_SHARED));
    dev_expect(report, 7, (unsigned)-1, (unsigned)shmem_team_n_pes(SHMEM_TEAM_INVALID));
    dev_expect(report, 8, (unsigned)e.translated,
               (unsigned)shmem_team_translate_pe(SHMEM_TEAM_WORLD, e.n_pes - 1, SHMEM_TEAM_SHARED));
    dev_expect(report, 9, (unsigned)-1,
               (unsigned)shmem_team_translate_pe(SHMEM_TEAM_WORLD, e.n_pes, SHMEM_TEAM_SHARED));
    dev_expect(report, 10, 0, (unsigned long long)shmem_ptr(&local, 0));
    dev_expect(report, 11, 0, (unsigned long long)shmem_ptr(word, e.n_pes));
    dev_expect(report, 12, 0, (unsigned long long)shmem_ptr(word, -1));
    for (int pe = 0; pe < e.n_pes; pe++) {
        int *there = (int *)shmem_ptr(word + e.my_pe, pe);

        dev_expect(report, 13, is_mapped(pe), there != nullptr);
        if (there)
            atomicExch_system(there, 100 + e.my_pe);
        shmem_ctx_int_p(e.ctx, word + 64 + e.my_pe, 200 + e.my_pe, pe);
    }
    shmem_ctx_quiet(e.ctx);
    shmem_quiet();
}

__global__ void look(const int *word, int n_pes, struct dev_report *report)
{
    for (int pe = 0; pe < n_pes; pe++) {
        dev_expect(report, 20, is_mapped(pe) ? 100u + (unsigned)pe : 0, (unsigned)word[pe]);
        dev_expect(report, 21, 200u + (unsigned)pe, (unsigned)word[64 + pe]);
    }
}

static void teams_fill(struct expected *e)
{
    e->team[0] = SHMEMX_TEAM_NODE;
    shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &e->team[2], NULL, 0, &e->team[1]);
    shmem_team_destroy(e->team[1]);
    e->team[1] = SHMEMX_TEAM_SAME_MYPE_NODE;
    for (int i = 0; i < 3; i++) {
        e->number[i] = shmemx_team_number(e->team[i]);
        e->team_pe[i] = shmem_team_my_pe(e->team[i]);
        e->team_pes[i] = shmem_team_n_pes(e->team[i]);
    }
}

int main(void)
{
    struct dev_report *report;
    struct expected e;
    int *word;

    dev_begin();
    dev_case("queries");
    report = (struct dev_report *)dev_share(sizeof *report);
    word = (int *)dev_alloc(128 * sizeof *word);
    e.my_pe = shmem_my_pe();
    e.n_pes = shmem_n_pes();
    e.shared_pe = shmem_team_my_pe(SHMEM_TEAM_SHARED);
    e.shared_pes = shmem_team_n_pes(SHMEM_TEAM_SHARED);
    e.translated = shmem_team_translate_pe(SHMEM_TEAM_WORLD, e.n_pes - 1, SHMEM_TEAM_SHARED);
    mp_check(!shmem_ctx_create(0, &e.ctx), "shmem_ctx_create");
    query<<<1, 1>>>(e, word, report);
    dev_check_report(report, "queries");
    teams_fill(&e);
    query_numbers<<<1, 1>>>(e, report);
    dev_check_report(report, "teams by number");
    shmem_barrier_all();
    look<<<1, 1>>>(word, e.n_pes, report);
    dev_check_report(report, "stores through shmem_ptr, and puts in a context");
    shmem_ctx_destroy(e.ctx);
    shmem_team_destroy(e.team[2]);
    return dev_end();
}
