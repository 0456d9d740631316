/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole calls: what a PE gives to dispatch and combine, and whether what it has got is right, in arrays as
 * include/shmemx_ep.h lays them out. In memory of the host; pointers may be NULL where nothing is wanted or looked at.
 */
#ifndef WSH_EP_CHECK_JUDGE_H
#define WSH_EP_CHECK_JUDGE_H

#include "test/ep/reference/reference.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For the T tokens of `pe`: x[T][hidden] in bfloat16, topk[T][topk], weights[T][topk]. */
void ref_fill_inputs(const struct ref_job *job, int pe, uint16_t *x, int32_t *topk, float *weights);

/* The same x in e4m3, as dispatch quantizes it: x[T][hidden], scales[T][hidden / 128]. For a job of such a dtype. */
void ref_fill_codes(const struct ref_job *job, int pe, uint8_t *x, float *scales);

/* What experts make of the rows received: y as dispatch's rows, with `capacity`; y_weights[capacity][topk]. */
int ref_fill_y(const struct ref_received *received, int capacity, uint16_t *y, float *y_weights);

/* What dispatch has filled: fields of shmemx_ep_dispatch_t. */
struct ref_output {
    const void *rows;
    const float *row_scales;
    const int32_t *counts, *sources, *row_topk;
    const float *row_weights;
    int capacity;
};

/* 0, or 1 with a line in `line` that says what is wrong first; -1 without memory. No part may exceed the capacity. */
int ref_dispatch_wrong(const struct ref_received *received, const struct ref_output *output, char *line,
                       size_t size);

/* The same of out[T][hidden] and out_weights[T][topk] of a combine, after ref_fill_y on all PEs. */
int ref_combine_wrong(const struct ref_job *job, enum ref_mode mode, enum ref_route route, int pe,
                      const uint16_t *out, const float *out_weights, char *line, size_t size);

#ifdef __cplusplus
}
#endif

#endif
