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

#define WSH_LAUNCH_FIRST_ROWS 2u /* gridDim.y of a launch without effect; every other has 1 */

enum { WSH_LAUNCH_EARLY_ARGS = 16, WSH_LAUNCH_EARLY_BYTES = 128 }; /* arguments of it, and bytes of each, at most */

/*
 * A kernel of this unit that is launched once, without effect, when its device state comes (view.cuh). Lazy loading
 * would load it at its first launch, which takes 0.1 ms, and waits for kernels that run; and the first one whose stack
 * is larger than all before makes the driver allocate stacks for the whole GPU, which takes a millisecond or two.
 */
namespace
{
struct wsh_launch_early {
    const void *kernel;
    wsh_launch_early *next;

    explicit wsh_launch_early(const void *known) : kernel(known), next(first())
    {
        first() = this;
    }

    static wsh_launch_early *&first()
    {
        static wsh_launch_early *list = nullptr;

        return list;
    }
};
} // namespace

#ifndef WSH_STREAM_IMAGE
/*
 * Launches the kernels of the list, which do nothing and may run later; their arguments are zeros. An error comes again
 * in a launch that has a caller.
 */
static inline void wsh_launch_early_all()
{
    static unsigned long long zeros[WSH_LAUNCH_EARLY_BYTES / sizeof(unsigned long long)];
    void *args[WSH_LAUNCH_EARLY_ARGS];
    cudaStream_t stream;

    if (!wsh_launch_early::first())
        return;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) {
        cudaGetLastError();
        return;
    }
    for (void *&arg : args)
        arg = zeros;
    for (wsh_launch_early *one = wsh_launch_early::first(); one; one = one->next)
        if (cudaLaunchKernel(one->kernel, dim3(1, WSH_LAUNCH_FIRST_ROWS), dim3(1), args, 0, stream) != cudaSuccess)
            cudaGetLastError();
    cudaStreamDestroy(stream);
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
