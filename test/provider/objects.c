/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects of a provider inside the program, as libfabric's calls reach them. */
#include "test/provider/provider.h"

#include <stdlib.h>

unsigned provider_objects;

static int object_close(struct fid *fid)
{
    if (fid->fclass == FI_CLASS_CQ && provider.queue_closing)
        provider.queue_closing((struct provider_object *)fid);
    provider_objects--;
    free(fid);
    return 0;
}

static int object_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
    (void)flags;
    if (other->fclass == FI_CLASS_CQ)
        ((struct provider_object *)fid)->queue = (struct provider_object *)other;
    return 0;
}

/* Queues have no descriptor to wait for. */
static int object_control(struct fid *fid, int command, void *arg)
{
    (void)fid, (void)arg;
    return command == FI_ENABLE ? 0 : -FI_ENOSYS;
}

static struct fi_ops object_ops = {sizeof object_ops, object_close, object_bind, object_control};

struct provider_object *provider_object_new(size_t size, size_t class, unsigned nic)
{
    struct provider_object *object = calloc(1, size);

    if (!object)
        abort();
    object->as.fid.fclass = class;
    object->as.fid.ops = &object_ops;
    object->nic = nic;
    provider_objects++;
    return object;
}

unsigned provider_nic(const void *object)
{
    return ((const struct provider_object *)object)->nic;
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

static struct fi_ops_ep endpoint_ops = {sizeof endpoint_ops, .getopt = option_get, .setopt = option_set};

/* libfabric's pointers to calls are not const; nothing writes to them. */
static int endpoint_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context)
{
    struct provider_object *object = provider_object_new(sizeof *object, FI_CLASS_EP, provider_nic(domain));

    (void)info, (void)context;
    object->as.ep.ops = &endpoint_ops;
    object->as.ep.cm = (struct fi_ops_cm *)&provider.name;
    object->as.ep.msg = (struct fi_ops_msg *)&provider.message;
    object->as.ep.rma = (struct fi_ops_rma *)&provider.rma;
    *ep = &object->as.ep;
    return 0;
}

static int addresses_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av,
                          void *context)
{
    struct provider_object *object = provider_object_new(sizeof *object, FI_CLASS_AV, provider_nic(domain));

    (void)attr, (void)context;
    object->as.av.ops = (struct fi_ops_av *)&provider.address;
    *av = &object->as.av;
    return 0;
}

static int queue_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq, void *context)
{
    struct provider_object *object =
        provider_object_new(provider.queue_size, FI_CLASS_CQ, provider_nic(domain));

    (void)attr, (void)context;
    object->as.cq.ops = (struct fi_ops_cq *)&provider.queue;
    if (provider.queue_opened)
        provider.queue_opened(object);
    *cq = &object->as.cq;
    return 0;
}

static struct fi_ops_domain domain_ops = {sizeof domain_ops, .av_open = addresses_open, .cq_open = queue_open,
                                          .endpoint = endpoint_open};

static int domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                       void *context)
{
    struct provider_object *object =
        provider_object_new(sizeof *object, FI_CLASS_DOMAIN, provider_nic(fabric));

    (void)info, (void)context;
    object->as.domain.ops = &domain_ops;
    object->as.domain.mr = (struct fi_ops_mr *)&provider.region;
    *domain = &object->as.domain;
    return 0;
}

static int events_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq, void *context)
{
    struct provider_object *object = provider_object_new(sizeof *object, FI_CLASS_EQ, provider_nic(fabric));

    (void)attr, (void)context;
    object->as.eq.ops = (struct fi_ops_eq *)&provider.events;
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

/* The attributes are those of a description made here. */
int provider_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    const struct provider_info *info =
        (const struct provider_info *)((const char *)attr - offsetof(struct provider_info, fabric));
    struct provider_object *object = provider_object_new(sizeof *object, FI_CLASS_FABRIC, info->number);

    (void)context;
    object->as.fabric.ops = &fabric_ops;
    *fabric = &object->as.fabric;
    return 0;
}
