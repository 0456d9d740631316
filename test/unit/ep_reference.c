/* SPDX-License-Identifier: BSD-3-Clause */
/* The reference of expert parallelism against a second formulation that holds whole calls: sorted lists, sets, and sums
 * of single columns in double arithmetic, rounded to float step by step. */
#include "test/ep/reference/reference.h"

#include "test/ep/reference/rows.h"
#include "test/common/ep_jobs.h"
#include "test/common/unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = PES * TOKENS * REF_TOPK_MAX };

/* Rows that one PE holds, sorted: by part, source, token. */
struct held {
    int part, order, pe, token;
};

/* In low latency sources of the PE's host come before others. */
static int order_of(const struct ref_job *job, enum ref_mode mode, int at, int from)
{
    int s = job->pes / job->hosts;

    return mode == REF_LOW_LATENCY && at / s == from / s ? from - job->pes : from;
}

static int by_row(const void *left, const void *right)
{
    const struct held *a = left, *b = right;

    if (a->part != b->part)
        return a->part - b->part;
    return a->order != b->order ? a->order - b->order : a->token - b->token;
}

static int list_held(const struct ref_job *job, enum ref_mode mode, int pe, struct held *held)
{
    int n = 0, kept = 0;

    for (int from = job->pes - 1; from >= 0; from--)
        for (int token = ref_table.tokens[from] - 1; token >= 0; token--)
            for (int k = 0; k < job->topk; k++)
                if (ref_expert_pe(job, ref_table.topk[from][token][k]) == pe)
                    held[n++] = (struct held){mode == REF_LOW_LATENCY ? ref_table.topk[from][token][k] : 0,
                                              order_of(job, mode, pe, from), from, token};
    qsort(held, (size_t)n, sizeof *held, by_row);
    for (int i = 0; i < n; i++)
        if (kept == 0 || by_row(&held[kept - 1], &held[i]))
            held[kept++] = held[i];
    return kept;
}

static int wrong_counts(const struct ref_received *received, const struct held *held, int n)
{
    int wrong = 0, pes = received->job.pes, a_pe = received->job.experts / pes;

    for (int part = 0; part < received->parts; part++) {
        int number = received->mode == REF_LOW_LATENCY ? received->pe * a_pe + part : 0;
        for (int pe = 0; pe < pes; pe++) {
            int rows = 0, before = 0, order = order_of(&received->job, received->mode, received->pe, pe);
            for (int i = 0; i < n; i++) {
                rows += held[i].part == number && held[i].pe == pe;
                before += held[i].part == number && held[i].order < order;
            }
            wrong +=
                received->counts[part * pes + pe] != rows || received->offsets[part * pes + pe] != before;
        }
    }
    for (int local = 0; local < a_pe; local++) {
        int choices = 0;
        for (int pe = 0; pe < pes; pe++)
            for (int token = 0; token < ref_table.tokens[pe]; token++)
                for (int k = 0; k < received->job.topk; k++)
                    choices += ref_table.topk[pe][token][k] == received->pe * a_pe + local;
        wrong += received->expert_counts[local] != choices;
    }
    return wrong;
}

static int wrong_row(const struct ref_received *received, int part, int slot, const struct held *held)
{
    const struct ref_job *job = &received->job;
    struct ref_origin from = ref_received_origin(received, part, slot);
    uint16_t row[HIDDEN], wanted[HIDDEN];
    uint8_t codes[HIDDEN], wanted_codes[HIDDEN];
    float scales[2], wanted_scales[2];
    enum wsh_ep_scale kind = job->dtype == REF_FP8_UE8M0 ? WSH_EP_SCALE_POWER2 : WSH_EP_SCALE_FLOAT;

    ref_row(job->seed, held->pe, job->call, held->token, HIDDEN, wanted);
    ref_received_row(received, part, slot, row);
    int wrong = from.pe != held->pe || from.token != held->token || memcmp(row, wanted, sizeof row);
    if (job->dtype == REF_BF16)
        return wrong;
    wsh_ep_quantize(wanted, HIDDEN, kind, wanted_codes, wanted_scales);
    ref_received_codes(received, part, slot, codes, scales);
    return wrong +
           (memcmp(codes, wanted_codes, sizeof codes) || memcmp(scales, wanted_scales, sizeof scales));
}

static int wrong_topk(const struct ref_received *received, int slot, const struct held *held)
{
    const struct ref_job *job = &received->job;
    int32_t topk[REF_TOPK_MAX];
    float weights[REF_TOPK_MAX];
    int wrong = 0;

    ref_received_topk(received, slot, topk, weights);
    for (int k = 0; k < job->topk; k++) {
        int32_t expert = ref_table.topk[held->pe][held->token][k];
        bool here = ref_expert_pe(job, expert) == received->pe;

        wrong += topk[k] != (here ? expert - received->pe * (job->experts / job->pes) : -1);
        wrong += weights[k] != (here ? ref_table.weights[held->pe][held->token][k] : 0);
    }
    return wrong;
}

static void check_received(const struct ref_job *job)
{
    static struct held held[ROWS];
    int wrong = 0;

    for (int at = 0; at < job->pes * REF_MODES; at++) {
        enum ref_mode mode = (enum ref_mode)(at % REF_MODES);
        struct ref_received received;
        int n = list_held(job, mode, at / REF_MODES, held), i = 0;

        CU_ASSERT_EQUAL_FATAL(ref_received_make(&received, job, mode, at / REF_MODES), 0);
        wrong += wrong_counts(&received, held, n);
        for (int part = 0; part < received.parts; part++) {
            for (int slot = 0; slot < ref_received_rows(&received, part) && i < n; slot++, i++) {
                wrong += wrong_row(&received, part, slot, &held[i]);
                wrong += mode == REF_HIGH_THROUGHPUT && wrong_topk(&received, slot, &held[i]);
            }
        }
        wrong += i != n || received.first[received.parts] != n;
        ref_received_free(&received);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void dispatch_is_the_sorted_list(void)
{
    ref_each_job(check_received);
}

/* Distinct PEs or hosts of each token as a set of bits. */
static void check_network(const struct ref_job *job)
{
    int s = job->pes / job->hosts;

    for (int pe = 0; pe < job->pes; pe++) {
        int64_t direct = 0, one_copy = 0;

        for (int token = 0; token < ref_table.tokens[pe]; token++) {
            unsigned pes = 0, hosts = 0;
            for (int k = 0; k < job->topk; k++) {
                int to = ref_expert_pe(job, ref_table.topk[pe][token][k]);
                if (to >= 0 && to / s != pe / s) {
                    pes |= 1u << to;
                    hosts |= 1u << to / s;
                }
            }
            direct += __builtin_popcount(pes);
            one_copy += __builtin_popcount(hosts);
        }
        CU_ASSERT_EQUAL(ref_network_rows(job, pe, REF_DIRECT), direct);
        CU_ASSERT_EQUAL(ref_network_rows(job, pe, REF_ONE_COPY), one_copy);
    }
}

static void network_rows_are_sets(void)
{
    ref_each_job(check_network);
}

static float rounded_sum(float a, float b)
{
    return (float)((double)a + (double)b);
}

static float rounded_product(float a, float b)
{
    return (float)((double)a * (double)b);
}

/* One column of a token: what its experts make of it. */
struct column {
    const struct ref_job *job;
    enum ref_mode mode;
    enum ref_route route;
    int pe, number, n;
    const int32_t *topk;
    const float *weights;
    uint16_t value;
    bool done[REF_TOPK_MAX];
};

/* What choice k adds; in high throughput the sum of all choices of its PE, which are then done. */
static float term(struct column *column, int k)
{
    float sum = 0;

    if (column->mode == REF_LOW_LATENCY) {
        uint16_t made = ref_expert_value(column->topk[k], column->number, column->value);
        column->done[k] = true;
        return rounded_product(column->weights[k], wsh_ep_from_bf16(made));
    }
    for (int j = k; j < column->n; j++) {
        if (ref_expert_pe(column->job, column->topk[j]) != ref_expert_pe(column->job, column->topk[k]))
            continue;
        uint16_t made = ref_expert_value(column->topk[j], column->number, column->value);
        sum = rounded_sum(sum, rounded_product(column->weights[j], wsh_ep_from_bf16(made)));
        column->done[j] = true;
    }
    return wsh_ep_from_bf16(wsh_ep_to_bf16(sum));
}

/* Low latency, not exact: the PEs of the choices, each rounded, in their order; those of another host apart. */
static uint16_t reduced(struct column *column)
{
    int s = column->job->pes / column->job->hosts;
    float total = 0, of_host = 0;

    for (int pe = 0; pe < column->job->pes; pe++) {
        bool apart = column->route == REF_ONE_COPY && pe / s != column->pe / s;
        float sum = 0, *to = apart ? &of_host : &total;

        for (int k = 0; k < column->n; k++)
            if (ref_expert_pe(column->job, column->topk[k]) == pe)
                sum = rounded_sum(sum, term(column, k));
        *to = rounded_sum(*to, wsh_ep_from_bf16(wsh_ep_to_bf16(sum)));
        if (pe % s == s - 1) {
            total = rounded_sum(total, wsh_ep_from_bf16(wsh_ep_to_bf16(of_host)));
            of_host = 0;
        }
    }
    return wsh_ep_to_bf16(total);
}

static uint16_t combined(struct column *column)
{
    int s = column->job->pes / column->job->hosts;
    float total = 0;

    if (column->mode == REF_LOW_LATENCY && !column->job->exact)
        return reduced(column);
    for (int k = 0; k < column->n; k++) {
        int pe = ref_expert_pe(column->job, column->topk[k]);
        if (pe < 0 || column->done[k])
            continue;
        if (pe / s == column->pe / s) {
            total = rounded_sum(total, term(column, k));
            continue;
        }
        float group = 0;
        for (int j = k; j < column->n; j++) {
            int other = ref_expert_pe(column->job, column->topk[j]);
            if (other >= 0 && !column->done[j] &&
                (column->route == REF_ONE_COPY ? other / s == pe / s : other == pe))
                group = rounded_sum(group, term(column, j));
        }
        total = rounded_sum(total, wsh_ep_from_bf16(wsh_ep_to_bf16(group)));
    }
    return wsh_ep_to_bf16(total);
}

static int wrong_columns(const struct ref_job *job, enum ref_mode mode, enum ref_route route, int pe,
                         int token)
{
    uint16_t out[HIDDEN], row[HIDDEN];
    int wrong = 0;

    ref_dispatched_row(job, pe, token, row);
    if (ref_combined_row(job, mode, route, pe, token, out))
        return 1;
    for (int number = token % 7; number < HIDDEN; number += 7) {
        struct column column = {.job = job,
                                .mode = mode,
                                .route = route,
                                .pe = pe,
                                .number = number,
                                .n = job->topk,
                                .topk = ref_table.topk[pe][token],
                                .weights = ref_table.weights[pe][token],
                                .value = row[number]};
        wrong += out[number] != combined(&column);
    }
    return wrong;
}

static void check_combined(const struct ref_job *job)
{
    struct ref_job kinds[2] = {*job, *job};
    int wrong = 0;

    kinds[1].exact = true;
    for (int pe = 0; pe < job->pes; pe++)
        for (int token = 0; token < ref_table.tokens[pe]; token++)
            for (int i = 0; i < 2 * REF_MODES * REF_ROUTES; i++)
                wrong += wrong_columns(&kinds[i % 2], (enum ref_mode)(i / 2 % REF_MODES),
                                       (enum ref_route)(i / 2 / REF_MODES), pe, token);
    CU_ASSERT_EQUAL(wrong, 0);
}

static void combine_is_the_sum_of_columns(void)
{
    ref_each_job(check_combined);
}

const struct unit_test unit_tests[] = {
    {"what a PE receives is the sorted list of its rows", dispatch_is_the_sorted_list},
    {"rows over the network are distinct (token, PE) or (token, host)", network_rows_are_sets},
    {"combine gives what each column sums to", combine_is_the_sum_of_columns},
    {NULL, NULL},
};
