/* SPDX-License-Identifier: BSD-3-Clause */
/* Choices of experts, from a stream of numbers that each token has to itself. */
#include "test/ep/reference/routing.h"

#include "test/ep/reference/rows.h"

#include <stdbool.h>
#include <stddef.h>

#define GOLDEN 0x9e3779b97f4a7c15u /* keeps streams of numbers apart */

/* The choices of one token while they are made. */
struct draw {
    const struct ref_job *job;
    enum ref_routing routing; /* of this call: never REF_MIXED */
    uint64_t call;            /* a number that all tokens of the call share */
    uint64_t state;
    int32_t *topk;
    int n; /* choices made */
};

const char *ref_routing_name(enum ref_routing routing)
{
    static const char *const names[REF_ROUTINGS] = {"uniform", "zipf", "hot",  "empty",
                                                    "holes",   "edge", "mixed"};

    return names[routing];
}

const char *ref_job_wrong(const struct ref_job *job)
{
    if (job->pes < 1 || job->hosts < 1 || job->pes % job->hosts)
        return "the hosts do not divide the PEs";
    if (job->experts < job->pes || job->experts % job->pes)
        return "the PEs do not divide the experts";
    if (job->topk < 1 || job->topk > REF_TOPK_MAX || job->topk > job->experts)
        return "top-k is not between 1 and 16, or more than the experts";
    if (job->tokens < 0)
        return "a negative number of tokens";
    if (job->hidden < WSH_EP_BLOCK || job->hidden % WSH_EP_BLOCK)
        return "hidden is not a multiple of 128";
    return NULL;
}

static uint64_t call_number(const struct ref_job *job)
{
    return ref_mix(ref_mix(job->seed ^ 0x6570) + GOLDEN * ((uint64_t)job->call + 1));
}

static enum ref_routing routing_of(const struct ref_job *job)
{
    return job->routing == REF_MIXED ? (enum ref_routing)((call_number(job) >> 32) % REF_MIXED)
                                     : job->routing;
}

int ref_tokens(const struct ref_job *job, int pe)
{
    uint64_t call = call_number(job);

    if (job->own_tokens)
        return job->own_tokens(job, pe);
    if (routing_of(job) == REF_EMPTY_PE && ((call >> 8) + (uint64_t)pe) % (job->pes < 3 ? job->pes : 3) == 0)
        return 0;
    if (job->routing == REF_HOLES || job->routing == REF_MIXED)
        return (int)(ref_mix(call + GOLDEN * ((uint64_t)pe + 1)) % ((uint64_t)job->tokens + 1));
    return job->tokens;
}

static uint32_t next(struct draw *draw, uint32_t limit)
{
    draw->state += GOLDEN;
    return (uint32_t)((ref_mix(draw->state) >> 32) * limit >> 32);
}

static bool chosen(const struct draw *draw, int32_t expert)
{
    for (int i = 0; i < draw->n; i++)
        if (draw->topk[i] == expert)
            return true;
    return false;
}

/* One more expert of the `n` from `first` on (beyond the last comes expert 0); -1 where all are chosen already. */
static void add_from(struct draw *draw, int first, int n)
{
    int at = n > 0 ? (int)next(draw, (uint32_t)n) : 0;
    int32_t expert = -1;

    for (int tried = 0; tried < n && expert < 0; tried++, at++) {
        expert = (first + at % n) % draw->job->experts;
        if (chosen(draw, expert))
            expert = -1;
    }
    draw->topk[draw->n++] = expert;
}

/* Rank r about as often as 1 / (r + 1): each power of two equally often. Ranks lie apart among the experts. */
static void add_zipf(struct draw *draw)
{
    uint32_t experts = (uint32_t)draw->job->experts, octaves = 1, rank;

    while (experts >> octaves)
        octaves++;
    do {
        uint32_t octave = next(draw, octaves);
        rank = (1u << octave) - 1 + next(draw, 1u << octave);
    } while (rank >= experts);
    uint32_t a_pe = (uint32_t)ref_experts_a_pe(draw->job), pes = (uint32_t)draw->job->pes;
    uint32_t expert = (rank % pes * a_pe + rank / pes + (uint32_t)(draw->call % experts)) % experts;
    add_from(draw, (int)expert, 1);
    if (draw->topk[draw->n - 1] < 0) {
        draw->n--;
        add_from(draw, 0, draw->job->experts);
    }
}

/* The expert of the call is one of all, at another index for each token. */
static void choose_hot(struct draw *draw, int token)
{
    int index = token % draw->job->topk;

    draw->topk[draw->n++] = (int32_t)(draw->call % (uint64_t)draw->job->experts);
    while (draw->n < draw->job->topk)
        add_from(draw, 0, draw->job->experts);
    int32_t hot = draw->topk[0];
    draw->topk[0] = draw->topk[index];
    draw->topk[index] = hot;
}

/* The PE of the call is the one that all tokens go to, or the one that none goes to. */
static void choose_by_pe(struct draw *draw)
{
    int a_pe = ref_experts_a_pe(draw->job), pe = (int)(draw->call % (uint64_t)draw->job->pes);
    int there = draw->routing == REF_CAPACITY_EDGE ? a_pe : 0;

    while (draw->n < draw->job->topk) {
        if (draw->n < there)
            add_from(draw, pe * a_pe, a_pe);
        else
            add_from(draw, (pe + 1) * a_pe, draw->job->experts - a_pe);
    }
}

static void choose_others(struct draw *draw)
{
    while (draw->n < draw->job->topk) {
        if (draw->routing == REF_ZIPF)
            add_zipf(draw);
        else
            add_from(draw, 0, draw->job->experts);
    }
}

static void make_holes(struct draw *draw)
{
    bool all = next(draw, 5) == 0;

    for (int k = 0; k < draw->job->topk; k++)
        if (next(draw, 4) == 0 || all)
            draw->topk[k] = -1;
}

void ref_choose(const struct ref_job *job, int pe, int token, int32_t *topk, float *weights)
{
    struct draw draw = {.job = job, .routing = routing_of(job), .call = call_number(job), .topk = topk};

    if (job->own_choice) {
        job->own_choice(job, pe, token, topk, weights);
        return;
    }
    draw.state = ref_row_key(job->seed ^ 0x746f706b, pe, job->call, token);
    switch (draw.routing) {
    case REF_HOT_EXPERT: choose_hot(&draw, token); break;
    case REF_EMPTY_PE:
    case REF_CAPACITY_EDGE: choose_by_pe(&draw); break;
    default: choose_others(&draw);
    }
    if (draw.routing == REF_HOLES)
        make_holes(&draw);
    for (int k = 0; k < job->topk; k++) {
        uint32_t weight = next(&draw, 1u << 24);
        weights[k] = topk[k] < 0 ? -12345.0f : (float)(weight + (1u << 18)) / 16777216.0f;
    }
}
