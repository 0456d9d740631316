/* SPDX-License-Identifier: BSD-3-Clause */
/* The fake provider's objects, as libfabric's calls reach them. */
#define _GNU_SOURCE
#include "test/fuzz/common/fake_objects.h"

#include "test/fuzz/common/fuzz.h"

#include <rdma/fi_errno.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int object_close(struct fid *fid)
{
    fake.objects--;
    free(fid);
    return 0;
}

static int object_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
    (void)fid, (void)other, (void)flags;
    return 0;
}

/* Queues have no descriptor to wait for. */
static int object_control(struct fid *fid, int command, void *arg)
{
    (void)fid, (void)arg;
    return command == FI_ENABLE ? 0 : -FI_ENOSYS;
}

static struct fi_ops object_ops = {sizeof object_ops, object_close, object_bind, object_control};

static struct fake_object *object_new(unsigned nic)
{
    struct fake_object *object = calloc(1, sizeof *object);

    if (!object)
        abort();
    object->as.fid.ops = &object_ops;
    object->nic = nic;
    fake.objects++;
    return object;
}

static unsigned nic_of(const void *object)
{
    return ((const struct fake_object *)object)->nic;
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
    char name[FAKE_NAME] = "";

    snprintf(name, sizeof name, "fake nic %u", nic_of(fid));
    memcpy(addr, name, *len < sizeof name ? *len : sizeof name);
    *len = sizeof name;
    return 0;
}

static ssize_t message_receive(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t from,
                               void *context)
{
    (void)desc, (void)from;
    return fake_receive(nic_of(ep), buf, len, context);
}

static ssize_t message_send(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t to,
                            void *context)
{
    (void)desc;
    return fake_post(&(struct fake_posted){FAKE_SEND, nic_of(ep), buf, len, len, to, context, UINT64_MAX});
}

static ssize_t message_send_with(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
    (void)flags;
    return message_send(ep, msg->msg_iov->iov_base, msg->msg_iov->iov_len, NULL, msg->addr, msg->context);
}

static ssize_t rma_post(enum fake_kind kind, struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    size_t len = msg->msg_iov->iov_len;

    /* What is injected may be used again at once, so that it must not be read later. */
    return fake_post(&(struct fake_posted){kind, nic_of(ep), msg->msg_iov->iov_base, len,
                                           flags & FI_INJECT ? 0 : len, msg->addr, msg->context,
                                           flags & FI_REMOTE_CQ_DATA ? msg->data : UINT64_MAX});
}

static ssize_t rma_read(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    return rma_post(FAKE_READ, ep, msg, flags);
}

static ssize_t rma_write(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    return rma_post(FAKE_WRITE, ep, msg, flags);
}

static struct fi_ops_ep endpoint_ops = {sizeof endpoint_ops, .getopt = option_get, .setopt = option_set};
static struct fi_ops_cm name_ops = {sizeof name_ops, .getname = name_get};
static struct fi_ops_msg message_ops = {sizeof message_ops, .recv = message_receive, .send = message_send,
                                        .sendmsg = message_send_with};
static struct fi_ops_rma rma_ops = {sizeof rma_ops, .readmsg = rma_read, .writemsg = rma_write};

static int endpoint_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context)
{
    struct fake_object *object = object_new(nic_of(domain));

    (void)info, (void)context;
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
    (void)av, (void)flags, (void)context;
    FUZZ_CHECK(fake.addresses < FAKE_ADDRESSES);
    memcpy(fake.address[fake.addresses], addr, FAKE_NAME);
    *entry = fake.addresses++;
    return (int)count;
}

static struct fi_ops_av address_ops = {sizeof address_ops, .insert = address_insert};

static int addresses_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av,
                          void *context)
{
    struct fake_object *object = object_new(nic_of(domain));

    (void)attr, (void)context;
    object->as.av.ops = &address_ops;
    *av = &object->as.av;
    return 0;
}

static const char *error_text(struct fid_cq *cq, int err, const void *data, char *buf, size_t len)
{
    (void)cq, (void)err, (void)data, (void)buf, (void)len;
    return "of the fake device";
}

static struct fi_ops_cq queue_ops = {sizeof queue_ops, .read = fake_cq_read, .readerr = fake_cq_readerr,
                                     .strerror = error_text};

static int queue_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq, void *context)
{
    struct fake_object *object = object_new(nic_of(domain));

    (void)attr, (void)context;
    object->as.cq.ops = &queue_ops;
    *cq = &object->as.cq;
    return 0;
}

static struct fi_ops_domain domain_ops = {sizeof domain_ops, .av_open = addresses_open, .cq_open = queue_open,
                                          .endpoint = endpoint_open};

static int region_register(struct fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset,
                           uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    struct fake_object *object = object_new(nic_of(fid));

    (void)access, (void)offset, (void)flags, (void)context;
    fuzz_read(buf, len < 8 ? len : 8);
    object->as.mr.key = fake.provider.alone ? fake.objects : key;
    *mr = &object->as.mr;
    return 0;
}

static struct fi_ops_mr region_ops = {sizeof region_ops, .reg = region_register};

static int domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                       void *context)
{
    struct fake_object *object = object_new((unsigned)(info->domain_attr->name[3] - '0'));

    (void)fabric, (void)context;
    object->as.domain.ops = &domain_ops;
    object->as.domain.mr = &region_ops;
    *domain = &object->as.domain;
    return 0;
}

static struct fi_ops_eq event_ops = {sizeof event_ops, .read = fake_eq_read, .readerr = fake_eq_readerr};

static int events_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq, void *context)
{
    struct fake_object *object = object_new(nic_of(fabric));

    (void)attr, (void)context;
    object->as.eq.ops = &event_ops;
    *eq = &object->as.eq;
    return 0;
}

static int wait_try(struct fid_fabric *fabric, struct fid **fids, int count)
{
    (void)fabric, (void)fids, (void)count;
    return 0;
}

static struct fi_ops_fabric fabric_ops = {sizeof fabric_ops, .domain = domain_open, .eq_open = events_open,
                                          .trywait = wait_try};

/* The transport opens NIC after NIC. */
int fake_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    struct fake_object *object = object_new(fake.fabrics++ % FAKE_NICS);

    (void)attr, (void)context;
    object->as.fabric.ops = &fabric_ops;
    *fabric = &object->as.fabric;
    return 0;
}
