/* SPDX-License-Identifier: BSD-3-Clause */
/* What the collective programs share: buffers for all PEs, and the work arrays of libraries before OpenSHMEM 1.5. */
#ifndef PERFTEST_COMMON_COLL_H
#define PERFTEST_COMMON_COLL_H

#include "perftest/common/perf.h"

#define PERF_TEAMS PERF_SHMEM_AT_LEAST(1, 5)

/* Buffers of a block for each PE. */
size_t perf_coll_all_pes(const struct perf_run *run, size_t len);

#if PERF_TEAMS
#define PERF_COLL_SETUP NULL
#define PERF_COLL_TEARDOWN NULL
#else
#define PERF_COLL_SETUP perf_coll_setup
#define PERF_COLL_TEARDOWN perf_coll_teardown
#endif

/* What routines over active sets take. run->state: pSync arrays, taken in turn, and pWrk. */
int perf_coll_setup(struct perf_run *run);
void perf_coll_teardown(struct perf_run *run);

/* The pSync array of the next call. A barrier every 64 calls: until then none is used twice. */
long *perf_coll_psync(struct perf_run *run);
void *perf_coll_pwrk(struct perf_run *run);

/* Every PE's block is in every PE's dest, in the order of the PEs. Runs the operation once. */
long perf_coll_check_all(struct perf_run *run, const struct perf_op *op);

/*
 * dest[j] is the sum of long source[j] of PEs first to last; the operation is run once before. Collective; fill
 * before it.
 */
void perf_coll_fill_longs(struct perf_run *run);
long perf_coll_wrong_sums(const struct perf_run *run, int last);

#endif
