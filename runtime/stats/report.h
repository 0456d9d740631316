/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a job with SHMEM_STATS: the rows of all PEs that live, as the first of them reads them. */
#ifndef WSH_STATS_REPORT_H
#define WSH_STATS_REPORT_H

#include "base/stats/text.h"
#include "runtime/stats/read.h"

/* With one other PE: of the network and of calls together. */
struct wsh_stats_cell {
    uint64_t operations, bytes, wait_ns;
};

/* What each PE shows in symmetric memory. */
struct wsh_stats_row {
    shmemx_stats_t all;
    uint64_t near_puts, near_gets; /* bytes of calls to PEs of its host */
    char host[64];
    struct wsh_stats_longest longest[WSH_STATS_LONGEST];
    struct wsh_stats_cell cell[]; /* [n_pes] */
};

/* A figure of all PEs: its sum, and who has least and most. */
struct wsh_stats_sum {
    uint64_t sum, least, most;
    int least_pe, most_pe, n;
};

struct wsh_stats_report {
    int n_pes, n_rows, n_hosts; /* n_rows: of those that have not failed */
    double seconds;             /* of the PE that was there longest */
    char job[WSH_STATS_JOB];
    struct wsh_stats_sum operations, bytes, near_puts, near_gets, puts, gets, atomics, collectives, retries,
        stalls, waits, wait_ns, proxy_bytes, gda_operations, expert_calls, expert_rows, heap_used;
    uint64_t heap;
    struct wsh_stats_longest longest[WSH_STATS_LONGEST];
    int longest_of[WSH_STATS_LONGEST]; /* whose wait it was */
    uint64_t *waited_for, *waited;     /* [n_pes] ns: by the others, by itself */
};

/* Collective, in shmem_finalize: prints the table and writes the file where SHMEM_STATS… says so on all PEs. */
void wsh_stats_report(struct wsh_job *job);

/* The table, of at most 30 lines. */
void wsh_stats_table(const struct wsh_stats_report *report, struct wsh_text *text);

/* The file: its head, the object of a PE behind so many others, its end. */
void wsh_stats_json_begin(struct wsh_text *text, const char *job, int n_pes);
void wsh_stats_json_pe(struct wsh_text *text, const struct wsh_stats_row *row, int pe, int before, int n_pes);
void wsh_stats_json_end(struct wsh_text *text);

#endif
