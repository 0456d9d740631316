/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of SHMEM_STATS. */
#include "runtime/stats/report.h"

#include "base/stats/top.h"

#include <stdio.h>

static double ms_of(uint64_t ns)
{
    return (double)ns * 1e-6;
}

/* A row of a path, left out where there was nothing. */
static void path_add(struct wsh_text *text, const struct wsh_stats_report *report, const char *name,
                     const struct wsh_stats_sum *operations, const struct wsh_stats_sum *bytes)
{
    char a[16], b[16] = "", c[16] = "", d[16] = "", e[16] = "";
    const struct wsh_stats_sum *spread = bytes ? bytes : operations;

    if (!(operations && operations->sum) && !(bytes && bytes->sum))
        return;
    if (bytes && report->seconds > 0)
        wsh_stats_short((double)bytes->sum / report->seconds, c);
    wsh_text_add(text, "  %-28s %10s %10s %10s %10s PE %-5d %9s PE %d\n", name,
                 operations ? wsh_stats_short((double)operations->sum, a) : "",
                 bytes ? wsh_stats_short((double)bytes->sum, b) : "", c,
                 wsh_stats_short((double)spread->least, d), spread->least_pe,
                 wsh_stats_short((double)spread->most, e), spread->most_pe);
}

static void paths_add(struct wsh_text *text, const struct wsh_stats_report *report)
{
    wsh_text_add(text, "  %-28s %10s %10s %10s %16s %16s\n", "path", "operations", "bytes", "bytes/s",
                 "least", "most");
    path_add(text, report, "network", &report->operations, &report->bytes);
    path_add(text, report, "puts, all PEs", &report->puts, NULL);
    path_add(text, report, "puts in hosts", NULL, &report->near_puts);
    path_add(text, report, "gets, all PEs", &report->gets, NULL);
    path_add(text, report, "gets in hosts", NULL, &report->near_gets);
    path_add(text, report, "atomics and signals", &report->atomics, NULL);
    path_add(text, report, "collectives, all PEs", &report->collectives, NULL);
    path_add(text, report, "kernels, by the proxy", NULL, &report->proxy_bytes);
    path_add(text, report, "kernels, by queues of NICs", &report->gda_operations, NULL);
    path_add(text, report, "experts: calls", &report->expert_calls, NULL);
    path_add(text, report, "experts: rows", &report->expert_rows, NULL);
    if (report->retries.sum || report->stalls.sum)
        wsh_text_add(
            text,
            "  network: NICs had no room for %llu requests (most PE %d), %llu messages found no credit "
            "(most PE %d)\n",
            (unsigned long long)report->retries.sum, report->retries.most_pe,
            (unsigned long long)report->stalls.sum, report->stalls.most_pe);
}

static void longest_add(struct wsh_text *text, const struct wsh_stats_report *report)
{
    for (int i = 0; i < WSH_STATS_LONGEST && report->longest[i].ns; i++) {
        const struct wsh_stats_longest *one = &report->longest[i];
        char whom[WSH_STATS_WHOM + 16] = "";

        if (one->pe >= 0)
            snprintf(whom, sizeof whom, " for PE %d", one->pe);
        else if (*one->whom)
            snprintf(whom, sizeof whom, " for %.*s", WSH_STATS_WHOM - 1, one->whom);
        wsh_text_add(text, "  %s %10.3f ms: PE %d in %s%s\n", i ? "            " : "longest wait",
                     ms_of(one->ns), report->longest_of[i], one->routine, whom);
    }
}

/* Waited for longest, itself apart. */
static int most_awaited(const struct wsh_stats_report *report)
{
    int most = 0;

    for (int pe = 1; pe < report->n_pes; pe++)
        if (report->waited_for[pe] > report->waited_for[most])
            most = pe;
    return most;
}

static void waits_add(struct wsh_text *text, const struct wsh_stats_report *report)
{
    const struct wsh_stats_sum *wait = &report->wait_ns;
    double all = report->seconds * report->n_rows * 1e9;
    int late = most_awaited(report);

    if (!report->waits.sum)
        return;
    wsh_text_add(
        text,
        "  waits: %llu, %.3f ms of all PEs, %.1f %% of their time; PE %d least, %.3f ms, PE %d most, "
        "%.3f ms\n",
        (unsigned long long)report->waits.sum, ms_of(wait->sum), all > 0 ? 100 * (double)wait->sum / all : 0,
        wait->least_pe, ms_of(wait->least), wait->most_pe, ms_of(wait->most));
    longest_add(text, report);
    if (report->waited_for[late])
        wsh_text_add(
            text,
            "  imbalance: the others waited longest for PE %d, %.3f ms of %.3f ms; it waited %.3f ms "
            "itself\n",
            late, ms_of(report->waited_for[late]), ms_of(wait->sum), ms_of(report->waited[late]));
}

void wsh_stats_table(const struct wsh_stats_report *report, struct wsh_text *text)
{
    char used[16], heap[16], of[64] = "";

    if (report->n_rows < report->n_pes)
        snprintf(of, sizeof of, ", of which %d have failed and are not counted",
                 report->n_pes - report->n_rows);
    wsh_text_add(text, "statistics of job %s: %d PE%s on %d host%s, %.3f s%s\n", report->job, report->n_pes,
                 report->n_pes > 1 ? "s" : "", report->n_hosts, report->n_hosts > 1 ? "s" : "",
                 report->seconds, of);
    paths_add(text, report);
    waits_add(text, report);
    wsh_text_add(text, "  symmetric heap: at most %s of %s bytes in use at the end (PE %d)\n",
                 wsh_stats_short((double)report->heap_used.most, used),
                 wsh_stats_short((double)report->heap, heap), report->heap_used.most_pe);
    wsh_text_add(text, "  not counted: loads and stores by shmem_ptr and of kernels to mapped memory\n");
}
