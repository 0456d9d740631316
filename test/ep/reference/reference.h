/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What dispatch and combine must give, from the choices of all PEs, one row at a time: a whole call is never held.
 *
 * Dispatch, low latency: PE q holds for each of its experts the rows of the tokens that chose it, by source PE, those
 * of its host first, and then token. High throughput: one row for each token that chose any of q's experts, by source
 * PE and then token.
 *
 * Combine: PEs of the token's own host are apart. With REF_ONE_COPY all of another host are a group, with REF_DIRECT
 * each PE of another host is one. A group's sum begins at 0, is in the order of the choices, and is rounded to
 * bfloat16. The result is the sum, begun at 0 too, in the order of the choices (a group stands where its first choice
 * does), rounded to bfloat16. Low latency sums weight * row for each choice, product and sum rounded apart; high
 * throughput sums one row for each PE, where the choices first name it.
 *
 * Low latency, unless exact: each PE that has choices is a group, groups are summed in the order of PEs. With
 * REF_ONE_COPY the groups of another host are summed first, and rounded.
 */
#ifndef WSH_EP_CHECK_REFERENCE_H
#define WSH_EP_CHECK_REFERENCE_H

#include "test/ep/reference/routing.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ref_origin {
    int32_t pe, token;
};

/* What one PE holds after a dispatch. A part is the rows of one local expert; high throughput has one part. */
struct ref_received {
    struct ref_job job;
    enum ref_mode mode;
    int pe, parts;
    int32_t *counts;           /* [parts][pes]: rows of each source */
    int32_t *offsets;          /* [parts][pes]: the first of them in the part */
    int32_t *expert_counts;    /* [experts a PE]: choices of each local expert */
    int64_t *first;            /* [parts + 1]: where each part begins in `origin` */
    struct ref_origin *origin; /* of each row, 8 bytes a row */
};

/* 0, or -1 without memory. ref_received_free: afterwards, in both cases. */
int ref_received_make(struct ref_received *received, const struct ref_job *job, enum ref_mode mode, int pe);
void ref_received_free(struct ref_received *received);

/* Rows of a part. */
int ref_received_rows(const struct ref_received *received, int part);

/* Where row `slot` of a part comes from. */
struct ref_origin ref_received_origin(const struct ref_received *received, int part, int slot);

/* The row itself, row[hidden]. */
void ref_received_row(const struct ref_received *received, int part, int slot, uint16_t *row);

/* The row as e4m3: codes[hidden], scales[hidden / 128]; only for a job of such a dtype. */
void ref_received_codes(const struct ref_received *received, int part, int slot, uint8_t *codes,
                        float *scales);

/* The row of any token as e4m3: codes[hidden], scales[hidden / 128]. */
void ref_row_codes(const struct ref_job *job, int pe, int token, uint8_t *codes, float *scales);

/* High throughput: local experts of a row, or -1, and their weights, or 0. */
void ref_received_topk(const struct ref_received *received, int slot, int32_t *topk, float *weights);

/* Rows of tokens of `pe` that go to other hosts in a dispatch, and come from there in a combine. */
int64_t ref_network_rows(const struct ref_job *job, int pe, enum ref_route route);

/*
 * The row that PE `pe` has of a token after dispatch, as bfloat16: what came of quantization where the dtype has it.
 * Experts take this.
 */
void ref_dispatched_row(const struct ref_job *job, int pe, int token, uint16_t *row);

/*
 * High throughput: what the program on PE `pe` makes of a received row before combine: the weighted sum, in order of
 * the choices, of what its experts make of it. topk and weights are as ref_received_topk gives them.
 */
void ref_expert_sum(const struct ref_job *job, int pe, const int32_t *topk, const float *weights,
                    const uint16_t *in, uint16_t *out);

/*
 * Gives the row that is combined: in low latency of choice `k` (expert topk[k]), in high throughput of the PE of it.
 * topk has job->topk choices.
 */
typedef void (*ref_give_fn)(void *arg, const int32_t *topk, int k, uint16_t *row);

/* The result of combine for a token of `pe` that chose topk with weights, from rows that `give` gives. out[hidden]. */
int ref_combine(const struct ref_job *job, enum ref_mode mode, enum ref_route route, int pe,
                const int32_t *topk, const float *weights, ref_give_fn give, void *arg, uint16_t *out);

/* The same with the rows of the job and the experts of ref_expert_row. Both: 0, or -1 without memory. */
int ref_combined_row(const struct ref_job *job, enum ref_mode mode, enum ref_route route, int pe, int token,
                     uint16_t *out);

/*
 * High throughput: weights[topk] that come back for a token, where PEs return ref_returned_weight: each column added as
 * rows are.
 */
void ref_combined_weights(const struct ref_job *job, enum ref_route route, int pe, int token, float *weights);

#ifdef __cplusplus
}
#endif

#endif
