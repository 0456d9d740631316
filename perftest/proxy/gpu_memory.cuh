/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for rings that a kernel writes and a CPU reads: pinned, managed, or the GPU's own, which GDRCopy maps. */
#ifndef PERFTEST_PROXY_GPU_MEMORY_CUH
#define PERFTEST_PROXY_GPU_MEMORY_CUH

#include "perftest/proxy/queue.h"

#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <unistd.h>

#define GDR_PAGE ((size_t)64 << 10)
#define GDR_DRIVER "/dev/gdrdrv"

/* GDRCopy's library, which is opened at run time. */
struct gdr_handle {
    unsigned long h;
};

struct gdr_api {
    void *(*open)(void);
    int (*close)(void *gdr);
    int (*pin)(void *gdr, unsigned long address, size_t len, uint64_t token, uint32_t space,
               struct gdr_handle *handle);
    int (*map)(void *gdr, struct gdr_handle handle, void **at, size_t len);
    int (*unmap)(void *gdr, struct gdr_handle handle, void *at, size_t len);
    int (*unpin)(void *gdr, struct gdr_handle handle);
};

/* What a place of the GPU's memory holds open. */
struct gdr_own {
    void *gdr, *memory;
    struct gdr_handle handle;
    size_t len;
    bool pinned;
};

/* Opened once; NULL: there is none. */
static const struct gdr_api *gdr_library()
{
    static struct gdr_api api;
    void *lib = api.unpin ? nullptr : dlopen("libgdrapi.so.2", RTLD_NOW | RTLD_LOCAL);

    if (lib) {
        api.open = (void *(*)(void))dlsym(lib, "gdr_open");
        api.close = (int (*)(void *))dlsym(lib, "gdr_close");
        api.pin = (int (*)(void *, unsigned long, size_t, uint64_t, uint32_t, struct gdr_handle *))dlsym(
            lib, "gdr_pin_buffer");
        api.map = (int (*)(void *, struct gdr_handle, void **, size_t))dlsym(lib, "gdr_map");
        api.unmap = (int (*)(void *, struct gdr_handle, void *, size_t))dlsym(lib, "gdr_unmap");
        api.unpin = (int (*)(void *, struct gdr_handle))dlsym(lib, "gdr_unpin_buffer");
    }
    return api.open && api.close && api.pin && api.map && api.unmap && api.unpin ? &api : nullptr;
}

const char *queue_lacks(enum queue_where where)
{
    int device = 0, concurrent = 0;

    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device);
    if (where == QUEUE_MANAGED && !concurrent)
        return "CPU and GPU may not use managed memory at once here";
    if (where == QUEUE_GDR && access(GDR_DRIVER, R_OK | W_OK))
        return "no " GDR_DRIVER ": GDRCopy's driver is not loaded";
    if (where == QUEUE_GDR && !gdr_library())
        return "no libgdrapi.so.2: GDRCopy's library is not installed";
    return nullptr;
}

static int gdr_rings_alloc(struct queue_memory *memory, size_t len)
{
    struct gdr_own *own = (struct gdr_own *)calloc(1, sizeof *own);
    const struct gdr_api *api = gdr_library();
    void *at = nullptr;

    memory->own = own;
    if (!own || !api)
        return -1;
    own->len = (len + GDR_PAGE - 1) / GDR_PAGE * GDR_PAGE;
    own->gdr = api->open();
    if (!own->gdr || cudaMalloc(&own->memory, own->len + GDR_PAGE) ||
        cudaMemset(own->memory, 0, own->len + GDR_PAGE) || cudaDeviceSynchronize())
        return -1;
    memory->theirs = (char *)(((uintptr_t)own->memory + GDR_PAGE - 1) / GDR_PAGE * GDR_PAGE);
    own->pinned = !api->pin(own->gdr, (unsigned long)memory->theirs, own->len, 0, 0, &own->handle);
    if (!own->pinned || api->map(own->gdr, own->handle, &at, own->len))
        return -1;
    memory->ring = (struct wsh_ring *)at;
    return 0;
}

static void gdr_rings_free(struct queue_memory *memory)
{
    struct gdr_own *own = (struct gdr_own *)memory->own;

    if (own && memory->ring)
        gdr_library()->unmap(own->gdr, own->handle, memory->ring, own->len);
    if (own && own->pinned)
        gdr_library()->unpin(own->gdr, own->handle);
    if (own && own->gdr)
        gdr_library()->close(own->gdr);
    if (own)
        cudaFree(own->memory);
    free(own);
}

/* The rings, and the flag behind them: 0, or -1. */
static int queue_rings_alloc(struct queue_memory *memory)
{
    size_t rings = memory->n * sizeof *memory->ring, len = rings + sizeof *memory->flag;
    int rc = 0;

    if (memory->where == QUEUE_GDR)
        rc = gdr_rings_alloc(memory, len);
    else if (memory->where == QUEUE_MANAGED)
        rc = cudaMallocManaged(&memory->own, len, cudaMemAttachGlobal) ? -1 : 0;
    else
        rc = cudaHostAlloc(&memory->own, len, cudaHostAllocPortable | cudaHostAllocMapped) ? -1 : 0;
    if (rc)
        return rc;
    if (memory->where != QUEUE_GDR)
        memory->ring = (struct wsh_ring *)(memory->theirs = (char *)memset(memory->own, 0, len));
    memory->flag = (struct queue_flag *)((char *)memory->ring + rings);
    return 0;
}

static void queue_rings_free(struct queue_memory *memory)
{
    if (memory->where == QUEUE_GDR)
        gdr_rings_free(memory);
    else if (memory->where == QUEUE_MANAGED)
        cudaFree(memory->own);
    else
        cudaFreeHost(memory->own);
}

#endif
