/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expert parallelism by kernels, in the cases of test/ep/pairs.txt that have as many PEs and hosts as the job has:
 * every two values of different parameters. WSH_EP_PAIRS names another table.
 * paths: gpu:2,4,8 gpu1:1,2,3,4,6,8 gpumixed:2,4,6,8 gpumixedefa:2,4 gpuhmemefa:2,4,6,8 gpugda:2,4
 * timeout: 600
 */
#include "test/device/ep.cuh"

extern "C" {
#include "test/ep/pairs.h"
}

#include <stdlib.h>

enum { CALLS = 3 };

static struct ep_case case_of(const struct pairs_meaning &meaning)
{
    struct ep_case of = ep_case_of(meaning.mode, meaning.job.dtype, meaning.job.routing);
    bool codes = meaning.coded && of.dtype != REF_BF16;

    of.hidden = meaning.job.hidden;
    of.topk = meaning.job.topk;
    of.mine = ref_experts_a_pe(&meaning.job);
    of.tokens = meaning.job.tokens ? meaning.job.tokens : 1;
    of.window = meaning.window;
    of.route = meaning.route == REF_DIRECT ? SHMEMX_EP_DIRECT : SHMEMX_EP_AUTO;
    of.options = (meaning.halves ? EP_APART : 0) | (codes ? EP_QUANTIZED : 0) | (meaning.kept ? EP_CACHED : 0);
    if (meaning.buffers)
        of.options |= EP_IN_Y | (codes || of.dtype == REF_BF16 ? EP_IN_X : 0);
    of.whole_check = meaning.job.hidden < 1024;
    return of;
}

static void run(const struct pairs_meaning &meaning)
{
    struct ep_case of = case_of(meaning);
    struct ep_world world;

    dev_case("%s", ep_case_name(&of));
    ep_open(&world, &of);
    for (int64_t call = 1; call <= CALLS; call++)
        ep_call(&world, call);
    ep_close(&world);
}

/* The next case of the table that this job can take. */
static bool next_case(FILE *table, struct pairs_meaning *meaning)
{
    int hosts = mp_npes / shmem_team_n_pes(SHMEMX_TEAM_NODE);
    char line[512];

    while (fgets(line, sizeof line, table)) {
        char *words[PAIRS_PARAMETERS + 1];
        struct pairs_case one;
        int n = 0;

        for (char *word = strtok(line, " \n"); word && n <= PAIRS_PARAMETERS; word = strtok(NULL, " \n"))
            words[n++] = word;
        if (!mp_check(!pairs_read(&one, n, words), "a wrong line in the table"))
            return false;
        *meaning = pairs_meaning(&one);
        if (meaning->job.pes == mp_npes && meaning->job.hosts == hosts)
            return true;
    }
    return false;
}

int main(void)
{
    const char *folder = getenv("top_srcdir"), *given = getenv("WSH_EP_PAIRS");
    struct pairs_meaning meaning;
    char path[1024];
    FILE *table;
    int cases = 0;

    snprintf(path, sizeof path, "%s/test/ep/pairs.txt", folder ? folder : ".");
    table = fopen(given ? given : path, "r");
    dev_begin();
    if (mp_check(table, "no table %s", given ? given : path)) {
        for (; next_case(table, &meaning); cases++)
            run(meaning);
        fclose(table);
    }
    mp_note("%d cases", cases);
    return dev_end();
}
