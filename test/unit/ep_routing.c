/* SPDX-License-Identifier: BSD-3-Clause */
/* Choices and rows of the tests of expert parallelism: valid, of the kind that their routing says, nowhere the same. */
#include "test/ep/reference/routing.h"

#include "test/ep/reference/rows.h"
#include "test/common/ep_jobs.h"
#include "test/common/unit.h"

#include <stdbool.h>
#include <string.h>

/* Choices are distinct experts, and -1 only where the routing has it. */
static void check_choices(const struct ref_job *job)
{
    bool may = job->routing == REF_EMPTY_PE || job->routing == REF_HOLES || job->routing == REF_MIXED;
    int wrong = 0;

    for (int pe = 0; pe < job->pes; pe++) {
        wrong += ref_table.tokens[pe] < 0 || ref_table.tokens[pe] > job->tokens;
        for (int token = 0; token < ref_table.tokens[pe]; token++) {
            bool seen[EXPERTS] = {false};
            for (int k = 0; k < job->topk; k++) {
                int32_t expert = ref_table.topk[pe][token][k];
                wrong += expert < -1 || expert >= job->experts || (expert < 0 && !may);
                wrong += expert >= 0 && seen[expert];
                wrong += expert >= 0 &&
                         !(ref_table.weights[pe][token][k] > 0 && ref_table.weights[pe][token][k] < 1.1f);
                if (expert >= 0)
                    seen[expert] = true;
            }
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void choices_are_valid(void)
{
    ref_each_job(check_choices);
}

/* How often each expert is chosen in a call, and by how many tokens none. */
static int count_choices(const struct ref_job *job, int *count)
{
    int without = 0;

    memset(count, 0, EXPERTS * sizeof *count);
    for (int pe = 0; pe < job->pes; pe++) {
        for (int token = 0, n = ref_tokens(job, pe); token < n; token++) {
            int32_t topk[REF_TOPK_MAX];
            float weights[REF_TOPK_MAX];
            int some = 0;

            ref_choose(job, pe, token, topk, weights);
            for (int k = 0; k < job->topk; k++)
                if (topk[k] >= 0)
                    some += ++count[topk[k]] > 0;
            without += some == 0;
        }
    }
    return without;
}

static int most_of(const int *count)
{
    int most = 0;

    for (int expert = 1; expert < EXPERTS; expert++)
        if (count[expert] > count[most])
            most = expert;
    return most;
}

static void routings_are_what_they_say(void)
{
    struct ref_job job = {
        .pes = 8, .hosts = 2, .experts = 32, .topk = 4, .tokens = 200, .hidden = 128, .seed = 5};
    int count[EXPERTS], tokens = 8 * 200;

    for (job.call = 0; job.call < 8; job.call++) {
        job.routing = REF_UNIFORM;
        CU_ASSERT_EQUAL(count_choices(&job, count), 0);
        CU_ASSERT(count[most_of(count)] < tokens / 8 * 3 / 2);
        job.routing = REF_ZIPF;
        CU_ASSERT_EQUAL(count_choices(&job, count), 0);
        CU_ASSERT(count[most_of(count)] > tokens / 2);
        job.routing = REF_HOT_EXPERT;
        CU_ASSERT_EQUAL(count_choices(&job, count), 0);
        CU_ASSERT_EQUAL(count[most_of(count)], tokens);
        job.routing = REF_CAPACITY_EDGE;
        CU_ASSERT_EQUAL(count_choices(&job, count), 0);
        for (int i = 0, hot = most_of(count); i < 4; i++)
            CU_ASSERT_EQUAL(count[hot / 4 * 4 + i], tokens);
        job.routing = REF_HOLES;
        CU_ASSERT(count_choices(&job, count) > 0);
    }
}

static void empty_pes(void)
{
    struct ref_job job = {.hosts = 1, .topk = 2, .tokens = 50, .hidden = 128, .routing = REF_EMPTY_PE};

    for (job.pes = 2; job.pes <= 8; job.pes++) {
        for (job.call = 0; job.call < 4; job.call++) {
            int count[EXPERTS], silent = 0, unchosen = 0;

            job.experts = job.pes * 4;
            count_choices(&job, count);
            for (int pe = 0; pe < job.pes; pe++) {
                const int *of = count + pe * 4;
                silent += ref_tokens(&job, pe) == 0;
                unchosen += of[0] + of[1] + of[2] + of[3] == 0;
            }
            CU_ASSERT(silent > 0 && silent < job.pes);
            CU_ASSERT_EQUAL(unchosen, 1);
        }
    }
}

static void mixed_calls_differ(void)
{
    struct ref_job job = {
        .pes = 4, .hosts = 1, .experts = 16, .topk = 4, .tokens = 40, .hidden = 128, .routing = REF_MIXED};
    int hot = 0, holes = 0, uneven = 0;

    for (job.call = 0; job.call < 60; job.call++) {
        int count[EXPERTS], tokens = 0;
        bool without = count_choices(&job, count) > 0;

        for (int pe = 0; pe < 4; pe++)
            tokens += ref_tokens(&job, pe);
        hot += tokens && count[most_of(count)] == tokens;
        holes += without;
        uneven += tokens != 4 * 40;
    }
    CU_ASSERT(hot > 5 && hot < 50);
    CU_ASSERT(holes > 3 && holes < 40);
    CU_ASSERT(uneven > 50);
}

static void jobs_are_refused(void)
{
    const struct ref_job good = {.pes = 4, .hosts = 2, .experts = 8, .topk = 8, .tokens = 1, .hidden = 128};
    struct ref_job bad[7];

    for (int i = 0; i < 7; i++)
        bad[i] = good;
    bad[0].hosts = 3;
    bad[1].experts = 9;
    bad[2].topk = 9;
    bad[3].topk = 0;
    bad[4].tokens = -1;
    bad[5].hidden = 64;
    bad[6].experts = 0;
    CU_ASSERT_PTR_NULL(ref_job_wrong(&good));
    for (int i = 0; i < 7; i++)
        CU_ASSERT_PTR_NOT_NULL(ref_job_wrong(&bad[i]));
}

/* Rows of all PEs have different contents, in each call others. */
static void rows_differ(void)
{
    uint16_t row[PES * 3 * 2][WSH_EP_BLOCK];
    int n = 0, wrong = 0;

    for (int pe = 0; pe < PES; pe++)
        for (int token = 0; token < 3; token++)
            for (int call = 0; call < 2; call++)
                ref_row(3, pe, call, token, WSH_EP_BLOCK, row[n++]);
    for (int i = 0; i < n; i++) {
        for (int other = 0; other < i; other++)
            wrong += !memcmp(row[i], row[other], sizeof row[i]);
        for (int column = 0; column < WSH_EP_BLOCK; column++)
            wrong += (row[i][column] & 0x7f80) == 0x7f80;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

const struct unit_test unit_tests[] = {
    {"choices are distinct experts, -1 only where the routing has it", choices_are_valid},
    {"each routing is what it says", routings_are_what_they_say},
    {"of REF_EMPTY_PE some have no tokens, and one PE is not chosen", empty_pes},
    {"calls of REF_MIXED differ", mixed_calls_differ},
    {"jobs of wrong sizes are refused", jobs_are_refused},
    {"rows differ by PE, token and call, and are finite", rows_differ},
    {NULL, NULL},
};
