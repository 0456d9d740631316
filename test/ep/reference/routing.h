/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call of expert parallelism as tests make it: its sizes, and which experts each token of each PE chooses. All of it
 * is a function of (seed, PE, call, token), so that every PE knows every other PE's choices without being sent them.
 */
#ifndef WSH_EP_CHECK_ROUTING_H
#define WSH_EP_CHECK_ROUTING_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ref_routing {
    REF_UNIFORM,
    REF_ZIPF,       /* few experts are chosen often, the most a few */
    REF_HOT_EXPERT, /* one expert is among those of every token */
    REF_EMPTY_PE,   /* a third of the PEs have no tokens, and nobody chooses the experts of one PE */
    REF_HOLES, /* a quarter of the choices are -1, a fifth of the tokens have no expert; uneven numbers of tokens */
    REF_CAPACITY_EDGE, /* all tokens go to all experts of one PE, and elsewhere only where these are too few */
    REF_MIXED,         /* each call one of the others, with uneven numbers of tokens */
    REF_ROUTINGS
};

enum ref_mode { REF_LOW_LATENCY, REF_HIGH_THROUGHPUT, REF_MODES };

/* How rows go to other hosts: each to its PE, or once a host, to the PE of the same number there. */
enum ref_route { REF_DIRECT, REF_ONE_COPY, REF_ROUTES };

/* What dispatch makes of rows: a copy, e4m3 with float scales, e4m3 with scales that are powers of two. */
enum ref_dtype { REF_BF16, REF_FP8, REF_FP8_UE8M0, REF_DTYPES };

enum { REF_TOPK_MAX = 16 };

struct ref_job {
    int pes, hosts; /* PE p is on host p / (pes / hosts) */
    int experts;    /* of all PEs: expert e is on PE e / (experts / pes) */
    int topk;       /* choices of a token */
    int tokens;     /* the most that a PE has */
    int hidden;     /* columns of a row */
    enum ref_dtype dtype;
    enum ref_routing routing;
    uint64_t seed;
    int64_t call;
    /* In place of the generator, where set: tokens of a PE, and what a token chooses. */
    int (*own_tokens)(const struct ref_job *job, int pe);
    void (*own_choice)(const struct ref_job *job, int pe, int token, int32_t *topk, float *weights);
    bool alike; /* rows and experts of each host are those of host 0 */
    bool exact; /* low latency: each PE's sum is not rounded, only what a host gives and the result */
};

/* NULL, or what is wrong with the sizes of a job. */
const char *ref_job_wrong(const struct ref_job *job);

/* Tokens that `pe` has in this call. */
int ref_tokens(const struct ref_job *job, int pe);

/*
 * What `token` of `pe` chooses: topk[job->topk] distinct experts, or -1 for none, and their weights. The weight beside
 * a -1 is a number that nobody may use.
 */
void ref_choose(const struct ref_job *job, int pe, int token, int32_t *topk, float *weights);

static inline int ref_pes_a_host(const struct ref_job *job)
{
    return job->pes / job->hosts;
}

static inline int ref_host_of(const struct ref_job *job, int pe)
{
    return pe / ref_pes_a_host(job);
}

static inline int ref_experts_a_pe(const struct ref_job *job)
{
    return job->experts / job->pes;
}

/* Whose rows a PE has, and what expert one is. */
static inline int ref_like(const struct ref_job *job, int pe)
{
    return job->alike ? pe % ref_pes_a_host(job) : pe;
}

static inline int ref_like_expert(const struct ref_job *job, int expert)
{
    return job->alike ? expert % (ref_pes_a_host(job) * ref_experts_a_pe(job)) : expert;
}

/* The PE of an expert; -1 for none. */
static inline int ref_pe_of(const struct ref_job *job, int32_t expert)
{
    return expert < 0 ? -1 : expert / ref_experts_a_pe(job);
}

const char *ref_routing_name(enum ref_routing routing);

#ifdef __cplusplus
}
#endif

#endif
