/* SPDX-License-Identifier: BSD-3-Clause */
/* What a row's operations cost the network, beside the least that they need. */
#ifndef PERFTEST_COMMON_NETWORK_H
#define PERFTEST_COMMON_NETWORK_H

#include "perftest/common/perf.h"
#include "perftest/common/report.h"

/*
 * Collective: runs the operation a few times more and adds to the row, on PE 0, writes, reads and messages of all PEs
 * for one, with their bytes. Nothing where the library does not count them, or no PE is on another host.
 */
void perf_network_add(struct perf_run *run, const struct perf_op *op, struct perf_row *row);

#endif
