/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * High throughput whose PEs agree by the calls themselves, in one host and between hosts: whoever declines, and
 * whichever PE would get more rows than there is room for, all PEs hear of it in that call, and the next one is right;
 * a PE that has too little memory takes its rows later; row_sums are those of the routing.
 * paths: local:3 tcp:3 mixed:4,6 mixedefa:4
 */
#include "test/ep/calls.h"

#include <string.h>

enum { TOKENS = 40, WINDOW = 3, CAPACITY = 110, PES = 16, KINDS = 4 };

/* Rows of each PE for each PE, as the routing says. */
static void want(const struct ref_job *job, int32_t sent[PES][PES])
{
    memset(sent, 0, PES * sizeof sent[0]);
    for (int pe = 0; pe < job->pes; pe++)
        for (int token = 0; token < ref_tokens(job, pe); token++) {
            int32_t topk[REF_TOPK_MAX], seen[PES] = {0};
            float weights[REF_TOPK_MAX];

            ref_choose(job, pe, token, topk, weights);
            for (int k = 0; k < job->topk; k++) {
                int to = ref_pe_of(job, topk[k]);

                sent[pe][to < 0 ? 0 : to] += to >= 0 && !seen[to]++;
            }
        }
}

static int32_t most_of(const struct ref_job *job, int32_t sent[PES][PES])
{
    int32_t most = 0;

    for (int to = 0; to < job->pes; to++) {
        int32_t rows = 0;

        for (int pe = 0; pe < job->pes; pe++)
            rows += sent[pe][to];
        most = rows > most ? rows : most;
    }
    return most;
}

static void compare_rows(struct calls *calls, int32_t wanted)
{
    int32_t rows = -2;

    mp_check(!shmemx_ep_counts(calls->ep, calls->dispatch.handle, NULL, &rows), "counts");
    mp_check(rows == wanted, "call %lld has %d rows, not %d", (long long)calls->job.call, rows, wanted);
}

/* A call that one PE declines: all hear of it, though parts of it were sent. */
static void decline(struct calls *calls, int pe)
{
    int tokens = calls->dispatch.tokens;

    calls->dispatch.agreed = calls->me == pe ? SHMEMX_EP_DECLINES : SHMEMX_EP_AGREES;
    calls->dispatch.tokens = calls->me == pe ? 0 : tokens;
    calls_dispatch(calls, SHMEMX_EP_BOTH);
    compare_rows(calls, -1);
    calls->dispatch.tokens = tokens;
    calls->dispatch.agreed = SHMEMX_EP_AGREES;
}

/* Room for less than comes: for nothing but a row, for one less, and for all. */
static void take_later(struct calls *calls, int32_t rows)
{
    calls->dispatch.rows_most = 1;
    calls_dispatch(calls, SHMEMX_EP_BOTH);
    compare_rows(calls, rows);
    if (rows < 2)
        return;
    calls_be_late(calls, calls->job.call);
    calls->dispatch.rows_most = rows > 2 ? rows - 1 : 1;
    calls_dispatch(calls, SHMEMX_EP_RECEIVE);
    compare_rows(calls, rows);
    calls->dispatch.rows_most = rows;
    calls_dispatch(calls, SHMEMX_EP_RECEIVE);
}

static void compare_sums(const struct calls *calls, int32_t sent[PES][PES], const int32_t *sums)
{
    int n = calls->job.pes;

    for (int to = 0; to < n; to++)
        for (int pe = 0, rows = 0; pe < n; pe++) {
            rows += sent[pe][to];
            mp_check(sums[pe * n + to] == rows, "row_sums[%d][%d] is %d, not %d", pe, to, sums[pe * n + to],
                     rows);
        }
}

/* One call; its kind says who declines or has too little room. Returns whether there were rows. */
static bool one_call(struct calls *calls, int64_t call)
{
    int32_t sent[PES][PES], sums[PES * PES], rows = 0, n = calls->job.pes, most;
    int kind = (int)(call % KINDS);
    bool short_of = kind == 3 || (kind == 2 && calls->me == call / KINDS % n);

    calls_fill(calls, call);
    want(&calls->job, sent);
    most = most_of(&calls->job, sent);
    for (int pe = 0; pe < n; pe++)
        rows += sent[pe][calls->me];
    if (kind == 1)
        decline(calls, (int)(call / KINDS) % n);
    calls->dispatch.agreed = SHMEMX_EP_AGREES;
    calls->dispatch.row_sums = sums;
    calls->dispatch.rows_most = call % 3 ? CAPACITY : 0;
    if (most <= CAPACITY && short_of)
        take_later(calls, rows);
    else
        calls_dispatch(calls, SHMEMX_EP_BOTH);
    compare_sums(calls, sent, sums);
    compare_rows(calls, most <= CAPACITY ? rows : -1);
    return most <= CAPACITY;
}

/* Between hosts: sums of what PEs have not told each other; halves that differ. */
static void refused(struct calls *calls)
{
    int32_t sums[PES * PES];

    calls_fill(calls, 0);
    calls->dispatch.halves = SHMEMX_EP_BOTH;
    calls->dispatch.row_sums = sums;
    mp_check(shmemx_ep_dispatch(calls->ep, &calls->dispatch), "row_sums are taken without agreed");
    calls->dispatch.agreed = SHMEMX_EP_AGREES;
    calls_dispatch(calls, SHMEMX_EP_SEND);
    calls->dispatch.halves = SHMEMX_EP_RECEIVE;
    calls->dispatch.agreed = 0;
    calls->dispatch.row_sums = NULL;
    mp_check(shmemx_ep_dispatch(calls->ep, &calls->dispatch), "halves are taken that differ");
    calls->dispatch.agreed = SHMEMX_EP_AGREES;
    calls_dispatch(calls, SHMEMX_EP_RECEIVE);
}

static void calls_of(enum ref_route route, enum ref_dtype dtype, enum ref_routing routing)
{
    struct ref_job job = {.pes = mp_npes,
                          .hosts = calls_hosts(),
                          .experts = 2 * mp_npes,
                          .topk = 2,
                          .tokens = TOKENS,
                          .hidden = 128,
                          .dtype = dtype,
                          .routing = routing,
                          .seed = mp_seed() + 3};
    struct calls_options options = {.capacity = CAPACITY, .window = WINDOW};
    struct calls calls;
    int with_rows = 0;

    if (!calls_open(&calls, SHMEM_TEAM_WORLD, &job, REF_HIGH_THROUGHPUT, route, &options))
        return;
    if (job.hosts > 1)
        refused(&calls);
    for (int64_t call = 0; call < mp_rounds(10, 400); call++) {
        if (call % 5 == 4) {
            calls_round(&calls, call); /* they do not agree in each one */
        } else if (one_call(&calls, call)) {
            calls_received(&calls);
            calls_combine(&calls, SHMEMX_EP_BOTH);
            calls_combined(&calls);
            with_rows++;
        }
    }
    mp_note("%s, routing %s: %d calls have rows", route == REF_DIRECT ? "direct" : "one copy",
            ref_routing_name(routing), with_rows);
    calls_close(&calls);
}

int main(void)
{
    mp_begin();
    if (mp_npes > PES)
        return MP_FAILED;
    for (int route = 0; route < (calls_hosts() > 1 ? REF_ROUTES : 1); route++) {
        calls_of((enum ref_route)route, REF_BF16, REF_UNIFORM);
        calls_of((enum ref_route)route, REF_FP8, REF_MIXED);
        calls_of((enum ref_route)route, REF_BF16, REF_CAPACITY_EDGE); /* too many for one PE */
    }
    return mp_end();
}
