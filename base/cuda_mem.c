/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates device memory and maps that of other processes, by the driver's virtual memory management or by CUDA IPC. */
#include "base/cuda_mem.h"

#include "base/cuda_call.h"
#include "base/err.h"

#include <string.h>
#include <unistd.h>

static size_t round_up(size_t len)
{
    return (len + WSH_GPU_ALIGN - 1) & ~(WSH_GPU_ALIGN - 1);
}

static wsh_cu_ptr ptr_of(const void *base)
{
    return (wsh_cu_ptr)(uintptr_t)base;
}

static int status_to_errno(int status)
{
    return status == WSH_CU_OUT_OF_MEMORY ? -ENOMEM : -EIO;
}

static struct wsh_cu_prop prop_of(const struct wsh_gpu *gpu)
{
    return (struct wsh_cu_prop){.type = WSH_CU_PINNED,
                                .handle_types = WSH_CU_POSIX,
                                .location = {WSH_CU_ON_DEVICE, gpu->ordinal},
                                .rdma = gpu->rdma};
}

static int range_allow(const struct wsh_gpu *gpu, char *base, size_t len)
{
    const struct wsh_cu_access access = {{WSH_CU_ON_DEVICE, gpu->ordinal}, WSH_CU_READ_WRITE};

    return wsh_cuda()->mem_access(ptr_of(base), len, &access, 1);
}

/*
 * The synchronous copies of the program itself then end only when the memory holds the data, which a NIC that
 * reads it relies on.
 */
static void sync_copies(const struct wsh_gpu_mem *mem)
{
    int on = 1;

    wsh_cuda()->pointer_set(&on, WSH_CU_POINTER_SYNC_MEMOPS, ptr_of(mem->base));
}

static int range_reserve(char **range, size_t len)
{
    wsh_cu_ptr ptr;
    int status = wsh_cuda()->mem_reserve(&ptr, len, WSH_GPU_ALIGN, 0, 0);

    if (!status)
        *range = (char *)(uintptr_t)ptr;
    return status;
}

static int memory_create(struct wsh_gpu_mem *mem, const struct wsh_gpu *gpu)
{
    const struct wsh_cu_prop prop = prop_of(gpu);
    const struct wsh_cuda *cu = wsh_cuda();
    size_t granularity = 0;
    int status = cu->mem_granularity(&granularity, &prop, WSH_CU_GRANULARITY_RECOMMENDED);

    if (!status && granularity > WSH_GPU_ALIGN)
        mem->stride = mem->len = (mem->len + granularity - 1) / granularity * granularity;
    if (!status)
        status = cu->mem_create(&mem->mem, mem->len, &prop, 0);
    if (!status)
        status = cu->mem_export(&mem->fd, mem->mem, WSH_CU_POSIX, 0);
    return status;
}

static int open_vmm(struct wsh_gpu_mem *mem, const struct wsh_gpu *gpu, int slot)
{
    int status = memory_create(mem, gpu);

    if (!status)
        status = range_reserve(&mem->range, mem->stride * (size_t)mem->slots);
    if (status)
        return status;
    status = wsh_cuda()->mem_map(ptr_of(mem->range + (size_t)slot * mem->stride), mem->len, 0, mem->mem, 0);
    if (status)
        return status;
    mem->base = mem->range + (size_t)slot * mem->stride;
    return range_allow(gpu, mem->base, mem->len);
}

/* Aligned by hand: the driver promises 256 bytes. */
static int open_plain(struct wsh_gpu_mem *mem)
{
    int status = wsh_cuda()->mem_alloc(&mem->made, mem->len);

    if (!status && mem->made & (WSH_GPU_ALIGN - 1)) {
        wsh_cuda()->mem_free(mem->made);
        mem->made = 0;
        status = wsh_cuda()->mem_alloc(&mem->made, mem->len + WSH_GPU_ALIGN);
    }
    if (!status)
        mem->base = (char *)round_up((size_t)mem->made);
    return status;
}

int wsh_gpu_mem_open(struct wsh_gpu_mem *mem, const struct wsh_gpu *gpu, size_t len, int slot, int slots,
                     bool vmm, int *status)
{
    *mem = (struct wsh_gpu_mem){.len = round_up(len), .stride = round_up(len), .slots = slots, .fd = -1};
    *status = vmm ? open_vmm(mem, gpu, slot) : open_plain(mem);
    if (*status) {
        wsh_gpu_mem_close(mem);
        return status_to_errno(*status);
    }
    if (!vmm) /* drivers offer it for no other memory */
        sync_copies(mem);
    return 0;
}

void wsh_gpu_mem_close(struct wsh_gpu_mem *mem)
{
    const struct wsh_cuda *cu = wsh_cuda();

    if (mem->base && !mem->made)
        cu->mem_unmap(ptr_of(mem->base), mem->len);
    if (mem->range)
        cu->mem_unreserve(ptr_of(mem->range), mem->stride * (size_t)mem->slots);
    if (mem->fd >= 0)
        close(mem->fd);
    if (mem->mem)
        cu->mem_release(mem->mem);
    if (mem->made)
        cu->mem_free(mem->made);
    *mem = (struct wsh_gpu_mem){.fd = -1};
}

int wsh_gpu_key_make(struct wsh_gpu_key *key, const void *base, size_t len, int *status)
{
    const struct wsh_cuda *cu = wsh_cuda();
    wsh_cu_ptr start = 0;
    int legacy = 0;
    size_t whole = 0;

    *status = 0;
    if (!wsh_gpu_holds(base) || cu->pointer_get(&legacy, WSH_CU_POINTER_LEGACY_IPC, ptr_of(base)) || !legacy)
        return -ENOTSUP;
    *status = cu->mem_range(&start, &whole, ptr_of(base));
    if (!*status && ptr_of(base) - start + len > whole)
        return -ENOTSUP;
    if (!*status)
        *status = cu->ipc_get(&key->ipc, start);
    key->off = ptr_of(base) - start;
    return *status ? status_to_errno(*status) : 0;
}

int wsh_gpu_map_fd(struct wsh_gpu_map *map, const struct wsh_gpu *gpu, int fd, size_t len, char *where,
                   int *status)
{
    *map = (struct wsh_gpu_map){.len = len};
    *status = wsh_cuda()->mem_import(&map->mem, (void *)(intptr_t)fd, WSH_CU_POSIX);
    if (!*status && !where)
        *status = range_reserve(&map->range, len);
    where = where ? where : map->range;
    if (!*status)
        *status = wsh_cuda()->mem_map(ptr_of(where), len, 0, map->mem, 0);
    if (!*status) {
        map->base = where;
        *status = range_allow(gpu, where, len);
    }
    if (!*status)
        return 0;
    wsh_gpu_unmap(map);
    return status_to_errno(*status);
}

int wsh_gpu_map_key(struct wsh_gpu_map *map, const struct wsh_gpu_key *key, size_t len, int *status)
{
    *map = (struct wsh_gpu_map){.len = len};
    *status = wsh_cuda()->ipc_open(&map->allocated, key->ipc, WSH_CU_IPC_LAZY);
    if (*status) {
        map->allocated = 0;
        return status_to_errno(*status);
    }
    map->base = (char *)(uintptr_t)map->allocated + key->off;
    return 0;
}

void wsh_gpu_unmap(struct wsh_gpu_map *map)
{
    const struct wsh_cuda *cu = wsh_cuda();

    if (map->allocated)
        cu->ipc_close(map->allocated);
    else if (map->base)
        cu->mem_unmap(ptr_of(map->base), map->len);
    if (map->range)
        cu->mem_unreserve(ptr_of(map->range), map->len);
    if (map->mem)
        cu->mem_release(map->mem);
    *map = (struct wsh_gpu_map){0};
}

/* It gives whole pages only. */
int wsh_gpu_dmabuf(const void *base, size_t len, uint64_t *off)
{
    wsh_cu_ptr page = (wsh_cu_ptr)sysconf(_SC_PAGESIZE), first = ptr_of(base) & ~(page - 1);
    size_t whole = (size_t)((ptr_of(base) + len - first + page - 1) & ~(page - 1));
    int fd = -1;

    *off = ptr_of(base) - first;
    return wsh_cuda()->mem_dmabuf(&fd, first, whole, WSH_CU_DMABUF, 0) ? -1 : fd;
}

bool wsh_gpu_holds(const void *ptr)
{
    unsigned type = 0;

    return wsh_cuda() && !wsh_cuda_call(pointer_get, &type, WSH_CU_POINTER_MEMORY_TYPE, ptr_of(ptr)) &&
           type == WSH_CU_MEMORY_DEVICE;
}

bool wsh_gpu_may_hold(const struct wsh_gpu *gpu, const void *ptr)
{
    bool holds;

    if (wsh_gpu_enter(gpu))
        return true;
    holds = wsh_gpu_holds(ptr);
    wsh_gpu_leave(gpu);
    return holds;
}

int wsh_gpu_pin(const struct wsh_gpu *gpu, void *base, size_t len, int *status)
{
    int same = 0;

    *status = wsh_cuda()->device_attribute(&same, WSH_CU_ATTR_HOST_POINTER_SAME, gpu->ordinal);
    if (!*status && !same)
        return -ENOTSUP;
    if (!*status)
        *status = wsh_cuda_call(host_register, base, len, WSH_CU_HOST_PORTABLE_MAPPED);
    return *status ? status_to_errno(*status) : 0;
}

void wsh_gpu_unpin(void *base)
{
    wsh_cuda_call(host_unregister, base);
}
