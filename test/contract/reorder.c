/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a real provider one that orders nothing and refuses what it may: takes the place of
 * transports/efa/nic/libfabric_load.c, and holds writes, reads and messages back to give them to the provider in random
 * order. It also grants no order, wants local memory registered, as long as it holds something from it, and takes small
 * operations only.
 */
#define _GNU_SOURCE
#include "transports/efa/nic/libfabric_load.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEYS_MAX = 64, HELD_MAX = 48, PART_MAX = 20000, INJECT_MAX = 32, TX_MAX = 100 };
enum held_kind { HELD_WRITE, HELD_READ, HELD_SEND };

struct held {
    enum held_kind kind;
    uint64_t flags;
    struct iovec iov;
    void *desc, *context;
    fi_addr_t addr;
    struct fi_rma_iov remote;
    uint64_t data;
    char injected[INJECT_MAX];
};

/* A process opens one endpoint at a time; the transport's lock covers all of this. */
static struct {
    struct wsh_efa_lib lib; /* the real one */
    struct fi_ops_fabric *fabric;
    struct fi_ops_domain *domain;
    struct fi_ops_mr *mr;
    uint64_t key[KEYS_MAX]; /* that were asked for */
    int n_keys;
    struct fi_ops_cq *cq;
    struct fi_ops_rma *rma;
    struct fi_ops_msg *msg;
    struct fid_ep *ep;
    struct held held[HELD_MAX];
    int n_held;
    uint64_t random;
    size_t spoil_offset;
    unsigned char spoil_bits;
    struct fi_ops_eq *eq;
    int failures; /* how often the write `failed` is still to fail; -1: there is an error of no operation */
    void *failed; /* the write that fails */
    bool event;   /* there is an error in the event queue */
    struct fi_ops *mr_fid, *ep_fid;
} real;

static unsigned random_below(unsigned limit)
{
    real.random = real.random * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(real.random >> 33) % limit;
}

static ssize_t give(const struct held *held)
{
    const bool injected = held->flags & FI_INJECT;
    struct iovec iov = {injected ? (void *)held->injected : held->iov.iov_base, held->iov.iov_len};
    void *desc = held->desc;
    const struct fi_msg_rma msg = {.msg_iov = &iov,
                                   .desc = &desc,
                                   .iov_count = 1,
                                   .addr = held->addr,
                                   .rma_iov = &held->remote,
                                   .rma_iov_count = 1,
                                   .context = held->context,
                                   .data = held->data};

    if (held->kind == HELD_WRITE)
        return real.rma->writemsg(real.ep, &msg, held->flags);
    if (held->kind == HELD_READ)
        return real.rma->readmsg(real.ep, &msg, held->flags);
    return real.msg->send(real.ep, iov.iov_base, iov.iov_len, desc, held->addr, held->context);
}

static ssize_t hold(const struct held *held)
{
    if (!held->desc && !(held->flags & FI_INJECT))
        return -FI_EINVAL; /* unregistered memory */
    if (held->iov.iov_len > PART_MAX || (held->flags & FI_INJECT && held->iov.iov_len > INJECT_MAX))
        return -FI_EMSGSIZE;
    if (real.n_held == HELD_MAX)
        return -FI_EAGAIN;
    real.held[real.n_held++] = *held;
    return 0;
}

static ssize_t hold_rma(enum held_kind kind, const struct fi_msg_rma *msg, uint64_t flags)
{
    struct held held = {.kind = kind,
                        .flags = flags,
                        .iov = *msg->msg_iov,
                        .context = msg->context,
                        .desc = msg->desc ? msg->desc[0] : NULL,
                        .addr = msg->addr,
                        .remote = *msg->rma_iov,
                        .data = msg->data};

    if (flags & FI_INJECT && held.iov.iov_len <= INJECT_MAX)
        memcpy(held.injected, held.iov.iov_base, held.iov.iov_len);
    return hold(&held);
}

static ssize_t my_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    (void)ep;
    if (real.failures > 0 && !real.failed)
        real.failed = msg->context;
    return flags & FI_DELIVERY_COMPLETE ? hold_rma(HELD_WRITE, msg, flags) : -FI_EINVAL;
}

static ssize_t my_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    (void)ep;
    return hold_rma(HELD_READ, msg, flags);
}

void reorder_corrupt(size_t offset, unsigned char bits)
{
    real.spoil_offset = offset;
    real.spoil_bits = bits;
}

void reorder_fail(int times, bool event)
{
    real.failures = times;
    real.event = event;
}

static ssize_t my_send(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t addr,
                       void *context)
{
    const struct held held = {
        .kind = HELD_SEND, .iov = {(void *)buf, len}, .desc = desc, .context = context, .addr = addr};

    (void)ep;
    if (real.spoil_offset < len)
        ((unsigned char *)(void *)held.iov.iov_base)[real.spoil_offset] ^= real.spoil_bits;
    real.spoil_bits = 0;
    return hold(&held);
}

/* Gives some of the held ones away, any first. */
static void give_some(void)
{
    for (int tries = real.n_held; tries > 0 && real.n_held; tries--) {
        int i = (int)random_below((unsigned)real.n_held);

        if (random_below(3) && !give(&real.held[i]))
            real.held[i] = real.held[--real.n_held];
    }
}

static ssize_t my_cq_read(struct fid_cq *cq, void *buf, size_t count)
{
    if (real.failed || real.failures < 0)
        return -FI_EAVAIL;
    give_some();
    return real.cq->read(cq, buf, count);
}

static ssize_t my_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *buf, uint64_t flags)
{
    if (!real.failed && real.failures >= 0)
        return real.cq->readerr(cq, buf, flags);
    *buf = (struct fi_cq_err_entry){.op_context = real.failed, .err = FI_EIO};
    real.failures = real.failures < 0 ? 0 : real.failures - 1;
    real.failed = real.failures ? real.failed : NULL;
    return 1;
}

static ssize_t my_eq_read(struct fid_eq *eq, uint32_t *event, void *buf, size_t len, uint64_t flags)
{
    return real.event ? -FI_EAVAIL : real.eq->read(eq, event, buf, len, flags);
}

static ssize_t my_eq_readerr(struct fid_eq *eq, struct fi_eq_err_entry *buf, uint64_t flags)
{
    if (!real.event)
        return real.eq->readerr(eq, buf, flags);
    real.event = false;
    *buf = (struct fi_eq_err_entry){.err = FI_EHOSTUNREACH, .prov_errno = 15};
    return sizeof *buf;
}

static int my_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq, void *context)
{
    static struct fi_ops_eq ops;
    int rc = real.fabric->eq_open(fabric, attr, eq, context);

    if (rc)
        return rc;
    real.eq = (*eq)->ops;
    ops = *real.eq;
    ops.read = my_eq_read;
    ops.readerr = my_eq_readerr;
    (*eq)->ops = &ops;
    return 0;
}

static int my_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq, void *context)
{
    static struct fi_ops_cq ops;
    struct fi_cq_attr mine = *attr;
    int rc;

    if (attr->wait_obj != FI_WAIT_NONE)
        return -FI_ENOSYS; /* what is held wakes nobody */
    rc = real.domain->cq_open(domain, &mine, cq, context);
    if (rc)
        return rc;
    real.cq = (*cq)->ops;
    ops = *real.cq;
    ops.read = my_cq_read;
    ops.readerr = my_cq_readerr;
    (*cq)->ops = &ops;
    return 0;
}

/* What is held needs its memory until the endpoint has gone, which gives it to the network first. */
static int my_mr_close(struct fid *fid)
{
    const struct fid_mr *mr = (const struct fid_mr *)fid;

    for (int i = 0; i < real.n_held; i++) {
        if (real.held[i].desc != mr->mem_desc)
            continue;
        fprintf(stderr, "a memory region is closed while the endpoint still holds a request from it\n");
        abort();
    }
    return real.mr_fid->close(fid);
}

static int my_ep_close(struct fid *fid)
{
    for (int i = 0; i < real.n_held; i++)
        (void)give(&real.held[i]);
    real.n_held = 0;
    return real.ep_fid->close(fid);
}

static int my_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context)
{
    static struct fi_ops_rma rma;
    static struct fi_ops_msg msg;
    static struct fi_ops fid;
    int rc = real.domain->endpoint(domain, info, ep, context);

    if (rc)
        return rc;
    real.ep = *ep;
    real.n_held = 0;
    real.rma = (*ep)->rma;
    real.msg = (*ep)->msg;
    rma = *real.rma;
    rma.writemsg = my_writemsg;
    rma.readmsg = my_readmsg;
    msg = *real.msg;
    msg.send = my_send;
    (*ep)->rma = &rma;
    (*ep)->msg = &msg;
    real.ep_fid = (*ep)->fid.ops;
    fid = *real.ep_fid;
    fid.close = my_ep_close;
    (*ep)->fid.ops = &fid;
    return 0;
}

/* The first key of a domain is taken already, it says. */
static int my_mr_reg(struct fid *domain, const void *buf, size_t len, uint64_t access, uint64_t offset,
                     uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    static struct fi_ops ops;
    int rc;

    if (real.n_keys < KEYS_MAX)
        real.key[real.n_keys++] = key;
    if (real.n_keys == 1)
        return -FI_ENOKEY;
    rc = real.mr->reg(domain, buf, len, access, offset, key, flags, mr, context);
    if (rc)
        return rc;
    real.mr_fid = (*mr)->fid.ops;
    ops = *real.mr_fid;
    ops.close = my_mr_close;
    (*mr)->fid.ops = &ops;
    return 0;
}

int reorder_keys(const uint64_t **keys)
{
    *keys = real.key;
    return real.n_keys;
}

static int my_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                     void *context)
{
    static struct fi_ops_domain ops;
    static struct fi_ops_mr mr;
    int rc = real.fabric->domain(fabric, info, domain, context);

    if (rc)
        return rc;
    real.domain = (*domain)->ops;
    ops = *real.domain;
    ops.cq_open = my_cq_open;
    ops.endpoint = my_endpoint;
    (*domain)->ops = &ops;
    real.mr = (*domain)->mr;
    real.n_keys = 0;
    mr = *real.mr;
    mr.reg = my_mr_reg;
    (*domain)->mr = &mr;
    return 0;
}

static int my_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    static struct fi_ops_fabric ops;
    int rc = real.lib.fabric(attr, fabric, context);

    if (rc)
        return rc;
    real.fabric = (*fabric)->ops;
    ops = *real.fabric;
    ops.domain = my_domain;
    ops.eq_open = my_eq_open;
    (*fabric)->ops = &ops;
    return 0;
}

static int my_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                      const struct fi_info *hints, struct fi_info **list)
{
    int rc;

    if (hints->tx_attr->msg_order)
        return -FI_ENODATA;
    rc = real.lib.getinfo(version, node, service, flags, hints, list);
    for (struct fi_info *info = rc ? NULL : *list; info; info = info->next) {
        info->tx_attr->msg_order = info->rx_attr->msg_order = 0;
        info->tx_attr->inject_size = INJECT_MAX;
        info->tx_attr->size = TX_MAX;
        info->ep_attr->max_msg_size = PART_MAX;
        info->domain_attr->mr_mode |= FI_MR_LOCAL | FI_MR_ALLOCATED; /* as a NIC, whose writes are counted */
    }
    return rc;
}

int wsh_efa_lib_open(struct wsh_efa_lib *lib, char *why, size_t size)
{
    *lib = (struct wsh_efa_lib){.handle = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)};
    if (!lib->handle) {
        snprintf(why, size, "%s", dlerror());
        return -ENODEV;
    }
    real.random = (uint64_t)getpid();
    *(void **)&lib->getinfo = dlsym(lib->handle, "fi_getinfo");
    *(void **)&lib->freeinfo = dlsym(lib->handle, "fi_freeinfo");
    *(void **)&lib->dupinfo = dlsym(lib->handle, "fi_dupinfo");
    *(void **)&lib->fabric = dlsym(lib->handle, "fi_fabric");
    *(void **)&lib->strerror = dlsym(lib->handle, "fi_strerror");
    lib->version = lib->api = FI_VERSION(1, 17);
    real.lib = *lib;
    lib->getinfo = my_getinfo;
    lib->fabric = my_fabric;
    return 0;
}

void wsh_efa_lib_close(struct wsh_efa_lib *lib)
{
    if (lib->handle)
        dlclose(lib->handle);
    lib->handle = NULL;
}
