/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator: runs programs of collectives and prints what they took, or soaks them with many seeds. */
#include "sim/programs/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

sim_time sim_copy_cost(size_t len)
{
    return (sim_time)((double)len * sim.set.copy * 1000);
}

static double seconds(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double resident_mib(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss / 1024;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The state of the ordering engine at one PE: the mean and the most. */
static void engine_measure(double *mean, size_t *most)
{
    size_t sum = 0;

    *most = 0;
    for (int i = 0; i < sim.n_pes; i++) {
        sum += sim.pe[i].bytes;
        if (sim.pe[i].bytes > *most)
            *most = sim.pe[i].bytes;
    }
    *mean = (double)sum / sim.n_full;
}

static void json_print(const struct sim_call *call, double mean, size_t most, double took)
{
    const struct sim_counts *c = &sim.counts;
    int rounds = sim.set.rounds;
    double calls = (double)rounds * sim.n_full; /* of a PE */

    printf(
        "{\"simulated\": true, \"what\": \"%s\", \"pes\": %d, \"full\": %d, \"hosts\": %d, \"per_host\": %d, "
        "\"nics\": %d, "
        "\"len\": %zu, \"rounds\": %d, \"seed\": %llu, \"median_us\": %.3f, \"least_us\": %.3f, "
        "\"most_us\": %.3f, \"network_messages\": %.1f, \"network_acks\": %.1f, \"network_writes\": %.1f, "
        "\"network_bytes\": %.0f, \"host_stores\": %.1f, \"pad_bytes\": %zu, \"engine_bytes_mean\": %.0f, "
        "\"engine_bytes_most\": %zu, \"window\": %u, \"nic_queue\": %u, \"completion_queue\": %u, "
        "\"receives\": %u, \"rnr\": %llu, \"refused\": %llu, \"deferred\": %u, \"events\": %llu, \"took_s\": "
        "%.2f, "
        "\"resident_mib\": %.0f, \"pe_messages\": %.2f, \"pe_credits\": %.2f, \"pe_bytes\": %.0f, "
        "\"pe_least_messages\": %.2f, \"pe_least_bytes\": %.0f}\n",
        call->work->name, sim.n_pes, sim.n_full, sim.n_hosts, sim.set.per_host, sim.set.nics, call->len,
        rounds, (unsigned long long)sim.set.seed, call->us[rounds / 2], call->us[0], call->us[rounds - 1],
        (double)c->messages / rounds, (double)c->acks / rounds, (double)c->writes / rounds,
        (double)c->bytes / rounds, (double)c->locals / rounds, sim.pe[0].coll.area.len, mean, most,
        sim.window, c->nic_queue, c->cq, c->receives, (unsigned long long)c->rnr,
        (unsigned long long)c->refused, c->deferred, (unsigned long long)c->events, took, resident_mib(),
        (double)call->given.messages / calls, (double)call->given.credits / calls,
        (double)call->given.bytes / calls, (double)call->given.least_messages / calls,
        (double)call->given.least_bytes / calls);
}

static void table_print(const struct sim_call *call, double mean, size_t most, double took)
{
    const struct sim_counts *c = &sim.counts;
    int rounds = sim.set.rounds;
    static bool begun;

    if (!begun)
        printf("# simulated: no figure here was measured on a network\n"
               "# %-10s %7s %6s %8s %10s %10s %10s %10s %9s %9s %6s %6s %5s %6s\n",
               "what", "pes", "hosts", "len", "us", "least", "most", "messages", "engine B", "most B",
               "nic q", "cq", "rnr", "took s");
    begun = true;
    printf("  %-10s %7d %6d %8zu %10.2f %10.2f %10.2f %10.0f %9.0f %9zu %6u %6u %5llu %6.2f\n",
           call->work->name, sim.n_pes, sim.n_hosts, call->len, call->us[rounds / 2], call->us[0],
           call->us[rounds - 1], (double)(c->messages + c->acks + c->writes) / rounds, mean, most,
           c->nic_queue, c->cq, (unsigned long long)c->rnr, took);
}

static void report(struct sim_call *call, double took)
{
    double mean;
    size_t most;

    qsort(call->us, (size_t)sim.set.rounds, sizeof *call->us, by_value);
    engine_measure(&mean, &most);
    (sim.set.json ? json_print : table_print)(call, mean, most, took);
    fflush(stdout);
}

/* All words of set->program in one job. 0 or 1. */
static int run_job(const struct sim_options *set, bool reports)
{
    struct sim_call calls[SIM_CALLS];
    double begun = seconds();
    size_t data_len;
    const char *wrong;
    int n = 0, rc;

    wrong = sim_program_read(set, calls, &n, &data_len);
    if (wrong) {
        fprintf(stderr, "sim: --run: there is no \"%s\"; sim --help lists the words\n", wrong);
        exit(2);
    }
    if (sim_program_keeps_twice(calls, n)) {
        fprintf(stderr,
                "sim: --run %s: one of decode, dispatch, combine and prefill at a time; run sim for each\n",
                set->program);
        exit(2);
    }
    sim_open(set, data_len);
    rc = sim_program_run(calls, n);
    if (!rc && reports)
        report(&calls[0], seconds() - begun);
    sim_close();
    for (int i = 0; i < n; i++)
        free(calls[i].us);
    return rc != 0;
}

/* Each word in a job of its own. */
static int run_each(const struct sim_options *set)
{
    char *words = strdup(set->program), *at = words, *word;
    int failed = 0;

    while ((word = strsep(&at, ","))) {
        struct sim_options one = *set;

        one.program = word;
        failed |= run_job(&one, true);
    }
    free(words);
    return failed;
}

#define MANY 10000

/*
 * A soak chooses what the caller has left at its default. Of many PEs fewer stand for a host of their own, and windows
 * stay near the library's, which is 1 there: both cost memory, about 120 KiB for each host.
 */
static struct sim_options shape_choose(const struct sim_options *set, uint64_t seed)
{
    static const int per_host[] = {1, 2, 3, 7, 8, 16, 64};
    static const uint32_t windows[] = {0, 1, 2, 4, 16};
    struct sim_options one = *set;
    uint64_t many = set->pes > MANY;
    uint64_t random = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);

    for (int i = 0; i < 8; i++)
        sim_next_random(&random);
    one.seed = seed;
    one.pes = set->pes - (int)sim_below(&random, (uint64_t)set->pes / 8 + 1);
    one.per_host = per_host[many + sim_below(&random, 7 - many)];
    one.nics = 1 << sim_below(&random, 4);
    one.window = windows[sim_below(&random, 5 - many)];
    one.ops = 4u << sim_below(&random, 8);
    one.jitter = (double)sim_below(&random, 20000);
    one.skew = (double)sim_below(&random, 3) * 10000;
    one.threads = set->threads || sim_below(&random, 2);
    one.len = set->len == 8 ? (size_t)8 << sim_below(&random, many ? 7 : 9) : set->len;
    return one;
}

static int soak(const struct sim_options *set)
{
    double begun = seconds();
    uint64_t helped = 0;
    int failed = 0;

    for (uint64_t i = 0; i < set->seeds && !failed; i++) {
        struct sim_options one = shape_choose(set, set->seed + i);

        failed = run_job(&one, false);
        helped += sim.counts.helped;
        if (failed)
            printf("# seed %llu: --pes %d --per-host %d --nics %d --window %u --ops %u --jitter %g --skew %g "
                   "--threads %d --len %zu\n",
                   (unsigned long long)one.seed, one.pes, one.per_host, one.nics, one.window, one.ops,
                   one.jitter, one.skew, one.threads, one.len);
    }
    if (!failed)
        printf(
            "simulated: %llu seeds of up to %d PEs, %s, %d rounds each, %llu requests begun by threads: no "
            "early or lost effect, no deadlock; %.1f s, %.0f MiB\n",
            (unsigned long long)set->seeds, set->pes, set->program, set->rounds, (unsigned long long)helped,
            seconds() - begun, resident_mib());
    return failed;
}

int main(int argc, char **argv)
{
    struct sim_options set;
    int status = sim_options_read(&set, argc, argv);

    if (status >= 0)
        return status;
    return set.seeds ? soak(&set) : run_each(&set);
}
