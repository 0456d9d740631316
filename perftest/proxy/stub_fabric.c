/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects of the provider that only completes, as libfabric's calls reach them. */
#define _GNU_SOURCE
#include "perftest/proxy/stub_fabric.h"

#include "base/atomic.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <stdlib.h>
#include <string.h>

/* COPIED: bytes that the transport copies first. */
enum { NAME = 32, COPIED = 64 };

/* Any object of libfabric's. Of an endpoint and its queue: what is posted and was not yet reported. */
struct object {
    union {
        struct fid fid;
        struct fid_fabric fabric;
        struct fid_domain domain;
        struct fid_cq cq;
        struct fid_eq eq;
        struct fid_av av;
        struct fid_ep ep;
        struct fid_mr mr;
    } as;
    struct object *queue; /* of an endpoint */
    struct object *next;  /* in queues */
    uint64_t posted, reported, doorbells, astray;
    void *context[STUB_QUEUE];
};

static struct object *queues; /* that are open */

/* When the threads stand still. */
struct stub_figures stub_figures(void)
{
    struct stub_figures sum = {0};

    for (const struct object *queue = queues; queue; queue = queue->next) {
        sum.posts += queue->posted;
        sum.doorbells += queue->doorbells;
        sum.astray += queue->astray;
    }
    return sum;
}

static ssize_t post(struct fid_ep *ep, void *context, uint64_t flags)
{
    struct object *queue = ((struct object *)ep)->queue;

    if (queue->posted - queue->reported == STUB_QUEUE)
        return -FI_EAGAIN;
    queue->context[queue->posted++ % STUB_QUEUE] = context;
    queue->doorbells += !(flags & FI_MORE);
    return 0;
}

static ssize_t rma_post(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    size_t len = msg->msg_iov->iov_len;

    if (wsh_unlikely(msg->rma_iov->len != len ||
                     (len > COPIED && msg->rma_iov->addr != (uint64_t)(uintptr_t)msg->msg_iov->iov_base)))
        ((struct object *)ep)->queue->astray++;
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
    struct object *queue = (struct object *)cq;
    struct fi_cq_data_entry *entry = buf;
    size_t n = queue->posted - queue->reported;

    if (n > count)
        n = count;
    for (size_t i = 0; i < n; i++)
        entry[i] = (struct fi_cq_data_entry){.op_context = queue->context[queue->reported++ % STUB_QUEUE]};
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

static int object_close(struct fid *fid)
{
    struct object **at = &queues;

    while (*at && &(*at)->as.fid != fid)
        at = &(*at)->next;
    if (*at)
        *at = (*at)->next;
    free(fid);
    return 0;
}

static int object_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
    (void)flags;
    if (other->fclass == FI_CLASS_CQ)
        ((struct object *)fid)->queue = (struct object *)other;
    return 0;
}

/* Queues have no descriptor to wait for. */
static int object_control(struct fid *fid, int command, void *arg)
{
    (void)fid, (void)arg;
    return command == FI_ENABLE ? 0 : -FI_ENOSYS;
}

static struct fi_ops object_ops = {sizeof object_ops, object_close, object_bind, object_control};

static struct object *object_new(size_t class)
{
    struct object *object = calloc(1, sizeof *object);

    if (!object)
        abort();
    object->as.fid.fclass = class;
    object->as.fid.ops = &object_ops;
    return object;
}

static int option_get(fid_t fid, int level, int name, void *value, size_t *len)
{
    (void)fid, (void)level, (void)name, (void)value, (void)len;
    return -FI_ENOPROTOOPT;
}

static int option_set(fid_t fid, int level, int name, const void *value, size_t len)
{
    (void)fid, (void)level, (void)name, (void)value, (void)len;
    return 0;
}

static int name_get(fid_t fid, void *addr, size_t *len)
{
    (void)fid;
    memset(addr, 1, *len < NAME ? *len : NAME);
    *len = NAME;
    return 0;
}

static struct fi_ops_ep endpoint_ops = {sizeof endpoint_ops, .getopt = option_get, .setopt = option_set};
static struct fi_ops_cm name_ops = {sizeof name_ops, .getname = name_get};
static struct fi_ops_msg message_ops = {sizeof message_ops, .recv = message_receive, .send = message_send,
                                        .sendmsg = message_send_with};
static struct fi_ops_rma rma_ops = {sizeof rma_ops, .readmsg = rma_post, .writemsg = rma_post};

static int endpoint_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context)
{
    struct object *object = object_new(FI_CLASS_EP);

    (void)domain, (void)info, (void)context;
    object->as.ep.ops = &endpoint_ops;
    object->as.ep.cm = &name_ops;
    object->as.ep.msg = &message_ops;
    object->as.ep.rma = &rma_ops;
    *ep = &object->as.ep;
    return 0;
}

static int address_insert(struct fid_av *av, const void *addr, size_t count, fi_addr_t *entry, uint64_t flags,
                          void *context)
{
    (void)addr, (void)flags, (void)context;
    *entry = ((struct object *)av)->posted++;
    return (int)count;
}

static struct fi_ops_av address_ops = {sizeof address_ops, .insert = address_insert};

static int addresses_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av,
                          void *context)
{
    struct object *object = object_new(FI_CLASS_AV);

    (void)domain, (void)attr, (void)context;
    object->as.av.ops = &address_ops;
    *av = &object->as.av;
    return 0;
}

static struct fi_ops_cq queue_ops = {sizeof queue_ops, .read = queue_read, .readerr = queue_error};

static int queue_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq, void *context)
{
    struct object *object = object_new(FI_CLASS_CQ);

    (void)domain, (void)attr, (void)context;
    object->as.cq.ops = &queue_ops;
    object->next = queues;
    queues = object;
    *cq = &object->as.cq;
    return 0;
}

static struct fi_ops_domain domain_ops = {sizeof domain_ops, .av_open = addresses_open, .cq_open = queue_open,
                                          .endpoint = endpoint_open};

static int region_register(struct fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset,
                           uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    struct object *object = object_new(FI_CLASS_MR);

    (void)fid, (void)buf, (void)len, (void)access, (void)offset, (void)key, (void)flags, (void)context;
    object->as.mr.key = 7;
    object->as.mr.mem_desc = object;
    *mr = &object->as.mr;
    return 0;
}

static struct fi_ops_mr region_ops = {sizeof region_ops, .reg = region_register};

static int domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                       void *context)
{
    struct object *object = object_new(FI_CLASS_DOMAIN);

    (void)fabric, (void)info, (void)context;
    object->as.domain.ops = &domain_ops;
    object->as.domain.mr = &region_ops;
    *domain = &object->as.domain;
    return 0;
}

static struct fi_ops_eq event_ops = {sizeof event_ops, .read = events_read};

static int events_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq, void *context)
{
    struct object *object = object_new(FI_CLASS_EQ);

    (void)fabric, (void)attr, (void)context;
    object->as.eq.ops = &event_ops;
    *eq = &object->as.eq;
    return 0;
}

static struct fi_ops_fabric fabric_ops = {sizeof fabric_ops, .domain = domain_open, .eq_open = events_open};

int stub_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    struct object *object = object_new(FI_CLASS_FABRIC);

    (void)attr, (void)context;
    object->as.fabric.ops = &fabric_ops;
    *fabric = &object->as.fabric;
    return 0;
}
