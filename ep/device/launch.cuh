/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches of the kernels: the host's side, a part of kernels.cu. */
#ifndef WSH_EP_DEVICE_LAUNCH_CUH
#define WSH_EP_DEVICE_LAUNCH_CUH

#include <stdlib.h>
#include <string.h>

/* Of an instance. */
struct ep_kernels {
    struct ep_run run;
    struct ep_published published;
    int blocks;
    cudaStream_t stream; /* for copies of the library's own */
    uint64_t *launched;  /* [handles]: the ticket of the last dispatch, graphs apart */
};

static int ep_cuda_refuse(const char *routine, const char *what, cudaError_t status)
{
    cudaGetLastError();
    return ep_refuse(routine, "%s: %s", what, cudaGetErrorString(status));
}

/*
 * As many blocks of either kernel as are resident at once, while other PEs use the GPU too. With far peers an SM is
 * left free: what they have for this PE may be applied by a kernel of the library's.
 */
static int ep_grid_most(const struct shmemx_ep *ep, int *most)
{
    const void *const kernels[] = {(const void *)ep_kernel_dispatch, (const void *)ep_kernel_combine};
    int fits = 0;

    for (int i = 0; i < 2; i++) {
        if (shmemx_collective_launch_query_gridsize(kernels[i], dim3(EP_THREADS), NULL, 0, &fits))
            return 1;
        *most = i && *most < fits ? *most : fits;
    }
    *most -= ep->shape.far && *most > 1;
    return 0;
}

static int ep_grid_choose(const struct shmemx_ep *ep, int *blocks)
{
    enum { EP_BLOCKS = 24 };
    int asked = ep->config.blocks, most = 0;

    if (ep_grid_most(ep, &most))
        return 1;
    if (asked > most || most < 1)
        return ep_refuse("shmemx_ep_create",
                         "blocks is %d, and the GPU has room for %d at once, of each PE that shares it: give that at "
                         "most, or 0; with 0 of them, let fewer PEs share a GPU",
                         asked, most);
    *blocks = asked ? asked : most < EP_BLOCKS ? most : EP_BLOCKS;
    return 0;
}

/* Pieces of one allocation, each aligned to 16. */
struct ep_pieces_of {
    char *memory;
    size_t bytes;
};

static void *ep_take(struct ep_pieces_of *pieces, size_t bytes)
{
    char *at = pieces->memory ? pieces->memory + pieces->bytes : NULL;

    pieces->bytes += ep_align(bytes, 16);
    return at;
}

/* The arrays of a run, in `pieces`; called with no memory, it tells how many bytes they are. */
static void ep_place_run(const struct shmemx_ep *ep, struct ep_kernels *kernels, struct ep_pieces_of *pieces)
{
    const struct ep_shape *shape = &ep->shape;
    struct ep_run *run = &kernels->run;

    run->state = (struct ep_state *)ep_take(pieces, ep_state_bytes(shape));
    run->near_arena = (char *const *)ep_take(pieces, sizeof(char *) * (size_t)shape->near);
    run->pes = (const int *)ep_take(pieces, sizeof(int) * (size_t)shape->n);
    run->counters = (const shmemx_counter_t *)ep_take(pieces, sizeof(shmemx_counter_t) * (size_t)shape->counters);
}

static cudaError_t ep_fill_run(const struct shmemx_ep *ep, const struct ep_kernels *kernels)
{
    const struct ep_shape *shape = &ep->shape;
    const struct ep_run *run = &kernels->run;
    cudaError_t status;

    status = cudaMemcpyAsync((void *)run->near_arena, ep->near_arena, sizeof(char *) * (size_t)shape->near,
                             cudaMemcpyHostToDevice, kernels->stream);
    if (!status)
        status = cudaMemcpyAsync((void *)run->pes, ep->pes, sizeof(int) * (size_t)shape->n, cudaMemcpyHostToDevice,
                                 kernels->stream);
    if (!status)
        status = cudaMemcpyAsync((void *)run->counters, ep->counters,
                                 sizeof(shmemx_counter_t) * (size_t)shape->counters, cudaMemcpyHostToDevice,
                                 kernels->stream);
    return status ? status : cudaStreamSynchronize(kernels->stream);
}

static cudaError_t ep_make_run(struct shmemx_ep *ep, struct ep_kernels *kernels)
{
    struct ep_pieces_of pieces = {NULL, 0};
    cudaError_t status = cudaStreamCreateWithFlags(&kernels->stream, cudaStreamNonBlocking);

    ep_place_run(ep, kernels, &pieces);
    if (!status)
        status = cudaMalloc((void **)&pieces.memory, pieces.bytes);
    if (!status)
        status = cudaMemsetAsync(pieces.memory, 0, pieces.bytes, kernels->stream);
    if (!status)
        status = cudaHostAlloc((void **)&ep->phase, ep_phase_bytes(&ep->shape),
                               cudaHostAllocMapped | cudaHostAllocPortable);
    if (status)
        return status;
    memset(ep->phase, 0, ep_phase_bytes(&ep->shape));
    pieces.bytes = 0;
    ep_place_run(ep, kernels, &pieces);
    kernels->run.shape = ep->shape;
    kernels->run.arena = ep->arena;
    kernels->run.phase = ep->phase;
    ep->state = kernels->run.state;
    return ep_fill_run(ep, kernels);
}

static cudaError_t ep_start(const void *kernel, int blocks, cudaStream_t stream, void **args)
{
    cudaLaunchAttribute together = {};
    cudaLaunchConfig_t config = {};

    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3(EP_THREADS);
    config.stream = stream;
    config.attrs = &together;
    config.numAttrs = 1;
    return cudaLaunchKernelExC(&config, kernel, args);
}

static bool ep_is_captured(cudaStream_t stream)
{
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;

    return !cudaStreamIsCapturing(stream, &capture) && capture != cudaStreamCaptureStatusNone;
}

static cudaError_t ep_start_dispatch(struct ep_kernels *kernels, const shmemx_ep_dispatch_t *call, cudaStream_t stream)
{
    struct ep_published published = kernels->published;
    void *args[] = {&kernels->run, &published, (void *)call};

    if ((call->halves & SHMEMX_EP_RECEIVE) && !ep_is_captured(stream))
        published.ticket = ++kernels->launched[call->handle];

    return ep_start((const void *)ep_kernel_dispatch, kernels->blocks, stream, args);
}

static cudaError_t ep_start_combine(struct ep_kernels *kernels, const shmemx_ep_combine_t *call, cudaStream_t stream)
{
    void *args[] = {&kernels->run, (void *)call};

    return ep_start((const void *)ep_kernel_combine, kernels->blocks, stream, args);
}

/* Nothing is loaded, nor memory for a stack found, when kernels may be waiting. */
static cudaError_t ep_start_first(struct ep_kernels *kernels)
{
    shmemx_ep_dispatch_t dispatch = {};
    shmemx_ep_combine_t combine = {};
    cudaError_t status = ep_start_dispatch(kernels, &dispatch, kernels->stream);

    if (!status)
        status = ep_start_combine(kernels, &combine, kernels->stream);
    return status ? status : cudaStreamSynchronize(kernels->stream);
}

static void ep_device_close(struct shmemx_ep *ep)
{
    struct ep_kernels *kernels = ep->kernels;

    if (!kernels)
        return;
    cudaDeviceSynchronize(); /* calls on whatever stream */
    if (kernels->stream)
        cudaStreamDestroy(kernels->stream);
    cudaFree(kernels->run.state);
    cudaFreeHost(ep->phase);
    shmem_free(kernels->published.host);
    shmem_free(kernels->published.kept);
    free(kernels->launched);
    free(kernels);
    ep->kernels = NULL;
    ep->state = NULL;
    ep->phase = NULL;
}

/* Collective, for memory of the host's heap. What it has made when it fails, close frees. */
static int ep_device_open(struct shmemx_ep *ep)
{
    struct ep_kernels *kernels = (struct ep_kernels *)calloc(1, sizeof *kernels);
    size_t handles = (size_t)ep->shape.handles;
    cudaError_t status;

    if (!kernels || !(kernels->launched = (uint64_t *)calloc(handles, sizeof(uint64_t))))
        return ep_refuse("shmemx_ep_create", "no memory for %zu handles", handles);
    ep->kernels = kernels;
    kernels->published.host = (uint64_t *)shmem_calloc(handles, sizeof(uint64_t));
    kernels->published.kept = (char *)shmem_calloc(handles, ep_published_bytes(&ep->shape));
    if (!kernels->published.host || !kernels->published.kept)
        return ep_refuse("shmemx_ep_create", "no room in the host's heap: raise SHMEM_SYMMETRIC_SIZE");
    if (ep_grid_choose(ep, &kernels->blocks))
        return 1;
    status = ep_make_run(ep, kernels);
    if (!status)
        status = ep_start_first(kernels);
    return status ? ep_cuda_refuse("shmemx_ep_create", "the GPU's memory or kernels for an instance", status) : 0;
}

static int ep_device_dispatch(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    cudaError_t status = ep_start_dispatch(ep->kernels, call, (cudaStream_t)call->stream);

    return status ? ep_cuda_refuse("shmemx_ep_dispatch", "the kernel does not start", status) : 0;
}

static int ep_device_combine(struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    cudaError_t status = ep_start_combine(ep->kernels, call, (cudaStream_t)call->stream);

    return status ? ep_cuda_refuse("shmemx_ep_combine", "the kernel does not start", status) : 0;
}

/* Of replays of graphs the host knows nothing: their numbers are there once their streams have been waited for. */
static int ep_device_counts(struct shmemx_ep *ep, int handle, int32_t *counts, int32_t *rows)
{
    const struct ep_kernels *kernels = ep->kernels;
    const struct ep_shape *shape = &ep->shape;
    const char *published = kernels->published.kept + (size_t)handle * ep_published_bytes(shape);
    const struct ep_kept *kept = (const struct ep_kept *)published;
    const int32_t *sums = (const int32_t *)(published + sizeof *kept) + shape->n * shape->counted;

    shmem_signal_wait_until(kernels->published.host + handle, SHMEM_CMP_GE, kernels->launched[handle]);
    for (int i = 0; i < shape->mine && counts; i++)
        counts[i] = sums[shape->counted - shape->mine + i];
    if (rows)
        *rows = kept->rows;
    return 0;
}

static bool ep_device_reaches(const void *address)
{
    cudaPointerAttributes what;
    cudaError_t status = cudaPointerGetAttributes(&what, address);

    if (status)
        cudaGetLastError();
    return !status && what.type != cudaMemoryTypeUnregistered;
}

static int ep_device_statistics(struct shmemx_ep *ep, shmemx_ep_statistics_t *statistics)
{
    struct ep_kernels *kernels = ep->kernels;
    struct ep_state state;
    cudaError_t status =
        cudaMemcpyAsync(&state, kernels->run.state, sizeof state, cudaMemcpyDeviceToHost, kernels->stream);

    if (!status)
        status = cudaStreamSynchronize(kernels->stream);
    if (status)
        return ep_cuda_refuse("shmemx_ep_statistics", "no copy from the GPU", status);
    statistics->network_rows = state.network_rows;
    statistics->network_puts = state.network_puts;
    statistics->near_rows = state.near_rows;
    statistics->calls = state.dispatches + state.combines;
    return 0;
}

static const struct ep_device_calls ep_device_table = {ep_device_open,    ep_device_close,  ep_device_dispatch,
                                                       ep_device_combine, ep_device_counts, ep_device_statistics,
                                                       ep_device_reaches};
extern "C" const struct ep_device_calls *const ep_device_calls = &ep_device_table;

#endif
