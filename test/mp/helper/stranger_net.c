/* SPDX-License-Identifier: BSD-3-Clause */
/* A libfabric endpoint outside of the job, from which one operation at a time goes to a PE's endpoint. */
#include "test/mp/helper/stranger.h"

#include "transports/efa/nic/signal_handlers.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECONDS 1.0
#define WINDOW 64 /* messages of a flood under way */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_efa(const struct stranger *from)
{
    return !strcmp(from->provider, "efa");
}

static struct fi_info *find(const struct stranger *from)
{
    struct fi_info *hints = fi_allocinfo(), *info = NULL;
    int rc;

    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->fabric_attr->prov_name = strdup(from->provider);
    if (is_efa(from)) /* which then registers memory itself */
        hints->domain_attr->mr_mode &= ~FI_MR_LOCAL;
    rc = fi_getinfo(FI_VERSION(1, 17), is_efa(from) ? NULL : from->address, is_efa(from) ? NULL : from->port,
                    0, hints, &info);
    fi_freeinfo(hints);
    if (rc)
        printf("skip: no libfabric provider %s: %s\n", from->provider, fi_strerror(-rc));
    return info;
}

static int open_objects(struct stranger *from)
{
    struct fi_cq_attr cq = {.size = 1024, .format = FI_CQ_FORMAT_DATA};
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    unsigned char name[64] = {0};
    const void *to = from->info->dest_addr;
    int rc;

    if (is_efa(from) && stranger_name_parse(from->address, name, sizeof name))
        to = name;

    if ((rc = fi_fabric(from->info->fabric_attr, &from->fabric, NULL)) ||
        (rc = fi_domain(from->fabric, from->info, &from->domain, NULL)) ||
        (rc = fi_cq_open(from->domain, &cq, &from->cq, NULL)) ||
        (rc = fi_av_open(from->domain, &av, &from->av, NULL)) ||
        (rc = fi_endpoint(from->domain, from->info, &from->ep, NULL)) ||
        (rc = fi_ep_bind(from->ep, &from->cq->fid, FI_TRANSMIT | FI_RECV)) ||
        (rc = fi_ep_bind(from->ep, &from->av->fid, 0)) || (rc = fi_enable(from->ep)))
        return rc;
    return fi_av_insert(from->av, to, 1, &from->to, 0, NULL) == 1 ? 0 : -FI_EADDRNOTAVAIL;
}

int stranger_open(struct stranger *from)
{
    static struct wsh_efa_handlers settings; /* never restored: ofi_rxm refuses who has other buffers */
    int rc;

    wsh_efa_handlers_save(&settings, !is_efa(from));
    from->info = find(from);
    if (!from->info)
        return -1;
    rc = open_objects(from);
    if (rc)
        printf("skip: cannot open an endpoint of %s: %s\n", from->provider, fi_strerror(-rc));
    return rc;
}

void stranger_close(struct stranger *from)
{
    struct fid *const fids[] = {from->ep ? &from->ep->fid : NULL, from->av ? &from->av->fid : NULL,
                                from->cq ? &from->cq->fid : NULL, from->domain ? &from->domain->fid : NULL,
                                from->fabric ? &from->fabric->fid : NULL};

    for (size_t i = 0; i < sizeof fids / sizeof fids[0]; i++)
        if (fids[i])
            fi_close(fids[i]);
    fi_freeinfo(from->info);
    *from = (struct stranger){.provider = from->provider, .address = from->address, .port = from->port};
}

void stranger_open_again(struct stranger *from)
{
    stranger_close(from);
    if (stranger_open(from))
        exit(1);
}

static int take_one(struct stranger *from, double until)
{
    struct fi_cq_data_entry entry;
    struct fi_cq_err_entry err = {0};
    ssize_t n;

    while ((n = fi_cq_read(from->cq, &entry, 1)) == -FI_EAGAIN && now() < until)
        continue;
    if (n == -FI_EAVAIL)
        return fi_cq_readerr(from->cq, &err, 0) > 0 && err.err ? -err.err : -FI_EIO;
    return n == 1 ? 0 : n == -FI_EAGAIN ? 1 : (int)n;
}

static int finish(struct stranger *from, ssize_t posted, double until)
{
    int rc = posted ? (int)posted : take_one(from, until);

    if (rc)
        stranger_open_again(from);
    return rc == -FI_EAGAIN ? 1 : rc;
}

static ssize_t post_rma(struct stranger *from, void *buffer, const struct stranger_op *op, void *context)
{
    if (op->read)
        return fi_read(from->ep, buffer, op->len, NULL, from->to, op->addr, op->key, context);
    if (op->counted)
        return fi_writedata(from->ep, buffer, op->len, NULL, op->imm, from->to, op->addr, op->key, context);
    return fi_write(from->ep, buffer, op->len, NULL, from->to, op->addr, op->key, context);
}

int stranger_rma(struct stranger *from, void *buffer, const struct stranger_op *op)
{
    static struct fi_context2 context;
    double until = now() + SECONDS;
    ssize_t rc;

    while ((rc = post_rma(from, buffer, op, &context)) == -FI_EAGAIN && now() < until)
        (void)fi_cq_read(from->cq, NULL, 0);
    return finish(from, rc, until);
}

int stranger_send(struct stranger *from, const void *buffer, size_t len)
{
    static struct fi_context2 context;
    double until = now() + SECONDS;
    ssize_t rc;

    while ((rc = fi_send(from->ep, buffer, len, NULL, from->to, &context)) == -FI_EAGAIN && now() < until)
        (void)fi_cq_read(from->cq, NULL, 0);
    return finish(from, rc, until);
}

int stranger_flood(struct stranger *from, const void *buffer, size_t len)
{
    static struct fi_context2 contexts[WINDOW];
    static long n;
    double until = now() + 20 * SECONDS;
    ssize_t rc = 0;

    if (from->outstanding == WINDOW) {
        rc = take_one(from, until);
        from->outstanding--;
    }
    if (rc)
        return (int)rc;
    while ((rc = fi_send(from->ep, buffer, len, NULL, from->to, &contexts[n++ % WINDOW])) == -FI_EAGAIN &&
           now() < until)
        (void)fi_cq_read(from->cq, NULL, 0);
    from->outstanding += !rc;
    return (int)rc;
}

long stranger_drain(struct stranger *from)
{
    double until = now() + 20 * SECONDS;
    long failed = 0;

    for (; from->outstanding; from->outstanding--)
        failed += take_one(from, until) != 0;
    return failed;
}
