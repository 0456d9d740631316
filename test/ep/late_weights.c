/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sending half of a combine that is given weights waits for nobody. It brings the sum of a token's rows where the
 * home's weights have come, and each row by itself where they have not: PE 0 sends before all others begin. Results are
 * the same. With WSH_TEST_LANES another lane stores a PE's own weights, for which a row waits a moment only.
 * paths: local:1,2,3
 * timeout: 60
 */
#include "test/ep/calls.h"

#include "ep/ep.h"
#include "ep/low/call.h"

#include <stdlib.h>

enum { CALLS = 8, TOKENS = 24 };

static struct ref_job job_of(void)
{
    return (struct ref_job){.pes = mp_npes,
                            .hosts = 1,
                            .experts = 4 * mp_npes,
                            .topk = 4,
                            .tokens = TOKENS,
                            .hidden = 512,
                            .routing = REF_UNIFORM,
                            .seed = mp_seed() + 7};
}

static int pe_of(const struct calls *calls, int token, int k)
{
    int expert = calls->topk[token * calls->job.topk + k];

    return expert < 0 ? -1 : expert / 4;
}

static int rows_of(const struct calls *calls, int token, int pe)
{
    int rows = 0;

    for (int k = 0; k < calls->job.topk; k++)
        rows += pe_of(calls, token, k) == pe;
    return rows;
}

/* Whether the flag of a choice says that what lies there is a sum. */
static bool is_sum(const struct calls *calls, int token, int k)
{
    const struct shmemx_ep *ep = (const struct shmemx_ep *)(uintptr_t)calls->ep;
    const struct ep_shape *shape = &ep->shape;
    const uint64_t *flags = (const uint64_t *)(ep->arena + shape->low_sum_flags[ep->state->combines % 2]);
    uint64_t flag = flags[((size_t)token * (size_t)shape->topk + (size_t)k) * (size_t)shape->pieces];

    mp_check((flag & ~EP_LOW_SUMMED) == ep->state->combines, "token %d, choice %d: flag %llx", token, k,
             (unsigned long long)flag);
    return flag & EP_LOW_SUMMED;
}

static void count(const struct calls *calls, int *sums, int *singles)
{
    for (int token = 0; token < TOKENS; token++)
        for (int k = 0; k < calls->job.topk; k++) {
            int pe = pe_of(calls, token, k), rows = rows_of(calls, token, pe);
            bool sum = pe >= 0 && is_sum(calls, token, k);

            if (pe < 0)
                continue;
            mp_check(!sum || rows > 1, "PE %d has one row of token %d, and has brought a sum", pe, token);
            mp_check(sum || rows == 1 || (mp_me && pe != mp_me) || getenv("WSH_TEST_LANES"),
                     "PE %d has the weights of token %d, and has brought %d rows", pe, token, rows);
            mp_check(!sum || !mp_me || pe, "PE 0 has no weights of token %d, and has brought a sum", token);
            *sums += sum;
            *singles += !sum;
        }
}

static void round_of(struct calls *calls, int64_t call)
{
    int sums = 0, singles = 0;

    calls_fill(calls, call);
    calls_dispatch(calls, SHMEMX_EP_BOTH);
    calls_received(calls);
    shmem_barrier_all();
    if (mp_me == 0)
        calls_combine(calls, SHMEMX_EP_SEND);
    shmem_barrier_all();
    if (mp_me)
        calls_combine(calls, SHMEMX_EP_SEND);
    shmem_barrier_all();
    if (calls_are_late(calls, call)) {
        count(calls, &sums, &singles);
        mp_check(sums > 0, "no sums, %d rows", singles);
        mp_check(mp_me == 0 || singles > 0, "no rows by themselves, %d sums", sums);
    }
    calls_combine(calls, SHMEMX_EP_RECEIVE);
    calls_combined(calls);
}

int main(void)
{
    struct calls_options options = {0};
    struct ref_job job;
    struct calls calls;

    mp_begin();
    job = job_of();
    if (calls_open(&calls, SHMEM_TEAM_WORLD, &job, REF_LOW_LATENCY, job.hosts > 1 ? REF_ONE_COPY : REF_DIRECT,
                   &options)) {
        for (int64_t call = 0; call < CALLS; call++)
            round_of(&calls, call);
        calls_close(&calls);
    }
    return mp_end();
}
