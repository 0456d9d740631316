/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins a job through PMIx (4 to 6), whichever launcher offers it: oshrun, srun, mpirun or prterun. */
#define _GNU_SOURCE
#include "bootstrap/methods.h"

#include "bootstrap/blob/blob_file.h"
#include "bootstrap/pmix/again.h"
#include "bootstrap/pmix/blobs.h"
#include "bootstrap/pmix/call.h"
#include "bootstrap/pmix/fence.h"
#include "bootstrap/pmix/host_exchange.h"
#include "bootstrap/pmix/hwloc_env.h"
#include "bootstrap/pmix/keys.h"
#include "bootstrap/pmix/library.h"
#include "bootstrap/pmix/secret.h"
#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LAUNCHER_MS 1500           /* for oshrun to end a job in which a PE has died */
#define SLURM_NSPACE "slurm.pmix." /* how its name spaces begin */

#if PMIX_NUMERIC_VERSION < 0x00040200
#error "PMIx 4.2 or newer is needed"
#endif

/*
 * This process as PMIx knows it. oshrun learns from its file that a PE has finalized, and PMIx_Finalize waits for the
 * end of the process. Other launchers take a PE that ends without it for one that has failed, however it ends (_exit,
 * exec), so there it is part of shmem_finalize. Slurm's servers let a PE come back behind it; keys of an earlier
 * shmem_init stay in the server's store, so each generation has names of its own. Open MPI's do not (fences then end
 * without some PE, 4.2.2): the next shmem_init goes without the server (again.h).
 */
static struct {
    pid_t pid;     /* the process that called PMIx_Init first; a forked child is not in the job. 0 = none */
    bool quick;    /* quick_exit leaves too */
    bool joined;   /* between PMIx_Init and PMIx_Finalize */
    bool emulated; /* the host is */
    double hang_seconds;
    bool waits;     /* the server completes a fence without data only when all hosts have come to it */
    bool open;      /* between shmem_init and shmem_finalize */
    bool finalizes; /* shmem_finalize ends with PMIx_Finalize */
    bool for_good;  /* it does so once the PEs know how to start again without the server */
    const struct wsh_env *env;
    pmix_proc_t me;
    bool noted;    /* the launcher knows that a PE has come through shmem_init */
    bool watching; /* the handlers are registered: once, until PMIx_Finalize */
    struct wsh_boot
        identity; /* who it is, once it is known: after another PMIx_Init nobody says it (4.2.2) */
    uint32_t generation;
    bool by_file; /* blobs go by oshrun's file, and not through PMIx */
    struct wsh_blob_file file;
    void *board; /* NULL: nobody has asked for it */
    size_t board_len;
    struct wsh_blobs_pmix blobs;
} client;

/* libpmix calls the handlers without a pointer of ours. Written before they are registered. */
static struct wsh_boot *watched;
static atomic_bool leaving;

static void on_lost(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                    size_t n_info, pmix_info_t results[], size_t n_results,
                    pmix_event_notification_cbfunc_fn_t done, void *data)
{
    (void)id, (void)status, (void)source, (void)info, (void)n_info, (void)results, (void)n_results;
    if (!atomic_load_explicit(&leaving, memory_order_relaxed)) {
        wsh_error("lost the connection to the launcher (%s): it has ended, and so does this PE",
                  watched->launcher);
        if (watched->lost)
            watched->lost(1);
    }
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void on_asked(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t n_info, pmix_info_t results[], size_t n_results,
                     pmix_event_notification_cbfunc_fn_t done, void *data)
{
    (void)id, (void)status, (void)source, (void)info, (void)n_info, (void)results, (void)n_results;
    wsh_fence_pmix_note();
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void handler_add(pmix_status_t code, pmix_notification_fn_t handler)
{
    struct wsh_pmix_call call;

    wsh_pmix_call_init(&call);
    wsh_pmix.Register_event_handler(&code, 1, NULL, 0, handler, wsh_pmix_call_registered, &call);
    wsh_pmix_call_wait(&call, 0, "PMIx", "");
}

/* Their removal would be messages without an answer, behind which PMIx_Finalize's own waits 40 ms for TCP's ack. */
static void watch_launcher(struct wsh_boot *boot)
{
    watched = boot;
    atomic_store_explicit(&leaving, false, memory_order_relaxed);
    if (client.watching)
        return;
    client.watching = true;
    handler_add(PMIX_ERR_LOST_CONNECTION, on_lost);
    if (client.waits)
        handler_add(WSH_PMIX_WHO_WAITS, on_asked);
}

static int boot_describe(struct wsh_boot *boot, const struct wsh_env *env)
{
    const struct wsh_boot *identity = &client.identity;

    if (!identity->n_pes) {
        int rc = wsh_host_pmix_identity(boot, &client.me, env);

        if (rc)
            return rc;
        client.waits = wsh_host_pmix_number(&client.me, PMIX_RANK_WILDCARD, WSH_PMIX_FENCE_WAITS, 0) > 0;
        client.identity = *boot;
    }
    boot->my_pe = identity->my_pe;
    boot->n_pes = identity->n_pes;
    boot->local_rank = identity->local_rank;
    boot->local_size = identity->local_size;
    boot->one_machine = identity->one_machine;
    memcpy(boot->launcher, identity->launcher, sizeof boot->launcher);
    boot->generation = client.generation;
    wsh_secret_pmix_open(boot, &client.me);
    return 0;
}

__attribute__((destructor(101))) static void leave_job(void);

static int job_join(void)
{
    const char *theirs = wsh_env_foreign("PMIX_VERSION");
    struct wsh_hwloc_env hwloc_env;
    pmix_status_t status;

    if (client.pid == getpid() && client.joined)
        return 0;
    if (client.pid && client.pid != getpid()) {
        wsh_error("shmem_init in a forked child (pid %d of PE %u) is not possible; exec a program instead",
                  (int)getpid(), client.me.rank);
        return -EINVAL;
    }
    wsh_hwloc_env_begin(&hwloc_env);
    status = wsh_pmix.Init(&client.me, NULL, 0);
    wsh_hwloc_env_end(&hwloc_env);
    if (status == PMIX_SUCCESS) {
        client.pid = getpid();
        client.joined = true;
        if (!client.quick)
            client.quick = !at_quick_exit(leave_job);
        return 0;
    }
    wsh_error("PMIx_Init: %s (launcher's PMIx %s, ours %s); start with oshrun, srun --mpi=pmix or mpirun; "
              "in a container also set PMIX_MCA_psec=native and PMIX_MCA_gds=hash",
              wsh_pmix.Error_string(status), theirs ? theirs : "unknown", wsh_pmix.Get_version());
    return -ECONNREFUSED;
}

/* 0, or an error after its line. */
static int library_open(void)
{
    const char *why = wsh_pmix_library_open();

    if (!why)
        return 0;
    wsh_error(
        "the launcher of this process offers PMIx, but this host does not: %s; or start by mpiexec.hydra "
        "(PMI), or by a unique id (shmemx_init_attr), which need no PMIx",
        why);
    return -ELIBACC;
}

/* This name space is of the oshrun whose environment this is: other launchers that run below it pass that on. */
static bool is_of_oshrun(const struct wsh_env *env)
{
    char begin[64];

    snprintf(begin, sizeof begin, WSH_PMIX_NSPACE "%ld-", env->oshrun_pid);
    return env->oshrun_pid > 0 && !strncmp(client.me.nspace, begin, strlen(begin));
}

static int file_open(const char *path)
{
    int rc = wsh_blob_file_open(&client.file, path);

    client.file.patience_ms = LAUNCHER_MS;
    if (!rc)
        wsh_blob_file_note_state(client.file.fd, (int)client.me.rank, WSH_PE_INSIDE, getpid());
    return rc;
}

/* Of other launchers nothing says that a PE has failed. */
static int survive_open(struct wsh_boot *boot, const struct wsh_env *env)
{
    if (env->on_pe_failure == WSH_ON_PE_FAILURE_ABORT)
        return 0;
    boot->failures = wsh_blob_file_failures(client.file.fd);
    boot->news_seconds = env->failure_lease;
    if (boot->failures)
        return 0;
    wsh_error("SHMEM_ON_PE_FAILURE=continue: oshrun's file cannot be mapped: %s; put TMPDIR on a file system "
              "of this "
              "host",
              wsh_strerror(errno));
    return -EIO;
}

static void job_leave(void)
{
    client.joined = client.watching = false;
    wsh_pmix.Finalize(NULL, 0);
}

static int open_watched(struct wsh_boot *boot, const struct wsh_env *env)
{
    int rc = library_open();

    if (!rc)
        rc = job_join();
    if (rc)
        return rc;
    client.open = true;
    client.generation++;
    client.emulated = env->node_emulated >= 0;
    rc = boot_describe(boot, env);
    client.by_file = !rc && is_of_oshrun(env) && env->oshrun_file && *env->oshrun_file;
    if (client.by_file)
        rc = file_open(env->oshrun_file) ?: survive_open(boot, env);
    else if (!rc)
        rc = wsh_blobs_pmix_open(&client.blobs, &client.me, boot->n_pes);
    if (rc)
        return rc;
    client.finalizes = !strncmp(client.me.nspace, SLURM_NSPACE, strlen(SLURM_NSPACE));
    client.for_good =
        !client.finalizes && strncmp(client.me.nspace, WSH_PMIX_NSPACE, strlen(WSH_PMIX_NSPACE));
    client.env = env;
    wsh_fence_pmix_open(&client.me, client.waits, env->hang_seconds);
    watch_launcher(boot);
    return client.finalizes && client.generation > 1 ? wsh_fence_pmix_return(client.generation, boot->n_pes)
                                                     : 0;
}

/* libpmix waits for its server by itself, for ever: a launcher that does not answer is reported meanwhile. */
static int pmix_open(struct wsh_boot *boot, const struct wsh_env *env)
{
    struct wsh_pmix_watch watch;
    int rc;

    if (!wsh_env_foreign("PMIX_NAMESPACE") || !wsh_env_foreign("PMIX_RANK"))
        return -ENODEV;
    client.hang_seconds = env->hang_seconds;
    wsh_pmix_watch_begin(&watch, env->hang_seconds);
    rc = open_watched(boot, env);
    wsh_pmix_watch_end(&watch);
    return rc;
}

static void pmix_close(struct wsh_boot *boot)
{
    atomic_store_explicit(&leaving, true, memory_order_relaxed);
    client.open = false;
    if (client.by_file) {
        wsh_blob_file_note_state(client.file.fd, boot->my_pe, WSH_PE_FINALIZED, getpid());
        wsh_blob_file_failures_forget(boot->failures);
        boot->failures = NULL;
        if (client.board)
            munmap(client.board, client.board_len);
        client.board = NULL;
        wsh_blob_file_close(&client.file);
    } else {
        wsh_blobs_pmix_close(&client.blobs);
        if (client.finalizes)
            job_leave();
    }
    client.by_file = false;
}

/* A PE that leaves: of the file's descriptor and the rest the end of the process takes care. */
static void pmix_leave(struct wsh_boot *boot)
{
    atomic_store_explicit(&leaving, true, memory_order_relaxed);
    if (client.by_file)
        wsh_blob_file_note_state(client.file.fd, boot->my_pe, WSH_PE_LEFT, getpid());
    client.open = false;
}

static uint32_t pmix_failed_at(struct wsh_boot *boot, int pe)
{
    (void)boot;
    return client.by_file ? wsh_blob_file_note(client.file.fd, pe).failed_at : 0;
}

static void *pmix_board(struct wsh_boot *boot, size_t len)
{
    if (!client.board)
        client.board = wsh_blob_file_board(client.file.fd, boot->n_pes, len);
    client.board_len = len;
    return client.board;
}

static bool some_failed(const struct wsh_boot *boot)
{
    return boot->failures && __atomic_load_n(boot->failures, __ATOMIC_ACQUIRE);
}

static bool pmix_has_left(struct wsh_boot *boot, int pe)
{
    struct wsh_pe_note note = {0};

    (void)boot;
    if (client.by_file)
        note = wsh_blob_file_note(client.file.fd, pe < 0 ? 0 : pe);
    return pe < 0 ? note.some_left : note.state == WSH_PE_LEFT;
}

/*
 * Runs after the program's own exit handlers, which may still call shmem_finalize, and after the library's other
 * destructors (hence the number), one of which may finalize. A process that ends while open is not taken off, so that
 * the launcher sees an exit without finalize.
 */
static void leave_job(void)
{
    if (client.pid == getpid() && client.joined && !client.open)
        job_leave();
    client.pid = 0;
}

static int job_fence(bool collect, const char *what, pmix_status_t where)
{
    return wsh_fence_pmix(NULL, 0, collect, what, where);
}

static int secret_take(struct wsh_boot *boot)
{
    struct wsh_pmix_watch watch;
    pmix_status_t status;

    wsh_pmix_watch_begin(&watch, client.hang_seconds);
    status = wsh_secret_pmix_take(boot, &client.me);
    wsh_pmix_watch_end(&watch);
    return status == PMIX_SUCCESS ? 0 : wsh_pmix_call_failed("look-up of the job's secret", status);
}

static int pmix_publish(struct wsh_boot *boot, int round, const void *blob, size_t len)
{
    struct wsh_blob_id id = {client.generation, (uint32_t)round, (uint32_t)boot->my_pe};
    pmix_status_t status;
    int rc;

    if (client.by_file) {
        rc = wsh_blob_file_put(&client.file, &id, blob, len);
        return rc ? rc : job_fence(false, "exchange of addresses", WSH_PMIX_WAITS_IN_INIT);
    }
    status = wsh_secret_pmix_offer(boot);
    if (status != PMIX_SUCCESS)
        return wsh_pmix_call_failed("publishing", status);
    rc = wsh_blobs_pmix_put(&client.blobs, &id, blob, len); /* commits the secret too */
    if (!rc)
        rc = job_fence(true, "exchange of addresses", WSH_PMIX_WAITS_IN_INIT);
    return rc ? rc : secret_take(boot);
}

static int pmix_lookup(struct wsh_boot *boot, int round, int pe, void **blob, size_t *len)
{
    struct wsh_blob_id id = {client.generation, (uint32_t)round, (uint32_t)pe};

    (void)boot;
    return client.by_file ? wsh_blob_file_get(&client.file, &id, blob, len)
                          : wsh_blobs_pmix_get(&client.blobs, &id, blob, len);
}

/* libpmix does not know emulated hosts apart. */
static int pmix_exchange_host(struct wsh_boot *boot, const void *mine, size_t len, void *all)
{
    return client.emulated ? -ENOTSUP : wsh_host_pmix_exchange(&client.me, boot->local_size, mine, len, all);
}

/* From here on oshrun leaves a job more time to end after a SIGTERM. Its server sees no fences of one host. */
static void note_initialized(const struct wsh_boot *boot)
{
    pmix_info_t info = wsh_pmix_info(WSH_PMIX_INITIALIZED, PMIX_BOOL);
    struct wsh_pmix_watch watch;

    if (!client.waits || boot->my_pe || client.noted)
        return;
    client.noted = true;
    info.value.data.flag = true;
    wsh_pmix_watch_begin(&watch, client.hang_seconds);
    wsh_pmix.Publish(&info, 1);
    wsh_pmix_watch_end(&watch);
}

/* Slurm's fences (22.05) wait for other hosts only where they collect: the last PE's data is in the result. */
static int pmix_barrier(struct wsh_boot *boot, const char *what)
{
    bool init = !strcmp(what, "shmem_init"), last = client.for_good && !strcmp(what, "shmem_finalize");
    pmix_status_t status;

    if (last)
        wsh_again_pmix_offer(boot, client.env);
    status = wsh_fence_pmix_try(NULL, 0, !client.waits, what,
                                init ? WSH_PMIX_WAITS_IN_INIT : WSH_PMIX_WAITS_IN_FINALIZE);
    if (status == PMIX_SUCCESS && last)
        client.finalizes = wsh_again_pmix_take(boot, &client.me);
    if (status == PMIX_SUCCESS)
        note_initialized(boot);
    else if (!init && (pmix_has_left(boot, -1) || some_failed(boot)))
        return strcmp(what, WSH_BOOT_AT_EXIT) ? 0 : -EOWNERDEAD;
    return status == PMIX_SUCCESS ? 0 : wsh_pmix_call_failed(what, status);
}

static void pmix_abort(struct wsh_boot *boot, int status)
{
    (void)boot;
    atomic_store_explicit(&leaving, true, memory_order_relaxed);
    wsh_pmix.Abort(status, "ended by the program", NULL, 0);
}

const struct wsh_boot_ops wsh_boot_pmix_ops = {
    .name = "pmix",
    .open = pmix_open,
    .close = pmix_close,
    .publish = pmix_publish,
    .lookup = pmix_lookup,
    .keeps = true,
    .exchange_host = pmix_exchange_host,
    .barrier = pmix_barrier,
    .leave = pmix_leave,
    .has_left = pmix_has_left,
    .failed_at = pmix_failed_at,
    .board = pmix_board,
    .abort = pmix_abort,
};
