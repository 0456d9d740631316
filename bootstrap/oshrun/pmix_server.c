/* SPDX-License-Identifier: BSD-3-Clause */
/* The PMIx server that the PEs of this machine connect to, and the events that reach oshrun's loop. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/pmix_server.h"

#include "bootstrap/lean.h"
#include "bootstrap/oshrun/io.h"
#include "bootstrap/oshrun/pmix_job.h"
#include "bootstrap/pmix_keys.h"
#include "base/env.h"
#include "base/err.h"
#include "base/secret.h"

#include <pmix_server.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* libpmix has one server a process, so there is one of these. */
static struct {
    pmix_nspace_t nspace;
    int event_fd;
} server;

/*
 * Completion of libpmix's asynchronous calls. The mutex orders what libpmix's thread did before the completion with
 * what the main thread does after it.
 */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int open; /* calls not complete */
    pmix_status_t failed;
} calls = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, PMIX_SUCCESS};

void wsh_event_send(int fd, enum wsh_event_kind kind, int pe, int status)
{
    struct wsh_event event = {kind, pe, status};

    while (write(fd, &event, sizeof event) < 0 && errno == EINTR)
        continue;
}

int wsh_node_of(int pe, int n_pes, int n_nodes)
{
    return (int)((long)pe * n_nodes / n_pes);
}

static void call_done(pmix_status_t status, void *unused)
{
    (void)unused;
    pthread_mutex_lock(&calls.mutex);
    calls.open--;
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
        calls.failed = status;
    pthread_cond_signal(&calls.changed);
    pthread_mutex_unlock(&calls.mutex);
}

static void handler_registered(pmix_status_t status, size_t id, void *data)
{
    (void)id;
    call_done(status, data);
}

static void calls_begin(void)
{
    pthread_mutex_lock(&calls.mutex);
    calls.open++;
    pthread_mutex_unlock(&calls.mutex);
}

/* A call that did not start (or was complete at once) makes no callback. */
static void calls_returned(pmix_status_t status)
{
    if (status != PMIX_SUCCESS)
        call_done(status, NULL);
}

static pmix_status_t calls_wait(void)
{
    pmix_status_t failed;

    pthread_mutex_lock(&calls.mutex);
    while (calls.open)
        pthread_cond_wait(&calls.changed, &calls.mutex);
    failed = calls.failed;
    calls.failed = PMIX_SUCCESS;
    pthread_mutex_unlock(&calls.mutex);
    return failed;
}

static void event_send_for(enum wsh_event_kind kind, const pmix_proc_t *proc, int status)
{
    if (!strncmp(proc->nspace, server.nspace, PMIX_MAX_NSLEN))
        wsh_event_send(server.event_fd, kind, (int)proc->rank, status);
}

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_info_t info[], size_t n_info,
                                  pmix_op_cbfunc_t done, void *data)
{
    (void)object, (void)info, (void)n_info, (void)done, (void)data;
    event_send_for(WSH_EVENT_JOINED, proc, 0);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done, void *data)
{
    (void)object, (void)done, (void)data;
    event_send_for(WSH_EVENT_LEFT, proc, 0);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status, const char message[],
                              pmix_proc_t procs[], size_t n_procs, pmix_op_cbfunc_t done, void *data)
{
    (void)object, (void)message, (void)procs, (void)n_procs, (void)done, (void)data;
    event_send_for(WSH_EVENT_ABORTED, proc, status);
    return PMIX_OPERATION_SUCCEEDED;
}

/* All PEs are here, so what libpmix collected from them is all there is. */
static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n_procs, const pmix_info_t info[],
                              size_t n_info, char *bytes, size_t n_bytes, pmix_modex_cbfunc_t done,
                              void *data)
{
    (void)procs, (void)n_procs, (void)info, (void)n_info;
    if (!done)
        return PMIX_OPERATION_SUCCEEDED;
    done(PMIX_SUCCESS, bytes, n_bytes, data, NULL, NULL);
    return PMIX_SUCCESS;
}

static pmix_status_t on_direct_modex(const pmix_proc_t *proc, const pmix_info_t info[], size_t n_info,
                                     pmix_modex_cbfunc_t done, void *data)
{
    (void)proc, (void)info, (void)n_info, (void)done, (void)data;
    return PMIX_ERR_NOT_FOUND;
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t n_info, pmix_info_t results[], size_t n_results,
                     pmix_event_notification_cbfunc_fn_t done, void *data)
{
    (void)id, (void)info, (void)n_info, (void)results, (void)n_results;
    if (status == PMIX_ERR_LOST_CONNECTION)
        event_send_for(WSH_EVENT_LOST, source, 0);
    if (status == WSH_PMIX_INITIALIZED)
        event_send_for(WSH_EVENT_INITIALIZED, source, 0);
    if (status == WSH_PMIX_WAITS_IN_INIT || status == WSH_PMIX_WAITS_IN_FINALIZE)
        event_send_for(WSH_EVENT_WAITS, source, status == WSH_PMIX_WAITS_IN_FINALIZE);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static pmix_server_module_t upcalls = {
    .client_connected2 = on_connected,
    .client_finalized = on_finalized,
    .abort = on_abort,
    .fence_nb = on_fence,
    .direct_modex = on_direct_modex,
};

/*
 * The `hash` store has no files and no lock that a killed PE may hold; with very many PEs the shared one is faster, as
 * each look-up by a PE is else a message.
 */
#define HASH_STORE_MAX_PES 64

static pmix_status_t server_start(const char *tmpdir)
{
    struct wsh_lean lean;
    pmix_rank_t rank = 0;
    pmix_info_t info[4];
    pmix_status_t status;

    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, tmpdir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, tmpdir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_NSPACE, "oshrun", PMIX_STRING);
    PMIX_INFO_LOAD(&info[3], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
    wsh_lean_begin(&lean);
    status = PMIx_server_init(&upcalls, info, 4);
    wsh_lean_end(&lean);
    for (int i = 0; i < 4; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    return status;
}

static pmix_status_t job_register(int n_pes, int n_nodes)
{
    struct wsh_pmix_job job;
    pmix_status_t status = wsh_pmix_job_init(&job, server.nspace, n_pes, n_nodes);

    if (status == PMIX_SUCCESS) {
        calls_begin();
        calls_returned(
            PMIx_server_register_nspace(server.nspace, n_pes, job.info, job.n_info, call_done, NULL));
        status = calls_wait();
    }
    wsh_pmix_job_fini(&job);
    return status;
}

static pmix_status_t pes_register(int n_pes)
{
    for (int pe = 0; pe < n_pes; pe++) {
        pmix_proc_t proc;

        PMIX_LOAD_PROCID(&proc, server.nspace, (pmix_rank_t)pe);
        calls_begin();
        calls_returned(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, call_done, NULL));
    }
    return calls_wait();
}

/*
 * libpmix's `native` check over TCP believes the user id that a client gives. So the name space, which a client must
 * give too, carries the secret of the job, which only the environment of the PEs holds. It is never printed.
 */
static int nspace_draw(void)
{
    struct wsh_secret secret;
    char text[WSH_SECRET_TEXT];
    int rc = wsh_random_fill(&secret, sizeof secret);

    if (rc) {
        wsh_say("no random bytes from the kernel: getrandom: %s", wsh_strerror(rc));
        return rc;
    }
    wsh_secret_print(&secret, text);
    snprintf(server.nspace, sizeof server.nspace, "oshrun-%d-%s", (int)getpid(), text);
    return 0;
}

int wsh_server_open(const char *tmpdir, int n_pes, int n_nodes, int event_fd)
{
    pmix_status_t status;
    int rc = nspace_draw();

    if (rc)
        return rc;
    server.event_fd = event_fd;
    if (n_pes <= HASH_STORE_MAX_PES)
        setenv("PMIX_MCA_gds", "hash", 0);
    status = server_start(tmpdir);
    if (status != PMIX_SUCCESS) {
        wsh_say("PMIx server: %s; see that lo is up and that no PMIX_MCA_* setting excludes what it needs",
                PMIx_Error_string(status));
        return -EIO;
    }
    calls_begin();
    PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, handler_registered, NULL);
    status = calls_wait();
    if (status == PMIX_SUCCESS)
        status = job_register(n_pes, n_nodes);
    if (status == PMIX_SUCCESS)
        status = pes_register(n_pes);
    if (status == PMIX_SUCCESS)
        return 0;
    wsh_say("PMIx server: %s while the job was registered; try another version of libpmix",
            PMIx_Error_string(status));
    return -EIO;
}

int wsh_server_environ(int pe, char ***env)
{
    pmix_status_t status;
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, server.nspace, (pmix_rank_t)pe);
    status = PMIx_server_setup_fork(&proc, env);
    if (status == PMIX_SUCCESS)
        return 0;
    wsh_say("PMIx server: %s while PE %d was prepared", PMIx_Error_string(status), pe);
    return -EIO;
}

static void event_sent(pmix_status_t status, void *unused)
{
    (void)status, (void)unused;
}

/* The event is not cached: a PE that joins later must not receive a question of before. */
void wsh_server_ask(void)
{
    pmix_info_t info;
    bool yes = true;
    pmix_proc_t oshrun;

    PMIX_LOAD_PROCID(&oshrun, "oshrun", 0);
    PMIX_INFO_LOAD(&info, PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    PMIx_Notify_event(WSH_PMIX_WHO_WAITS, &oshrun, PMIX_RANGE_LOCAL, &info, 1, event_sent, NULL);
    PMIX_INFO_DESTRUCT(&info);
}
