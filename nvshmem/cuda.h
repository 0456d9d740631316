/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The few types of CUDA's runtime and driver that NVSHMEM's routines of the host have in their signatures, as they are
 * passed, and what these routines call of both: the library is built without CUDA's headers and linked with no runtime.
 */
#ifndef WSH_NVSHMEM_CUDA_H
#define WSH_NVSHMEM_CUDA_H

#include "device/view/image.h"
#include "device/view/launch.h"
#include "nvshmem/half.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct CUstream_st *cudaStream_t;
typedef struct CUmod_st *CUmodule;
typedef struct CUlib_st *CUlibrary;
enum { CUDA_SUCCESS = 0 };

#define cudaStreamPerThread ((cudaStream_t)(uintptr_t)2)

struct dim3 {
    unsigned x, y, z;

    dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz)
    {
    }
};

enum { cudaErrorInvalidConfiguration = 9, cudaErrorUnknown = 999, cudaLaunchAttributeCooperative = 2 };

/* The driver's attributes are the same. */
struct cudaLaunchAttribute {
    int id;
    union {
        uint64_t bytes[8];
        int cooperative;
    } val;
};

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

struct __half {
    uint16_t bits;
};

struct __nv_bfloat16 {
    uint16_t bits;
};

static inline float __half2float(__half value)
{
    return wsh_half_to_float(value.bits);
}

static inline __half __float2half(float value)
{
    return {wsh_half_from_float(value)};
}

static inline int cudaStreamSynchronize(cudaStream_t stream)
{
    return wsh_device_stream_wait("a routine of NVSHMEM on the host", stream);
}

/* A routine of the driver, which the program that calls for it has; NULL: it has none. */
template <class F> static inline F wsh_driver_find(const char *name)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *symbol = driver ? dlsym(driver, name) : NULL;
    F found;

    memcpy(&found, &symbol, sizeof found);
    if (driver)
        dlclose(driver); /* it stays: others have opened it */
    return found;
}

static inline int cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    auto get = wsh_driver_find<int (*)(CUmodule *, CUlibrary)>("cuLibraryGetModule");

    return get ? get(module, library) : cudaErrorUnknown;
}

/* By the driver: any module's kernel. */
static inline int cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **args)
{
    struct {
        dim3 grid, block;
        unsigned shared;
        cudaStream_t stream;
        cudaLaunchAttribute *attrs;
        unsigned n_attrs;
    } driver = {config->gridDim, config->blockDim, (unsigned)config->dynamicSmemBytes,
                config->stream,  config->attrs,    config->numAttrs};
    auto launch = wsh_driver_find<int (*)(const void *, void *, void **, void **)>("cuLaunchKernelEx");
    void *function;

    if (!launch || wsh_device_find(kernel, &function))
        return cudaErrorUnknown;
    return launch(&driver, function, args, NULL);
}

#endif
