/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small jobs of expert parallelism of many shapes, with all choices of the call in a table: what unit tests of the
 * reference (ep/check) go through.
 */
#ifndef WSH_TEST_EP_JOBS_H
#define WSH_TEST_EP_JOBS_H

#include "test/ep/reference/routing.h"
#include "ep/number.h"

enum { PES = 8, TOKENS = 9, EXPERTS = 48, HIDDEN = 2 * WSH_EP_BLOCK };

/* All choices of a call. */
struct ref_table {
    int tokens[PES];
    int32_t topk[PES][TOKENS][REF_TOPK_MAX];
    float weights[PES][TOKENS][REF_TOPK_MAX];
};
extern struct ref_table ref_table;

/* Runs `body` for jobs of many shapes, after their choices are in the table. */
void ref_each_job(void (*body)(const struct ref_job *job));

/* The PE of an expert by counting; -1 for none. */
int ref_expert_pe(const struct ref_job *job, int32_t expert);

#endif
