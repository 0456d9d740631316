/* SPDX-License-Identifier: BSD-3-Clause */
/* This PE's device memory as the PEs of this host know it, and theirs as this PE's GPU reaches it. */
#include "transports/nvlink/nvlink.h"

#include "base/err.h"
#include "base/log.h"

#include <stdlib.h>

#define MEM_VERSION 2

enum mem_export { MEM_DESCRIPTORS = 1, MEM_KEY };

/* What a PE says of one segment. */
struct mem_blob {
    uint32_t version;
    uint32_t export;
    uint64_t len;
    struct wsh_gpu_key key; /* its `off` also where there are descriptors */
};

/* 0; -ENOTSUP: CUDA IPC shares no such memory; or a logged error. */
static int key_make(const struct nvlink *nv, const struct wsh_mem *mem, struct wsh_gpu_key *key)
{
    int status = 0, rc = wsh_gpu_enter(nv->gpu);

    if (!rc) {
        rc = wsh_gpu_key_make(key, mem->base, mem->len, &status);
        wsh_gpu_leave(nv->gpu);
    }
    if (rc && rc != -ENOTSUP)
        wsh_error("%zu bytes of device memory at %p cannot be given to other PEs: %s", mem->len, mem->base,
                  wsh_cuda_strerror(status));
    return rc;
}

/* 0, or a logged error where the memory can be given in no way. */
static int export_choose(struct nvlink *nv, const struct wsh_mem *mem, struct mem_blob *out)
{
    int rc = mem->fd < 0 ? key_make(nv, mem, &out->key) : -ENOTSUP;

    out->export = rc ? MEM_DESCRIPTORS : MEM_KEY;
    return rc == -ENOTSUP ? nvlink_export(nv, mem, &out->key.off) : rc;
}

int nvlink_mem_register(struct wsh_tp *tp, const struct wsh_mem *mem, struct wsh_lmem **lmem, void *blob,
                        size_t *blob_len)
{
    struct nvlink *nv = (struct nvlink *)tp;
    struct mem_blob out = {MEM_VERSION, MEM_KEY, mem->len, {{{0}}, 0}};
    struct wsh_lmem *own;
    int rc;

    *lmem = NULL;
    *blob_len = 0;
    if (mem->kind != WSH_MEM_DEVICE || mem->seg >= WSH_SEGS)
        return 0;
    rc = export_choose(nv, mem, &out);
    own = rc ? NULL : malloc(sizeof *own);
    if (!own)
        return rc ? rc : -ENOMEM;
    *own = (struct wsh_lmem){mem->seg, mem->base, mem->len};
    *lmem = own;
    nv->adding = *mem;
    memcpy(blob, &out, sizeof out);
    *blob_len = sizeof out;
    return 0;
}

void nvlink_mem_release(struct wsh_tp *tp, struct wsh_lmem *lmem)
{
    (void)tp;
    free(lmem);
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
            rc = nvlink_map_fail(nv, pe, status);
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
    if (in.version != MEM_VERSION || (in.export != MEM_DESCRIPTORS && in.export != MEM_KEY))
        return blob_refuse(pe);
    *rmem = (struct wsh_rmem){.tp = tp, .pe = pe, .seg = seg, .len = in.len, .key = in.export};
    if (pe == nv->my_pe)
        rmem->gpu = nv->adding.base;
    else if (in.export == MEM_KEY)
        return peer_attach(nv, pe, &in, rmem);
    else if (nvlink_given_attach(nv, in.key.off, rmem))
        return blob_refuse(pe);
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

void nvlink_mem_detach(struct wsh_tp *tp, struct wsh_rmem *rmem)
{
    struct nvlink *nv = (struct nvlink *)tp;
    struct nvlink_opened *opened = rmem->priv;

    if (opened && rmem->key == MEM_DESCRIPTORS)
        nvlink_given_close(nv, rmem->priv);
    else if (opened && --opened->uses == 0)
        allocation_close(nv, opened);
    rmem->priv = NULL;
}
