/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the PMIx server that the PEs of this machine connect to, and describes their job to it in PMIx's words. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/server/server.h"

#include "bootstrap/pmix/hwloc_env.h"
#include "bootstrap/oshrun/io.h"
#include "bootstrap/pmix/keys.h"
#include "base/env/env.h"
#include "base/err.h"
#include "base/secret.h"

#include <limits.h>
#include <pmix.h>
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

/* libpmix's asynchronous calls; the mutex orders what libpmix's thread did before what the main thread does after. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int open; /* calls not complete */
    pmix_status_t failed;
} calls = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, PMIX_SUCCESS};

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

static pmix_status_t on_publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t n_info,
                                pmix_op_cbfunc_t done, void *data)
{
    (void)done, (void)data;
    for (size_t i = 0; i < n_info; i++)
        if (PMIX_CHECK_KEY(&info[i], WSH_PMIX_INITIALIZED))
            event_send_for(WSH_EVENT_INITIALIZED, proc, 0);
    return PMIX_OPERATION_SUCCEEDED;
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t n_info, pmix_info_t results[], size_t n_results,
                     pmix_event_notification_cbfunc_fn_t done, void *data)
{
    (void)id, (void)info, (void)n_info, (void)results, (void)n_results;
    if (status == PMIX_ERR_LOST_CONNECTION)
        event_send_for(WSH_EVENT_LOST, source, 0);
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
    .publish = on_publish,
};

static pmix_status_t server_start(const char *tmpdir)
{
    struct wsh_hwloc_env hwloc_env;
    pmix_rank_t rank = 0;
    pmix_info_t info[4];
    pmix_status_t status;

    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, tmpdir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, tmpdir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_NSPACE, "oshrun", PMIX_STRING);
    PMIX_INFO_LOAD(&info[3], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
    wsh_hwloc_env_begin(&hwloc_env);
    status = PMIx_server_init(&upcalls, info, 4);
    wsh_hwloc_env_end(&hwloc_env);
    for (int i = 0; i < 4; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    return status;
}

/* A job in PMIx's words: its size, its hosts and the place of each PE. */
struct job {
    pmix_info_t *info;
    size_t n_info;
};

enum { N_JOB_KEYS = 12, N_PE_KEYS = 7 };

/* "0,1,2,…" */
static char *pes_list(int n_pes)
{
    char *list = malloc((size_t)n_pes * 11 + 1);
    size_t used = 0;

    for (int pe = 0; list && pe < n_pes; pe++)
        used += (size_t)sprintf(list + used, "%s%d", pe ? "," : "", pe);
    return list;
}

static void key_add(struct job *job, const char *key, const void *value, pmix_data_type_t type)
{
    PMIX_INFO_LOAD(&job->info[job->n_info], key, value, type);
    job->n_info++;
}

static void sizes_add(struct job *job, uint32_t n_pes)
{
    static const char *const keys[] = {PMIX_UNIV_SIZE, PMIX_JOB_SIZE, PMIX_MAX_PROCS, PMIX_LOCAL_SIZE,
                                       PMIX_NODE_SIZE};
    uint32_t one = 1, zero = 0; /* one server for all PEs: its fences wait for all of them */

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        key_add(job, keys[i], &n_pes, PMIX_UINT32);
    key_add(job, PMIX_NUM_NODES, &one, PMIX_UINT32);
    key_add(job, PMIX_NODEID, &zero, PMIX_UINT32);
    key_add(job, WSH_PMIX_FENCE_WAITS, &one, PMIX_UINT32);
}

static pmix_status_t maps_add(struct job *job, const char *host, const char *pes)
{
    char *hosts = NULL, *ppn = NULL;
    pmix_status_t status = PMIx_generate_regex(host, &hosts);

    if (status == PMIX_SUCCESS)
        status = PMIx_generate_ppn(pes, &ppn);
    if (status == PMIX_SUCCESS) {
        key_add(job, PMIX_NODE_MAP, hosts, PMIX_REGEX);
        key_add(job, PMIX_PROC_MAP, ppn, PMIX_REGEX);
        key_add(job, PMIX_LOCAL_PEERS, pes, PMIX_STRING);
    }
    free(hosts);
    free(ppn);
    return status;
}

/* The PEs from `from` on, up or down, that are on the same emulated host. */
static int node_count_beside(int from, int step, int n_pes, int n_nodes)
{
    int node = wsh_node_of(from, n_pes, n_nodes), n = 0;

    for (int pe = from + step; pe >= 0 && pe < n_pes && wsh_node_of(pe, n_pes, n_nodes) == node; pe += step)
        n++;
    return n;
}

static void pe_add(struct job *job, const char *host, int pe, int n_pes, int n_nodes)
{
    pmix_info_t *info = &job->info[job->n_info++], *keys;
    uint16_t local_rank = (uint16_t)node_count_beside(pe, -1, n_pes, n_nodes);
    uint32_t node = (uint32_t)wsh_node_of(pe, n_pes, n_nodes), app = 0;
    uint32_t n_local = local_rank + 1u + (uint32_t)node_count_beside(pe, 1, n_pes, n_nodes);
    pmix_rank_t rank = (pmix_rank_t)pe;
    pmix_data_array_t *array;

    PMIX_DATA_ARRAY_CREATE(array, N_PE_KEYS, PMIX_INFO);
    keys = array->array;
    PMIX_INFO_LOAD(&keys[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&keys[1], PMIX_LOCAL_RANK, &local_rank, PMIX_UINT16);
    PMIX_INFO_LOAD(&keys[2], PMIX_NODE_RANK, &local_rank, PMIX_UINT16);
    PMIX_INFO_LOAD(&keys[3], PMIX_NODEID, &node, PMIX_UINT32);
    PMIX_INFO_LOAD(&keys[4], PMIX_HOSTNAME, host, PMIX_STRING);
    PMIX_INFO_LOAD(&keys[5], PMIX_APPNUM, &app, PMIX_UINT32);
    PMIX_INFO_LOAD(&keys[6], WSH_PMIX_LOCAL_SIZE, &n_local, PMIX_UINT32);
    PMIX_LOAD_KEY(info->key, PMIX_PROC_INFO_ARRAY);
    info->value.type = PMIX_DATA_ARRAY;
    info->value.data.darray = array;
}

/*
 * PMIx_generate_regex of libpmix 4.2 has 50 bytes for what stands before a name's first digit and does not look. The
 * name only has to be the same wherever this job's records have it: PEs ask the kernel for theirs.
 */
static void host_shorten(char *host)
{
    if (strlen(host) >= 50)
        strcpy(host, "localhost");
}

/* To libpmix all PEs are on one host; each PE's record says its emulated host (NODEID) and its place there. */
static pmix_status_t job_describe(struct job *job, int n_pes, int n_nodes)
{
    char host[HOST_NAME_MAX + 1] = "localhost", *pes = pes_list(n_pes);
    pmix_status_t status;

    job->n_info = 0;
    PMIX_INFO_CREATE(job->info, N_JOB_KEYS + (size_t)n_pes);
    if (!job->info || !pes) {
        free(pes);
        return PMIX_ERR_NOMEM;
    }
    gethostname(host, sizeof host - 1);
    host_shorten(host);
    key_add(job, PMIX_JOBID, server.nspace, PMIX_STRING);
    sizes_add(job, (uint32_t)n_pes);
    status = maps_add(job, host, pes);
    for (int pe = 0; pe < n_pes && status == PMIX_SUCCESS; pe++)
        pe_add(job, host, pe, n_pes, n_nodes);
    free(pes);
    return status;
}

static pmix_status_t job_register(int n_pes, int n_nodes)
{
    struct job job;
    pmix_status_t status = job_describe(&job, n_pes, n_nodes);

    if (status == PMIX_SUCCESS) {
        calls_begin();
        calls_returned(
            PMIx_server_register_nspace(server.nspace, n_pes, job.info, job.n_info, call_done, NULL));
        status = calls_wait();
    }
    if (job.info)
        PMIX_INFO_FREE(job.info, job.n_info);
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
    snprintf(server.nspace, sizeof server.nspace, WSH_PMIX_NSPACE "%d-%s", (int)getpid(), text);
    return 0;
}

int wsh_server_open(const char *tmpdir, int n_pes, int n_nodes, int event_fd)
{
    pmix_status_t status;
    int rc = nspace_draw();

    if (rc)
        return rc;
    server.event_fd = event_fd;
    setenv("PMIX_MCA_gds", "hash", 0); /* it has no files and no lock that a killed PE may hold */
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
