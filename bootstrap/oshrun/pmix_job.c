/* SPDX-License-Identifier: BSD-3-Clause */
/* A job in PMIx's words: its size, its hosts and the place of each PE. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/pmix_job.h"

#include "bootstrap/oshrun/pmix_server.h"
#include "bootstrap/pmix_keys.h"

#include <limits.h>
#include <pmix_server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void key_add(struct wsh_pmix_job *job, const char *key, const void *value, pmix_data_type_t type)
{
    PMIX_INFO_LOAD(&job->info[job->n_info], key, value, type);
    job->n_info++;
}

static void sizes_add(struct wsh_pmix_job *job, uint32_t n_pes)
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

static pmix_status_t maps_add(struct wsh_pmix_job *job, const char *host, const char *pes)
{
    char *hosts = NULL, *places = NULL;
    pmix_status_t status = PMIx_generate_regex(host, &hosts);

    if (status == PMIX_SUCCESS)
        status = PMIx_generate_ppn(pes, &places);
    if (status == PMIX_SUCCESS) {
        key_add(job, PMIX_NODE_MAP, hosts, PMIX_REGEX);
        key_add(job, PMIX_PROC_MAP, places, PMIX_REGEX);
        key_add(job, PMIX_LOCAL_PEERS, pes, PMIX_STRING);
    }
    free(hosts);
    free(places);
    return status;
}

/* The PEs from `from` on, up or down, that are on the same emulated host. */
static int node_count_beside(int from, int step, int n_pes, int n_nodes)
{
    int pe = from + step, n = 0;

    for (; pe >= 0 && pe < n_pes && wsh_node_of(pe, n_pes, n_nodes) == wsh_node_of(from, n_pes, n_nodes);
         pe += step)
        n++;
    return n;
}

static void pe_add(struct wsh_pmix_job *job, const char *host, int pe, int n_pes, int n_nodes)
{
    pmix_info_t *info = &job->info[job->n_info++], *keys;
    uint16_t place = (uint16_t)node_count_beside(pe, -1, n_pes, n_nodes);
    uint32_t node = (uint32_t)wsh_node_of(pe, n_pes, n_nodes), app = 0;
    uint32_t n_local = place + 1u + (uint32_t)node_count_beside(pe, 1, n_pes, n_nodes);
    pmix_rank_t rank = (pmix_rank_t)pe;
    pmix_data_array_t *array;

    PMIX_DATA_ARRAY_CREATE(array, N_PE_KEYS, PMIX_INFO);
    keys = array->array;
    PMIX_INFO_LOAD(&keys[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&keys[1], PMIX_LOCAL_RANK, &place, PMIX_UINT16);
    PMIX_INFO_LOAD(&keys[2], PMIX_NODE_RANK, &place, PMIX_UINT16);
    PMIX_INFO_LOAD(&keys[3], PMIX_NODEID, &node, PMIX_UINT32);
    PMIX_INFO_LOAD(&keys[4], PMIX_HOSTNAME, host, PMIX_STRING);
    PMIX_INFO_LOAD(&keys[5], PMIX_APPNUM, &app, PMIX_UINT32);
    PMIX_INFO_LOAD(&keys[6], WSH_PMIX_LOCAL_SIZE, &n_local, PMIX_UINT32);
    PMIX_LOAD_KEY(info->key, PMIX_PROC_INFO_ARRAY);
    info->value.type = PMIX_DATA_ARRAY;
    info->value.data.darray = array;
}

pmix_status_t wsh_pmix_job_init(struct wsh_pmix_job *job, const char *nspace, int n_pes, int n_nodes)
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
    key_add(job, PMIX_JOBID, nspace, PMIX_STRING);
    sizes_add(job, (uint32_t)n_pes);
    status = maps_add(job, host, pes);
    for (int pe = 0; pe < n_pes && status == PMIX_SUCCESS; pe++)
        pe_add(job, host, pe, n_pes, n_nodes);
    free(pes);
    return status;
}

void wsh_pmix_job_fini(struct wsh_pmix_job *job)
{
    if (job->info)
        PMIX_INFO_FREE(job->info, job->n_info);
    job->info = NULL;
}
