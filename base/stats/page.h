/* SPDX-License-Identifier: BSD-3-Clause */
/* The page on which a PE shows what it does, in a memfd that processes of the same user may map. */
#ifndef WSH_BASE_STATS_PAGE_H
#define WSH_BASE_STATS_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WSH_STATS_BYTES 4096 /* of a page; oshrun's memfd has one for each PE, by its number */
#define WSH_STATS_MEMFD "warpshmem-stats"
#define WSH_STATS_MAGIC 0x31737461747377ULL /* "wstats1" */
#define WSH_STATS_ROUTINE 48
#define WSH_STATS_JOB 64
#define WSH_STATS_PATH 1024

/*
 * Written by the PE alone, read at any time: every field by itself, relaxed; `magic` last (release; partner: the
 * acquire of wsh_stats_page_read). Times are of CLOCK_MONOTONIC, in ns.
 */
struct wsh_stats_page {
    uint64_t magic;
    int32_t pe, n_pes, pid;
    char job[WSH_STATS_JOB];
    char metrics[WSH_STATS_PATH]; /* the file of SHMEM_METRICS_FILE that is to go with the PE; "": none */

    /* The wait that it is in: for `wait_pe` (-1: not known) since `wait_since` (0: it computes). */
    uint64_t wait_since;
    int32_t wait_pe;
    char routine[WSH_STATS_ROUTINE];

    /* Figures, as they were at `at`. */
    uint64_t at;
    uint64_t operations, bytes; /* of the network, and with SHMEM_STATS of puts, gets and atomics */
    uint64_t retries, stalls;   /* requests that a NIC had no room for; messages that waited for credits */
    uint64_t waits, wait_ns;
    int32_t most_pe; /* whom it has waited for longest, -1: nobody */
    uint64_t most_ns;
};

_Static_assert(sizeof(struct wsh_stats_page) <= WSH_STATS_BYTES, "a page holds it");

/*
 * A page of this process alone, which others find by its pid; *fd is -1 where there is no descriptor left for that.
 * NULL: no memory.
 */
struct wsh_stats_page *wsh_stats_page_make(int *fd);
/* Page `pe` of the memfd that oshrun has given; NULL where it is none. The descriptor becomes close-on-exec. */
struct wsh_stats_page *wsh_stats_page_given(int fd, int pe);
void wsh_stats_page_close(struct wsh_stats_page *page);

/* For oshrun: a memfd of `n` pages of zeros, inherited by children; all of them mapped. -errno. */
int wsh_stats_pages_make(int n, const char **pages);

/* Copies a page that may be half written: texts end, numbers are as found. False: no PE has filled it yet. */
bool wsh_stats_page_read(const void *at, struct wsh_stats_page *copy);

/* The page of a process of this user. 0, -ENOENT (it has none), or -EACCES, -ESRCH. */
int wsh_stats_page_of(pid_t pid, struct wsh_stats_page *copy);

/* Removes the file of metrics that a PE which has ended has left: a regular file of this user. */
void wsh_stats_metrics_remove(const struct wsh_stats_page *copy);

#endif
