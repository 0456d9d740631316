/* SPDX-License-Identifier: BSD-3-Clause */
/* Many shapes, and the choices of a call read into a ref_table. */
#include "test/common/ep_jobs.h"

#include "test/common/unit.h"

struct ref_table ref_table;

static void read_table(const struct ref_job *job)
{
    for (int pe = 0; pe < job->pes; pe++) {
        ref_table.tokens[pe] = ref_tokens(job, pe);
        for (int token = 0; token < ref_table.tokens[pe]; token++)
            ref_choose(job, pe, token, ref_table.topk[pe][token], ref_table.weights[pe][token]);
    }
}

void ref_each_job(void (*body)(const struct ref_job *job))
{
    static const int shapes[][5] = {/* PEs, hosts, experts a PE, top-k, tokens */
                                    {1, 1, 3, 2, 7}, {1, 1, 16, 16, 3}, {2, 1, 4, 8, 9}, {2, 2, 1, 1, 5},
                                    {3, 1, 5, 8, 4}, {4, 2, 2, 4, 9},   {4, 4, 4, 8, 7}, {4, 2, 1, 2, 1},
                                    {6, 3, 3, 8, 8}, {8, 2, 6, 16, 9},  {8, 4, 2, 8, 9}, {8, 2, 1, 8, 9},
                                    {8, 8, 2, 2, 0}, {8, 1, 4, 2, 9}};

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        for (int at = 0; at < REF_ROUTINGS * 3; at++) {
            const int *shape = shapes[i];
            struct ref_job job = {.pes = shape[0],
                                  .hosts = shape[1],
                                  .experts = shape[0] * shape[2],
                                  .topk = shape[3],
                                  .tokens = shape[4],
                                  .hidden = HIDDEN,
                                  .dtype = (enum ref_dtype)(at % REF_DTYPES),
                                  .routing = (enum ref_routing)(at % REF_ROUTINGS),
                                  .seed = i,
                                  .call = at / REF_ROUTINGS};
            CU_ASSERT_PTR_NULL(ref_job_wrong(&job));
            read_table(&job);
            body(&job);
        }
    }
}

int ref_expert_pe(const struct ref_job *job, int32_t expert)
{
    int pe = 0;

    while (expert >= (pe + 1) * (job->experts / job->pes))
        pe++;
    return expert < 0 ? -1 : pe;
}
