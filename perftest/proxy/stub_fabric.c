/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider that only completes. */
#define _GNU_SOURCE
#include "perftest/proxy/stub.h"

#include "base/atomic.h"
#include "test/provider/provider.h"

#include <string.h>

/* QUEUE: writes that an endpoint takes before its queue is read. COPIED: bytes that the transport copies first. */
enum { NAME = 32, COPIED = 64, QUEUE = 4096 };

/* A completion queue: what is posted and was not yet reported. */
struct queue {
    struct provider_object object;
    struct queue *next;
    uint64_t posted, reported, doorbells, astray;
    void *context[QUEUE];
};

static struct queue *queues; /* that are open */
unsigned stub_nics = 1;

/* When the threads stand still. */
struct stub_figures stub_figures(void)
{
    struct stub_figures sum = {0};

    for (const struct queue *queue = queues; queue; queue = queue->next) {
        sum.posts += queue->posted;
        sum.doorbells += queue->doorbells;
        sum.astray += queue->astray;
    }
    return sum;
}

static void queue_opened(struct provider_object *object)
{
    struct queue *queue = (struct queue *)object;

    queue->next = queues;
    queues = queue;
}

static void queue_closing(struct provider_object *object)
{
    struct queue **at = &queues;

    while (&(*at)->object != object)
        at = &(*at)->next;
    *at = (*at)->next;
}

static struct queue *queue_of(const struct fid_ep *ep)
{
    return (struct queue *)((const struct provider_object *)ep)->queue;
}

static ssize_t post(struct fid_ep *ep, void *context, uint64_t flags)
{
    struct queue *queue = queue_of(ep);

    if (queue->posted - queue->reported == QUEUE)
        return -FI_EAGAIN;
    queue->context[queue->posted++ % QUEUE] = context;
    queue->doorbells += !(flags & FI_MORE);
    return 0;
}

static ssize_t rma_post(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    size_t len = msg->msg_iov->iov_len;

    if (wsh_unlikely(msg->rma_iov->len != len ||
                     (len > COPIED && msg->rma_iov->addr != (uint64_t)(uintptr_t)msg->msg_iov->iov_base)))
        queue_of(ep)->astray++;
    return post(ep, msg->context, flags);
}

static ssize_t message_send(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t to,
                            void *context)
{
    (void)buf, (void)len, (void)desc, (void)to;
    return post(ep, context, 0);
}

static ssize_t message_send_with(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
    return post(ep, msg->context, flags);
}

/* Nothing ever arrives. */
static ssize_t message_receive(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t from,
                               void *context)
{
    (void)ep, (void)buf, (void)len, (void)desc, (void)from, (void)context;
    return 0;
}

static ssize_t queue_read(struct fid_cq *cq, void *buf, size_t count)
{
    struct queue *queue = (struct queue *)cq;
    struct fi_cq_data_entry *entry = buf;
    size_t n = queue->posted - queue->reported;

    if (n > count)
        n = count;
    for (size_t i = 0; i < n; i++)
        entry[i] = (struct fi_cq_data_entry){.op_context = queue->context[queue->reported++ % QUEUE]};
    return n ? (ssize_t)n : -FI_EAGAIN;
}

static ssize_t queue_error(struct fid_cq *cq, struct fi_cq_err_entry *buf, uint64_t flags)
{
    (void)cq, (void)buf, (void)flags;
    return -FI_EAGAIN;
}

static ssize_t events_read(struct fid_eq *eq, uint32_t *event, void *buf, size_t len, uint64_t flags)
{
    (void)eq, (void)event, (void)buf, (void)len, (void)flags;
    return -FI_EAGAIN;
}

static int name_get(fid_t fid, void *addr, size_t *len)
{
    (void)fid;
    memset(addr, 1, *len < NAME ? *len : NAME);
    *len = NAME;
    return 0;
}

static int address_insert(struct fid_av *av, const void *addr, size_t count, fi_addr_t *entry, uint64_t flags,
                          void *context)
{
    static fi_addr_t next;

    (void)av, (void)addr, (void)flags, (void)context;
    *entry = next++;
    return (int)count;
}

static int region_register(struct fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset,
                           uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    struct provider_object *object = provider_object_new(sizeof *object, FI_CLASS_MR, provider_nic(fid));

    (void)buf, (void)len, (void)access, (void)offset, (void)key, (void)flags, (void)context;
    object->as.mr.key = 7;
    object->as.mr.mem_desc = object;
    *mr = &object->as.mr;
    return 0;
}

/* As libfabric's efa provider with RDMA describes the endpoints of an EFA device. */
static struct fi_info *info_make(unsigned nic)
{
    struct provider_info *info = provider_info_new("efa", nic);

    info->info.addr_format = FI_ADDR_EFA;
    info->tx.size = info->rx.size = QUEUE;
    info->tx.inject_size = 32;
    info->ep.type = FI_EP_RDM;
    info->ep.max_msg_size = SIZE_MAX;
    info->domain.data_progress = FI_PROGRESS_AUTO;
    info->domain.mr_mode = FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_LOCAL;
    info->domain.mr_key_size = 8;
    info->domain.cq_data_size = 4;
    return &info->info;
}

/* It keeps no order. */
static int getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                   const struct fi_info *hints, struct fi_info **list)
{
    (void)version, (void)node, (void)service, (void)flags;
    if (hints->tx_attr->msg_order)
        return -FI_ENODATA;
    *list = NULL;
    for (unsigned nic = stub_nics; nic--;) {
        struct fi_info *info = info_make(nic);

        info->next = *list;
        *list = info;
    }
    return 0;
}

static unsigned nics(void)
{
    return stub_nics;
}

static const char *error_text(int err)
{
    return strerror(err);
}

const struct provider provider = {
    .message = {sizeof provider.message, .recv = message_receive, .send = message_send,
                .sendmsg = message_send_with},
    .rma = {sizeof provider.rma, .readmsg = rma_post, .writemsg = rma_post},
    .queue = {sizeof provider.queue, .read = queue_read, .readerr = queue_error},
    .events = {sizeof provider.events, .read = events_read},
    .name = {sizeof provider.name, .getname = name_get},
    .address = {sizeof provider.address, .insert = address_insert},
    .region = {sizeof provider.region, .reg = region_register},
    .queue_size = sizeof(struct queue),
    .queue_opened = queue_opened,
    .queue_closing = queue_closing,
    .nics = nics,
    .getinfo = getinfo,
    .error = error_text,
};
