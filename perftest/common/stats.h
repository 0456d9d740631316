/* SPDX-License-Identifier: BSD-3-Clause */
/* Order statistics of a row's samples. */
#ifndef PERFTEST_COMMON_STATS_H
#define PERFTEST_COMMON_STATS_H

struct perf_stats {
    double min;
    double p25;
    double p50;
    double p75;
    double p90;
    double p99;
    double max;
};

/* Sorts `samples` in place; count >= 1. Percentiles are interpolated between neighbours. */
void perf_stats_from(struct perf_stats *stats, double *samples, long count);

#endif
