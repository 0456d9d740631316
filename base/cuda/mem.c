/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives device memory to other processes and maps theirs: by descriptors of the driver, or by CUDA IPC. */
#include "base/cuda/mem.h"

#include "base/cuda/call.h"
#include "base/err.h"

#include <string.h>
#include <unistd.h>

static wsh_cu_ptr ptr_of(const void *base)
{
    return (wsh_cu_ptr)(uintptr_t)base;
}

int wsh_gpu_errno(int status)
{
    return status == WSH_CU_OUT_OF_MEMORY ? -ENOMEM : -EIO;
}

int wsh_gpu_allow(const struct wsh_gpu *gpu, char *base, size_t len)
{
    const struct wsh_cu_access access = {{WSH_CU_ON_DEVICE, gpu->ordinal}, WSH_CU_READ_WRITE};

    return wsh_cuda()->mem_access(ptr_of(base), len, &access, 1);
}

int wsh_gpu_reserve(char **range, size_t len)
{
    wsh_cu_ptr ptr;
    int status = wsh_cuda()->mem_reserve(&ptr, len, WSH_GPU_ALIGN, 0, 0);

    if (!status)
        *range = (char *)(uintptr_t)ptr;
    return status;
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
    return *status ? wsh_gpu_errno(*status) : 0;
}

/* One part of memory that was mapped from handles: its end may be that of the whole mapping. */
static int part_export(struct wsh_gpu_export *out, wsh_cu_ptr at, wsh_cu_ptr *next)
{
    const struct wsh_cuda *cu = wsh_cuda();
    wsh_cu_ptr start = 0;
    wsh_cu_mem mem = 0;
    size_t whole = 0;
    int status = cu->mem_range(&start, &whole, at);

    if (!status)
        status = cu->mem_retain(&mem, (void *)(uintptr_t)start);
    if (status)
        return status;
    status = cu->mem_export(&out->fd[out->n], mem, WSH_CU_POSIX, 0);
    cu->mem_release(mem);
    if (status)
        return status;
    if (!out->n)
        out->off = at - start;
    out->len[out->n++] = whole;
    *next = start + whole;
    return 0;
}

int wsh_gpu_export(struct wsh_gpu_export *out, const void *base, size_t len, int *status)
{
    wsh_cu_ptr at = ptr_of(base), end = at + len;

    *out = (struct wsh_gpu_export){0};
    *status = 0;
    while (at < end && !*status && out->n < WSH_GPU_PARTS)
        *status = part_export(out, at, &at);
    if (at >= end && !*status)
        return 0;
    wsh_gpu_export_close(out);
    return *status ? wsh_gpu_errno(*status) : -E2BIG;
}

void wsh_gpu_export_close(struct wsh_gpu_export *out)
{
    for (unsigned i = 0; i < out->n; i++)
        close(out->fd[i]);
    out->n = 0;
}

int wsh_gpu_map_fd(struct wsh_gpu_map *map, const struct wsh_gpu *gpu, int fd, size_t len, char *where,
                   int *status)
{
    *map = (struct wsh_gpu_map){.len = len};
    *status = wsh_cuda()->mem_import(&map->mem, (void *)(intptr_t)fd, WSH_CU_POSIX);
    if (!*status && !where)
        *status = wsh_gpu_reserve(&map->range, len);
    where = where ? where : map->range;
    if (!*status)
        *status = wsh_cuda()->mem_map(ptr_of(where), len, 0, map->mem, 0);
    if (!*status) {
        map->base = where;
        *status = wsh_gpu_allow(gpu, where, len);
    }
    if (!*status)
        return 0;
    wsh_gpu_unmap(map);
    return wsh_gpu_errno(*status);
}

int wsh_gpu_map_key(struct wsh_gpu_map *map, const struct wsh_gpu_key *key, size_t len, int *status)
{
    *map = (struct wsh_gpu_map){.len = len};
    *status = wsh_cuda()->ipc_open(&map->allocated, key->ipc, WSH_CU_IPC_LAZY);
    if (*status) {
        map->allocated = 0;
        return wsh_gpu_errno(*status);
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
    return *status ? wsh_gpu_errno(*status) : 0;
}

/* Memory of the host, as an emulated NIC has, is refused as that of a device. */
int wsh_gpu_pin_io(void *base, size_t len, wsh_cu_ptr *at, bool *ordinary, int *status)
{
    *status = wsh_cuda_call(host_register, base, len, WSH_CU_HOST_DEVICE_IO);
    *ordinary = *status && wsh_cuda_call(host_register, base, len, WSH_CU_HOST_PORTABLE_MAPPED) == 0;
    if (*ordinary)
        *status = 0;
    if (*status)
        return wsh_gpu_errno(*status);
    *status = wsh_cuda_call(host_pointer, at, base, 0);
    if (*status)
        wsh_gpu_unpin(base);
    return *status ? wsh_gpu_errno(*status) : 0;
}

void wsh_gpu_unpin(void *base)
{
    wsh_cuda_call(host_unregister, base);
}

/* `status`: of what was submitted to the stream. */
static int stream_end(wsh_cu_stream stream, int status)
{
    const struct wsh_cuda *cu = wsh_cuda();

    if (!status)
        status = cu->stream_sync(stream);
    cu->stream_destroy(stream);
    return status;
}

int wsh_gpu_copy(wsh_cu_ptr to, const void *from, size_t len)
{
    const struct wsh_cuda *cu = wsh_cuda();
    wsh_cu_stream stream;
    int status = cu->stream_create(&stream, WSH_CU_STREAM_NON_BLOCKING, 0);

    return status ? status : stream_end(stream, cu->copy(to, (wsh_cu_ptr)(uintptr_t)from, len, stream));
}

int wsh_gpu_clear(wsh_cu_ptr at, size_t len)
{
    const struct wsh_cuda *cu = wsh_cuda();
    wsh_cu_stream stream;
    int status = cu->stream_create(&stream, WSH_CU_STREAM_NON_BLOCKING, 0);

    return status ? status : stream_end(stream, cu->fill(at, 0, len, stream));
}
