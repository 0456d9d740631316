/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts and ends the job by two mirrored lists of steps; the only file that ends the process early. */
#include "runtime/job/job.h"

#include "base/process/nvidia_nvshmem.h"
#include "base/log.h"
#include "base/version.h"
#include "runtime/job/at_exit.h"
#include "runtime/job/crash.h"
#include "runtime/coll/coll.h"
#include "runtime/coll/request/request.h"
#include "runtime/device_ops.h"
#include "runtime/job/end.h"
#include "runtime/op/batch.h"
#include "runtime/op/order.h"
#include "runtime/team/meeting.h"
#include "runtime/wait/on_failure.h"
#include "runtime/wait/progress.h"
#include "runtime/job/unused_settings.h"
#include "runtime/stats/metrics.h"
#include "runtime/stats/report.h"
#include "runtime/wait/wait.h"

#include <shmem.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wsh_job wsh_job;

static int open_settings(struct wsh_job *job)
{
    int rc = wsh_env_load(&job->env);

    if (rc)
        return rc;
    rc = wsh_log_open(job->env.debug, job->env.debug_file);
    job->check = job->closer = wsh_log_check;
    wsh_job_mark(job, WSH_SPECIAL_CHECK, job->check);
    return rc;
}

static void close_nothing(struct wsh_job *job)
{
    (void)job;
}

static void close_settings(struct wsh_job *job)
{
    job->check = job->closer = false;
    wsh_job_mark(job, WSH_SPECIAL_CHECK, false);
    wsh_log_close();
}

static int open_heap(struct wsh_job *job)
{
    wsh_releases_open(&job->releases);
    wsh_team_memory_open(&job->team_memory);
    return wsh_heap_init(&job->heap, &job->env);
}

static void close_heap(struct wsh_job *job)
{
    wsh_device_ops()->close(job);
    wsh_ranges_close(job->device.local);
    job->device.local = NULL;
    memset(job->device.used, 0, sizeof job->device.used);
    wsh_heap_fini(&job->heap);
    wsh_releases_close(&job->releases);
    wsh_team_memory_close(&job->team_memory);
}

/* The job ends, and there is no launcher that would end this PE. */
static void on_job_lost(int status)
{
    _exit(status);
}

/* PE 0 says it for all, and warnings once. */
static void say_settings(const struct wsh_env *env)
{
    static bool warned;

    if (env->version || env->info)
        wsh_log_print(stdout, "warpshmem %s, OpenSHMEM %d.%d\n", WSH_VERSION, SHMEM_MAJOR_VERSION,
                      SHMEM_MINOR_VERSION);
    if (env->info)
        wsh_env_print(stdout, false);
    wsh_env_note();
    if (!warned)
        wsh_env_warn();
    warned = true;
}

static int open_boot(struct wsh_job *job)
{
    int rc;

    job->boot.lost = on_job_lost;
    rc = wsh_boot_open(&job->boot, &job->env);
    job->boot.request = NULL; /* the caller's */
    if (rc)
        return rc;
    job->rounds = 0; /* processes that have been in different worlds before count alike */
    job->my_pe = job->boot.my_pe;
    job->n_pes = job->boot.n_pes;
    wsh_log_set_pe(job->my_pe);
    if (job->my_pe == 0)
        say_settings(&job->env);
    return 0;
}

static void close_boot(struct wsh_job *job)
{
    wsh_boot_close(&job->boot);
    job->n_pes = 0;
}

/* The shared team is of the PEs whose heap shmem_ptr reaches, which is mutual, and of this one. */
static bool shares_heap(const struct wsh_job *job, int pe)
{
    return pe == job->my_pe || (job->same_host[pe] && wsh_route_map(&job->routes, pe, WSH_SEG_HEAP));
}

static int open_team(struct wsh_job *job, struct wsh_team *team, bool only_shared)
{
    int *members = malloc((size_t)job->n_pes * sizeof *members), n = 0;

    if (!members)
        return -ENOMEM;
    for (int pe = 0; pe < job->n_pes; pe++)
        if (!only_shared || shares_heap(job, pe))
            members[n++] = pe;
    return wsh_team_init(team, job, members, n);
}

static void close_teams(struct wsh_job *job)
{
    wsh_counters_close(job);
    wsh_team_fini_all(job);
    job->node = job->same_number = NULL;
    job->all = &job->world;
    wsh_team_fini(&job->shared);
    wsh_team_fini(&job->world);
}

static int open_teams(struct wsh_job *job)
{
    int rc;

    pthread_mutex_init(&job->ctxs_lock, NULL);
    job->all = &job->world;
    job->shrinks = job->shrunk_at = 0;
    memset(&job->gone_teams, 0, sizeof job->gone_teams);
    rc = open_team(job, &job->world, false);
    if (!rc)
        rc = open_team(job, &job->shared, true);
    if (!rc)
        rc = wsh_team_open_hosts(job);
    if (!rc)
        rc = wsh_team_ids_open(job);
    if (!rc)
        rc = wsh_counters_open(job);
    if (rc)
        close_teams(job);
    return rc;
}

static int open_default_ctx(struct wsh_job *job)
{
    return wsh_ctx_init(&job->ctx, job, &job->world, 0);
}

static void close_all_ctxs(struct wsh_job *job)
{
    struct wsh_ctx *next;

    for (struct wsh_ctx *ctx = job->ctxs; ctx; ctx = next) {
        next = ctx->next;
        if (ctx != &job->ctx && ctx->user)
            wsh_ctx_close(ctx);
    }
    wsh_ctx_fini(&job->ctx);
    wsh_device_ops()->stage_close(job); /* last: the others' operations go by it */
}

/*
 * Where others go on without PEs that fail: a launcher believes that all have come once it is told so, which PE 0 does
 * behind the barrier of shmem_init. No PE leaves shmem_init, and fails, before that.
 */
static void meet_survivors(struct wsh_job *job)
{
    int rc = job->failures.failed ? wsh_barrier(&job->world, "shmem_init") : 0;

    if (rc && !wsh_coll_met_failure(&job->world, "shmem_init", rc))
        wsh_abort(1);
}

/* Nobody goes on before everybody is ready to be reached. */
static int open_doors(struct wsh_job *job)
{
    int rc = wsh_progress_open(job);

    if (rc)
        return rc;
    rc = job->boot.ops->barrier(&job->boot, "shmem_init");
    if (rc) {
        wsh_progress_close(job);
        return rc;
    }
    wsh_wait_report_open(job);
    meet_survivors(job);
    return 0;
}

static void close_doors(struct wsh_job *job)
{
    wsh_wait_report_close();
    wsh_progress_close(job);
}

static int open_device(struct wsh_job *job)
{
    job->device.n_queues = job->env.queues > 0 ? (unsigned)job->env.queues : 0;
    job->device.local = wsh_ranges_open(WSH_SEGS_LOCAL - WSH_SEGS);
    return job->device.local ? 0 : -ENOMEM;
}

static void close_device(struct wsh_job *job)
{
    if (job->modules_close)
        job->modules_close();
    wsh_device_ops()->detach(job);
}

static const struct {
    int (*open)(struct wsh_job *job);
    void (*close)(struct wsh_job *job);
} steps[] = {
    {open_settings, close_settings},
    {open_heap, close_heap},
    {open_boot, close_boot},
    {wsh_crash_open, wsh_crash_close},
    {wsh_stats_open, wsh_stats_close},
    {wsh_peers_open, wsh_peers_close},
    {wsh_failures_open, wsh_failures_close},
    {wsh_meeting_open, close_nothing},
    {open_teams, close_teams},
    {open_default_ctx, close_all_ctxs},
    {wsh_requests_open, wsh_requests_close},
    {open_device, close_device}, /* the GPU itself is attached by the first call that asks for it */
    {open_doors, close_doors},
    {wsh_stats_begin, close_nothing},
    {wsh_stats_metrics_open, wsh_stats_metrics_close},
    {wsh_on_failure_open, wsh_on_failure_close},
};

#define N_STEPS (sizeof steps / sizeof steps[0])

static void close_from(struct wsh_job *job, size_t step)
{
    while (step--)
        steps[step].close(job);
}

static int open_steps(struct wsh_job *job)
{
    for (size_t step = 0; step < N_STEPS; step++) {
        int rc = steps[step].open(job);

        if (rc) {
            close_from(job, step);
            return rc;
        }
    }
    return 0;
}

static bool finalize_at_exit(void);
static void leave_at_exit(void);

int wsh_job_init(int thread_level)
{
    return wsh_job_init_by(thread_level, NULL);
}

int wsh_job_init_by(int thread_level, const struct wsh_boot_request *request)
{
    int rc;

    if (wsh_job.inits++)
        return 0;
    wsh_job.batch_progress = wsh_batch_progress;
    wsh_job.count = wsh_counters_count;
    wsh_job.boot.request = request;
    wsh_job.gpu_wanted = 0;
    wsh_job.finalizing = false;
    wsh_job.thread_level = thread_level;
    wsh_job.pid = getpid();
    wsh_job.thread = pthread_self();
    rc = open_steps(&wsh_job);
    if (rc) {
        wsh_job.inits = 0;
        return rc;
    }
    wsh_at_exit(finalize_at_exit, leave_at_exit);
    wsh_unused_warn(&wsh_job);
    wsh_foreign_note(wsh_job.local_rank == 0);
    return 0;
}

/* They would write to memory that is about to go. */
static void requests_check(struct wsh_job *job)
{
    const char *routine = wsh_req_left(job, NULL);

    if (!routine)
        return;
    wsh_error("shmem_finalize: a request of %s or of a collective before it has not been waited for; call "
              "shmemx_req_wait first",
              routine);
    wsh_abort(1);
}

void wsh_job_fini(void)
{
    if (!wsh_job.inits || wsh_job.pid != getpid())
        return;
    if (--wsh_job.inits) { /* not the last of the series: a barrier and no more */
        int rc = wsh_barrier(wsh_job.all, "shmem_finalize");

        if (rc && !wsh_coll_met_failure(wsh_job.all, "shmem_finalize", rc))
            wsh_abort(1);
        return;
    }
    requests_check(&wsh_job);
    wsh_at_exit(NULL, NULL);
    wsh_job.may_exit = false; /* of the next job its own shmemx_init_attr says it */
    wsh_stats_report(&wsh_job);
    wsh_job_last_barrier(&wsh_job);
    close_from(&wsh_job, N_STEPS);
}

/*
 * The program has exited with status 0 without shmem_finalize, which old programs may omit. Once all PEs have come here
 * it is called for them; until then this one waits, and after a while the process leaves the job. While a thread is
 * inside the library nothing can be finalized. Only what other processes notice is closed: the rest ends with the
 * process, and the GPU's driver has already ended.
 */
static bool finalize_at_exit(void)
{
    struct wsh_job *job = &wsh_job;
    int rc;

    /* Relaxed: written by this thread, or by one that the exit races with. */
    if (__atomic_load_n(&job->waiters, __ATOMIC_RELAXED) || wsh_job_has_left(job, -1))
        return false;
    requests_check(job);
    if (job->network && !job->progress)
        wsh_progress_start(job);
    rc = job->boot.ops->barrier(&job->boot, WSH_BOOT_AT_EXIT);
    if (rc == -ENOTSUP)
        rc = wsh_barrier(&job->world, WSH_BOOT_AT_EXIT);
    if (rc)
        return false;
    if (job->my_pe == 0 && !job->may_exit)
        wsh_warn("the program ended without shmem_finalize, which was called for it; call shmem_finalize "
                 "before the end");
    wsh_stats_report(job);
    wsh_job_last_barrier(job);
    wsh_stats_metrics_close(job);
    close_doors(job);
    close_boot(job);
    return true;
}

/* The others go on. */
static void leave_at_exit(void)
{
    struct wsh_job *job = &wsh_job;

    wsh_stats_metrics_close(job);
    if (job->n_pes && job->boot.ops->leave)
        job->boot.ops->leave(&job->boot);
}

static void abort_job(int status)
{
    wsh_log_hold(false);
    wsh_job_flush();
    if (wsh_job.pid == getpid())
        wsh_stats_metrics_abandon(&wsh_job);
    if (wsh_job.boot.ops && wsh_job.pid == getpid())
        wsh_job.boot.ops->abort(&wsh_job.boot, status);
    _exit(status);
}

/* A forked child is not a PE: every routine refuses to run in it, and its exit must not disturb the job. */
static void leave_in_child(void)
{
    wsh_job.n_pes = wsh_job.inits = 0;
    wsh_job.stats = NULL; /* the page is the parent's */
    wsh_job.ctx.n_pes = 0;
}

__attribute__((constructor)) static void register_handlers(void)
{
    wsh_abort_by(abort_job);
    pthread_atfork(NULL, NULL, leave_in_child);
}
