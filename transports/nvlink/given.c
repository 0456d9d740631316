/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives device memory to the PEs of this host by descriptors, and maps what they give. */
#include "transports/nvlink/nvlink.h"

#include "base/err.h"
#include "base/log.h"

#include <stdlib.h>

/* Memory of a peer, mapped one allocation behind the other. */
struct nvlink_given {
    char *base, *range; /* range: reserved for it alone, or NULL */
    size_t len;
    unsigned n;
    struct wsh_gpu_map map[];
};

int nvlink_map_fail(const struct nvlink *nv, int pe, int status)
{
    wsh_error(
        "GPU %d (%s) cannot map the device memory of PE %d: %s; both GPUs need peer access (nvidia-smi topo "
        "-p2p r), PEs in containers a common IPC name space; or try SHMEM_DISABLE_CUDA_VMM=1",
        nv->gpu->ordinal, nv->gpu->name, pe, wsh_cuda_strerror(status));
    return -EIO;
}

static int log_no_export(const struct wsh_mem *mem, int rc, int status)
{
    if (rc == -E2BIG)
        wsh_error("%zu bytes at %p cannot be given to other PEs: there are more than %d allocations behind "
                  "them; register them in parts",
                  mem->len, mem->base, WSH_GPU_PARTS);
    else
        wsh_error("%zu bytes at %p cannot be given to other PEs: %s; they must lie in one allocation of "
                  "cudaMalloc, or in memory of cuMemCreate with handles of type "
                  "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR",
                  mem->len, mem->base, wsh_cuda_strerror(status));
    return rc;
}

int nvlink_export(struct nvlink *nv, const struct wsh_mem *mem, uint64_t *off)
{
    int status = 0, rc;

    wsh_gpu_export_close(&nv->exported);
    *off = 0;
    if (mem->fd >= 0)
        return 0;
    rc = wsh_gpu_enter(nv->gpu);
    if (rc)
        return rc;
    rc = wsh_gpu_export(&nv->exported, mem->base, mem->len, &status);
    wsh_gpu_leave(nv->gpu);
    *off = nv->exported.off;
    return rc ? log_no_export(mem, rc, status) : 0;
}

static void given_unmap(const struct nvlink *nv, struct nvlink_given *given)
{
    if (wsh_gpu_enter(nv->gpu))
        return;
    for (unsigned i = 0; i < given->n; i++)
        wsh_gpu_unmap(&given->map[i]);
    if (given->range)
        wsh_cuda()->mem_unreserve((wsh_cu_ptr)(uintptr_t)given->range, given->len);
    wsh_gpu_leave(nv->gpu);
}

void nvlink_given_close(struct nvlink *nv, struct nvlink_given *given)
{
    given_unmap(nv, given);
    free(given);
}

static void given_forget(struct nvlink *nv, int pe)
{
    if (nv->peers[pe].given)
        nvlink_given_close(nv, nv->peers[pe].given);
    nv->peers[pe].given = NULL;
}

void nvlink_forget_given(struct nvlink *nv)
{
    for (int pe = 0; nv->peers && pe < nv->n_pes; pe++)
        given_forget(nv, pe);
    wsh_gpu_export_close(&nv->exported);
}

int nvlink_given_attach(struct nvlink *nv, uint64_t off, struct wsh_rmem *rmem)
{
    struct nvlink_given *given = nv->peers[rmem->pe].given;

    if (!given || off > given->len || rmem->len > given->len - off)
        return -EPROTO;
    rmem->gpu = given->base + off;
    rmem->priv = given;
    nv->peers[rmem->pe].given = NULL;
    return 0;
}

/* Where the memory of a peer goes: its slot, if there are slots of that size. */
static char *peer_slot(const struct nvlink *nv, int pe, size_t len)
{
    const struct wsh_mem *mine = &nv->adding;

    return mine->range && len <= mine->stride ? mine->range + (size_t)nv->peers[pe].slot * mine->stride
                                              : NULL;
}

/* In the GPU's context. 0 or the driver's status. */
static int given_map(const struct nvlink *nv, struct nvlink_given *given, const struct wsh_fds_gift *gift)
{
    int status = given->base ? 0 : wsh_gpu_reserve(&given->range, given->len);
    size_t at = 0;

    if (status)
        return status;
    given->base = given->base ? given->base : given->range;
    for (; given->n < gift->n && !status; given->n++) {
        if (wsh_gpu_map_fd(&given->map[given->n], nv->gpu, gift->fd[given->n], gift->len[given->n],
                           given->base + at, &status))
            break;
        at += gift->len[given->n];
    }
    return status;
}

/* The bytes of all of it; 0: it is not what is being added. */
static size_t gift_len(const struct nvlink *nv, const struct wsh_fds_gift *gift)
{
    size_t len = 0;

    for (uint32_t i = 0; i < gift->n; i++)
        if (gift->seg[i] != nv->adding.seg || __builtin_add_overflow(len, gift->len[i], &len))
            return 0;
    return len;
}

static int given_open(struct nvlink *nv, int pe, const struct wsh_fds_gift *gift)
{
    struct nvlink_given *given = calloc(1, sizeof *given + gift->n * sizeof given->map[0]);
    size_t len = gift_len(nv, gift);
    int status;

    if (!given || !len || wsh_gpu_enter(nv->gpu)) {
        free(given);
        return nvlink_map_fail(nv, pe, 0);
    }
    given->len = len;
    given->base = peer_slot(nv, pe, len);
    status = given_map(nv, given, gift);
    wsh_gpu_leave(nv->gpu);
    if (status) {
        nvlink_given_close(nv, given);
        return nvlink_map_fail(nv, pe, status);
    }
    nv->peers[pe].given = given;
    return 0;
}

/* A peer whose memory cannot be mapped still waits for this PE's own: the exchange goes on to its end. */
static int gift_take(void *arg, int pe, const struct wsh_fds_gift *gift)
{
    struct nvlink *nv = arg;

    given_forget(nv, pe);
    nv->peers[pe].failed = gift->n ? given_open(nv, pe, gift) : 0;
    return 0;
}

static void gift_make(const struct nvlink *nv, struct wsh_fds_gift *gift)
{
    const struct wsh_mem *mem = &nv->adding;

    gift->n = mem->fd >= 0 ? 1 : nv->exported.n;
    for (uint32_t i = 0; i < gift->n; i++) {
        gift->seg[i] = mem->seg;
        gift->len[i] = mem->fd >= 0 ? mem->len : nv->exported.len[i];
        gift->fd[i] = mem->fd >= 0 ? mem->fd : nv->exported.fd[i];
    }
}

int nvlink_mem_connect(struct wsh_tp *tp, enum wsh_seg seg, const struct wsh_tp_peers *peers)
{
    struct nvlink *nv = (struct nvlink *)tp;
    struct wsh_fds_gift mine = {0};
    int rc;

    (void)seg;
    gift_make(nv, &mine);
    rc = wsh_fds_exchange(&nv->fds, peers, &mine, gift_take, nv);
    if (rc == -EAGAIN)
        return rc;
    wsh_gpu_export_close(&nv->exported);
    for (int pe = 0; pe < nv->n_pes && !rc; pe++)
        rc = nv->peers[pe].failed;
    return rc;
}

int nvlink_connect(struct wsh_tp *tp, const struct wsh_tp_peers *peers)
{
    struct nvlink *nv = (struct nvlink *)tp;
    int slot = 0;

    for (int pe = 0; pe < nv->n_pes; pe++) {
        nv->peers[pe].slot = peers->same_host[pe] ? slot++ : -1;
        nv->peers[pe].here = peers->same_host[pe] && peers->len[pe];
    }
    return wsh_fds_begin(&nv->fds, peers);
}
