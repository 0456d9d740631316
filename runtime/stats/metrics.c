/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the file of metrics again and again, each time as a new file that takes the old one's name. */
#define _GNU_SOURCE
#include "runtime/stats/metrics.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process/signals.h"
#include "base/stats/text.h"
#include "runtime/job/job.h"
#include "runtime/stats/names.h"
#include "runtime/stats/read.h"
#include "runtime/wait/wait.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PAGE_MS 250        /* between two times that the page is written */
#define LEAST_SECONDS 0.01 /* of SHMEM_METRICS_SECONDS */

struct wsh_stats_metrics {
    struct wsh_job *job;
    pthread_t thread;
    int wake;  /* an event that ends its sleep */
    bool stop; /* relaxed: the event follows */
    double written;
    bool refused; /* the file cannot be written, which a line has said */
};

/* Names as Prometheus wants them: base units, counters end in _total. A scale of 1e-9 makes seconds. */
#define METRICS(X)                                                                                           \
    X("network_operations_total", "counter", "Writes, reads and messages given to the network.",             \
      network_operations, 1)                                                                                 \
    X("network_bytes_total", "counter", "Bytes given to the network, with heads of messages.",               \
      network_bytes, 1)                                                                                      \
    X("network_doorbells_total", "counter", "Times that NICs were told of these operations.",                \
      network_doorbells, 1)                                                                                  \
    X("network_retries_total", "counter", "Requests that NICs had no room for.", network_retries, 1)         \
    X("network_stalls_total", "counter", "Messages found without a credit of their target.", network_stalls, \
      1)                                                                                                     \
    X("waits_total", "counter", "Waits that their first microseconds did not end.", waits, 1)                \
    X("wait_seconds_total", "counter", "Time spent in these waits.", wait_ns, 1e-9)                          \
    X("longest_wait_seconds", "gauge", "The longest wait.", longest_wait_ns, 1e-9)                           \
    X("collective_steps_total", "counter", "Steps of collectives.", collectives, 1)                          \
    X("collectives_total", "counter", "Collectives that the program has called.", collective_calls, 1)       \
    X("kernel_waits_total", "counter", "Waits of kernels for other hosts.", kernel_waits, 1)                 \
    X("proxy_bytes_total", "counter", "Bytes that the proxy has moved for kernels.", proxy_bytes, 1)         \
    X("gda_operations_total", "counter", "Complete requests of kernels in queues of NICs.", gda_operations,  \
      1)                                                                                                     \
    X("expert_calls_total", "counter", "Calls of expert parallelism.", expert_calls, 1)                      \
    X("expert_rows_total", "counter", "Rows of expert parallelism.", expert_rows, 1)                         \
    X("heap_bytes", "gauge", "Size of the symmetric heap.", heap_bytes, 1)                                   \
    X("heap_used_bytes", "gauge", "Bytes of the symmetric heap in use.", heap_used_bytes, 1)                 \
    X("device_heap_bytes", "gauge", "Size of the symmetric device memory.", device_heap_bytes, 1)            \
    X("puts_total", "counter", "Puts (with SHMEM_STATS=1).", puts, 1)                                        \
    X("put_bytes_total", "counter", "Bytes of puts (with SHMEM_STATS=1).", put_bytes, 1)                     \
    X("gets_total", "counter", "Gets (with SHMEM_STATS=1).", gets, 1)                                        \
    X("get_bytes_total", "counter", "Bytes of gets (with SHMEM_STATS=1).", get_bytes, 1)                     \
    X("atomics_total", "counter", "Atomics and signals (with SHMEM_STATS=1).", atomics, 1)                   \
    X("uptime_seconds", "gauge", "Time since shmem_init.", elapsed_ns, 1e-9)

static void metric_add(struct wsh_text *text, const char *name, const char *type, const char *help,
                       const char *labels, double value)
{
    wsh_text_add(text, "# HELP warpshmem_%s %s\n# TYPE warpshmem_%s %s\nwarpshmem_%s{%s} %.17g\n", name, help,
                 name, type, name, labels, value);
}

static void metrics_print(const struct wsh_job *job, const shmemx_stats_t *now, struct wsh_text *text)
{
    char labels[WSH_STATS_JOB + 32];

    snprintf(labels, sizeof labels, "job=\"%s\",pe=\"%d\"", job->stats->page->job, job->my_pe);
#define METRIC(name, type, help, field, scale) \
    metric_add(text, name, type, help, labels, (double)now->field *(scale));
    METRICS(METRIC)
#undef METRIC
}

/* Where all PEs of the host fail alike its first one says so. */
static void file_write(struct wsh_stats_metrics *metrics)
{
    struct wsh_job *job = metrics->job;
    struct wsh_text text = {0};
    shmemx_stats_t now;
    int rc;

    wsh_stats_read(job, &now);
    metrics_print(job, &now, &text);
    rc = text.failed ? -ENOMEM : wsh_stats_file_write(job->stats->page->metrics, text.bytes, text.len);
    wsh_text_free(&text);
    if (rc && !metrics->refused && (!job->local_rank || !wsh_err_of_folder(rc)))
        wsh_warn("SHMEM_METRICS_FILE: cannot write '%s': %s; name a folder that this user can write",
                 job->stats->page->metrics, wsh_file_strerror(rc));
    metrics->refused |= rc != 0;
}

static void *metrics_run(void *arg)
{
    struct wsh_stats_metrics *metrics = arg;
    const struct wsh_env *env = &metrics->job->env;
    double each = env->metrics_seconds;
    int ms = each * 1000 < PAGE_MS && env->metrics_file ? (int)(each * 1000) : PAGE_MS;

    do { /* at least once, however short the job is */
        wsh_stats_publish(metrics->job);
        if (env->metrics_file && wsh_wait_now() >= metrics->written + each) {
            file_write(metrics);
            metrics->written = wsh_wait_now() - 0.5e-3; /* sleeps are of whole milliseconds */
        }
        wsh_wait_pause(metrics->wake, ms);
    } while (!__atomic_load_n(&metrics->stop, __ATOMIC_RELAXED));
    return NULL;
}

/* The file's name is on the page before the file is there: oshrun removes it whenever this process dies. */
static int file_name(struct wsh_job *job)
{
    const char *pattern = job->env.metrics_file;
    int rc;

    if (!strstr(pattern, "%p")) {
        wsh_error(
            "SHMEM_METRICS_FILE: '%s' has no %%p, and the PEs of a host would write one file; end it in "
            "%%j.%%h.%%p.prom",
            pattern);
        return -EINVAL;
    }
    if (!(job->env.metrics_seconds >= LEAST_SECONDS)) {
        wsh_error("SHMEM_METRICS_SECONDS: '%g' is less than %g; write the seconds between two times, as 10",
                  job->env.metrics_seconds, LEAST_SECONDS);
        return -EINVAL;
    }
    rc = wsh_stats_path(job, pattern, job->stats->page->metrics, sizeof job->stats->page->metrics);
    if (rc)
        wsh_error("SHMEM_METRICS_FILE: '%s' makes no name of a file: %s; name a shorter one", pattern,
                  wsh_strerror(rc));
    return rc;
}

static int thread_start(struct wsh_stats_metrics *metrics)
{
    sigset_t before;
    int err;

    metrics->wake = eventfd(0, EFD_CLOEXEC);
    if (metrics->wake < 0)
        return errno;
    wsh_signals_block(&before);
    err = pthread_create(&metrics->thread, NULL, metrics_run, metrics);
    wsh_signals_restore(&before);
    if (err)
        close(metrics->wake);
    else
        pthread_setname_np(metrics->thread, "shmem-stats");
    return err;
}

int wsh_stats_metrics_open(struct wsh_job *job)
{
    const struct wsh_env *env = &job->env;
    struct wsh_stats_metrics *metrics;
    int err;

    if (!job->stats || (!env->metrics_file && !env->stats && env->oshrun_stats < 0))
        return 0;
    err = env->metrics_file ? file_name(job) : 0;
    if (err)
        return err;
    metrics = calloc(1, sizeof *metrics);
    if (!metrics)
        return -ENOMEM;
    metrics->job = job;
    err = thread_start(metrics);
    if (err) {
        wsh_error("no thread for statistics: %s; raise the limit of processes (ulimit -u), or unset "
                  "SHMEM_METRICS_FILE and SHMEM_STATS",
                  wsh_strerror(err));
        free(metrics);
        return -err;
    }
    job->stats->metrics = metrics;
    return 0;
}

void wsh_stats_metrics_close(struct wsh_job *job)
{
    struct wsh_stats_metrics *metrics = job->stats ? job->stats->metrics : NULL;
    const uint64_t one = 1;

    if (!metrics)
        return;
    __atomic_store_n(&metrics->stop, true, __ATOMIC_RELAXED);
    while (write(metrics->wake, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    pthread_join(metrics->thread, NULL);
    close(metrics->wake);
    wsh_stats_metrics_remove(job->stats->page);
    job->stats->metrics = NULL;
    free(metrics);
}

void wsh_stats_metrics_abandon(const struct wsh_job *job)
{
    const struct wsh_stats *stats = job->stats;

    if (!stats || !stats->metrics)
        return;
    __atomic_store_n(&stats->metrics->stop, true, __ATOMIC_RELAXED);
    wsh_stats_metrics_remove(stats->page);
}
