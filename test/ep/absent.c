/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * absent HOW WHO: calls of low latency with masks, from which PE WHO (-1: the last) goes away. HOW: before, halves,
 * between, any: it dies before a dispatch, between its halves, before the combine, at a random time; late: it does
 * nothing for longer than the limit; alone: it then makes its calls by itself; edge: it comes about at the limit. Those
 * that are late come back. Rows of the others are the reference's in every call, bit for bit. ABSENT_GPU=1: by kernels,
 * with half a second for each wait. For test/ep/masks.sh.
 */
#include "test/ep/calls.h"

#include "ep/number.h"

#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { FIRST = 3, ALONE = 4 };

static int victim, gone; /* what the reference leaves out: the victim's tokens and experts */
static const char *how;
static int limit_ms;
static bool gpu;
static int *words; /* of a reduction */

static struct ref_job plain_of(const struct ref_job *job)
{
    struct ref_job plain = *job;

    plain.own_tokens = NULL;
    plain.own_choice = NULL;
    return plain;
}

static int tokens_there(const struct ref_job *job, int pe)
{
    struct ref_job plain = plain_of(job);

    return gone && pe == victim ? 0 : ref_tokens(&plain, pe);
}

static void choices_there(const struct ref_job *job, int pe, int token, int32_t *topk, float *weights)
{
    struct ref_job plain = plain_of(job);

    ref_choose(&plain, pe, token, topk, weights);
    for (int k = 0; k < job->topk && gone; k++)
        if (ref_pe_of(job, topk[k]) == victim)
            topk[k] = -1;
}

static bool is(const char *what)
{
    return !strcmp(how, what);
}

static bool dies(void)
{
    return !is("late") && !is("alone") && !is("edge");
}

static int is_masked(struct calls *calls)
{
    int32_t masked[64];

    mp_check(!shmemx_ep_mask_query(calls->ep, masked), "no masks");
    for (int pe = 0; pe < calls->job.pes; pe++)
        mp_check(!masked[pe] || pe == victim, "PE %d, which is there, is masked", pe);
    return masked[victim];
}

/* The choices that a program gives name the victim's experts, masked or not. */
static void fill(struct calls *calls, int64_t call)
{
    int as = gone;
    float weights[REF_TOPK_MAX];

    calls_fill(calls, call);
    gone = 0;
    for (int token = 0; token < calls->dispatch.tokens; token++)
        choices_there(&calls->job, calls->me, token, calls->topk + token * calls->job.topk, weights);
    gone = as;
}

static bool are_zeros(const char *row, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (row[i])
            return false;
    return true;
}

/* The reference's row in the place of zeros. */
static void put_in(struct calls *calls, const struct ref_received *received, int part, int i)
{
    const struct ref_job *job = &calls->job;
    size_t columns = (size_t)job->hidden, groups = columns / WSH_EP_BLOCK, capacity = (size_t)calls->capacity;
    size_t at = (size_t)part * capacity + (size_t)i, bytes = job->dtype == REF_BF16 ? 2 * columns : columns;
    float scales[8];

    if (!are_zeros(calls->got + at * bytes, bytes))
        return;
    if (calls->into.row_sources) {
        mp_check(calls->row_sources[at] == -1, "zeros are of token %d", calls->row_sources[at]);
        calls->row_sources[at] = ref_received_origin(received, part, i).token;
    }
    if (job->dtype == REF_BF16) {
        ref_received_row(received, part, i, (uint16_t *)(calls->got + at * bytes));
        return;
    }
    ref_received_codes(received, part, i, (uint8_t *)(calls->got + at * bytes), scales);
    for (size_t group = 0; group < groups; group++) {
        size_t to = calls->into.scales_row_step
                        ? (size_t)part * capacity * groups + group * capacity + (size_t)i
                        : at * groups + group;

        calls->into.row_scales[to] = scales[group];
    }
}

/* Rows that the victim has announced and not sent are zeros. Returns how many it has announced. */
static int put_in_zeros(struct calls *calls)
{
    struct ref_received received;
    int rows = 0;

    if (ref_received_make(&received, &calls->job, calls->mode, calls->me))
        abort();
    for (int part = 0; part < received.parts; part++) {
        const int32_t *source = calls->sources + 2 * (part * calls->job.pes + victim);

        rows += source[1];
        for (int i = source[0]; i < source[0] + source[1]; i++)
            put_in(calls, &received, part, i);
    }
    ref_received_free(&received);
    return rows;
}

/* Sums with the victim's experts, or without: the call in which it has gone away. */
static void combined_either(struct calls *calls)
{
    size_t row = (size_t)calls->job.hidden * 2;
    uint16_t *wanted = malloc(row);

    for (int token = 0; token < calls->dispatch.tokens; token++) {
        bool found = false;

        for (gone = 0; gone < 2 && !found; gone++) {
            ref_combined_row(&calls->job, calls->mode, calls->route, calls->me, token, wanted);
            found = !memcmp(wanted, (char *)calls->out + (size_t)token * row, row);
        }
        mp_check(found, "call %lld: the sum of token %d is neither with nor without PE %d",
                 (long long)calls->job.call, token, victim);
    }
    gone = 1;
    free(wanted);
}

static void leave(int64_t call, const char *where)
{
    if (mp_me == victim && call == FIRST && is(where))
        raise(SIGKILL);
}

/* One that knows of no masks, or whose others have masked it: nothing is compared. */
static void round_alone(struct calls *calls, int64_t call)
{
    fill(calls, call);
    calls_dispatch(calls, SHMEMX_EP_BOTH);
    calls->combine = (shmemx_ep_combine_t){.version = SHMEMX_EP_CALL_VERSION,
                                           .handle = calls->dispatch.handle,
                                           .y = calls->y,
                                           .out = calls->out};
    calls_combine(calls, SHMEMX_EP_BOTH);
}

static void round_there(struct calls *calls, int64_t call)
{
    int before = is_masked(calls), halves = calls->options.halves;

    gone = before;
    fill(calls, call);
    leave(call, "before");
    calls_dispatch(calls, halves ? SHMEMX_EP_SEND : SHMEMX_EP_BOTH);
    leave(call, "halves");
    if (halves)
        calls_dispatch(calls, SHMEMX_EP_RECEIVE);
    if (is_masked(calls) != before)
        gone = !put_in_zeros(calls);
    calls_received(calls);
    leave(call, "between");
    calls_combine(calls, halves ? SHMEMX_EP_SEND : SHMEMX_EP_BOTH);
    if (halves)
        calls_combine(calls, SHMEMX_EP_RECEIVE);
    if (is_masked(calls) != before)
        combined_either(calls);
    else
        calls_combined(calls);
}

/* A PE that was late: all take it back, and meet. */
static void come_back(struct calls *calls)
{
    if (mp_me == victim || mp_me % 2)
        mp_check(!shmemx_ep_mask_clean(calls->ep), "clean");
    else
        mp_check(!shmemx_ep_mask_update(calls->ep, victim, 0), "update");
    shmem_barrier_all();
    gone = 0;
}

static int64_t run_late(struct calls *calls, int64_t call)
{
    if (mp_me == victim) {
        mp_sleep(2e-3 * limit_ms);
        for (int i = 0; i < ALONE + 3 && is("alone"); i++)
            round_alone(calls, call + i);
    } else {
        for (int i = 0; i < ALONE; i++)
            round_there(calls, call + i);
        mp_check(is_masked(calls) == 1, "PE %d, which is late, is not masked", victim);
        mp_check(strstr(shmemx_ep_error_last(), "is masked") != NULL, "no line says so");
    }
    shmem_barrier_all();
    come_back(calls);
    return call + ALONE;
}

/* All PEs: whether any of them has given the victim up. */
static bool is_given_up(struct calls *calls)
{
    words[0] = mp_me != victim && is_masked(calls);
    mp_check(!shmem_int_max_reduce(SHMEM_TEAM_WORLD, words + 1, words, 1), "no reduction");
    return words[1];
}

/*
 * It comes when the others give it up: some of their groups may have seen it, and others not. Those that get little of
 * a processor look at their clocks late: then it comes later, too, until they have given it up.
 */
static int64_t run_edge(struct calls *calls, int64_t call)
{
    uint64_t state = mp_seed() + 78;
    int given_up = 0, later_ms = 0, rounds = (int)mp_rounds(6, 60);

    for (int i = 0; i < rounds || (!given_up && i < 4 * rounds); i++, call++) {
        double s = 1e-3 * (limit_ms + later_ms + (double)mp_random_below(&state, 1200) / 10);

        if (mp_me == victim) {
            mp_sleep(s);
            fill(calls, call); /* what the others have sent before they gave it up is there */
            calls_dispatch(calls, SHMEMX_EP_BOTH);
            calls_received(calls);
            calls_combine(calls, SHMEMX_EP_BOTH);
        } else {
            round_there(calls, call);
        }
        if (is_given_up(calls))
            given_up++;
        else
            later_ms += limit_ms / 2;
        come_back(calls);
    }
    mp_check(given_up > 0, "%d ms later than the limit PE %d was not given up", later_ms, victim);
    return call;
}

static void run(struct calls *calls, int64_t calls_in_all)
{
    int64_t call = 0;

    for (; call < FIRST; call++)
        round_there(calls, call);
    if (is("any") && mp_me == victim) {
        uint64_t state = mp_seed() + 77;
        struct itimerval in = {{0, 0}, {0, (int)(1 + mp_random_below(&state, 20000))}};

        signal(SIGALRM, SIG_DFL);
        setitimer(ITIMER_REAL, &in, NULL);
    }
    if (!dies())
        call = is("edge") ? run_edge(calls, call) : run_late(calls, call);
    for (; call < calls_in_all || (is("any") && !is_masked(calls)); call++)
        round_there(calls, call);
}

int main(int argc, char **argv)
{
    struct ref_job job = {.topk = 4, .hidden = 256};
    struct calls_options options = {.handles = 2};
    struct calls calls;
    shmem_team_t survivors;

    mp_begin();
    gpu = getenv("ABSENT_GPU") != NULL;
    if (argc != 3 || (gpu && !calls_use_gpu()))
        return MP_FAILED;
    how = argv[1];
    victim = atoi(argv[2]) < 0 ? mp_npes - 1 : atoi(argv[2]);
    limit_ms = (dies() && !gpu ? 60000
                : is("edge")   ? 150
                               : 400) *
               (getenv("WSH_TEST_SLOW") ? atoi(getenv("WSH_TEST_SLOW")) : 1);
    options.masks = limit_ms;
    options.halves = is("halves") || mp_seed() % 2;
    job.pes = mp_npes;
    job.hosts = mp_npes / shmem_team_n_pes(SHMEM_TEAM_SHARED);
    job.experts = 3 * mp_npes;
    job.tokens = 24;
    job.seed = mp_seed();
    job.exact = mp_seed() >> 1 & 1;
    job.dtype = (enum ref_dtype)((mp_seed() >> 2) % REF_DTYPES);
    job.routing = mp_seed() >> 4 & 1 ? REF_HOLES : REF_UNIFORM;
    job.own_tokens = tokens_there;
    job.own_choice = choices_there;
    if (!calls_open(&calls, SHMEM_TEAM_WORLD, &job, REF_LOW_LATENCY, REF_DIRECT, &options))
        return MP_FAILED;
    words = is("edge") ? mp_alloc(2 * sizeof *words) : NULL;
    run(&calls, mp_rounds(FIRST + 7, 60));
    if (dies() && shmemx_team_shrink(SHMEM_TEAM_WORLD, &survivors))
        return MP_FAILED;
    calls_close(&calls);
    shmem_free(words);
    if (mp_end())
        return MP_FAILED;
    printf("went on\n");
    return MP_PASSED;
}
