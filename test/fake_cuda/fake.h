/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CUDA driver without a GPU, for tests: device memory is a memfd, so that processes share it; its addresses are
 * not readable by the CPU, only by the threads that stand in for the GPU, through a second mapping. Streams work behind
 * the caller's back, in order, after random pauses. Settings, read at every call:
 *   FAKE_CUDA_GPUS   how many there are (2)
 *   FAKE_CUDA_BYTES  of memory each has, all processes counted for themselves (1 GiB)
 *   FAKE_CUDA_WRITES GPU_DIRECT_RDMA_WRITES_ORDERING (100: the GPU sees what NICs have written)
 *   FAKE_CUDA_MPS    1 = processes share a GPU by MPS (0)
 *   FAKE_CUDA_VMM    0 = no virtual memory management
 *   FAKE_CUDA_FAIL   name=status: that routine returns that status
 *   FAKE_CUDA_BLOCK  name=path: that routine does not go on while there is such a file, as behind a kernel that waits
 *   FAKE_CUDA_DELAY  largest pause before an operation of a stream, in microseconds (50)
 */
#ifndef WSH_TEST_FAKE_CUDA_H
#define WSH_TEST_FAKE_CUDA_H

#include "base/cuda/cuda.h"

/*
 * Where device memory lies: between these addresses, and the GPU's threads see it so many bytes further on, in all
 * processes. So who stands in for a NIC needs no table. Not under tools that keep the addresses for themselves.
 */
#define FAKE_FIRST ((uintptr_t)1 << 45)
#define FAKE_ALIAS ((uintptr_t)1 << 43)

static inline char *fake_alias(const void *addr)
{
    return (uintptr_t)addr - FAKE_FIRST < FAKE_ALIAS ? (char *)(uintptr_t)addr + FAKE_ALIAS : NULL;
}

/* A GPU has so many processors, each with room for so many threads and bytes of shared memory. */
enum { FAKE_PROCESSORS = 12, FAKE_THREADS = 2048, FAKE_SHARED = 65536 };

/* Begins the image of a module that has no view but those of the units whose prefixes follow, in words. */
#define FAKE_UNITS "units:"

/* Kernels are the atomics' one, and those of libnvshmem_host: streams perform put, get, p and g. */
#define FAKE_IMAGE "wsh_image_"

enum { UNITS_MAX = 4 };

/* A module. With FAKE_UNITS the image says which units it has. */
struct CUmod_st {
    wsh_cu_ptr symbol[UNITS_MAX + 1]; /* views of the units; the last one: under the common name */
    char mark[UNITS_MAX][64];
    unsigned n;
    int nothing;
    struct CUfunc_st *functions;
};

struct CUfunc_st {
    struct CUmod_st *module;
    struct CUfunc_st *next;
    char *name;
};

enum {
    FAKE_INVALID = 1,
    FAKE_NOT_SUPPORTED = 801,
    FAKE_NO_CONTEXT = 201,
    FAKE_NOT_FOUND = 500,
    FAKE_FAULT = 700
};

/*
 * Waits as FAKE_CUDA_BLOCK asks. Status that FAKE_CUDA_FAIL asks for, or 0; FAKE_NO_CONTEXT where `needs_context` and
 * none is current.
 */
int fake_check(const char *routine, bool needs_context);
#define FAKE_ENTER(needs_context)                              \
    do {                                                       \
        int fake_status = fake_check(__func__, needs_context); \
        if (fake_status)                                       \
            return fake_status;                                \
    } while (0)

static inline void *at(wsh_cu_ptr ptr)
{
    return (void *)(uintptr_t)ptr;
}

/* Address space without access, of device memory; aligned. NULL: there is none. */
char *fake_reserve(size_t len, size_t align);

long fake_setting(const char *name, long otherwise);

/* Ordinal of the thread's current context. */
int fake_device(void);

/* Bytes from `addr` on that were pinned together with it; 0: it is not pinned. */
size_t fake_pinned(const void *addr);

/*
 * Where the GPU of this process sees [addr, addr + len): behind device memory that is mapped and allowed, or host
 * memory itself. NULL: device memory that is not, or that ends before; host memory of which not all was pinned at once.
 */
char *fake_resolve(wsh_cu_ptr addr, size_t len);

#endif
