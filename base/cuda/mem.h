/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device memory that several processes of a host map: sharing it, mapping that of others. All functions
 * need the GPU's context current, and return 0 or a negative errno; `status` receives the driver's own status.
 */
#ifndef WSH_BASE_CUDA_MEM_H
#define WSH_BASE_CUDA_MEM_H

#include "base/cuda/cuda.h"

#define WSH_GPU_ALIGN ((size_t)2 << 20) /* every base below is a multiple of it */

/* Addresses for memory, without any; read and write access of `gpu` to what is mapped. 0 or the driver's status. */
int wsh_gpu_reserve(char **range, size_t len);
int wsh_gpu_allow(const struct wsh_gpu *gpu, char *base, size_t len);

/* What a failure of the driver is here: -ENOMEM or -EIO. */
int wsh_gpu_errno(int status);

/* How a peer reaches memory that has no descriptor: the allocation, and where in it the memory begins. */
struct wsh_gpu_key {
    struct wsh_cu_ipc ipc;
    uint64_t off;
};

/* -ENOTSUP: `base` is not memory of cudaMalloc or cuMemAlloc; CUDA IPC shares no other memory. */
int wsh_gpu_key_make(struct wsh_gpu_key *key, const void *base, size_t len, int *status);

#define WSH_GPU_PARTS 240 /* allocations behind one buffer, at most */

/* The allocations behind memory that was mapped by the program (cuMemMap), by descriptors for peers. */
struct wsh_gpu_export {
    unsigned n;
    int fd[WSH_GPU_PARTS];
    uint64_t len[WSH_GPU_PARTS]; /* of each whole allocation */
    uint64_t off;                /* where the memory begins in the first */
};

/* Of [base, base + len). -E2BIG: more than WSH_GPU_PARTS. */
int wsh_gpu_export(struct wsh_gpu_export *out, const void *base, size_t len, int *status);
void wsh_gpu_export_close(struct wsh_gpu_export *out);

/* A peer's memory, mapped here for this process' GPU. */
struct wsh_gpu_map {
    char *base;
    size_t len;
    wsh_cu_mem mem;       /* of a descriptor, or 0 */
    char *range;          /* reserved for this map alone, or NULL */
    wsh_cu_ptr allocated; /* opened from a key, or 0 */
};

/* Of a descriptor (which stays the caller's), at `at` in reserved addresses, or anywhere if NULL. */
int wsh_gpu_map_fd(struct wsh_gpu_map *map, const struct wsh_gpu *gpu, int fd, size_t len, char *at,
                   int *status);
int wsh_gpu_map_key(struct wsh_gpu_map *map, const struct wsh_gpu_key *key, size_t len, int *status);
void wsh_gpu_unmap(struct wsh_gpu_map *map);

/*
 * A descriptor by which a driver of another device finds the memory; base is at *off in what it stands for. The caller
 * closes it. -1: the driver gives none.
 */
int wsh_gpu_dmabuf(const void *base, size_t len, uint64_t *off);

/*
 * Copy and fill with zeros on a stream of their own, as transfers must not wait for the program's kernels; complete on
 * return. 0 or the driver's status.
 */
int wsh_gpu_copy(wsh_cu_ptr to, const void *from, size_t len);
int wsh_gpu_clear(wsh_cu_ptr at, size_t len);

/* True if `ptr` is memory of a GPU; host memory, known to the driver or not, gives false. */
bool wsh_gpu_holds(const void *ptr);
/* The same for a thread that may have no context. True also if the driver cannot be asked: then no CPU and no NIC may
 * touch the memory. */
bool wsh_gpu_may_hold(const struct wsh_gpu *gpu, const void *ptr);

/* Makes host memory [base, base + len) reachable for kernels, at the same addresses. -ENOTSUP: not at the same. */
int wsh_gpu_pin(const struct wsh_gpu *gpu, void *base, size_t len, int *status);
void wsh_gpu_unpin(void *base);

/* The same for pages of a NIC, at *at for the GPU; *ordinary: they are memory of the host, an emulated NIC's. */
int wsh_gpu_pin_io(void *base, size_t len, wsh_cu_ptr *at, bool *ordinary, int *status);

#endif
