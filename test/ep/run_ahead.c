/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PE that has nothing to wait for does not run ahead into memory that others still read, in low latency and in high
 * throughput. PE 0 has no tokens and makes many combines in a row, or dispatches and then combines, while
 * the others sleep now and then; three PEs make calls at speeds of their own; and numbers of calls pass 2^32. Rows
 * differ from call to call. With the argument `mutant` PE 0 does not wait for other hosts in combines: wrong rows are
 * what test/ep/mutants.sh expects; `high` leaves low latency out.
 * paths: local:2,3 tcp:3 mixed:4 mixedefa:4
 * timeout: 100
 */
#define _GNU_SOURCE
#include "test/ep/calls.h"

#include "ep/ep.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { HANDLES = 3, TOKENS = 4 };

static bool is_mutant, in_combine;

/* The library's waits come here. */
void shmemx_counter_wait_until(shmemx_counter_t counter, uint64_t value)
{
    void (*wait)(shmemx_counter_t, uint64_t);

    *(void **)&wait = dlsym(RTLD_NEXT, "shmemx_counter_wait_until");
    if (!wait)
        abort();
    if (!is_mutant || !in_combine || mp_me)
        wait(counter, value);
}

static int no_tokens_of_pe_0(const struct ref_job *job, int pe)
{
    (void)job;
    return pe ? TOKENS : 0;
}

static void uniform(const struct ref_job *job, int pe, int token, int32_t *topk, float *weights)
{
    struct ref_job plain = *job;

    plain.own_tokens = NULL;
    plain.own_choice = NULL;
    ref_choose(&plain, pe, token, topk, weights);
}

static struct ref_job job_of(bool lazy, bool exact)
{
    struct ref_job job = {.pes = mp_npes,
                          .hosts = calls_hosts(),
                          .experts = 2 * mp_npes,
                          .topk = 2,
                          .tokens = TOKENS,
                          .hidden = 512,
                          .exact = exact,
                          .seed = mp_seed() + 5};

    if (lazy) {
        job.own_tokens = no_tokens_of_pe_0;
        job.own_choice = uniform;
    }
    return job;
}

/* Three calls with handles of their own: two combines of one parity have other rows. */
static bool open_three(struct calls *calls, const struct ref_job *job, enum ref_mode mode)
{
    struct calls_options options = {.handles = HANDLES};

    if (!calls_open(&calls[0], SHMEM_TEAM_WORLD, job, mode, mp_path_is("mixed") ? REF_ONE_COPY : REF_DIRECT,
                    &options))
        return false;
    calls_share(&calls[1], &calls[0]);
    calls_share(&calls[2], &calls[0]);
    return true;
}

static void close_three(struct calls *calls)
{
    for (int i = HANDLES - 1; i >= 0; i--)
        calls_close(&calls[i]);
}

/* PE 0 never; the others at random, and for long. */
static void sleep_at_random(uint64_t *state)
{
    if (mp_me && mp_random_below(state, 8) == 0)
        mp_sleep(0.0005 * (double)mp_random_below(state, 4));
}

static void dispatch_three(struct calls *calls, int64_t call, uint64_t *state)
{
    for (int i = 0; i < HANDLES; i++) {
        calls_fill(&calls[i], call + i);
        sleep_at_random(state);
        calls_dispatch(&calls[i], SHMEMX_EP_BOTH);
    }
    for (int i = 0; i < HANDLES; i++)
        calls_received(&calls[i]);
}

static void combines_in_a_row(enum ref_mode mode, bool exact, long times)
{
    struct ref_job job = job_of(true, exact);
    uint64_t state = mp_seed() + (uint64_t)mp_me;
    struct calls calls[HANDLES];

    if (!open_three(calls, &job, mode))
        return;
    dispatch_three(calls, 0, &state);
    for (long i = 0; i < times; i++) {
        sleep_at_random(&state);
        in_combine = true;
        calls_combine(&calls[i % HANDLES], SHMEMX_EP_BOTH);
        in_combine = false;
        calls_combined(&calls[i % HANDLES]);
    }
    close_three(calls);
}

static void three_and_three(enum ref_mode mode, bool lazy, long times)
{
    struct ref_job job = job_of(lazy, false);
    uint64_t state = mp_seed() + (uint64_t)mp_me;
    struct calls calls[HANDLES];

    if (!open_three(calls, &job, mode))
        return;
    for (long i = 0; i < times; i++) {
        dispatch_three(calls, 3 * i, &state);
        for (int j = 0; j < HANDLES; j++) {
            sleep_at_random(&state);
            calls_combine(&calls[j], i % 2 ? SHMEMX_EP_SEND : SHMEMX_EP_BOTH);
            if (i % 2)
                calls_combine(&calls[j], SHMEMX_EP_RECEIVE);
            calls_combined(&calls[j]);
        }
    }
    close_three(calls);
}

/* Before the first call: as if so many had been made. */
static void start_at(const struct calls *calls, uint64_t made)
{
    struct shmemx_ep *ep = (struct shmemx_ep *)(uintptr_t)calls->ep;

    ep->state->dispatches = ep->state->combines = ep->state->received = ep->state->combined = made;
    shmem_barrier_all();
}

static void numbers_pass_32_bits(enum ref_mode mode)
{
    struct ref_job job = job_of(false, false);
    struct calls_options options = {.halves = true};
    struct calls calls;

    if (!calls_open(&calls, SHMEM_TEAM_WORLD, &job, mode, mp_path_is("mixed") ? REF_ONE_COPY : REF_DIRECT,
                    &options))
        return;
    start_at(&calls, 0xfffffffc);
    for (int64_t call = 0; call < 12; call++)
        calls_round(&calls, call);
    calls_close(&calls);
}

/* A dispatch and a combine that the last PE comes 20 ms late to. */
static void late_calls(struct calls *calls, int64_t call, int64_t waits[2][64])
{
    int last = mp_npes - 1;

    calls_fill(calls, call);
    calls->dispatch.waits = waits[0];
    shmem_barrier_all();
    if (mp_me == last)
        mp_sleep(0.02);
    calls_dispatch(calls, SHMEMX_EP_BOTH);
    calls_received(calls);
    calls->combine.waits = waits[1];
    shmem_barrier_all();
    if (mp_me == last)
        mp_sleep(0.02);
    calls_combine(calls, SHMEMX_EP_BOTH);
    calls_combined(calls);
}

/* Whether this PE waits for the last one itself in a combine: between hosts one that adds up for it does for others. */
static bool is_near_the_last(const struct ref_job *job, enum ref_route route)
{
    int near = mp_npes / job->hosts;

    return route == REF_DIRECT || mp_me >= mp_npes - near || mp_me % near == near - 1;
}

/*
 * The others have waited so long for it, as `waits` says; also where the combine is given weights, which come from it
 * before any row is sent. A PE that the system itself keeps waiting has another try.
 */
static void waits_name_the_late(enum ref_route route, bool weights)
{
    struct ref_job job = job_of(false, false);
    struct calls_options options = {0};
    int64_t waits[2][64] = {{0}};
    struct calls calls;
    int last = mp_npes - 1;

    if (!calls_open(&calls, SHMEM_TEAM_WORLD, &job, REF_LOW_LATENCY, route, &options))
        return;
    for (int64_t call = weights; call < 16; call += 4)
        late_calls(&calls, call, waits);
    for (int kind = 0; kind < 1 + is_near_the_last(&job, route); kind++)
        mp_check(mp_me == last || waits[kind][last] > 5000000, "kind %d: %lld ns for the last PE", kind,
                 (long long)waits[kind][last]);
    calls_close(&calls);
}

static void all_of(enum ref_mode mode, bool few)
{
    combines_in_a_row(mode, false, mp_rounds(few ? 60 : 200, 1000));
    three_and_three(mode, true, mp_rounds(few ? 15 : 50, 5000));
    three_and_three(mode, false, mp_rounds(few ? 15 : 50, 5000));
    numbers_pass_32_bits(mode);
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";
    bool far, high = !strcmp(what, "high");

    mp_begin();
    far = !mp_path_is("local");
    is_mutant = !strcmp(what, "mutant");
    for (int weights = 0; weights < 2 && !high && !is_mutant; weights++) {
        waits_name_the_late(REF_DIRECT, weights);
        if (mp_path_is("mixed") || mp_path_is("mixedefa"))
            waits_name_the_late(REF_ONE_COPY, weights);
    }
    if (!high) {
        all_of(REF_LOW_LATENCY, far);
        combines_in_a_row(REF_LOW_LATENCY, true, mp_rounds(far ? 60 : 100, 1000));
    }
    if (!is_mutant)
        all_of(REF_HIGH_THROUGHPUT, true);
    return mp_end();
}
