/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates the memory of a device heap piece by piece, in addresses that are reserved for all of it. */
#include "base/cuda/heap.h"

#include "base/cuda/call.h"
#include "base/err.h"

#include <stdlib.h>
#include <unistd.h>

static size_t round_up(size_t len, size_t to)
{
    return (len + to - 1) / to * to;
}

static wsh_cu_ptr ptr_of(const void *base)
{
    return (wsh_cu_ptr)(uintptr_t)base;
}

static struct wsh_cu_prop prop_of(const struct wsh_gpu *gpu)
{
    return (struct wsh_cu_prop){.type = WSH_CU_PINNED,
                                .handle_types = WSH_CU_POSIX,
                                .location = {WSH_CU_ON_DEVICE, gpu->ordinal},
                                .rdma = gpu->rdma};
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

/* Bytes of which whole numbers are created. 0 or the driver's status. */
static int granule_query(const struct wsh_gpu *gpu, size_t *granule)
{
    const struct wsh_cu_prop prop = prop_of(gpu);
    int status = wsh_cuda()->mem_granularity(granule, &prop, WSH_CU_GRANULARITY_RECOMMENDED);

    if (*granule < WSH_GPU_ALIGN)
        *granule = WSH_GPU_ALIGN;
    return status;
}

/* Of what has come so far. `at`: where it is mapped, or NULL. */
static void piece_close(struct wsh_gpu_piece *piece, char *at)
{
    if (at)
        wsh_cuda()->mem_unmap(ptr_of(at), piece->len);
    if (piece->fd >= 0)
        close(piece->fd);
    if (piece->mem)
        wsh_cuda()->mem_release(piece->mem);
}

static int piece_open(struct wsh_gpu_piece *piece, const struct wsh_gpu *gpu, char *at, size_t len)
{
    const struct wsh_cu_prop prop = prop_of(gpu);
    const struct wsh_cuda *cu = wsh_cuda();
    char *mapped = NULL;
    int status;

    *piece = (struct wsh_gpu_piece){.len = len, .fd = -1};
    status = cu->mem_create(&piece->mem, len, &prop, 0);
    if (!status)
        status = cu->mem_export(&piece->fd, piece->mem, WSH_CU_POSIX, 0);
    if (!status)
        status = cu->mem_map(ptr_of(at), len, 0, piece->mem, 0);
    if (!status) {
        mapped = at;
        status = wsh_gpu_allow(gpu, at, len);
    }
    if (status)
        piece_close(piece, mapped);
    return status;
}

static int piece_add(struct wsh_gpu_mem *mem, const struct wsh_gpu *gpu, size_t len)
{
    struct wsh_gpu_piece *pieces = realloc(mem->piece, (mem->n + 1) * sizeof *pieces);
    int status = pieces ? 0 : WSH_CU_OUT_OF_MEMORY;

    if (pieces)
        mem->piece = pieces;
    if (!status)
        status = piece_open(&pieces[mem->n], gpu, mem->base + mem->len, len);
    if (!status) {
        mem->n++;
        mem->len += len;
    }
    return status;
}

/* Where addresses for all of it cannot be had, for what is there at the start: the heap does not grow then. */
static int addresses_reserve(struct wsh_gpu_mem *mem, size_t len, int slot)
{
    int status = wsh_gpu_reserve(&mem->range, mem->stride * (size_t)mem->slots);

    if (status && mem->stride > len) {
        mem->stride = len;
        status = wsh_gpu_reserve(&mem->range, len * (size_t)mem->slots);
    }
    if (!status)
        mem->base = mem->range + (size_t)slot * mem->stride;
    return status;
}

static int open_vmm(struct wsh_gpu_mem *mem, const struct wsh_gpu *gpu, size_t len, size_t max, int slot)
{
    size_t granule = 0;
    int status = granule_query(gpu, &granule);

    if (status)
        return status;
    len = round_up(len, granule);
    mem->stride = max > len ? round_up(max, granule) : len;
    mem->granule = granule;
    status = addresses_reserve(mem, len, slot);
    return status ? status : piece_add(mem, gpu, len);
}

/* Aligned by hand: the driver promises 256 bytes. */
static int open_plain(struct wsh_gpu_mem *mem, size_t len)
{
    int status = wsh_cuda()->mem_alloc(&mem->made, len);

    if (!status && mem->made & (WSH_GPU_ALIGN - 1)) {
        wsh_cuda()->mem_free(mem->made);
        mem->made = 0;
        status = wsh_cuda()->mem_alloc(&mem->made, len + WSH_GPU_ALIGN);
    }
    if (status)
        return status;
    mem->base = (char *)round_up((size_t)mem->made, WSH_GPU_ALIGN);
    mem->len = mem->stride = len;
    return 0;
}

int wsh_gpu_mem_open(struct wsh_gpu_mem *mem, const struct wsh_gpu *gpu, const struct wsh_gpu_want *want,
                     int *status)
{
    size_t len = round_up(want->len, WSH_GPU_ALIGN);

    *mem = (struct wsh_gpu_mem){.slots = want->slots};
    *status = want->vmm ? open_vmm(mem, gpu, len, want->max, want->slot) : open_plain(mem, len);
    if (*status) {
        wsh_gpu_mem_close(mem);
        return wsh_gpu_errno(*status);
    }
    if (!want->vmm) /* drivers offer it for no other memory */
        sync_copies(mem);
    return 0;
}

int wsh_gpu_mem_grow(struct wsh_gpu_mem *mem, const struct wsh_gpu *gpu, size_t len, int *status)
{
    *status = 0;
    len = mem->range ? round_up(len, mem->granule) : len;
    if (!mem->range || len > mem->stride - mem->len)
        return -ENOSPC;
    *status = piece_add(mem, gpu, len);
    return *status ? wsh_gpu_errno(*status) : 0;
}

void wsh_gpu_mem_shrink(struct wsh_gpu_mem *mem)
{
    struct wsh_gpu_piece *last = &mem->piece[--mem->n];

    mem->len -= last->len;
    piece_close(last, mem->base + mem->len);
}

void wsh_gpu_mem_close(struct wsh_gpu_mem *mem)
{
    const struct wsh_cuda *cu = wsh_cuda();

    while (mem->n)
        wsh_gpu_mem_shrink(mem);
    free(mem->piece);
    if (mem->range)
        cu->mem_unreserve(ptr_of(mem->range), mem->stride * (size_t)mem->slots);
    if (mem->made)
        cu->mem_free(mem->made);
    *mem = (struct wsh_gpu_mem){0};
}
