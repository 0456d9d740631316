/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public names by which a program launches one kernel on all PEs with all blocks resident on their GPUs at the
 * same time, so that a block may wait for any other, of its own PE (cooperative groups) and of others. Host code of
 * nvcc; the work is the library's.
 */
#ifndef WSH_DEVICE_LAUNCH_CUH
#define WSH_DEVICE_LAUNCH_CUH

#ifndef __CUDACC_RTC__ /* which has no host code */

#include "../view/launch.h"

#ifdef WSH_STREAM_IMAGE /* of nvshmem/, which no CUDA runtime is linked with: the library asks those of the program */
#define wsh_launch_find wsh_device_find
#else
/* The runtime keeps no error of a kernel that is another unit's. */
static inline int wsh_launch_find(const void *kernel, void **function)
{
    int status = (int)cudaGetFuncBySymbol((cudaFunction_t *)function, kernel);

    if (status)
        cudaGetLastError();
    return status;
}
#endif

static inline struct wsh_device_launch wsh_launch_of(const char *routine, const void *kernel, dim3 grid, dim3 block,
                                                     void **args, size_t shared, cudaStream_t stream)
{
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    if (!stream)
        stream = cudaStreamPerThread;
#endif
    return {routine, kernel, wsh_launch_find, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, args,
            (void *)stream, nullptr, nullptr};
}

enum { WSH_LAUNCH_ATTRIBUTES = 32 };

/* With the program's attributes, and cooperative where these do not say whether. */
static inline int wsh_launch_start(const struct wsh_device_launch *launch, const unsigned grid[3])
{
    cudaLaunchConfig_t config = *(const cudaLaunchConfig_t *)launch->config;
    cudaLaunchAttribute attributes[WSH_LAUNCH_ATTRIBUTES + 1] = {};
    bool says = false;

    if (config.numAttrs > WSH_LAUNCH_ATTRIBUTES)
        return (int)cudaErrorInvalidConfiguration;
    for (unsigned i = 0; i < config.numAttrs; i++) {
        attributes[i] = config.attrs[i];
        says |= attributes[i].id == cudaLaunchAttributeCooperative;
    }
    attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
    attributes[config.numAttrs].val.cooperative = 1;
    config.numAttrs += !says;
    config.attrs = attributes;
    config.gridDim = dim3(grid[0], grid[1], grid[2]);
    config.stream = (cudaStream_t)launch->stream;
    return (int)cudaLaunchKernelExC(&config, launch->kernel, launch->args);
}

/*
 * Launch a kernel on all PEs with all of its blocks resident at the same time. Collective over all PEs; grids may
 * differ. args[i] points to the i-th argument of `kernel`, as for cudaLaunchCooperativeKernel; `shared` is in
 * bytes; a grid of 0 in x stands for as many blocks as fit. PEs that share a GPU have equal parts of it. Attaches
 * the GPU as shmemx_malloc_device does.
 *
 * 0; or nonzero on every PE, after a line on each, where the grid of any PE does not fit on its GPU: then no PE
 * launches.
 */
static inline int shmemx_collective_launch(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
                                           cudaStream_t stream)
{
    struct wsh_device_launch launch =
        wsh_launch_of("shmemx_collective_launch", kernel, grid, block, args, shared, stream);

    return wsh_device_launch(&launch);
}

/*
 * The same with the grid, block, shared memory, stream and attributes of *config, of which there are at most 32. What
 * they say of cooperative launches is taken; blocks of clusters are counted as others.
 */
static inline int shmemx_collective_launch_config(const cudaLaunchConfig_t *config, const void *kernel, void **args)
{
    struct wsh_device_launch launch =
        wsh_launch_of("shmemx_collective_launch_config", kernel, config->gridDim, config->blockDim, args,
                      config->dynamicSmemBytes, config->stream);

    launch.start = wsh_launch_start;
    launch.config = config;
    return wsh_device_launch(&launch);
}

/*
 * Tell how many blocks of such a kernel are resident on this PE's GPU at the same time. Stored in *gridsize. Local,
 * but collective where it is the first call that attaches the GPU. 0, or nonzero after a line.
 */
static inline int shmemx_collective_launch_query_gridsize(const void *kernel, dim3 block, void **args, size_t shared,
                                                          int *gridsize)
{
    struct wsh_device_launch launch =
        wsh_launch_of("shmemx_collective_launch_query_gridsize", kernel, dim3(0), block, args, shared, nullptr);

    return wsh_device_launch_fits(&launch, gridsize);
}

#endif

#endif
