/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collects the rows of all PEs, or of those that live, at the first of them, which gets them one by one from symmetric
 * memory.
 */
#include "runtime/stats/report.h"

#include "base/file.h"
#include "base/log.h"
#include "runtime/coll/coll.h"
#include "runtime/job/job.h"
#include "runtime/op/rma.h"
#include "runtime/stats/names.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void row_fill(struct wsh_job *job, struct wsh_stats_row *row)
{
    struct wsh_stats *stats = job->stats;

    wsh_stats_read(job, &row->all);
    gethostname(row->host, sizeof row->host - 1);
    pthread_mutex_lock(&stats->lock);
    memcpy(row->longest, stats->longest, sizeof row->longest);
    pthread_mutex_unlock(&stats->lock);
    for (int pe = 0; pe < job->n_pes; pe++) {
        shmemx_stats_peer_t peer;

        wsh_stats_read_peer(job, pe, &peer);
        row->near_puts += peer.same_host ? peer.put_bytes : 0;
        row->near_gets += peer.same_host ? peer.get_bytes : 0;
        row->cell[pe].wait_ns = peer.wait_ns;
        row->cell[pe].operations =
            peer.same_host ? peer.puts + peer.gets + peer.atomics : peer.network_operations;
        row->cell[pe].bytes = peer.same_host ? peer.put_bytes + peer.get_bytes : peer.network_bytes;
    }
}

static void sum_add(struct wsh_stats_sum *sum, uint64_t value, int pe)
{
    if (!sum->n || value < sum->least) {
        sum->least = value;
        sum->least_pe = pe;
    }
    if (!sum->n++ || value > sum->most) {
        sum->most = value;
        sum->most_pe = pe;
    }
    sum->sum += value;
}

static void longest_merge(struct wsh_stats_report *report, const struct wsh_stats_longest *one, int pe)
{
    int at = WSH_STATS_LONGEST - 1;

    if (one->ns <= report->longest[at].ns)
        return;
    for (; at && report->longest[at - 1].ns < one->ns; at--) {
        report->longest[at] = report->longest[at - 1];
        report->longest_of[at] = report->longest_of[at - 1];
    }
    report->longest[at] = *one;
    report->longest_of[at] = pe;
}

static void sums_add(struct wsh_stats_report *report, const struct wsh_stats_row *row, int pe)
{
    const shmemx_stats_t *all = &row->all;

    sum_add(&report->operations, all->network_operations, pe);
    sum_add(&report->bytes, all->network_bytes, pe);
    sum_add(&report->near_puts, row->near_puts, pe);
    sum_add(&report->near_gets, row->near_gets, pe);
    sum_add(&report->puts, all->puts, pe);
    sum_add(&report->gets, all->gets, pe);
    sum_add(&report->atomics, all->atomics, pe);
    sum_add(&report->collectives, all->collective_calls, pe);
    sum_add(&report->retries, all->network_retries, pe);
    sum_add(&report->stalls, all->network_stalls, pe);
    sum_add(&report->waits, all->waits, pe);
    sum_add(&report->wait_ns, all->wait_ns, pe);
    sum_add(&report->proxy_bytes, all->proxy_bytes, pe);
    sum_add(&report->gda_operations, all->gda_operations, pe);
    sum_add(&report->expert_calls, all->expert_calls, pe);
    sum_add(&report->expert_rows, all->expert_rows, pe);
    sum_add(&report->heap_used, all->heap_used_bytes, pe);
    report->heap = all->heap_bytes;
    if ((double)all->elapsed_ns * 1e-9 > report->seconds)
        report->seconds = (double)all->elapsed_ns * 1e-9;
}

static void row_take(struct wsh_stats_report *report, const struct wsh_stats_row *row, int pe)
{
    sums_add(report, row, pe);
    for (int i = 0; i < WSH_STATS_LONGEST; i++)
        longest_merge(report, &row->longest[i], pe);
    report->waited[pe] = row->all.wait_ns;
    for (int other = 0; other < report->n_pes; other++)
        report->waited_for[other] += row->cell[other].wait_ns;
}

static void file_write(const struct wsh_job *job, const struct wsh_text *json)
{
    char path[WSH_STATS_PATH];
    int rc = wsh_stats_path(job, job->env.stats_file, path, sizeof path);

    if (!rc)
        rc = json->failed ? -ENOMEM : wsh_stats_file_write(path, json->bytes, json->len);
    if (rc)
        wsh_warn("SHMEM_STATS_FILE: cannot write '%s': %s; name a file in a folder that PE 0 can write",
                 job->env.stats_file, wsh_file_strerror(rc));
}

/* Of the first PE: every row in turn. */
static void rows_read(struct wsh_job *job, const void *sym, size_t len, struct wsh_stats_report *report,
                      struct wsh_text *json)
{
    struct wsh_stats_row *row = malloc(len);

    if (json)
        wsh_stats_json_begin(json, report->job, job->n_pes);
    for (int i = 0; row && i < job->all->n_pes; i++) {
        const int pe = job->all->members[i];

        if (wsh_get(&job->ctx, row, sym, len, pe))
            break;
        row_take(report, row, pe);
        if (json)
            wsh_stats_json_pe(json, row, pe, i, job->n_pes);
    }
    if (json)
        wsh_stats_json_end(json);
    free(row);
}

static int count_hosts(const struct wsh_job *job)
{
    int n = 0;

    for (int pe = 0; pe < job->n_pes; pe++)
        n += job->host[pe] == pe;
    return n;
}

static void report_print(struct wsh_job *job, const void *sym, size_t len)
{
    struct wsh_stats_report report = {
        .n_pes = job->n_pes, .n_rows = job->all->n_pes, .n_hosts = count_hosts(job)};
    uint64_t *sums = calloc(2 * (size_t)job->n_pes, sizeof *sums);
    struct wsh_text table = {0}, json = {0};

    if (!sums)
        return;
    report.waited_for = sums;
    report.waited = sums + job->n_pes;
    wsh_stats_job_name(job, report.job, sizeof report.job);
    rows_read(job, sym, len, &report, job->env.stats_file ? &json : NULL);
    if (job->env.stats_file)
        file_write(job, &json);
    if (job->env.stats) {
        wsh_stats_table(&report, &table);
        if (table.bytes)
            wsh_log_print(stderr, "%s", table.bytes);
    }
    wsh_text_free(&table);
    wsh_text_free(&json);
    free(sums);
}

/* By the first PE that comes to shmem_finalize, if it is this one. */
static void none_say(const struct wsh_job *job, const char *why)
{
    int pe = 0;

    while (pe < job->my_pe && (wsh_failures_has(&job->failures, pe) || wsh_job_has_left(job, pe)))
        pe++;
    if (pe == job->my_pe)
        wsh_warn("no statistics of the job: %s", why);
}

/* Of those that a row is expected from. */
static bool some_have_left(const struct wsh_job *job)
{
    for (int i = 0; i < job->all->n_pes; i++)
        if (wsh_job_has_left(job, job->all->members[i]))
            return true;
    return false;
}

/* A failure may come between any two of its steps: then those that live are told. */
static void report_collect(struct wsh_job *job)
{
    static const char failed[] = "a PE has failed; call shmemx_team_shrink(SHMEM_TEAM_WORLD) before "
                                 "shmem_finalize for those of the others";
    const size_t len = sizeof(struct wsh_stats_row) + (size_t)job->n_pes * sizeof(struct wsh_stats_cell);
    struct wsh_team *all = job->all;
    void *sym;

    if (wsh_barrier(all, "shmem_finalize")) {
        none_say(job, failed);
        return;
    }
    sym = wsh_heap_malloc(job, len, 0);
    if (!sym) {
        if (wsh_coll_is_broken(all))
            none_say(job, failed);
        else if (!all->my_pe)
            wsh_warn("no statistics of the job: the symmetric heap has no %zu bytes left for them; raise "
                     "SHMEM_SYMMETRIC_SIZE",
                     len);
        return;
    }
    memset(sym, 0, len);
    row_fill(job, sym);
    if (wsh_barrier(all, "shmem_finalize"))
        none_say(job, failed);
    else if (!all->my_pe)
        report_print(job, sym, len);
}

void wsh_stats_report(struct wsh_job *job)
{
    if (!job->env.stats && !job->env.stats_file)
        return;
    if (!job->stats_by_all || !job->stats) {
        wsh_warn(
            "no statistics of the job: SHMEM_STATS and SHMEM_STATS_FILE are not set on all PEs; set them on "
            "all");
        return;
    }
    job->finalizing = true; /* the barrier does not wait for PEs that leave */
    wsh_failures_take(job);
    if (some_have_left(job) && !wsh_coll_is_broken(job->all))
        none_say(job, "a PE has left it; let all PEs come to shmem_finalize");
    else
        report_collect(job);
}
