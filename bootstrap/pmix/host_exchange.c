/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges data among the PEs of one host through PMIx, without a fence of all PEs: each PE publishes its data for its
 * host, and the server answers a reader that comes first as soon as the data is there. Only the server of this host
 * takes part. The data of an earlier shmem_init stays published and remains valid, because a process keeps its PE
 * number and its host.
 */
#include "bootstrap/pmix/host_exchange.h"

#include "base/log.h"
#include "bootstrap/pmix/keys.h"
#include "bootstrap/pmix/library.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST_KEY "wsh.host"
#define HOST_SECONDS 10 /* a PE that has published nothing by then counts as one that never will */

static pmix_status_t data_put(const void *mine, size_t len)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT};
    pmix_status_t status;

    value.data.bo.bytes = malloc(len);
    if (!value.data.bo.bytes)
        return PMIX_ERR_NOMEM;
    memcpy(value.data.bo.bytes, mine, len);
    value.data.bo.size = len;
    status = wsh_pmix.Put(PMIX_LOCAL, HOST_KEY, &value);
    free(value.data.bo.bytes);
    return status == PMIX_SUCCESS ? wsh_pmix.Commit() : status;
}

static pmix_status_t data_get(const pmix_proc_t *me, pmix_rank_t rank, void *theirs, size_t len)
{
    pmix_info_t info = wsh_pmix_info(PMIX_TIMEOUT, PMIX_INT);
    pmix_proc_t proc = wsh_pmix_proc(me->nspace, rank);
    pmix_value_t *value = NULL;
    pmix_status_t status;

    info.value.data.integer = HOST_SECONDS;
    status = wsh_pmix.Get(&proc, HOST_KEY, &info, 1, &value);
    if (status != PMIX_SUCCESS)
        return status;
    if (value->type == PMIX_BYTE_OBJECT && value->data.bo.size == len)
        memcpy(theirs, value->data.bo.bytes, len);
    else
        status = PMIX_ERR_TYPE_MISMATCH;
    wsh_pmix_value_release(value);
    return status;
}

/* The ranks of this host's processes, "0,1,2,3". NULL: the launcher does not say. */
static const char *local_ranks(const pmix_proc_t *me)
{
    static char *ranks; /* stay known: after another PMIx_Init nobody says them (4.2.2) */
    pmix_proc_t proc = wsh_pmix_proc(me->nspace, PMIX_RANK_WILDCARD);
    pmix_value_t *value = NULL;

    if (ranks || wsh_pmix.Get(&proc, PMIX_LOCAL_PEERS, NULL, 0, &value) != PMIX_SUCCESS)
        return ranks;
    if (value->type == PMIX_STRING && value->data.string)
        ranks = strdup(value->data.string);
    wsh_pmix_value_release(value);
    return ranks;
}

static pmix_status_t data_get_all(const pmix_proc_t *me, const char *ranks, int n, void *all, size_t len)
{
    pmix_status_t status = PMIX_SUCCESS;
    int i = 0;

    for (const char *at = ranks; *at && i < n && status == PMIX_SUCCESS; at += *at == ',') {
        status = data_get(me, (pmix_rank_t)atoi(at), (char *)all + (size_t)i++ * len, len);
        at += strcspn(at, ",");
    }
    return status == PMIX_SUCCESS && i < n ? PMIX_ERR_NOT_FOUND : status;
}

int wsh_host_pmix_exchange(const pmix_proc_t *me, int n, const void *mine, size_t len, void *all)
{
    pmix_status_t status = data_put(mine, len);
    const char *ranks = local_ranks(me);

    if (!ranks)
        status = PMIX_ERR_NOT_FOUND;
    if (status == PMIX_SUCCESS)
        status = data_get_all(me, ranks, n, all, len);
    if (status == PMIX_SUCCESS)
        return 0;
    wsh_info(WSH_SUB_BOOTSTRAP, "the PEs of this host cannot exchange data: PMIx: %s",
             wsh_pmix.Error_string(status));
    return -ENOTSUP;
}

/* A value about the job that the launcher may or may not give. */
static pmix_value_t *get_optional(const pmix_proc_t *me, pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc = wsh_pmix_proc(me->nspace, rank);
    pmix_info_t info = wsh_pmix_info(PMIX_OPTIONAL, PMIX_BOOL);
    pmix_value_t *value = NULL;

    info.value.data.flag = true;
    return wsh_pmix.Get(&proc, key, &info, 1, &value) == PMIX_SUCCESS ? value : NULL;
}

long wsh_host_pmix_number(const pmix_proc_t *me, pmix_rank_t rank, const char *key, long missing)
{
    pmix_value_t *value = get_optional(me, rank, key);
    long number = missing;

    if (value && (value->type == PMIX_UINT32 || value->type == PMIX_UINT16))
        number = value->type == PMIX_UINT32 ? (long)value->data.uint32 : (long)value->data.uint16;
    wsh_pmix_value_release(value);
    return number;
}

char *wsh_host_pmix_text(const pmix_proc_t *me, pmix_rank_t rank, const char *key)
{
    pmix_value_t *value = get_optional(me, rank, key);
    char number[16], *text = NULL;

    if (value && value->type == PMIX_STRING && value->data.string)
        text = strdup(value->data.string);
    if (value && value->type == PMIX_UINT32) {
        snprintf(number, sizeof number, "%u", value->data.uint32);
        text = strdup(number);
    }
    wsh_pmix_value_release(value);
    return text;
}

/* The list of PEs on this host: "0,1,2,3". */
void wsh_host_pmix_peers(struct wsh_boot *boot, const pmix_proc_t *me)
{
    pmix_value_t *value = get_optional(me, PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);

    boot->local_rank = 0;
    boot->local_size = 1;
    if (value && value->type == PMIX_STRING && value->data.string) {
        int n = 0;

        for (const char *at = value->data.string; *at; at += *at == ',') {
            if (atoi(at) == boot->my_pe)
                boot->local_rank = n;
            n++;
            at += strcspn(at, ",");
        }
        boot->local_size = n ? n : 1;
    }
    wsh_pmix_value_release(value);
}

/* On an emulated host (oshrun --nodes-emulated) libpmix itself still sees one host. */
static void read_emulated_peers(struct wsh_boot *boot, const pmix_proc_t *me)
{
    boot->local_rank = (int)wsh_host_pmix_number(me, (pmix_rank_t)boot->my_pe, PMIX_LOCAL_RANK, 0);
    boot->local_size = (int)wsh_host_pmix_number(me, (pmix_rank_t)boot->my_pe, WSH_PMIX_LOCAL_SIZE, 1);
}

int wsh_host_pmix_identity(struct wsh_boot *boot, const pmix_proc_t *me, const struct wsh_env *env)
{
    long n_pes = wsh_host_pmix_number(me, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, 0);

    if (n_pes < 1 || me->rank >= (pmix_rank_t)n_pes) {
        wsh_error(
            "PMIx: the launcher does not say how many PEs there are; start with oshrun, srun --mpi=pmix or "
            "mpirun");
        return -EPROTO;
    }
    boot->my_pe = (int)me->rank;
    boot->n_pes = (int)n_pes;
    snprintf(boot->launcher, sizeof boot->launcher, "%s", env->oshrun_pid > 0 ? "oshrun" : "pmix");
    wsh_host_pmix_peers(boot, me);
    boot->one_machine = boot->local_size == boot->n_pes;
    if (env->node_emulated >= 0)
        read_emulated_peers(boot, me);
    return 0;
}
