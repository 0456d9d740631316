/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers the blobs of a host behind a fence of its PEs alone, which PMIx's server there completes by itself. */
#include "bootstrap/pmix/blobs.h"

#include "base/err.h"
#include "base/log.h"
#include "bootstrap/pmix/fence.h"
#include "bootstrap/blob/host_blob.h"
#include "bootstrap/pmix/host_exchange.h"
#include "bootstrap/pmix/keys.h"
#include "bootstrap/pmix/library.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct at {
    char *host; /* its name or number */
    uint32_t pe;
};

static int no_memory(int n_pes)
{
    wsh_error("bootstrap: out of memory (the hosts of %d PEs)", n_pes);
    return -ENOMEM;
}

static int at_compare(const void *left, const void *right)
{
    const struct at *a = left, *b = right;
    int order = strcmp(a->host, b->host);

    return order ? order : (a->pe > b->pe) - (a->pe < b->pe);
}

static void hosts_forget(struct at *at, int n_pes)
{
    for (int pe = 0; pe < n_pes; pe++) {
        free(at[pe].host);
        at[pe].host = NULL;
    }
}

static bool hosts_read_by(const pmix_proc_t *me, struct at *at, int n_pes, const char *key)
{
    for (int pe = 0; pe < n_pes; pe++) {
        at[pe] = (struct at){wsh_host_pmix_text(me, (pmix_rank_t)pe, key), (uint32_t)pe};
        if (!at[pe].host)
            return false;
    }
    qsort(at, (size_t)n_pes, sizeof *at, at_compare);
    return true;
}

/* The same on all PEs: Slurm (22.05) gives the numbers of the PEs of one host alone, and all names. */
static bool hosts_read(const pmix_proc_t *me, struct at *at, int n_pes)
{
    if (hosts_read_by(me, at, n_pes, PMIX_NODEID))
        return true;
    hosts_forget(at, n_pes);
    return hosts_read_by(me, at, n_pes, PMIX_HOSTNAME);
}

/* From the PEs by host. */
static void hosts_note(struct wsh_blobs_pmix *blobs, const struct at *at, int n_pes)
{
    for (int i = 0; i < n_pes; i++) {
        bool first = !i || strcmp(at[i].host, at[i - 1].host);

        blobs->leader[at[i].pe] = first ? at[i].pe : blobs->leader[at[i - 1].pe];
    }
    for (int pe = 0; pe < n_pes; pe++)
        if (blobs->leader[pe] == blobs->leader[blobs->me.rank])
            blobs->members[blobs->n_members++] = wsh_pmix_proc(blobs->me.nspace, (pmix_rank_t)pe);
}

static void hosts_drop(struct wsh_blobs_pmix *blobs)
{
    free(blobs->leader);
    free(blobs->members);
    blobs->leader = NULL;
    blobs->members = NULL;
}

int wsh_blobs_pmix_open(struct wsh_blobs_pmix *blobs, const pmix_proc_t *me, int n_pes)
{
    struct at *at;

    if (blobs->known)
        return 0;
    at = calloc((size_t)n_pes, sizeof *at);
    *blobs = (struct wsh_blobs_pmix){.me = *me, .known = true};
    blobs->leader = calloc((size_t)n_pes, sizeof *blobs->leader);
    blobs->members = calloc((size_t)n_pes, sizeof *blobs->members);
    pthread_mutex_init(&blobs->lock, NULL);
    if (!at || !blobs->leader || !blobs->members) {
        hosts_drop(blobs);
        free(at);
        return no_memory(n_pes);
    }
    if (hosts_read(me, at, n_pes)) {
        hosts_note(blobs, at, n_pes);
    } else {
        hosts_drop(blobs);
        wsh_info(WSH_SUB_BOOTSTRAP,
                 "the launcher does not say on which host each PE is: each publishes its own addresses");
    }
    hosts_forget(at, n_pes);
    free(at);
    return 0;
}

/* The hosts stay known: after another PMIx_Init no launcher says them again (4.2.2). */
void wsh_blobs_pmix_close(struct wsh_blobs_pmix *blobs)
{
    free(blobs->last);
    blobs->last = NULL;
}

/* Of one PE, for the readers of its scope; the first PE of a host has one of each kind. */
static void make_key(const struct wsh_blob_id *id, bool for_host, char *key, size_t size)
{
    snprintf(key, size, "wsh.%u.%u%s", id->generation, id->round, for_host ? ".host" : "");
}

static int put(const struct wsh_blob_id *id, bool for_host, const void *blob, size_t len)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT};
    char key[PMIX_MAX_KEYLEN + 1];
    pmix_status_t status;
    void *bytes;
    int rc = wsh_blob_wrap(id, blob, len, &bytes, &value.data.bo.size);

    if (rc)
        return rc;
    value.data.bo.bytes = bytes;
    make_key(id, for_host, key, sizeof key);
    status = wsh_pmix.Put(for_host ? PMIX_LOCAL : PMIX_GLOBAL, key, &value);
    if (status == PMIX_SUCCESS)
        status = wsh_pmix.Commit();
    free(bytes);
    return status == PMIX_SUCCESS ? 0 : wsh_pmix_call_failed("publishing", status);
}

static int get(const struct wsh_blobs_pmix *blobs, const struct wsh_blob_id *id, bool for_host, void **blob,
               size_t *len)
{
    pmix_proc_t proc = wsh_pmix_proc(blobs->me.nspace, (pmix_rank_t)id->pe);
    char key[PMIX_MAX_KEYLEN + 1];
    pmix_value_t *value = NULL;
    pmix_status_t status;
    bool bytes;
    int rc;

    make_key(id, for_host, key, sizeof key);
    status = wsh_pmix.Get(&proc, key, NULL, 0, &value);
    if (status != PMIX_SUCCESS)
        return wsh_pmix_call_failed("look-up of a peer", status);
    bytes = value->type == PMIX_BYTE_OBJECT;
    rc = wsh_blob_unwrap(id, value->data.bo.bytes, bytes ? value->data.bo.size : 0, blob, len);
    wsh_pmix_value_release(value);
    return rc;
}

static int members_get(const struct wsh_blobs_pmix *blobs, const struct wsh_blob_id *id,
                       struct wsh_host_part *parts)
{
    int rc = 0;

    for (size_t i = 0; i < blobs->n_members && !rc; i++) {
        struct wsh_blob_id of = {id->generation, id->round, blobs->members[i].rank};
        void *blob = NULL;

        rc = get(blobs, &of, true, &blob, &parts[i].len);
        parts[i].pe = of.pe;
        parts[i].blob = blob;
    }
    return rc;
}

static int members_publish(const struct wsh_blobs_pmix *blobs, const struct wsh_blob_id *id,
                           const struct wsh_host_part *parts)
{
    size_t size, plain = 0;
    void *bytes;
    int rc = wsh_host_blob_pack(parts, (int)blobs->n_members, &bytes, &size);

    if (rc)
        return rc;
    for (size_t i = 0; i < blobs->n_members; i++)
        plain += parts[i].len;
    wsh_info(WSH_SUB_BOOTSTRAP, "addresses of this host's %zu PEs: %zu bytes, of %zu", blobs->n_members, size,
             plain);
    rc = put(id, false, bytes, size);
    free(bytes);
    return rc;
}

/* The first PE of a host publishes what all of them have given it. */
static int host_publish(const struct wsh_blobs_pmix *blobs, const struct wsh_blob_id *id)
{
    struct wsh_host_part *parts = calloc(blobs->n_members, sizeof *parts);
    int rc = parts ? members_get(blobs, id, parts) : no_memory((int)blobs->n_members);

    if (!rc)
        rc = members_publish(blobs, id, parts);
    for (size_t i = 0; parts && i < blobs->n_members; i++)
        free((void *)parts[i].blob);
    free(parts);
    return rc;
}

int wsh_blobs_pmix_put(struct wsh_blobs_pmix *blobs, const struct wsh_blob_id *id, const void *blob,
                       size_t len)
{
    int rc = put(id, blobs->leader != NULL, blob, len);

    if (rc || !blobs->leader)
        return rc;
    if (blobs->n_members > 1)
        rc = wsh_fence_pmix(blobs->members, blobs->n_members, false, "exchange of addresses on this host",
                            WSH_PMIX_WAITS_IN_INIT);
    return rc || blobs->leader[id->pe] != id->pe ? rc : host_publish(blobs, id);
}

/* Where it is not what was looked up last. */
static int host_get(struct wsh_blobs_pmix *blobs, const struct wsh_blob_id *id)
{
    if (blobs->last && !memcmp(&blobs->last_id, id, sizeof *id))
        return 0;
    free(blobs->last);
    blobs->last = NULL;
    blobs->last_id = *id;
    return get(blobs, id, false, &blobs->last, &blobs->last_size);
}

int wsh_blobs_pmix_get(struct wsh_blobs_pmix *blobs, const struct wsh_blob_id *id, void **blob, size_t *len)
{
    struct wsh_blob_id of = *id;
    int rc;

    if (!blobs->leader)
        return get(blobs, id, false, blob, len);
    of.pe = blobs->leader[id->pe];
    pthread_mutex_lock(&blobs->lock);
    rc = host_get(blobs, &of);
    if (!rc)
        rc = wsh_host_blob_find(blobs->last, blobs->last_size, id->pe, blob, len);
    pthread_mutex_unlock(&blobs->lock);
    return rc;
}
