/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what a PE takes beside its heap, by the very structs and rules by which the library makes them. */
#include "tools/info_estimate.h"

#include "tools/info_row.h"
#include "runtime/gpu/memory_estimate.h"
#include "transports/efa/wire/sizes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_PES, PER_HOST, NICS, PEERS, TEAMS, NUMBERS };

struct number {
    const char *key;
    long least, most, value; /* value: unless given */
};

static struct number numbers[NUMBERS] = {
    [N_PES] = {"n_pes", 1, 1L << 24, 0}, [PER_HOST] = {"pes_per_host", 1, 4096, 8},
    [NICS] = {"nics", 1, 8, 1},          [PEERS] = {"peers", 0, 1L << 24, 32},
    [TEAMS] = {"teams", 0, 1000, 0},
};

static bool tcp;

static int refuse(const char *item, const char *why)
{
    fprintf(stderr,
            "warpshmem-info: --estimate: '%s': %s; write n_pes=1024,pes_per_host=8 and, where they matter, "
            "nics=1 to "
            "8 for each PE, peers=PEs that each PE talks to, teams=further teams of all PEs, transport=efa "
            "or tcp\n",
            item, why);
    return 2;
}

static int read_number(struct number *number, const char *item, const char *text)
{
    char *end, why[80];

    number->value = strtol(text, &end, 10);
    if (*text && !*end && number->value >= number->least && number->value <= number->most)
        return 0;
    snprintf(why, sizeof why, "a whole number from %ld to %ld is wanted", number->least, number->most);
    return refuse(item, why);
}

static int read_item(const char *item)
{
    const char *is = strchr(item, '=');

    if (is && !strncmp(item, "transport=", 10)) {
        tcp = !strcmp(is + 1, "tcp");
        return tcp || !strcmp(is + 1, "efa") ? 0 : refuse(item, "the transport is efa or tcp");
    }
    for (int i = 0; is && i < NUMBERS; i++)
        if (strlen(numbers[i].key) == (size_t)(is - item) &&
            !strncmp(item, numbers[i].key, (size_t)(is - item)))
            return read_number(&numbers[i], item, is + 1);
    return refuse(item, "no key of this option");
}

static int read_items(const char *text)
{
    char *copy = strdup(text), *rest = NULL;
    int rc = copy ? 0 : 2;

    for (char *item = copy ? strtok_r(copy, ",", &rest) : NULL; item && !rc;
         item = strtok_r(NULL, ",", &rest))
        rc = read_item(item);
    free(copy);
    return rc || numbers[N_PES].value ? rc : refuse(text, "n_pes is missing");
}

static size_t total;
static bool lines;

static void print_line(const char *name, double bytes, const char *law)
{
    static const char *const names[] = {"part", "#bytes", "grows_with"};
    char number[32];

    snprintf(number, sizeof number, "%.0f", bytes);
    wsh_info_row(stdout, "estimate", 3, names, (const char *const[]){name, number, law});
}

static void print_part(const char *name, const char *law, double bytes)
{
    total += (size_t)bytes;
    if (lines)
        print_line(name, bytes, law);
    else
        printf("%-26s %12.0f KiB  %s\n", name, bytes / 1024, law);
}

/*
 * Bytes that libpmix keeps in each process of what the launcher tells it of each PE: 2,139 in use in the area of its
 * thread, by malloc_stats called behind shmem_init, between jobs of 128 and 384 PEs of oshrun on 2026-11-26 with
 * libpmix.so.2.28.
 */
#define PMIX_PE 2140

static void print_parts(const struct wsh_tables_job *job)
{
    size_t peers = job->n_pes - job->n_local,
           known = numbers[PEERS].value < (long)peers ? (size_t)numbers[PEERS].value : peers;
    size_t connected = known + (job->n_local < job->n_pes ? job->n_local : 0);

    print_part("process and libraries", "fixed; rounded, of jobs of 64 PEs",
               tcp ? WSH_EFA_PROCESS_TCP : WSH_EFA_PROCESS);
    print_part("the launcher's data", "a PE, in libpmix", (double)job->n_pes * PMIX_PE);
    print_part("requests and buffers", "fixed", (double)wsh_efa_sizes_pools((uint32_t)job->n_pes, tcp));
    print_part("hosts and domains", "a PE", (double)wsh_tables_hosts(job));
    print_part("teams", "a PE; further teams likewise", (double)wsh_tables_teams(job));
    print_part("routes", "a bit a PE; an entry a PE addressed and of the host",
               (double)wsh_tables_routes(job, known));
    print_part("peers talked to", "a PE addressed and of the host",
               (double)connected * (double)wsh_efa_sizes_peer((uint32_t)job->n_pes, tcp));
    print_part("addresses of NICs",
               tcp ? "none: sockets at first use" : "a NIC that works with one of this PE",
               tcp ? 0 : (double)peers * (double)(numbers[NICS].value * WSH_EFA_PROVIDER_NIC));
    print_part("sync areas of teams", "a PE, in memory that peers write to",
               (double)wsh_tables_sync_areas(job));
}

static void print_rest(const struct wsh_tables_job *job, double reserved)
{
    if (lines) {
        print_line("sum", (double)total, "");
        print_line("at start", (double)wsh_tables_start(job), "given back");
        print_line("reserved", reserved, "untouched");
        return;
    }
    printf("%-26s %12zu KiB\n", "a PE, beside the heap", total / 1024);
    printf("%-26s %12zu KiB  while shmem_init runs, given back at its end\n", "at start",
           wsh_tables_start(job) / 1024);
    printf("%-26s %12.0f KiB  addresses alone, for PEs that are not addressed\n", "reserved",
           reserved / 1024);
}

int wsh_info_estimate(const char *text, bool parsable)
{
    struct wsh_tables_job job;
    int rc = read_items(text);

    if (rc)
        return rc;
    lines = parsable;
    job = (struct wsh_tables_job){.n_pes = (size_t)numbers[N_PES].value,
                                  .n_local = (size_t)numbers[PER_HOST].value,
                                  .n_teams = (size_t)numbers[TEAMS].value};
    if (job.n_local > job.n_pes)
        job.n_local = job.n_pes;
    if (!parsable)
        printf("%ld PEs, %zu a host, over %s: %ld NIC(s) a PE, which talks to %ld PEs of other hosts\n",
               numbers[N_PES].value, job.n_local, tcp ? "tcp" : "efa", numbers[NICS].value,
               numbers[PEERS].value);
    print_parts(&job);
    print_rest(&job, (double)job.n_pes * (double)(wsh_tables_reserved() + wsh_efa_sizes_reserved()));
    return 0;
}
