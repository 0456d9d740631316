/* SPDX-License-Identifier: BSD-3-Clause */
/* Percentiles by sorting: rows have hundreds of samples, not millions. */
#include "perftest/common/stats.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double percentile(const double *sorted, long count, double p)
{
    double at = p / 100 * (double)(count - 1);
    long below = (long)at;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

void perf_stats_from(struct perf_stats *stats, double *samples, long count)
{
    qsort(samples, (size_t)count, sizeof(*samples), compare);
    stats->min = samples[0];
    stats->p25 = percentile(samples, count, 25);
    stats->p50 = percentile(samples, count, 50);
    stats->p75 = percentile(samples, count, 75);
    stats->p90 = percentile(samples, count, 90);
    stats->p99 = percentile(samples, count, 99);
    stats->max = samples[count - 1];
}
