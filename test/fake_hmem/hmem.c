/* SPDX-License-Identifier: BSD-3-Clause */
/* Wraps those operations of a provider that see device memory. */
#include "test/fake_hmem/hmem.h"

#include "test/fake_cuda/fake.h"
#include "transports/transport.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    OPT_CUDA_API_PERMITTED = 10,
    OPT_EFA_EMULATED_READ = 1 - (0xefa << 16), /* as newer headers have it */
    OPT_EFA_EMULATED_WRITE,
    SKIPPED = 77
};
#define MR_DMABUF (1ULL << 40)

/* All of one provider, so that one table of each kind is behind all objects. */
static struct {
    struct fake_hmem_lib lib;
    struct fi_ops_fabric *fabric, my_fabric;
    struct fi_ops_domain *domain, my_domain;
    struct fi_ops_mr *mr, my_mr;
    struct fi_ops_ep *ep, my_ep;
    struct fi_ops_rma *rma, my_rma;
    struct fi_ops_msg *msg, my_msg;
    unsigned long writes, reads, dmabufs;
} real;

static _Noreturn void refuse(const char *what, const void *addr)
{
    fprintf(stderr, "fake hmem: %s (%p)\n", what, addr);
    abort();
}

static bool asks(const char *word)
{
    const char *setting = getenv("FAKE_HMEM");

    return setting && !strcmp(setting, word);
}

/* Memory of a GPU that is there: what was registered as such. */
static struct iovec gpu_memory[64];
static unsigned n_gpu_memory;

static void gpu_note(const struct iovec *iov)
{
    if (n_gpu_memory == sizeof gpu_memory / sizeof gpu_memory[0])
        refuse("too many registrations of device memory", iov->iov_base);
    gpu_memory[n_gpu_memory++] = *iov;
}

static bool gpu_holds(const void *addr)
{
    for (unsigned i = 0; i < n_gpu_memory; i++)
        if ((size_t)((const char *)addr - (char *)gpu_memory[i].iov_base) < gpu_memory[i].iov_len)
            return true;
    return false;
}

/* Where the provider is to find device memory; NULL: it is the host's. A GPU that is there is the NIC's matter. */
static char *alias(const void *addr)
{
    return asks("gpu") ? gpu_holds(addr) ? (char *)addr : NULL : fake_alias(addr);
}

/* Puts a table of ours in the place of the provider's; `at` is where an object keeps it. */
#define TAKE(kind, at)          \
    do {                        \
        real.kind = (at);       \
        real.my_##kind = *(at); \
        (at) = &real.my_##kind; \
    } while (0)

static __attribute__((destructor)) void say(void)
{
    if (getenv("FAKE_HMEM_SAY") && real.fabric)
        fprintf(stderr, "fake hmem: %lu writes and %lu reads of device memory, %lu descriptors\n",
                __atomic_load_n(&real.writes, __ATOMIC_RELAXED),
                __atomic_load_n(&real.reads, __ATOMIC_RELAXED),
                __atomic_load_n(&real.dmabufs, __ATOMIC_RELAXED));
}

/* Where addresses are offsets, the key is the one that was asked for: 1 + the segment. */
static bool is_device_key(const struct fi_rma_iov *remote)
{
    return remote->addr < FAKE_FIRST && remote->key > WSH_SEG_DEVICE && remote->key <= WSH_SEGS;
}

static ssize_t rma(bool write, struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    ssize_t (*post)(struct fid_ep * ep, const struct fi_msg_rma *msg, uint64_t flags) =
        write ? real.rma->writemsg : real.rma->readmsg;
    struct fi_rma_iov remote = *msg->rma_iov;
    struct iovec iov = *msg->msg_iov;
    struct fi_msg_rma mine = *msg;
    char *local = alias(iov.iov_base), *there = alias((void *)(uintptr_t)remote.addr);
    ssize_t rc;

    if (local && flags & FI_INJECT)
        refuse("device memory is injected", iov.iov_base);
    if (local && (!msg->desc || !msg->desc[0]))
        refuse("device memory without a descriptor", iov.iov_base);
    if (local)
        iov.iov_base = local;
    if (there)
        remote.addr = (uintptr_t)there;
    mine.msg_iov = &iov;
    mine.rma_iov = &remote;
    rc = post(ep, &mine, flags);
    if (!rc && (local || there || is_device_key(&remote)))
        __atomic_fetch_add(write ? &real.writes : &real.reads, 1, __ATOMIC_RELAXED);
    return rc;
}

static ssize_t my_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    return rma(true, ep, msg, flags);
}

static ssize_t my_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    return rma(false, ep, msg, flags);
}

static ssize_t my_send(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t addr,
                       void *context)
{
    if (alias(buf))
        refuse("device memory is sent in a message", buf);
    return real.msg->send(ep, buf, len, desc, addr, context);
}

static int my_reg(struct fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset,
                  uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    if (alias(buf))
        refuse("device memory is registered as if it were the host's", buf);
    return real.mr->reg(fid, buf, len, access, offset, key, flags, mr, context);
}

/* A library that knows descriptors takes device memory by them, and not otherwise. */
static int open_dmabuf(const void *attr, uint64_t flags, struct iovec *iov)
{
    const struct dmabuf {
        int fd;
        uint64_t offset;
        size_t len;
        char *base;
    } *dmabuf = attr;
    struct stat st;

    if (!(flags & MR_DMABUF))
        return -FI_EINVAL;
    if (fstat(dmabuf->fd, &st) || (size_t)st.st_size < dmabuf->len)
        refuse("no descriptor of device memory", dmabuf->base);
    *iov = (struct iovec){dmabuf->base + dmabuf->offset, dmabuf->len};
    __atomic_fetch_add(&real.dmabufs, 1, __ATOMIC_RELAXED);
    return 0;
}

static int my_regattr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags, struct fid_mr **mr)
{
    struct fi_mr_attr mine = *attr;
    struct iovec iov;

    if (attr->iface != FI_HMEM_CUDA)
        return real.mr->regattr(fid, attr, flags, mr);
    if (asks("memory") || (!asks("dmabuf") && flags & MR_DMABUF))
        return -FI_EOPNOTSUPP;
    if (!asks("dmabuf"))
        iov = *attr->mr_iov;
    else if (open_dmabuf(attr->mr_iov, flags, &iov))
        return -FI_EINVAL;
    if (asks("gpu"))
        gpu_note(&iov);
    if (!alias(iov.iov_base))
        refuse("memory of the host is registered as a GPU's", iov.iov_base);
    iov.iov_base = alias(iov.iov_base);
    mine.mr_iov = &iov;
    mine.iface = FI_HMEM_SYSTEM;
    return real.mr->regattr(fid, &mine, flags & ~MR_DMABUF, mr);
}

static int my_setopt(fid_t fid, int level, int option, const void *value, size_t len)
{
    if (level != FI_OPT_ENDPOINT || option != OPT_CUDA_API_PERMITTED)
        return real.ep->setopt(fid, level, option, value, len);
    return asks("cuda") && !*(const bool *)value ? -FI_EOPNOTSUPP : 0;
}

/* What does not know the option copies. */
static bool is_emulated(struct fid_ep *ep, int option)
{
    bool emulated = true;
    size_t len = sizeof emulated;

    return fi_getopt(&ep->fid, FI_OPT_ENDPOINT, option, &emulated, &len) || emulated;
}

/*
 * Memory that no CPU may touch is the host's to this provider. Where the device does not read and write itself, or the
 * library does not know that it does, the provider's CPU would, and the process die in whichever thread polls.
 */
static void demand_device(struct fid_ep *ep)
{
    if (!asks("gpu") || !(is_emulated(ep, OPT_EFA_EMULATED_READ) || is_emulated(ep, OPT_EFA_EMULATED_WRITE)))
        return;
    fprintf(stderr,
            "skip: libfabric %u.%u of " FAKE_HMEM_LIBDIR
            " copies by the CPU what it reads or writes on this device\n",
            FI_MAJOR(real.lib.version), FI_MINOR(real.lib.version));
    exit(SKIPPED);
}

/* The provider itself was asked without. */
static bool strip(struct fi_info *info)
{
    bool had = info->caps & FI_HMEM;

    info->caps &= ~FI_HMEM;
    info->domain_attr->mr_mode &= ~FI_MR_HMEM;
    return had;
}

static void give_back(struct fi_info *info, bool had)
{
    if (!had)
        return;
    info->caps |= FI_HMEM;
    info->domain_attr->mr_mode |= FI_MR_HMEM;
}

static int my_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context)
{
    bool had = strip(info);
    int rc = real.domain->endpoint(domain, info, ep, context);

    give_back(info, had);
    if (rc || !had)
        return rc;
    demand_device(*ep);
    TAKE(ep, (*ep)->ops);
    TAKE(rma, (*ep)->rma);
    TAKE(msg, (*ep)->msg);
    real.my_ep.setopt = my_setopt;
    real.my_rma.writemsg = my_writemsg;
    real.my_rma.readmsg = my_readmsg;
    real.my_msg.send = my_send;
    return 0;
}

static int my_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                     void *context)
{
    bool had = strip(info);
    int rc = real.fabric->domain(fabric, info, domain, context);

    give_back(info, had);
    if (rc || !had)
        return rc;
    TAKE(domain, (*domain)->ops);
    TAKE(mr, (*domain)->mr);
    real.my_domain.endpoint = my_endpoint;
    real.my_mr.reg = my_reg;
    real.my_mr.regattr = my_regattr;
    return 0;
}

void fake_hmem_open(const struct fake_hmem_lib *lib)
{
    real.lib = *lib;
}

int fake_hmem_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    int rc = real.lib.fabric(attr, fabric, context);

    if (rc || (*fabric)->ops == &real.my_fabric)
        return rc;
    TAKE(fabric, (*fabric)->ops);
    real.my_fabric.domain = my_domain;
    return 0;
}

int fake_hmem_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                      const struct fi_info *hints, struct fi_info **info)
{
    struct fi_info *mine;
    int rc;

    if (!(hints->caps & FI_HMEM))
        return real.lib.getinfo(version, node, service, flags, hints, info);
    if (asks("none") || !(hints->domain_attr->mr_mode & FI_MR_HMEM))
        return -FI_ENODATA;
    mine = real.lib.dupinfo(hints);
    strip(mine);
    rc = real.lib.getinfo(FI_VERSION_LT(version, real.lib.version) ? version : real.lib.version, node,
                          service, flags, mine, info);
    real.lib.freeinfo(mine);
    for (struct fi_info *it = rc ? NULL : *info; it; it = it->next)
        give_back(it, true);
    return rc;
}

uint32_t fake_hmem_version(void)
{
    uint32_t version = real.lib.version;

    return asks("dmabuf") && FI_VERSION_LT(version, FI_VERSION(1, 20)) ? FI_VERSION(1, 20) : version;
}
