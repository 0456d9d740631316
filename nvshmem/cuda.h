/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The few types of CUDA's runtime and driver that NVSHMEM's routines of the host have in their signatures, as they are
 * passed, and what these routines call of both: the library is built without CUDA's headers and linked with no runtime.
 */
#ifndef WSH_NVSHMEM_CUDA_H
#define WSH_NVSHMEM_CUDA_H

#include "device/image.h"
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

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    void *attrs;
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

/* The program that has a library of the driver has the driver. */
static inline int cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *symbol = driver ? dlsym(driver, "cuLibraryGetModule") : NULL;
    int (*get)(CUmodule *, CUlibrary);
    int status = -1;

    memcpy(&get, &symbol, sizeof get);
    if (symbol)
        status = get(module, library);
    if (driver)
        dlclose(driver);
    return status;
}

#endif
