/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers memory with the provider, and describes it for the peers that are to reach it. */
#define _GNU_SOURCE
#include "transports/efa/set/memory.h"

#include "base/process/cgroup.h"
#include "base/cuda/mem.h"
#include "base/err.h"
#include "base/log.h"
#include "topo/topo.h"
#include "transports/efa/nic/mr.h"
#include "transports/efa/set/peers.h"
#include "transports/efa/nic/provider.h"

#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WSH_EFA_MEM_VERSION 2
#define WSH_EFA_ACCESS (FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define WSH_EFA_ACCESS_LOCAL (FI_SEND | FI_RECV | FI_READ | FI_WRITE)

struct efa_mem_blob {
    uint32_t version, n_rails;
    uint64_t addr, len;
    uint64_t key[WSH_EFA_RAILS]; /* [n_rails] */
};

_Static_assert(sizeof(struct efa_mem_blob) <= WSH_TP_MEM_MAX, "the keys of all rails fit");

#define WSH_EFA_MEM_LEN(n_rails) (offsetof(struct efa_mem_blob, key) + (n_rails) * sizeof(uint64_t))

static bool may_lock_all(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    return !syscall(SYS_capget, &head, data) &&
           data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK);
}

/* Providers that pin report a limit that is too low as a bare "out of memory", so look first. */
static int check_memlock(const struct wsh_efa_set *set, size_t len)
{
    struct rlimit limit;

    if (!wsh_efa_info_pins(set->rail[0].info) || getrlimit(RLIMIT_MEMLOCK, &limit) ||
        limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= len || may_lock_all())
        return 0;
    wsh_error(
        "%s pins the symmetric memory: %zu bytes are needed, the memlock limit is %llu (hard %llu); raise it "
        "(ulimit -l unlimited, /etc/security/limits.conf, docker --ulimit memlock=-1, LimitMEMLOCK=infinity "
        "for slurmd) or lower SHMEM_SYMMETRIC_SIZE",
        set->rail[0].name, len, (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
    return -ENOMEM;
}

/* The provider puts memory behind all that it pins; where the memory cgroup has not so much left, the kernel kills. */
static int check_cgroup(const struct wsh_efa_set *set, size_t len)
{
    struct wsh_cgroup cgroup;

    if (set->number || !wsh_efa_info_pins(set->rail[0].info)) /* the first endpoint set puts it there */
        return 0;
    wsh_cgroup_read("", &cgroup);
    if (len <= cgroup.left)
        return 0;
    wsh_error(
        "%s pins the symmetric memory: %zu MiB are needed, and of the %zu MiB that the memory cgroup allows "
        "%zu MiB are left; raise its limit (" WSH_CGROUP_SETTINGS ") or lower SHMEM_SYMMETRIC_SIZE",
        set->rail[0].name, len >> 20, cgroup.limit >> 20, cgroup.left >> 20);
    return -ENOMEM;
}

/* What spans and requests call descriptor. */
static void *desc_of(const struct wsh_efa_set *set, struct wsh_efa_mr *mr)
{
    return set->n_rails > 1 ? mr : mr->desc[0];
}

static void fill_blob(const struct wsh_efa_set *set, const struct wsh_efa_lmem *lmem, void *blob,
                      size_t *blob_len)
{
    struct efa_mem_blob mem = {
        .version = WSH_EFA_MEM_VERSION,
        .n_rails = set->n_rails,
        .addr = set->virt_addr ? (uintptr_t)lmem->base.base : 0,
        .len = lmem->base.len,
    };

    for (uint32_t i = 0; i < set->n_rails; i++)
        mem.key[i] = fi_mr_key(lmem->mr.mr[i]);
    memcpy(blob, &mem, WSH_EFA_MEM_LEN(set->n_rails));
    *blob_len = WSH_EFA_MEM_LEN(set->n_rails);
}

/* Device memory has another path, so a refusal is not an error. */
static int report_refusal(const struct wsh_efa_set *set, const struct wsh_mem *mem, int rc)
{
    char text[WSH_EFA_TEXT_MAX];

    if (mem->kind == WSH_MEM_DEVICE) {
        snprintf(text, sizeof text,
                 "%s refuses %zu bytes of device memory of GPU %d (%s): other hosts reach them through host "
                 "memory",
                 set->rail[0].name, mem->len, mem->gpu, set->lib.strerror(-rc));
        return wsh_log_slower(set->env->strict, WSH_LOG_INFO, text) ? -EIO : -ENOTSUP;
    }
    wsh_error("cannot register %zu bytes of symmetric memory with %s: %s; lower SHMEM_SYMMETRIC_SIZE, or "
              "raise the memlock limit (ulimit -l)",
              mem->len, set->rail[0].name, set->lib.strerror(-rc));
    return rc;
}

static struct wsh_efa_piece piece_open(const struct wsh_efa_set *set, const struct wsh_mem *mem)
{
    struct wsh_efa_piece piece = {mem->base, mem->len, FI_HMEM_SYSTEM, 0, -1, 0};

    if (mem->kind != WSH_MEM_DEVICE)
        return piece;
    piece.iface = FI_HMEM_CUDA;
    piece.gpu = mem->gpu;
    if (wsh_efa_lib_knows_dmabuf(&set->lib))
        piece.fd = wsh_gpu_dmabuf(mem->base, mem->len, &piece.off);
    return piece;
}

/* The provider has what it needs. */
static void piece_close(const struct wsh_efa_piece *piece)
{
    if (piece->fd >= 0)
        close(piece->fd);
}

/* Under the lock: buffers come while others use the domain. */
static void note_segment(struct wsh_efa_set *set, const struct wsh_mem *mem, struct wsh_efa_lmem *lmem)
{
    set->lmem[mem->seg] = lmem;
    if (mem->kind == WSH_MEM_DEVICE) {
        set->n_device += !wsh_ranges_add(set->device, mem->base, mem->len, mem->seg);
        return;
    }
    set->seg_base[mem->seg] = mem->base;
    set->seg_len[mem->seg] = mem->len;
}

int wsh_efa_mem_register(struct wsh_efa_set *set, const struct wsh_mem *mem, struct wsh_lmem **lmem,
                         void *blob, size_t *blob_len)
{
    struct wsh_efa_lmem *new;
    struct wsh_efa_piece piece;
    int rc;

    if (*blob_len < WSH_EFA_MEM_LEN(set->n_rails))
        return -ENOSPC;
    if (mem->kind == WSH_MEM_HOST &&
        ((rc = check_memlock(set, mem->len * set->efa->n)) || (rc = check_cgroup(set, mem->len))))
        return rc;
    new = malloc(sizeof *new);
    if (!new)
        return -ENOMEM;
    *new = (struct wsh_efa_lmem){.base = {.seg = mem->seg, .base = mem->base, .len = mem->len}};
    piece = piece_open(set, mem);
    wsh_efa_set_lock(set);
    rc = wsh_efa_mr_open(set, &piece, WSH_EFA_ACCESS, &new->mr);
    if (!rc)
        note_segment(set, mem, new);
    wsh_efa_set_unlock(set);
    piece_close(&piece);
    if (rc) {
        free(new);
        return report_refusal(set, mem, rc);
    }
    fill_blob(set, new, blob, blob_len);
    *lmem = &new->base;
    return 0;
}

void wsh_efa_mem_release(struct wsh_efa_set *set, struct wsh_lmem *lmem)
{
    wsh_efa_set_lock(set);
    set->lmem[lmem->seg] = NULL;
    if (lmem->seg >= WSH_SEG_DEVICE) {
        set->n_device -= wsh_ranges_remove(set->device, lmem->base) >= 0;
    } else {
        set->seg_base[lmem->seg] = NULL;
        set->seg_len[lmem->seg] = 0;
    }
    wsh_efa_mr_close(set, &((struct wsh_efa_lmem *)lmem)->mr);
    wsh_efa_set_unlock(set);
    free(lmem);
}

static bool is_blob(const struct efa_mem_blob *mem, size_t len, unsigned n_rails)
{
    return len >= WSH_EFA_MEM_LEN(1) && mem->version == WSH_EFA_MEM_VERSION && mem->n_rails == n_rails &&
           len == WSH_EFA_MEM_LEN(n_rails);
}

static int path_learn(struct wsh_efa_path *path, enum wsh_seg seg, uint64_t key)
{
    if ((uint32_t)seg >= path->n_keys) {
        uint32_t n = wsh_seg_room(path->n_keys, seg);
        uint64_t *keys = realloc(path->key, n * sizeof *keys);

        if (!keys)
            return -ENOMEM;
        path->key = keys;
        path->n_keys = n;
    }
    path->key[seg] = key;
    return 0;
}

/* Under the lock: others post requests by other keys. */
static int peer_learn(struct wsh_efa_set *set, struct wsh_efa_peer *peer, enum wsh_seg seg,
                      const uint64_t *keys)
{
    int rc = 0;

    wsh_efa_set_lock(set);
    for (uint32_t i = 0; i < set->n_rails && peer->path && !rc; i++)
        rc = path_learn(&peer->path[i], seg, keys[wsh_topo_pair((int)i, peer->n_rails)]);
    wsh_efa_set_unlock(set);
    return rc;
}

int wsh_efa_mem_attach(struct wsh_efa_set *set, int pe, enum wsh_seg seg, const void *blob, size_t blob_len,
                       struct wsh_rmem *rmem)
{
    struct wsh_efa_peer *peer = &set->peers[pe];
    struct efa_mem_blob mem = {0};

    memcpy(&mem, blob, blob_len < sizeof mem ? blob_len : sizeof mem);
    if (!is_blob(&mem, blob_len, peer->n_rails)) {
        wsh_error("PE %d describes its memory for %s in another form (%zu bytes); run the same library on "
                  "every PE",
                  pe, set->rail[0].name, blob_len);
        return -EPROTO;
    }
    if (peer_learn(set, peer, seg, mem.key))
        return -ENOMEM;
    *rmem = (struct wsh_rmem){.pe = pe,
                              .seg = seg,
                              .len = mem.len,
                              .map = pe == set->my_pe && seg < WSH_SEG_DEVICE ? set->seg_base[seg] : NULL,
                              .base = mem.addr,
                              .key = peer->path ? (uint64_t)seg : mem.key[0]};
    return 0;
}

int wsh_efa_mem_pools(struct wsh_efa_set *set)
{
    struct wsh_efa_pool *const pools[] = {&set->small, &set->answer, &set->large, &set->rx};

    if (!set->mr_local)
        return 0;
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++) {
        const struct wsh_efa_piece piece = {pools[i]->slab, pools[i]->slab_len, FI_HMEM_SYSTEM, 0, -1, 0};
        int rc = wsh_efa_mr_open(set, &piece, WSH_EFA_ACCESS_LOCAL, &set->slab_mr[i]);

        if (rc) {
            wsh_error("cannot register %zu bytes of message buffers with %s: %s; check ulimit -l",
                      pools[i]->slab_len, set->rail[0].name, set->lib.strerror(-rc));
            return rc;
        }
        wsh_efa_pool_set_desc(pools[i], desc_of(set, &set->slab_mr[i]));
    }
    return 0;
}

/* The segment that holds the bytes, or -1. */
static int find_segment(const struct wsh_efa_set *set, const void *addr, size_t len)
{
    for (int seg = 0; seg < WSH_SEGS_HOST; seg++) {
        const struct wsh_lmem *lmem = set->lmem[seg] ? &set->lmem[seg]->base : NULL;
        size_t off = lmem ? (size_t)((const char *)addr - (const char *)lmem->base) : 0;

        if (lmem && off < lmem->len && len <= lmem->len - off)
            return seg;
    }
    return set->n_device ? wsh_ranges_find(set->device, addr, len) : -1;
}

bool wsh_efa_mem_find(const struct wsh_efa_set *set, const void *addr, size_t len, void **desc)
{
    int seg = find_segment(set, addr, len);

    if (seg < 0)
        return false;
    *desc = desc_of(set, &set->lmem[seg]->mr);
    return true;
}

bool wsh_efa_mem_is_device(const struct wsh_efa_set *set, const void *addr)
{
    return find_segment(set, addr, 1) >= WSH_SEG_DEVICE;
}
