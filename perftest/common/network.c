/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the network's operations and bytes of a row, and knows the least of each collective. */
#include "perftest/common/network.h"

#include <shmemx.h>
#include <string.h>

#ifdef SHMEMX_COUNTER_INVALID
enum { TIMES = 16 };

/* PEs of each host, and hosts. */
struct shape {
    double pes, hosts, len;
};

struct least {
    double ops, bytes;
};

/* Every host hears of every other through one of them. */
static struct least least_sync(const struct shape *s)
{
    return (struct least){2 * (s->hosts - 1), 0};
}

static struct least least_broadcast(const struct shape *s)
{
    return (struct least){s->hosts - 1, (s->hosts - 1) * s->len};
}

/* Each host's blocks once to each other, in one step. */
static struct least least_collect(const struct shape *s)
{
    double pairs = s->hosts * (s->hosts - 1);

    return (struct least){pairs, pairs * s->pes * s->len};
}

static struct least least_alltoall(const struct shape *s)
{
    double pairs = s->hosts * (s->hosts - 1);

    return (struct least){pairs, pairs * s->pes * s->pes * s->len};
}

/* Each host's vector leaves it once, and the result comes back. */
static struct least least_sum(const struct shape *s)
{
    return (struct least){2 * (s->hosts - 1), 2 * (s->hosts - 1) * s->len};
}

static const struct {
    const char *op;
    struct least (*least)(const struct shape *s);
} leasts[] = {
    {"barrier_all", least_sync},        {"sync_all", least_sync},      {"broadcast", least_broadcast},
    {"broadcast_set", least_broadcast}, {"fcollect", least_collect},   {"collect", least_collect},
    {"alltoall", least_alltoall},       {"alltoalls", least_alltoall}, {"sum", least_sum},
};

static void least_add(const struct perf_run *run, const struct perf_op *op, int local, struct perf_row *row)
{
    const struct shape shape = {local, (double)run->npes / local, (double)run->len};

    for (size_t i = 0; i < sizeof(leasts) / sizeof(*leasts); i++)
        if (!strcmp(leasts[i].op, op->name)) {
            struct least least = leasts[i].least(&shape);

            perf_row_add(row, "least_ops", "least", least.ops, 0, PERF_END);
            perf_row_add(row, "least_bytes", "least B", least.bytes, 0, PERF_END);
        }
}

static void counts_of(struct perf_run *run, const struct perf_op *op, long times, long counts[2])
{
    shmemx_stats_t before, after;

    shmem_barrier_all();
    shmemx_stats(&before, sizeof before);
    perf_once(run, op, times);
    shmemx_stats(&after, sizeof after);
    counts[0] = perf_sum(run, (long)(after.network_operations - before.network_operations));
    counts[1] = perf_sum(run, (long)(after.network_bytes - before.network_bytes));
}

void perf_network_add(struct perf_run *run, const struct perf_op *op, struct perf_row *row)
{
    long with[2], without[2], each = op->each ? op->each : run->window;
    int local = 0;

    for (int pe = 0; pe < run->npes; pe++)
        local += pe == run->me || shmem_ptr(run->dest, pe) != NULL;
    if (local == run->npes)
        return;
    counts_of(run, op, TIMES, with);
    counts_of(run, op, 0, without);
    perf_row_add(row, "net_ops", "net ops", (double)(with[0] - without[0]) / (double)(TIMES * each), 2,
                 PERF_END);
    perf_row_add(row, "net_bytes", "net B", (double)(with[1] - without[1]) / (double)(TIMES * each), 0,
                 PERF_END);
    least_add(run, op, local, row);
}
#else
void perf_network_add(struct perf_run *run, const struct perf_op *op, struct perf_row *row)
{
    (void)run, (void)op, (void)row;
}
#endif
