/* SPDX-License-Identifier: BSD-3-Clause */
/* Exports this PE's device memory to the PEs of this host, and maps theirs for this PE's GPU. */
#include "transports/nvlink/nvlink.h"

#include "base/err.h"
#include "base/log.h"

#include <stdlib.h>

#define MEM_VERSION 1

enum mem_export { MEM_DESCRIPTOR = 1, MEM_KEY };

/* What a PE says of one segment. */
struct mem_blob {
    uint32_t version;
    uint32_t export;
    uint64_t len;
    struct wsh_gpu_key key; /* MEM_KEY only */
};

static int map_fail(const struct nvlink *nv, int pe, int status)
{
    wsh_error(
        "GPU %d (%s) cannot map the device memory of PE %d: %s; both GPUs need peer access (nvidia-smi topo "
        "-p2p r), PEs in containers a common IPC name space; or try SHMEM_DISABLE_CUDA_VMM=1",
        nv->gpu->ordinal, nv->gpu->name, pe, wsh_cuda_strerror(status));
    return -EIO;
}

/* 0 or a logged error. */
static int key_make(const struct nvlink *nv, const struct wsh_mem *mem, struct wsh_gpu_key *key)
{
    int status = 0, rc = wsh_gpu_enter(nv->gpu);

    if (!rc) {
        rc = wsh_gpu_key_make(key, mem->base, mem->len, &status);
        wsh_gpu_leave(nv->gpu);
    }
    if (rc == -ENOTSUP)
        wsh_error(
            "%zu bytes at %p cannot be given to other PEs: they are not inside one allocation of cudaMalloc",
            mem->len, mem->base);
    else if (rc)
        wsh_error("%zu bytes of device memory at %p cannot be given to other PEs: %s", mem->len, mem->base,
                  wsh_cuda_strerror(status));
    return rc;
}

int nvlink_mem_register(struct wsh_tp *tp, const struct wsh_mem *mem, struct wsh_lmem **lmem, void *blob,
                        size_t *blob_len)
{
    struct nvlink *nv = (struct nvlink *)tp;
    struct mem_blob out = {MEM_VERSION, mem->fd >= 0 ? MEM_DESCRIPTOR : MEM_KEY, mem->len, {{{0}}, 0}};
    struct wsh_lmem *own;
    int rc = 0;

    *lmem = NULL;
    *blob_len = 0;
    if (mem->kind != WSH_MEM_DEVICE)
        return 0;
    if (mem->fd < 0)
        rc = key_make(nv, mem, &out.key);
    own = rc ? NULL : malloc(sizeof *own);
    if (!own)
        return rc ? rc : -ENOMEM;
    *own = (struct wsh_lmem){mem->seg, mem->base, mem->len};
    *lmem = own;
    nv->mine[mem->seg] = *mem;
    memcpy(blob, &out, sizeof out);
    *blob_len = sizeof out;
    return 0;
}

void nvlink_mem_release(struct wsh_tp *tp, struct wsh_lmem *lmem)
{
    ((struct nvlink *)tp)->mine[lmem->seg] = (struct wsh_mem){.fd = -1};
    free(lmem);
}

/* Where the memory of a peer goes: its slot, if there are slots of that size. */
static char *peer_slot(const struct nvlink *nv, int pe, uint32_t seg, uint64_t len)
{
    const struct wsh_mem *mine = &nv->mine[seg];

    return mine->range && len <= mine->stride ? mine->range + (size_t)nv->peers[pe].slot * mine->stride
                                              : NULL;
}

/* A peer whose memory cannot be mapped still waits for this PE's own: the exchange goes on to its end. */
static int gift_take(void *arg, int pe, const struct wsh_fds_gift *gift)
{
    struct nvlink *nv = arg;
    struct nvlink_peer *peer = &nv->peers[pe];
    int status = 0, rc = 0;

    peer->received = true;
    if (!gift->n)
        return 0;
    if (gift->n > 1 || gift->seg[0] != WSH_SEG_DEVICE || wsh_gpu_enter(nv->gpu)) {
        peer->failed = map_fail(nv, pe, 0);
        return 0;
    }
    rc = wsh_gpu_map_fd(&peer->map, nv->gpu, gift->fd[0], gift->len[0],
                        peer_slot(nv, pe, gift->seg[0], gift->len[0]), &status);
    wsh_gpu_leave(nv->gpu);
    peer->failed = rc ? map_fail(nv, pe, status) : 0;
    return 0;
}

int nvlink_connect(struct wsh_tp *tp, const struct wsh_tp_peers *peers)
{
    struct nvlink *nv = (struct nvlink *)tp;
    const struct wsh_mem *heap = &nv->mine[WSH_SEG_DEVICE];
    struct wsh_fds_gift mine = {0};
    int slot = 0, rc;

    for (int pe = 0; pe < nv->n_pes; pe++)
        nv->peers[pe].slot = peers->same_host[pe] ? slot++ : -1;
    if (heap->base && heap->fd >= 0)
        mine = (struct wsh_fds_gift){1, {WSH_SEG_DEVICE}, {heap->len}, {heap->fd}};
    rc = wsh_fds_exchange(&nv->fds, peers, &mine, gift_take, nv);
    for (int pe = 0; pe < nv->n_pes && !rc; pe++)
        rc = nv->peers[pe].failed;
    return rc;
}

static int blob_refuse(int pe)
{
    wsh_error("PE %d did not give the device memory that it announced; use one warpshmem for all PEs", pe);
    return -EPROTO;
}

/* An allocation of a peer: the driver opens it once, whatever lies in it. */
struct nvlink_opened {
    int pe, uses;
    struct wsh_cu_ipc ipc;
    struct wsh_gpu_map map;
    struct nvlink_opened *next;
};

static struct nvlink_opened *opened_find(struct nvlink *nv, int pe, const struct wsh_cu_ipc *ipc)
{
    struct nvlink_opened *opened = nv->opened;

    while (opened && (opened->pe != pe || memcmp(&opened->ipc, ipc, sizeof *ipc)))
        opened = opened->next;
    return opened;
}

static int allocation_open(struct nvlink *nv, int pe, const struct mem_blob *in, struct nvlink_opened **out)
{
    struct nvlink_opened *fresh = calloc(1, sizeof *fresh);
    int status = 0, rc = fresh ? wsh_gpu_enter(nv->gpu) : -ENOMEM;

    if (!rc) {
        rc = wsh_gpu_map_key(&fresh->map, &in->key, in->len, &status);
        wsh_gpu_leave(nv->gpu);
        if (rc)
            rc = map_fail(nv, pe, status);
    }
    if (rc) {
        free(fresh);
        return rc;
    }
    fresh->pe = pe;
    fresh->ipc = in->key.ipc;
    fresh->next = nv->opened;
    nv->opened = *out = fresh;
    return 0;
}

static int peer_attach(struct nvlink *nv, int pe, const struct mem_blob *in, struct wsh_rmem *rmem)
{
    struct nvlink_opened *opened = opened_find(nv, pe, &in->key.ipc);
    int rc = opened ? 0 : allocation_open(nv, pe, in, &opened);

    if (rc)
        return rc;
    opened->uses++;
    rmem->priv = opened;
    rmem->gpu = (char *)(uintptr_t)opened->map.allocated + in->key.off;
    return 0;
}

int nvlink_mem_attach(struct wsh_tp *tp, int pe, enum wsh_seg seg, const void *blob, size_t blob_len,
                      struct wsh_rmem *rmem)
{
    struct nvlink *nv = (struct nvlink *)tp;
    struct mem_blob in = {0};

    memcpy(&in, blob, blob_len == sizeof in ? sizeof in : 0);
    if (in.version != MEM_VERSION || (in.export != MEM_DESCRIPTOR && in.export != MEM_KEY))
        return blob_refuse(pe);
    *rmem = (struct wsh_rmem){.tp = tp, .pe = pe, .seg = seg, .len = in.len};
    if (pe == nv->my_pe)
        rmem->gpu = nv->mine[seg].base;
    else if (in.export == MEM_KEY)
        return peer_attach(nv, pe, &in, rmem);
    else if (nv->peers[pe].map.len == in.len)
        rmem->gpu = nv->peers[pe].map.base;
    return rmem->gpu ? 0 : blob_refuse(pe);
}

/* The driver copies from and to any mapped memory of the host. */
int nvlink_mem_adopt(struct wsh_tp *tp, int pe, enum wsh_seg seg, char *map, size_t len,
                     struct wsh_rmem *rmem)
{
    *rmem = (struct wsh_rmem){.tp = tp, .pe = pe, .seg = seg, .len = len, .map = map};
    return 0;
}

static void allocation_close(struct nvlink *nv, struct nvlink_opened *gone)
{
    struct nvlink_opened **link = &nv->opened;

    while (*link != gone)
        link = &(*link)->next;
    *link = gone->next;
    if (!wsh_gpu_enter(nv->gpu)) {
        wsh_gpu_unmap(&gone->map);
        wsh_gpu_leave(nv->gpu);
    }
    free(gone);
}

/* What came as a descriptor stays mapped until the transport closes. */
void nvlink_mem_detach(struct wsh_tp *tp, struct wsh_rmem *rmem)
{
    struct nvlink_opened *opened = rmem->priv;

    if (opened && --opened->uses == 0)
        allocation_close((struct nvlink *)tp, opened);
    rmem->priv = NULL;
}
