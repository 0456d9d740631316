/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of a device heap, which peers map and which grows. All functions need the GPU's context current, and
 * return 0 or a negative errno; `status` receives the driver's own status; nothing is logged.
 */
#ifndef WSH_BASE_CUDA_HEAP_H
#define WSH_BASE_CUDA_HEAP_H

#include "base/cuda/mem.h"

/* Physical memory with a descriptor for peers. */
struct wsh_gpu_piece {
    size_t len;
    wsh_cu_mem mem;
    int fd;
};

struct wsh_gpu_mem {
    char *base;
    size_t len;                  /* there so far, a multiple of WSH_GPU_ALIGN */
    char *range;                 /* where peers go: slot i at range + i * stride; NULL: anywhere */
    size_t stride;               /* of the slots, and the most bytes that there may be; base is one of them */
    size_t granule;              /* pieces are multiples of it */
    int slots;                   /* how many */
    struct wsh_gpu_piece *piece; /* [n], mapped one behind the other from base on */
    unsigned n;                  /* pieces; 0: one allocation, which peers open by an IPC handle */
    wsh_cu_ptr made;             /* that allocation, by cuMemAlloc */
};

/*
 * len bytes, in slot `slot` of `slots` address ranges of max bytes each if `vmm`. Else, or where so many addresses
 * cannot be had, it does not grow: stride says so.
 */
struct wsh_gpu_want {
    size_t len, max;
    int slot, slots;
    bool vmm;
};
int wsh_gpu_mem_open(struct wsh_gpu_mem *mem, const struct wsh_gpu *gpu, const struct wsh_gpu_want *want,
                     int *status);
void wsh_gpu_mem_close(struct wsh_gpu_mem *mem);

/* Adds a piece of at least len bytes behind the others, or takes the last one away. -ENOSPC: beyond the stride. */
int wsh_gpu_mem_grow(struct wsh_gpu_mem *mem, const struct wsh_gpu *gpu, size_t len, int *status);
void wsh_gpu_mem_shrink(struct wsh_gpu_mem *mem);

#endif
