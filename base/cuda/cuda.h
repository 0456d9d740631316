/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CUDA driver, loaded at run time, so that the library also runs on machines without it. Declares the few types of
 * the driver's binary interface, so that no CUDA header is needed.
 */
#ifndef WSH_BASE_CUDA_H
#define WSH_BASE_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct CUctx_st *wsh_cu_ctx;
typedef struct CUstream_st *wsh_cu_stream;
typedef struct CUmod_st *wsh_cu_module;
typedef struct CUfunc_st *wsh_cu_function;
typedef unsigned long long wsh_cu_ptr, wsh_cu_mem;

struct wsh_cu_location {
    int type, id;
};

struct wsh_cu_prop {
    int type, handle_types;
    struct wsh_cu_location location;
    void *unused;
    unsigned char compression, rdma;
    unsigned short usage;
    unsigned char reserved[4];
};

struct wsh_cu_access {
    struct wsh_cu_location location;
    int flags;
};

struct wsh_cu_ipc {
    char bytes[64];
};

struct wsh_cu_launch_attribute {
    int id, pad;
    union {
        uint64_t words[8];
        int value;
    };
};

struct wsh_cu_launch {
    unsigned grid[3], block[3], shared;
    wsh_cu_stream stream;
    struct wsh_cu_launch_attribute *attributes;
    unsigned n_attributes;
};

/* Values of the driver's interface, by the names of its documentation. */
enum {
    WSH_CU_OUT_OF_MEMORY = 2,
    WSH_CU_NOT_READY = 600,
    WSH_CU_ATTR_PROCESSORS = 16,        /* MULTIPROCESSOR_COUNT */
    WSH_CU_ATTR_MAJOR = 75,             /* COMPUTE_CAPABILITY_MAJOR */
    WSH_CU_ATTR_HOST_POINTER_SAME = 91, /* CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM */
    WSH_CU_ATTR_VMM = 102,
    WSH_CU_ATTR_POSIX_HANDLES = 103,
    WSH_CU_ATTR_RDMA_VMM = 110,
    WSH_CU_ATTR_RDMA_WRITES_ORDERING = 118, /* GPU_DIRECT_RDMA_WRITES_ORDERING */
    WSH_CU_ATTR_MPS = 133,
    WSH_CU_POINTER_MEMORY_TYPE = 2,
    WSH_CU_POINTER_SYNC_MEMOPS = 6,
    WSH_CU_POINTER_LEGACY_IPC = 10,
    WSH_CU_MEMORY_DEVICE = 2,
    WSH_CU_WRITES_ORDERING_OWNER = 100,
    WSH_CU_PINNED = 1,
    WSH_CU_ON_DEVICE = 1,
    WSH_CU_POSIX = 1,
    WSH_CU_DMABUF = 1,
    WSH_CU_READ_WRITE = 3,
    WSH_CU_GRANULARITY_RECOMMENDED = 1,
    WSH_CU_IPC_LAZY = 1,
    WSH_CU_HOST_PORTABLE_MAPPED = 3,
    WSH_CU_HOST_DEVICE_IO = 6, /* mapped, memory of another device */
    WSH_CU_STREAM_NON_BLOCKING = 1,
    WSH_CU_LAUNCH_SERIALIZATION = 6, /* PROGRAMMATIC_STREAM_SERIALIZATION */
};

/* The driver's routines. */
struct wsh_cuda {
#define WSH_CUDA(field, name, args) int(*field) args;
#include "base/cuda/cuda_defs.h"
#undef WSH_CUDA
};

/* True if there may be a GPU: looks only for the driver's device file, and loads nothing. */
bool wsh_cuda_is_likely(void);

/*
 * Loads the driver once; thread-safe. 0, -ENODEV (no driver or no GPU, no error) or -EIO (the driver does not
 * start, or is too old; logged at info level).
 */
int wsh_cuda_open(void);

/* The routines, NULL before wsh_cuda_open succeeded. */
const struct wsh_cuda *wsh_cuda(void);

/* The GPU of the context that is current in the calling thread, or -1. Loads nothing, not even the driver. */
int wsh_cuda_current(void);

/* GPUs that this process may use; 0 before wsh_cuda_open succeeded. */
int wsh_cuda_count(void);

/* Name and PCI address ("0000:3b:00.0") of GPU `i`. 0 or -EIO. */
int wsh_cuda_describe(int i, char *name, size_t name_size, char *pci, size_t pci_size);

/* The driver's words for a status. */
const char *wsh_cuda_strerror(int status);

/* The GPU that this PE uses, and the context in which it does. */
struct wsh_gpu {
    int ordinal; /* among those that CUDA_VISIBLE_DEVICES shows */
    wsh_cu_ctx ctx;
    bool retained; /* ctx is the primary one, held by this */
    bool vmm;      /* memory can be created, passed to peers as a descriptor and mapped anywhere */
    bool rdma;     /* such memory can be accessed by NICs */
    bool sees;     /* without a flush, what a NIC has written into its memory */
    bool
        overlaps; /* a kernel may start while the one before it on the stream ends; captured in graphs, too */
    bool mps;     /* the processes on it run at the same time */
    char name[64], pci[16];
};

/*
 * GPU `wanted`, or with -1 that of the calling thread's current context, or where none is current GPU `otherwise`. The
 * GPU's primary context becomes current, unless a context of that GPU is. After wsh_cuda_open. 0 or a logged error.
 */
int wsh_gpu_open(struct wsh_gpu *gpu, int wanted, int otherwise);
void wsh_gpu_close(struct wsh_gpu *gpu);

/* Makes the GPU's context current, and the former one again: around driver calls of any thread. */
int wsh_gpu_enter(const struct wsh_gpu *gpu);
void wsh_gpu_leave(const struct wsh_gpu *gpu);

/* The ordinal of another GPU whose context is current in this thread, or -1. */
int wsh_gpu_other(const struct wsh_gpu *gpu);

#endif
