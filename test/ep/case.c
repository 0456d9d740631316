/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cases of the table (test/ep/pairs.txt): some calls of each, compared with the reference. The argument is the table:
 * the program goes through those of its lines that are for this path, number of PEs and of hosts. Sums are exact in
 * every second case; with WSH_TEST_LONG=1 all cases are made in both forms.
 */
#include "test/ep/calls.h"
#include "test/ep/pairs.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS = 3 };

/* Rows on the network: those of all PEs' dispatches, and as many in combines. */
static void compare_statistics(struct calls *calls)
{
    uint64_t far = (uint64_t)(calls->job.pes - calls->job.pes / calls->job.hosts);
    shmemx_ep_statistics_t statistics;
    uint64_t *sums = mp_alloc(4 * sizeof *sums);

    mp_check(!shmemx_ep_statistics(calls->ep, &statistics), "no statistics");
    sums[0] = statistics.network_rows - calls->declined_rows;
    sums[1] = calls->network_rows;
    shmem_barrier_all();
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, sums + 2, sums, 2);
    mp_check(sums[2] == 2 * sums[3], "%llu rows by the network, not 2 * %llu", (unsigned long long)sums[2],
             (unsigned long long)sums[3]);
    mp_check(statistics.calls == 2 * CALLS + calls->declined, "%llu calls",
             (unsigned long long)statistics.calls);
    if (calls->mode == REF_LOW_LATENCY)
        mp_check(statistics.network_puts <= (2 * CALLS + 2) * far, "%llu puts",
                 (unsigned long long)statistics.network_puts);
    shmem_barrier_all();
    shmem_free(sums);
}

static void run_case(const struct pairs_case *one, bool exact)
{
    struct pairs_meaning meaning = pairs_meaning(one);
    struct calls_options options = {.halves = meaning.halves,
                                    .buffers = meaning.buffers,
                                    .coded = meaning.coded,
                                    .kept = meaning.kept,
                                    .window = meaning.window};
    struct calls calls;

    meaning.job.exact = exact;
    if (!calls_open(&calls, SHMEM_TEAM_WORLD, &meaning.job, meaning.mode, meaning.route, &options))
        return;
    for (int64_t call = 0; call < CALLS; call++)
        calls_round(&calls, call);
    compare_statistics(&calls);
    calls_close(&calls);
}

/* Whether a line is for this job, which WSH_TEST_PATH and WSH_TEST_HOSTS describe. */
static bool is_here(const struct pairs_case *one)
{
    const char *hosts = getenv("WSH_TEST_HOSTS");

    return mp_path_is(pairs_parameters[PAIRS_PATH].values[one->value[PAIRS_PATH]]) && hosts &&
           atoi(pairs_parameters[PAIRS_HOSTS].values[one->value[PAIRS_HOSTS]]) == atoi(hosts) &&
           atoi(pairs_parameters[PAIRS_PES].values[one->value[PAIRS_PES]]) == mp_npes;
}

static bool read_line(char *line, struct pairs_case *one)
{
    char *words[PAIRS_PARAMETERS + 1];
    int n = 0;

    for (char *word = strtok(line, " \n"); word && n <= PAIRS_PARAMETERS; word = strtok(NULL, " \n"))
        words[n++] = word;
    return !pairs_read(one, n, words);
}

int main(int argc, char **argv)
{
    FILE *table = argc == 2 ? fopen(argv[1], "r") : NULL;
    struct pairs_case one;
    char line[512];
    int cases = 0;

    if (!table)
        return MP_FAILED;
    mp_begin();
    while (fgets(line, sizeof line, table))
        if (mp_check(read_line(line, &one), "%s: a wrong line", argv[1]) && is_here(&one)) {
            run_case(&one, cases % 2);
            if (mp_rounds(1, 2) == 2)
                run_case(&one, !(cases % 2));
            cases++;
        }
    mp_note("%d cases", cases);
    mp_check(cases > 0, "no case in %s", argv[1]);
    fclose(table);
    return mp_end();
}
