/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a send queue that kernels write, and finds out where its rings lie. */
#include "transports/efa/gda/queue.h"

#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HARDWARE "p5en or p6 instances and the EFA driver 3.3.0"

int wsh_efa_gda_lacks(char *why, size_t size, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(why, size, fmt, args);
    va_end(args);
    return -ENOTSUP;
}

void wsh_efa_gda_queue_close(const struct wsh_efa_rail *rail, struct wsh_efa_gda_queue *queue)
{
    if (queue->ep)
        wsh_efa_fid_close(&queue->ep->fid, "endpoint for kernels", rail);
    if (queue->eq)
        wsh_efa_fid_close(&queue->eq->fid, "event queue for kernels", rail);
    if (queue->cq)
        wsh_efa_fid_close(&queue->cq->fid, "completion queue for kernels", rail);
    wsh_efa_window_close(&queue->window);
    *queue = (struct wsh_efa_gda_queue){0};
}

/* As the rail's, but with requests that carry WSH_EFA_GDA_INLINE bytes; NULL: there are none. */
static struct fi_info *values_info(const struct wsh_efa_lib *lib, const struct wsh_efa_rail *rail)
{
    struct fi_info *hints = lib->dupinfo(rail->info), *info = NULL;

    if (!hints)
        return NULL;
    hints->tx_attr->inject_size = WSH_EFA_GDA_INLINE;
    hints->tx_attr->size = 0; /* as many as there are of that length */
    if (lib->getinfo(rail->info->fabric_attr->api_version, NULL, NULL, 0, hints, &info))
        info = NULL;
    lib->freeinfo(hints);
    return info;
}

static int open_objects(const struct wsh_efa_rail *rail, struct fi_info *info,
                        struct wsh_efa_gda_queue *queue, const char **call)
{
    struct fi_cq_attr cq = {
        .size = info->tx_attr->size, .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_NONE};
    struct fi_eq_attr eq = {.wait_obj = FI_WAIT_NONE};
    int rc;

    *call = "fi_cq_open";
    if ((rc = fi_cq_open(rail->domain, &cq, &queue->cq, NULL)))
        return rc;
    *call = "fi_eq_open";
    if ((rc = fi_eq_open(rail->fabric, &eq, &queue->eq, NULL)))
        return rc;
    *call = "fi_endpoint";
    if ((rc = fi_endpoint(rail->domain, info, &queue->ep, NULL)))
        return rc;
    *call = "fi_ep_bind";
    if ((rc = fi_ep_bind(queue->ep, &queue->cq->fid, FI_TRANSMIT | FI_RECV)) ||
        (rc = fi_ep_bind(queue->ep, &queue->eq->fid, 0)) || (rc = fi_ep_bind(queue->ep, &rail->av->fid, 0)))
        return rc;
    *call = "fi_enable";
    return fi_enable(queue->ep);
}

static bool is_power(uint32_t n)
{
    return n && !(n & (n - 1));
}

/* Where the rings lie, and whether this library knows what to do with them. */
static int read_rings(const struct wsh_efa_gda_ops *table, const struct wsh_efa_rail *rail,
                      struct wsh_efa_gda_queue *queue, char *why, size_t size)
{
    struct wsh_efa_gda_wq send = {0}, receive = {0};
    struct wsh_efa_gda_cq completions = {0};
    int rc = table->query_qp_wqs(queue->ep, &send, &receive);

    if (!rc)
        rc = table->query_cq(queue->cq, &completions);
    if (rc)
        return wsh_efa_gda_lacks(why, size, "%s does not say where its queues lie (%s): it takes " HARDWARE,
                                 rail->name, wsh_strerror(-rc));
    if (!(send.caps & WSH_EFA_GDA_WQ_LONG_ID))
        return wsh_efa_gda_lacks(why, size,
                                 "requests to %s carry no numbers of 64 bits: it takes " HARDWARE
                                 ", and libfabric after 2.6.0",
                                 rail->name);
    if (!is_power(send.n_entries) || send.n_entries < 64 ||
        (send.entry_size != 64 && send.entry_size != 128) || !send.max_batch ||
        !is_power(completions.n_entries) || completions.n_entries < send.n_entries ||
        completions.entry_size < 16)
        return wsh_efa_gda_lacks(
            why, size,
            "queues of %s are of a form that this library does not know (%u of %u bytes, %u completions "
            "of %u)",
            rail->name, send.n_entries, send.entry_size, completions.n_entries, completions.entry_size);
    queue->completions =
        (struct wsh_efa_cq){completions.buffer, completions.entry_size, completions.n_entries, 0};
    queue->given = (struct wsh_tp_queue){.ring = send.buffer,
                                         .doorbell = send.doorbell,
                                         .entries = send.n_entries,
                                         .entry_bytes = send.entry_size,
                                         .max_batch = send.max_batch};
    return wsh_efa_window_open(&queue->window, send.n_entries);
}

/* Whether its requests carry data: they are wide, and the provider says so of writes. */
static bool carries_data(const struct wsh_efa_gda_queue *queue)
{
    return queue->given.entry_bytes == 128 &&
           wsh_efa_inject_size(queue->ep, WSH_EFA_GDA_INLINE) == WSH_EFA_GDA_INLINE;
}

static int open_of(const struct wsh_efa_lib *lib, const struct wsh_efa_rail *rail, struct fi_info *info,
                   const struct wsh_efa_gda_ops *table, struct wsh_efa_gda_queue *queue, char *why,
                   size_t size)
{
    const char *call;
    int rc = open_objects(rail, info, queue, &call);

    if (rc)
        return wsh_efa_gda_lacks(
            why, size,
            "%s of a queue for kernels on %s: %s; set SHMEM_GDA_QUEUES to less where queue pairs of "
            "the NIC are used up",
            call, rail->name, lib->strerror(rc < 0 ? -rc : rc));
    return read_rings(table, rail, queue, why, size);
}

static int open_values(const struct wsh_efa_lib *lib, const struct wsh_efa_rail *rail,
                       const struct wsh_efa_gda_ops *table, struct wsh_efa_gda_queue *queue, char *why,
                       size_t size)
{
    struct fi_info *info = values_info(lib, rail);
    int rc;

    if (!info)
        return wsh_efa_gda_lacks(
            why, size,
            "requests of %s carry no data: it takes NICs with requests of 128 bytes, and a "
            "libfabric built with rdma-core 63 or newer",
            rail->name);
    rc = open_of(lib, rail, info, table, queue, why, size);
    lib->freeinfo(info);
    if (!rc && !carries_data(queue))
        rc = wsh_efa_gda_lacks(why, size, "%s has no requests whose writes carry data", rail->name);
    if (!rc)
        queue->given.inline_bytes = WSH_EFA_GDA_INLINE;
    return rc;
}

int wsh_efa_gda_queue_open(const struct wsh_efa_lib *lib, const struct wsh_efa_rail *rail,
                           const struct wsh_efa_gda_ops *table, bool values, struct wsh_efa_gda_queue *queue,
                           char *why, size_t size)
{
    return values ? open_values(lib, rail, table, queue, why, size)
                  : open_of(lib, rail, rail->info, table, queue, why, size);
}

int wsh_efa_gda_table_open(const struct wsh_efa_lib *lib, const struct wsh_efa_rail *rail,
                           const struct wsh_efa_gda_ops **table, char *why, size_t size)
{
    const struct fi_fabric_attr *fabric = rail->info->fabric_attr;
    int rc;

    if (strcmp(fabric->prov_name, "efa"))
        return wsh_efa_gda_lacks(why, size, "the NICs are %s, not EFA", rail->name);
    if (FI_VERSION_LT(lib->version, WSH_EFA_GDA_OPS_SINCE))
        return wsh_efa_gda_lacks(why, size,
                                 "libfabric is %u.%u; install 2.6 or newer (EFA installer 1.50 or newer)",
                                 FI_MAJOR(lib->version), FI_MINOR(lib->version));
    if (strcmp(fabric->name, "efa-direct"))
        return wsh_efa_gda_lacks(why, size, "the fabric is %s, and only efa-direct shows its queues",
                                 fabric->name);
    rc = fi_open_ops(&rail->domain->fid, WSH_EFA_GDA_OPS, 0, (void **)table, NULL);
    if (rc)
        return wsh_efa_gda_lacks(why, size,
                                 "%s does not show its queues (%s: %s); install libfabric 2.6 or newer",
                                 rail->name, WSH_EFA_GDA_OPS, lib->strerror(rc < 0 ? -rc : rc));
    return 0;
}
