/* SPDX-License-Identifier: BSD-3-Clause */
/* What combine gives: sums in the order of the choices, groups of other hosts rounded on the way. */
#include "test/ep/reference/reference.h"

#include "test/ep/reference/rows.h"

#include <stdbool.h>
#include <stdlib.h>

/* One combine of one token. */
struct sum {
    const struct ref_job *job;
    enum ref_mode mode;
    enum ref_route route;
    int pe;
    const int32_t *topk;
    const float *weights;
    ref_give_fn give;
    void *arg;
    uint16_t *row; /* [hidden] */
    float *group;  /* [hidden] */
    float *host;   /* [hidden] */
    float *total;  /* [hidden] */
};

static int pe_of(const struct sum *sum, int k)
{
    return ref_pe_of(sum->job, sum->topk[k]);
}

/* Choice k adds nothing: it is none, or in high throughput its PE has been named before. */
static bool adds_nothing(const struct sum *sum, int k)
{
    bool nothing = sum->topk[k] < 0;

    for (int earlier = 0; earlier < k && !nothing && sum->mode == REF_HIGH_THROUGHPUT; earlier++)
        nothing = pe_of(sum, earlier) == pe_of(sum, k);
    return nothing;
}

/* A number for each group: a PE, or pes + a host; -1 for choices that are summed alone. */
static int group_of(const struct sum *sum, int k)
{
    const struct ref_job *job = sum->job;
    int host = ref_host_of(job, pe_of(sum, k));

    if (host == ref_host_of(job, sum->pe))
        return -1;
    return sum->route == REF_ONE_COPY ? job->pes + host : pe_of(sum, k);
}

static void add_choice(const struct sum *sum, int k, float *to)
{
    sum->give(sum->arg, sum->topk, k, sum->row);
    if (sum->mode == REF_LOW_LATENCY)
        wsh_ep_add_weighted(to, sum->weights[k], sum->row, sum->job->hidden);
    else
        wsh_ep_add_row(to, sum->row, sum->job->hidden);
}

static bool is_first_of_group(const struct sum *sum, int k, int group)
{
    for (int earlier = 0; earlier < k; earlier++)
        if (!adds_nothing(sum, earlier) && group_of(sum, earlier) == group)
            return false;
    return true;
}

static void add_group(const struct sum *sum, int first, int group)
{
    int hidden = sum->job->hidden;

    for (int i = 0; i < hidden; i++)
        sum->group[i] = 0.0f;
    for (int k = first; k < sum->job->topk; k++)
        if (!adds_nothing(sum, k) && group_of(sum, k) == group)
            add_choice(sum, k, sum->group);
    wsh_ep_round_row(sum->group, hidden, sum->row);
    wsh_ep_add_row(sum->total, sum->row, hidden);
}

/* Adds to `to` the sum of a PE's choices, rounded; false where it has none. */
static bool add_pe(const struct sum *sum, int pe, float *to)
{
    int hidden = sum->job->hidden;
    bool any = false;

    for (int i = 0; i < hidden; i++)
        sum->group[i] = 0.0f;
    for (int k = 0; k < sum->job->topk; k++)
        if (sum->topk[k] >= 0 && pe_of(sum, k) == pe) {
            add_choice(sum, k, sum->group);
            any = true;
        }
    wsh_ep_round_row(sum->group, hidden, sum->row);
    if (any)
        wsh_ep_add_row(to, sum->row, hidden);
    return any;
}

/* Low latency, reduced: PEs in their order; those of another host with one copy added up and rounded first. */
static void add_reduced(const struct sum *sum)
{
    const struct ref_job *job = sum->job;
    int near = ref_pes_a_host(job);

    for (int host = 0; host < job->hosts; host++) {
        bool apart = sum->route != REF_ONE_COPY || host == ref_host_of(job, sum->pe), any = false;

        for (int i = 0; i < job->hidden; i++)
            sum->host[i] = 0.0f;
        for (int pe = host * near; pe < (host + 1) * near; pe++)
            any |= add_pe(sum, pe, apart ? sum->total : sum->host);
        if (apart || !any)
            continue;
        wsh_ep_round_row(sum->host, job->hidden, sum->row);
        wsh_ep_add_row(sum->total, sum->row, job->hidden);
    }
}

static void add_all(const struct sum *sum)
{
    for (int i = 0; i < sum->job->hidden; i++)
        sum->total[i] = 0.0f;
    if (sum->mode == REF_LOW_LATENCY && !sum->job->exact) {
        add_reduced(sum);
        return;
    }
    for (int k = 0; k < sum->job->topk; k++) {
        if (adds_nothing(sum, k))
            continue;
        int group = group_of(sum, k);
        if (group < 0)
            add_choice(sum, k, sum->total);
        else if (is_first_of_group(sum, k, group))
            add_group(sum, k, group);
    }
}

int ref_combine(const struct ref_job *job, enum ref_mode mode, enum ref_route route, int pe,
                const int32_t *topk, const float *weights, ref_give_fn give, void *arg, uint16_t *out)
{
    struct sum sum = {job, mode, route, pe, topk, weights, give, arg, NULL, NULL, NULL, NULL};
    size_t hidden = (size_t)job->hidden;
    float *memory = (float *)malloc(hidden * (3 * sizeof(float) + sizeof(uint16_t)));

    if (!memory)
        return -1;
    sum.total = memory;
    sum.group = memory + hidden;
    sum.host = memory + 2 * hidden;
    sum.row = (uint16_t *)(memory + 3 * hidden);
    add_all(&sum);
    wsh_ep_round_row(sum.total, job->hidden, out);
    free(memory);
    return 0;
}

/* Columns from `at` on, of one block. */
static void add_expert(float *sum, int expert, float weight, int at, const uint16_t *in)
{
    for (int i = 0; i < WSH_EP_BLOCK; i++) {
        float value = wsh_ep_from_bf16(ref_expert_value(expert, at + i, in[at + i]));
        sum[i] = wsh_ep_add(sum[i], wsh_ep_mul(weight, value));
    }
}

void ref_expert_sum(const struct ref_job *job, int pe, const int32_t *topk, const float *weights,
                    const uint16_t *in, uint16_t *out)
{
    for (int at = 0; at < job->hidden; at += WSH_EP_BLOCK) {
        float sum[WSH_EP_BLOCK] = {0};
        for (int k = 0; k < job->topk; k++)
            if (topk[k] >= 0)
                add_expert(sum, ref_like_expert(job, pe * ref_experts_a_pe(job) + topk[k]), weights[k], at,
                           in);
        wsh_ep_round_row(sum, WSH_EP_BLOCK, out + at);
    }
}

/* A token whose rows are those of the job. */
struct token {
    const struct ref_job *job;
    enum ref_mode mode;
    const float *weights;
    uint16_t *row; /* after dispatch */
};

static void give_row(void *arg, const int32_t *topk, int k, uint16_t *row)
{
    const struct token *token = (const struct token *)arg;
    const struct ref_job *job = token->job;
    int pe = ref_pe_of(job, topk[k]);
    int32_t local[REF_TOPK_MAX];

    if (token->mode == REF_LOW_LATENCY) {
        ref_expert_row(ref_like_expert(job, topk[k]), token->row, job->hidden, row);
        return;
    }
    for (int i = 0; i < job->topk; i++)
        local[i] = ref_pe_of(job, topk[i]) == pe ? topk[i] % ref_experts_a_pe(job) : -1;
    ref_expert_sum(job, pe, local, token->weights, token->row, row);
}

int ref_combined_row(const struct ref_job *job, enum ref_mode mode, enum ref_route route, int pe, int token,
                     uint16_t *out)
{
    int32_t topk[REF_TOPK_MAX];
    float weights[REF_TOPK_MAX];
    struct token arg = {job, mode, weights, (uint16_t *)malloc((size_t)job->hidden * sizeof(uint16_t))};

    if (!arg.row)
        return -1;
    ref_choose(job, pe, token, topk, weights);
    ref_dispatched_row(job, pe, token, arg.row);
    int failed = ref_combine(job, mode, route, pe, topk, weights, give_row, &arg, out);
    free(arg.row);
    return failed;
}

/* Column k of what the PE of choice `at` returns. */
static float returned(const struct sum *sum, uint64_t key, int at, int k)
{
    return ref_returned_weight(key, ref_like(sum->job, pe_of(sum, at)), k);
}

/* The sum over the PEs of a group. */
static float group_weight(const struct sum *sum, uint64_t key, int group, int k)
{
    float total = 0.0f;

    for (int at = 0; at < sum->job->topk; at++)
        if (!adds_nothing(sum, at) && group_of(sum, at) == group)
            total = wsh_ep_add(total, returned(sum, key, at, k));
    return total;
}

void ref_combined_weights(const struct ref_job *job, enum ref_route route, int pe, int token, float *weights)
{
    uint64_t key = ref_row_key(job->seed, ref_like(job, pe), job->call, token);
    int32_t topk[REF_TOPK_MAX];
    struct sum sum = {job, REF_HIGH_THROUGHPUT, route, pe, topk, NULL, NULL, NULL, NULL, NULL, NULL, NULL};

    ref_choose(job, pe, token, topk, weights);
    for (int k = 0; k < job->topk; k++) {
        weights[k] = 0.0f;
        for (int at = 0; at < job->topk; at++) {
            int group = adds_nothing(&sum, at) ? -1 : group_of(&sum, at);

            if (adds_nothing(&sum, at))
                continue;
            if (group < 0)
                weights[k] = wsh_ep_add(weights[k], returned(&sum, key, at, k));
            else if (is_first_of_group(&sum, at, group))
                weights[k] = wsh_ep_add(weights[k], group_weight(&sum, key, group, k));
        }
    }
}
