/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory that the CPU sees too: the fake driver's, or pinned host memory. */
#include "test/contract/group_gpu.h"

#include "base/cuda/mem.h"
#include "test/common/fake_gpu.h"

#include <string.h>

static struct wsh_gpu gpu;
static struct wsh_gpu_map own;

/* All PEs on one real GPU: several would not agree on atomics in host memory. */
const struct wsh_gpu *group_gpu_open(int me)
{
    if (gpu.ctx)
        return &gpu;
    if (group_path.gpu == GROUP_FAKE_GPU && !fake_gpu_load())
        return NULL;
    if (wsh_cuda_open())
        return NULL;
    return wsh_gpu_open(&gpu, -1, group_path.gpu == GROUP_FAKE_GPU ? me % wsh_cuda_count() : 0) ? NULL : &gpu;
}

int group_gpu_register(struct group_pe *pe, int fd, void *blob, size_t *len)
{
    struct wsh_mem mem = {WSH_SEG_DEVICE, WSH_MEM_DEVICE, NULL, GROUP_HEAP, fd, NULL, 0, 0};
    int status = 0, rc;

    *len = 0;
    if (group_path.gpu == GROUP_REAL_GPU)
        return 0;
    rc = wsh_gpu_map_fd(&own, &gpu, fd, GROUP_HEAP, NULL, &status);
    mem.base = own.base;
    *len = WSH_TP_MEM_MAX;
    return rc ? rc : pe->ops->mem_register(pe->tp, &mem, &pe->lmem[WSH_SEG_DEVICE], blob, len);
}

/* The claims know one heap: that of WSH_SEG_HEAP. */
static int reach_by_exchange(struct group_pe *pe, int other)
{
    size_t len;
    void *blob = group_mem(pe, other, WSH_SEG_DEVICE, &len);
    int rc = pe->ops->mem_attach(pe->tp, other, WSH_SEG_DEVICE, blob, len, &pe->rmem[other][WSH_SEG_DEVICE]);

    pe->rmem[other][WSH_SEG_HEAP] = pe->rmem[other][WSH_SEG_DEVICE];
    return rc;
}

static int reach_pinned(struct group_pe *pe, int other)
{
    int status = 0;

    pe->rmem[other][WSH_SEG_HEAP] = (struct wsh_rmem){
        .tp = pe->tp, .pe = other, .seg = WSH_SEG_HEAP, .len = GROUP_HEAP, .gpu = pe->heap[other]};
    return wsh_gpu_pin(&gpu, pe->heap[other], GROUP_HEAP, &status);
}

int group_gpu_attach(struct group_pe *pe)
{
    int rc = 0;

    for (int other = 0; other < pe->n && !rc; other++)
        if (!(pe->absent & 1u << other))
            rc = group_path.gpu == GROUP_FAKE_GPU ? reach_by_exchange(pe, other) : reach_pinned(pe, other);
    return rc;
}

void group_gpu_release(struct group_pe *pe)
{
    for (int other = 0; other < pe->n; other++) {
        if (group_path.gpu == GROUP_REAL_GPU && pe->rmem[other][WSH_SEG_HEAP].gpu)
            wsh_gpu_unpin(pe->heap[other]);
        memset(&pe->rmem[other][WSH_SEG_HEAP], 0, sizeof(struct wsh_rmem));
    }
    wsh_gpu_unmap(&own);
}
