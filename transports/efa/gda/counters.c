/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens queue pairs whose remote writes NICs count, and puts to those of peers. */
#include "transports/efa/gda/counters.h"

#include "base/cuda/mem.h"
#include "base/log.h"

#include <rdma/fi_cm.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WSH_EFA_NIC_QUEUE_PAIRS 256 /* of a NIC, for all PEs of the host */
#define WSH_EFA_NIC_COUNTERS 512    /* that a NIC has in all */
#define WSH_EFA_COUNTER_PAIRS 128   /* queue pairs that counters take of a NIC at most, by themselves */
#define WSH_EFA_COUNTER_PAIRS_PE 32 /* the same for one PE */
#define WSH_EFA_COUNTER_CQ 8

static bool has_ops(const struct wsh_efa_set *set, const struct wsh_efa_rail *rail)
{
    return FI_VERSION_GE(set->lib.version, WSH_EFA_GDA_OPS_SINCE) &&
           !strcmp(rail->info->fabric_attr->name, "efa-direct");
}

static int open_count(const struct wsh_efa_gda_ops *ops, const struct wsh_efa_rail *rail, uint64_t *word,
                      struct wsh_efa_gda_counter *location, struct fid_cntr **count)
{
    struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE};

    return ops->cntr_open_ext(rail->domain, &attr, count, word, location);
}

/* By the descriptor of its memory or, where the driver takes none, by its address. */
static int open_device_count(const struct wsh_efa_gda_ops *ops, const struct wsh_efa_rail *rail,
                             uint64_t *word, struct fid_cntr **count)
{
    struct wsh_efa_gda_counter location = {.given = WSH_EFA_GDA_COUNT_GIVEN};
    uint64_t off;
    int fd = wsh_gpu_dmabuf(word, sizeof *word, &off), rc = -FI_EOPNOTSUPP;

    if (fd >= 0) {
        location.count =
            (struct wsh_efa_gda_location){.offset = off, .fd = fd, .type = WSH_EFA_GDA_BY_DESCRIPTOR};
        rc = open_count(ops, rail, word, &location, count);
        close(fd);
    }
    if (!rc)
        return 0;
    location.count = (struct wsh_efa_gda_location){.at = (uint8_t *)word, .type = WSH_EFA_GDA_BY_ADDRESS};
    return open_count(ops, rail, word, &location, count);
}

static int open_host_count(const struct wsh_efa_gda_ops *ops, const struct wsh_efa_rail *rail, uint64_t *word,
                           struct fid_cntr **count)
{
    struct wsh_efa_gda_counter location = {.given = WSH_EFA_GDA_COUNT_GIVEN,
                                           .count = {.at = (uint8_t *)word, .type = WSH_EFA_GDA_BY_ADDRESS}};

    return open_count(ops, rail, word, &location, count);
}

/* What a NIC can be told only by opening a counter; the library may also be told not to use them. */
static int try_rail(const struct wsh_efa_set *set, struct wsh_efa_counters *counters, unsigned i)
{
    struct fi_cq_attr cq_attr = {
        .size = WSH_EFA_COUNTER_CQ, .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_NONE};
    const struct wsh_efa_rail *rail = &set->rail[i];
    struct fid_cntr *count;
    uint64_t word = 0;
    void *ops = NULL;
    int rc =
        has_ops(set, rail) ? fi_open_ops(&rail->domain->fid, WSH_EFA_GDA_OPS, 0, &ops, NULL) : -FI_EOPNOTSUPP;

    if (!rc)
        rc = open_host_count(ops, rail, &word, &count);
    if (rc)
        return rc;
    wsh_efa_fid_close(&count->fid, "counter", rail);
    counters->ops[i] = ops;
    rc = fi_cq_open(rail->domain, &cq_attr, &counters->cq[i], NULL);
    if (rc)
        counters->cq[i] = NULL;
    return rc;
}

static int try_rails(const struct wsh_efa_set *set, struct wsh_efa_counters *counters)
{
    int rc = 0;

    for (unsigned i = 0; i < set->n_rails && !rc; i++)
        rc = try_rail(set, counters, i);
    return rc;
}

/* PEs of this host that use one NIC, where they are shared out evenly. */
static uint32_t sharers_of(const struct wsh_efa_set *set, const struct wsh_tp_params *params,
                           const struct fi_info *nics)
{
    uint32_t pes = params->local_size > 0 ? (uint32_t)params->local_size : 1, n_nics = 0;

    for (; nics; nics = nics->next)
        n_nics++;
    return (pes * set->n_rails + n_nics - 1) / n_nics;
}

static int refuse_number(const struct wsh_efa_set *set, long asked, uint32_t room, uint32_t sharers)
{
    wsh_error(
        "SHMEM_NIC_COUNTERS=%ld: %s has room for %u of each of the %u PEs that use it (%d queue pairs, %d "
        "counters); set it to %u or less, or leave it empty",
        asked, set->rail[0].name, room, sharers, WSH_EFA_NIC_QUEUE_PAIRS, WSH_EFA_NIC_COUNTERS, room);
    return -EINVAL;
}

/* Half of a NIC's queue pairs are for other purposes, unless the program's user says otherwise. */
static int choose_number(const struct wsh_efa_set *set, const struct wsh_tp_params *params,
                         const struct fi_info *nics, uint32_t *most)
{
    uint32_t sharers = sharers_of(set, params, nics);
    uint32_t each = WSH_EFA_NIC_QUEUE_PAIRS / sharers, room = each > set->efa->n ? each - set->efa->n : 0;
    uint32_t share = WSH_EFA_COUNTER_PAIRS / sharers;
    long asked = set->env->nic_counters;

    if (room > WSH_TP_COUNTERS)
        room = WSH_TP_COUNTERS;
    if (asked > (long)room)
        return refuse_number(set, asked, room, sharers);
    *most = asked >= 0                         ? (uint32_t)asked
            : share < WSH_EFA_COUNTER_PAIRS_PE ? share
                                               : WSH_EFA_COUNTER_PAIRS_PE;
    return 0;
}

static int say_none(const struct wsh_efa_set *set, int why)
{
    char text[WSH_EFA_TEXT_MAX];

    snprintf(
        text, sizeof text,
        "SHMEM_NIC_COUNTERS=%ld: the NICs of %s keep no counters (%s), which needs p5en or p6, an EFA driver "
        "of 3.3 and libfabric of 2.6 or later, and not FI_EFA_USE_HW_CNTR=0: CPUs count",
        set->env->nic_counters, set->rail[0].name, set->lib.strerror(-why));
    if (set->env->nic_counters < 0) {
        wsh_info(WSH_SUB_TRANSPORT, "%s", text);
        return 0;
    }
    return wsh_log_slower(set->env->strict, WSH_LOG_WARN, text);
}

int wsh_efa_counters_open(struct wsh_efa_set *set, const struct wsh_tp_params *params,
                          const struct fi_info *nics)
{
    struct wsh_efa_counters *counters;
    uint32_t most = 0;
    int rc = set->number || !set->env->nic_counters ? 0 : choose_number(set, params, nics, &most);

    if (rc || !most)
        return rc;
    counters = set->counters = calloc(1, sizeof *counters);
    if (!counters)
        return -ENOMEM;
    counters->most = most;
    rc = try_rails(set, counters);
    if (!rc) {
        wsh_info(WSH_SUB_TRANSPORT, "network: NICs keep up to %u counters", most);
        return 0;
    }
    wsh_efa_counters_close(set);
    return say_none(set, rc);
}

static void close_counter(const struct wsh_efa_set *set, struct wsh_efa_counter *counter)
{
    for (unsigned i = 0; i < set->n_rails; i++) {
        if (counter->ep[i])
            wsh_efa_fid_close(&counter->ep[i]->fid, "endpoint", &set->rail[i]);
        if (counter->count[i])
            wsh_efa_fid_close(&counter->count[i]->fid, "counter", &set->rail[i]);
    }
    *counter = (struct wsh_efa_counter){0};
}

void wsh_efa_counters_close(struct wsh_efa_set *set)
{
    struct wsh_efa_counters *counters = set->counters;

    if (!counters)
        return;
    for (uint32_t i = 0; i < WSH_TP_COUNTERS; i++)
        close_counter(set, &counters->own[i]);
    for (unsigned i = 0; i < set->n_rails; i++)
        if (counters->cq[i])
            wsh_efa_fid_close(&counters->cq[i]->fid, "completion queue", &set->rail[i]);
    free(counters);
    set->counters = NULL;
}

void wsh_efa_counters_stop(struct wsh_efa_set *set)
{
    if (set->n_counted)
        wsh_info(WSH_SUB_TRANSPORT, "network: %llu puts that NICs counted",
                 (unsigned long long)set->n_counted);
    wsh_efa_counters_close(set);
}

/* It posts nothing and takes no messages: the smallest queues will do. */
static int open_endpoint(struct wsh_efa_set *set, unsigned i, struct wsh_efa_counter *counter)
{
    struct wsh_efa_rail *rail = &set->rail[i];
    struct fi_info *info = set->lib.dupinfo(rail->info);
    int rc = info ? 0 : -ENOMEM;

    if (!rc) {
        info->tx_attr->size = info->rx_attr->size = WSH_EFA_COUNTER_CQ;
        rc = fi_endpoint(rail->domain, info, &counter->ep[i], NULL);
        set->lib.freeinfo(info);
    }
    if (rc)
        counter->ep[i] = NULL;
    if (!rc)
        rc = fi_ep_bind(counter->ep[i], &set->counters->cq[i]->fid, FI_TRANSMIT | FI_RECV);
    if (!rc)
        rc = fi_ep_bind(counter->ep[i], &rail->av->fid, 0);
    if (!rc && rail->eq)
        rc = fi_ep_bind(counter->ep[i], &rail->eq->fid, 0);
    if (!rc)
        rc = fi_ep_bind(counter->ep[i], &counter->count[i]->fid, FI_REMOTE_WRITE);
    return rc ? rc : fi_enable(counter->ep[i]);
}

static int open_pair(struct wsh_efa_set *set, unsigned i, struct wsh_efa_counter *counter, uint64_t *word,
                     enum wsh_mem_kind kind)
{
    const struct wsh_efa_gda_ops *ops = set->counters->ops[i];
    int rc = kind == WSH_MEM_HOST ? open_host_count(ops, &set->rail[i], word, &counter->count[i])
                                  : open_device_count(ops, &set->rail[i], word, &counter->count[i]);

    if (rc)
        counter->count[i] = NULL;
    return rc ? rc : open_endpoint(set, i, counter);
}

/* What is missing is counted by CPUs: said once. */
static int open_pairs(struct wsh_efa_set *set, struct wsh_efa_counter *counter, uint64_t *words,
                      enum wsh_mem_kind kind)
{
    char text[WSH_EFA_TEXT_MAX];
    int rc = 0;

    for (unsigned i = 0; i < set->n_rails && !rc; i++)
        rc = open_pair(set, i, counter, &words[i], kind);
    if (!rc) {
        set->counters->n++;
        return 0;
    }
    close_counter(set, counter);
    snprintf(text, sizeof text,
             "%s opens no more than %u queue pairs that count (%s): CPUs count for further counters; set "
             "SHMEM_NIC_COUNTERS=%u",
             set->rail[0].name, set->counters->n, set->lib.strerror(rc < 0 ? -rc : rc), set->counters->n);
    set->counters->most = set->counters->n;
    return wsh_log_slower(set->env->strict, WSH_LOG_WARN, text) ? -EIO : -ENOTSUP;
}

static int write_names(struct wsh_efa_set *set, const struct wsh_efa_counter *counter, void *out,
                       size_t *out_len)
{
    struct wsh_efa_counter_blob blob = {.n_rails = (uint8_t)set->n_rails};
    size_t used = 0;

    for (unsigned i = 0; i < set->n_rails; i++) {
        size_t len = WSH_EFA_COUNTER_NAME_MAX;

        if (fi_getname(&counter->ep[i]->fid, blob.name + used, &len) || (i && len != blob.name_len))
            return -ENOTSUP;
        blob.name_len = (uint8_t)len;
        used += len;
    }
    if (*out_len < WSH_EFA_COUNTER_BLOB_LEN(used))
        return -ENOSPC;
    *out_len = WSH_EFA_COUNTER_BLOB_LEN(used);
    memcpy(out, &blob, *out_len);
    return 0;
}

int wsh_efa_counter_open(struct wsh_efa_set *set, uint32_t number, uint64_t *words, enum wsh_mem_kind kind,
                         void *blob, size_t *len)
{
    struct wsh_efa_counters *counters = set->counters;
    struct wsh_efa_counter *counter;
    int rc = 0;

    if (!counters || number >= WSH_TP_COUNTERS)
        return -ENOTSUP;
    counter = &counters->own[number];
    wsh_efa_set_lock(set);
    if (!counter->ep[0])
        rc = counters->n < counters->most ? open_pairs(set, counter, words, kind) : -ENOTSUP;
    if (!rc)
        rc = write_names(set, counter, blob, len);
    wsh_efa_set_unlock(set);
    return rc;
}

void wsh_efa_counters_forget(struct wsh_efa_peer *peer)
{
    for (uint32_t i = 0; i < peer->n_counters; i++)
        free(peer->counter[i]);
    free(peer->counter);
}
