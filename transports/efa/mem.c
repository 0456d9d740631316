/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers memory with the provider, and describes it for the peers that are to reach it. */
#define _GNU_SOURCE
#include "transports/efa/mem.h"

#include "base/cgroup.h"
#include "base/cuda_mem.h"
#include "base/err.h"
#include "base/log.h"
#include "topo/topo.h"
#include "transports/efa/peers.h"
#include "transports/efa/provider.h"

#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EFA_MEM_VERSION 2
#define EFA_KEY_TRIES 16
#define EFA_ACCESS (FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define EFA_ACCESS_LOCAL (FI_SEND | FI_RECV | FI_READ | FI_WRITE)

struct efa_mem_blob {
    uint32_t version, n_rails;
    uint64_t addr, len;
    uint64_t key[WSH_EFA_RAILS]; /* [n_rails] */
};

_Static_assert(sizeof(struct efa_mem_blob) <= WSH_TP_MEM_MAX, "the keys of all rails fit");

#define EFA_MEM_LEN(n_rails) (offsetof(struct efa_mem_blob, key) + (n_rails) * sizeof(uint64_t))

static bool may_lock_all(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    return !syscall(SYS_capget, &head, data) &&
           data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK);
}

/* Providers that pin report a limit that is too low as a bare "out of memory", so look first. */
static int check_memlock(const struct wsh_efa_eps *eps, size_t len)
{
    struct rlimit limit;

    if (!wsh_efa_pins(eps->rail[0].info) || getrlimit(RLIMIT_MEMLOCK, &limit) ||
        limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= len || may_lock_all())
        return 0;
    wsh_error(
        "%s pins the symmetric memory: %zu bytes are needed, the memlock limit is %llu (hard %llu); raise it "
        "(ulimit -l unlimited, /etc/security/limits.conf, docker --ulimit memlock=-1, LimitMEMLOCK=infinity "
        "for slurmd) or lower SHMEM_SYMMETRIC_SIZE",
        eps->rail[0].name, len, (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
    return -ENOMEM;
}

/* The provider puts memory behind all that it pins; where the memory cgroup has not so much left, the kernel kills. */
static int check_cgroup(const struct wsh_efa_eps *eps, size_t len)
{
    struct wsh_cgroup cgroup;

    if (eps->number || !wsh_efa_pins(eps->rail[0].info)) /* the first endpoint set puts it there */
        return 0;
    wsh_cgroup_read("", &cgroup);
    if (len <= cgroup.left)
        return 0;
    wsh_error(
        "%s pins the symmetric memory: %zu MiB are needed, and of the %zu MiB that the memory cgroup allows "
        "%zu MiB are left; raise its limit (" WSH_CGROUP_SETTINGS ") or lower SHMEM_SYMMETRIC_SIZE",
        eps->rail[0].name, len >> 20, cgroup.limit >> 20, cgroup.left >> 20);
    return -ENOMEM;
}

/* What is registered: host memory, or that of GPU `gpu`. */
struct piece {
    void *base;
    size_t len;
    enum fi_hmem_iface iface;
    int gpu;
    int fd;       /* of device memory, or -1 … */
    uint64_t off; /* … where base is at this offset */
};

/* As <rdma/fi_domain.h> of libfabric 1.20 has them, which older headers lack; zeros for what newer ones append. */
#define EFA_MR_DMABUF (1ULL << 40)
struct efa_dmabuf {
    int fd;
    uint64_t offset;
    size_t len;
    void *base;
};
struct efa_mr_attr {
    struct fi_mr_attr known;
    uint64_t later[8];
};

/*
 * By a descriptor where there is one and the library takes it; else the provider finds by itself how a NIC gets at a
 * GPU's memory.
 */
static int mr_reg_device(const struct wsh_efa_rail *rail, const struct piece *piece, uint64_t access,
                         uint64_t key, struct fid_mr **mr)
{
    const struct iovec iov = {piece->base, piece->len};
    const struct efa_dmabuf dmabuf = {piece->fd, piece->off, piece->len, (char *)piece->base - piece->off};
    struct efa_mr_attr attr = {.known = {.mr_iov = (const void *)&dmabuf,
                                         .iov_count = 1,
                                         .access = access,
                                         .requested_key = key,
                                         .iface = FI_HMEM_CUDA,
                                         .device.cuda = piece->gpu}};

    if (piece->fd >= 0 && !fi_mr_regattr(rail->domain, &attr.known, EFA_MR_DMABUF, mr))
        return 0;
    attr.known.mr_iov = &iov;
    return fi_mr_regattr(rail->domain, &attr.known, 0, mr);
}

static int mr_reg(const struct wsh_efa_rail *rail, const struct piece *piece, uint64_t access, uint64_t key,
                  struct fid_mr **mr)
{
    if (piece->iface != FI_HMEM_SYSTEM)
        return mr_reg_device(rail, piece, access, key, mr);
    return fi_mr_reg(rail->domain, piece->base, piece->len, access, 0, key, 0, mr, NULL);
}

static int mr_open_on(const struct wsh_efa_rail *rail, const struct piece *piece, uint64_t access,
                      uint64_t key, struct fid_mr **mr)
{
    int rc = mr_reg(rail, piece, access, key, mr);

    if (rc)
        *mr = NULL;
    if (rc || !(rail->info->domain_attr->mr_mode & FI_MR_ENDPOINT))
        return rc;
    rc = fi_mr_bind(*mr, &rail->ep->fid, 0);
    if (!rc)
        rc = fi_mr_enable(*mr);
    if (rc) {
        wsh_efa_fid_close(&(*mr)->fid, "memory region", rail);
        *mr = NULL;
    }
    return rc;
}

/*
 * Who knows the key of memory may read and write it. A provider that takes the keys it is asked for checks nothing
 * else, so the key must be one that nobody guesses. Others have keys of their own, and ignore this one.
 */
static int draw_key(struct wsh_efa_eps *eps, const struct wsh_efa_rail *rail, uint64_t *key)
{
    size_t size = rail->info->domain_attr->mr_key_size;
    int rc;

    *key = 0;
    if (rail->info->domain_attr->mr_mode & FI_MR_PROV_KEY)
        return 0;
    rc = wsh_random_fill(key, size && size < sizeof *key ? size : sizeof *key);
    if (!rc && size && size < sizeof *key && !eps->my_pe && /* PE 0 for all: they have the same provider */
        !__atomic_exchange_n(&eps->efa->weak_keys, true, __ATOMIC_RELAXED))
        wsh_warn("memory keys of %s have only %zu bytes, which others on this network may guess; use another "
                 "provider (SHMEM_LIBFABRIC_PROVIDER) where that matters",
                 rail->name, size);
    return rc;
}

/* A key that is in use already is drawn again. */
static int mr_open_drawn(struct wsh_efa_eps *eps, const struct wsh_efa_rail *rail, const struct piece *piece,
                         uint64_t access, struct fid_mr **mr)
{
    int rc = -FI_ENOKEY;

    for (int tries = 0; tries < EFA_KEY_TRIES && rc == -FI_ENOKEY; tries++) {
        uint64_t key;

        rc = draw_key(eps, rail, &key);
        if (!rc)
            rc = mr_open_on(rail, piece, access, key, mr);
    }
    return rc;
}

/* With every rail, or with none. */
static int mr_open(struct wsh_efa_eps *eps, const struct piece *piece, uint64_t access, struct wsh_efa_mr *mr)
{
    int rc = 0;

    for (uint32_t i = 0; i < eps->n_rails && !rc; i++) {
        rc = mr_open_drawn(eps, &eps->rail[i], piece, access, &mr->mr[i]);
        mr->desc[i] = rc ? NULL : fi_mr_desc(mr->mr[i]);
    }
    if (rc)
        wsh_efa_mem_close(eps, mr);
    return rc;
}

void wsh_efa_mem_close(struct wsh_efa_eps *eps, struct wsh_efa_mr *mr)
{
    for (size_t i = 0; i < WSH_EFA_RAILS; i++)
        if (mr->mr[i])
            wsh_efa_fid_close(&mr->mr[i]->fid, "memory region", &eps->rail[i]);
    *mr = (struct wsh_efa_mr){0};
}

/* What spans and requests call descriptor. */
static void *desc_of(const struct wsh_efa_eps *eps, struct wsh_efa_mr *mr)
{
    return eps->n_rails > 1 ? mr : mr->desc[0];
}

static void fill_blob(const struct wsh_efa_eps *eps, const struct wsh_efa_lmem *lmem, void *blob,
                      size_t *blob_len)
{
    struct efa_mem_blob mem = {
        .version = EFA_MEM_VERSION,
        .n_rails = eps->n_rails,
        .addr = eps->virt_addr ? (uintptr_t)lmem->base.base : 0,
        .len = lmem->base.len,
    };

    for (uint32_t i = 0; i < eps->n_rails; i++)
        mem.key[i] = fi_mr_key(lmem->mr.mr[i]);
    memcpy(blob, &mem, EFA_MEM_LEN(eps->n_rails));
    *blob_len = EFA_MEM_LEN(eps->n_rails);
}

/* Device memory has another path, so a refusal is not an error. */
static int report_refusal(const struct wsh_efa_eps *eps, const struct wsh_mem *mem, int rc)
{
    char text[EFA_TEXT_MAX];

    if (mem->kind == WSH_MEM_DEVICE) {
        snprintf(text, sizeof text,
                 "%s refuses %zu bytes of device memory of GPU %d (%s): other hosts reach them through host "
                 "memory",
                 eps->rail[0].name, mem->len, mem->gpu, eps->lib.strerror(-rc));
        return wsh_log_slower(eps->env->strict, WSH_LOG_INFO, text) ? -EIO : -ENOTSUP;
    }
    wsh_error("cannot register %zu bytes of symmetric memory with %s: %s; lower SHMEM_SYMMETRIC_SIZE, or "
              "raise the memlock limit (ulimit -l)",
              mem->len, eps->rail[0].name, eps->lib.strerror(-rc));
    return rc;
}

static struct piece piece_open(const struct wsh_efa_eps *eps, const struct wsh_mem *mem)
{
    struct piece piece = {mem->base, mem->len, FI_HMEM_SYSTEM, 0, -1, 0};

    if (mem->kind != WSH_MEM_DEVICE)
        return piece;
    piece.iface = FI_HMEM_CUDA;
    piece.gpu = mem->gpu;
    if (wsh_efa_knows_dmabuf(&eps->lib))
        piece.fd = wsh_gpu_dmabuf(mem->base, mem->len, &piece.off);
    return piece;
}

/* The provider has what it needs. */
static void piece_close(const struct piece *piece)
{
    if (piece->fd >= 0)
        close(piece->fd);
}

/* Under the lock: buffers come while others use the domain. */
static void note_segment(struct wsh_efa_eps *eps, const struct wsh_mem *mem, struct wsh_efa_lmem *lmem)
{
    eps->lmem[mem->seg] = lmem;
    eps->n_device += mem->kind == WSH_MEM_DEVICE;
    if (mem->kind == WSH_MEM_DEVICE)
        return;
    eps->seg_base[mem->seg] = mem->base;
    eps->seg_len[mem->seg] = mem->len;
}

int wsh_efa_mem_register(struct wsh_efa_eps *eps, const struct wsh_mem *mem, struct wsh_lmem **lmem,
                         void *blob, size_t *blob_len)
{
    struct wsh_efa_lmem *new;
    struct piece piece;
    int rc;

    if (*blob_len < EFA_MEM_LEN(eps->n_rails))
        return -ENOSPC;
    if (mem->kind == WSH_MEM_HOST &&
        ((rc = check_memlock(eps, mem->len * eps->efa->n)) || (rc = check_cgroup(eps, mem->len))))
        return rc;
    new = malloc(sizeof *new);
    if (!new)
        return -ENOMEM;
    *new = (struct wsh_efa_lmem){.base = {.seg = mem->seg, .base = mem->base, .len = mem->len}};
    piece = piece_open(eps, mem);
    wsh_efa_lock(eps);
    rc = mr_open(eps, &piece, EFA_ACCESS, &new->mr);
    if (!rc)
        note_segment(eps, mem, new);
    wsh_efa_unlock(eps);
    piece_close(&piece);
    if (rc) {
        free(new);
        return report_refusal(eps, mem, rc);
    }
    fill_blob(eps, new, blob, blob_len);
    *lmem = &new->base;
    return 0;
}

void wsh_efa_mem_release(struct wsh_efa_eps *eps, struct wsh_lmem *lmem)
{
    wsh_efa_lock(eps);
    eps->seg_base[lmem->seg] = NULL;
    eps->seg_len[lmem->seg] = 0;
    eps->lmem[lmem->seg] = NULL;
    eps->n_device -= lmem->seg >= WSH_SEG_DEVICE;
    wsh_efa_mem_close(eps, &((struct wsh_efa_lmem *)lmem)->mr);
    wsh_efa_unlock(eps);
    free(lmem);
}

static bool is_blob(const struct efa_mem_blob *mem, size_t len, unsigned n_rails)
{
    return len >= EFA_MEM_LEN(1) && mem->version == EFA_MEM_VERSION && mem->n_rails == n_rails &&
           len == EFA_MEM_LEN(n_rails);
}

int wsh_efa_mem_attach(struct wsh_efa_eps *eps, int pe, enum wsh_seg seg, const void *blob, size_t blob_len,
                       struct wsh_rmem *rmem)
{
    struct wsh_efa_peer *peer = &eps->peers[pe];
    struct efa_mem_blob mem = {0};

    memcpy(&mem, blob, blob_len < sizeof mem ? blob_len : sizeof mem);
    if (!is_blob(&mem, blob_len, peer->n_rails)) {
        wsh_error("PE %d describes its memory for %s in another form (%zu bytes); run the same library on "
                  "every PE",
                  pe, eps->rail[0].name, blob_len);
        return -EPROTO;
    }
    for (uint32_t i = 0; i < eps->n_rails && peer->path; i++)
        peer->path[i].key[seg] = mem.key[wsh_topo_pair((int)i, peer->n_rails)];
    *rmem = (struct wsh_rmem){.pe = pe,
                              .seg = seg,
                              .len = mem.len,
                              .map = pe == eps->my_pe ? eps->seg_base[seg] : NULL,
                              .base = mem.addr,
                              .key = peer->path ? (uint64_t)seg : mem.key[0]};
    return 0;
}

int wsh_efa_mem_pools(struct wsh_efa_eps *eps)
{
    struct wsh_efa_pool *const pools[] = {&eps->small, &eps->answer, &eps->large, &eps->rx};

    if (!eps->mr_local)
        return 0;
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++) {
        const struct piece piece = {pools[i]->slab, pools[i]->slab_len, FI_HMEM_SYSTEM, 0, -1, 0};
        int rc = mr_open(eps, &piece, EFA_ACCESS_LOCAL, &eps->slab_mr[i]);

        if (rc) {
            wsh_error("cannot register %zu bytes of message buffers with %s: %s; check ulimit -l",
                      pools[i]->slab_len, eps->rail[0].name, eps->lib.strerror(-rc));
            return rc;
        }
        wsh_efa_pool_set_desc(pools[i], desc_of(eps, &eps->slab_mr[i]));
    }
    return 0;
}

/* The segment that holds the bytes, or -1. */
static int find_segment(const struct wsh_efa_eps *eps, const void *addr, size_t len)
{
    for (int seg = 0; seg < WSH_SEGS; seg++) {
        const struct wsh_lmem *lmem = eps->lmem[seg] ? &eps->lmem[seg]->base : NULL;
        size_t off = lmem ? (size_t)((const char *)addr - (const char *)lmem->base) : 0;

        if (lmem && off < lmem->len && len <= lmem->len - off)
            return seg;
    }
    return -1;
}

bool wsh_efa_mem_find(const struct wsh_efa_eps *eps, const void *addr, size_t len, void **desc)
{
    int seg = find_segment(eps, addr, len);

    if (seg < 0)
        return false;
    *desc = desc_of(eps, &eps->lmem[seg]->mr);
    return true;
}

bool wsh_efa_mem_is_device(const struct wsh_efa_eps *eps, const void *addr)
{
    return find_segment(eps, addr, 1) >= WSH_SEG_DEVICE;
}
