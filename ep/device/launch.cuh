/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches of the kernels: the host's side, a part of kernels.cu. */
#ifndef WSH_EP_DEVICE_LAUNCH_CUH
#define WSH_EP_DEVICE_LAUNCH_CUH

#include <stdlib.h>
#include <string.h>

#include "ep/device/clocks.cuh"
#include "ep/device/marks.cuh"

/* Of an instance. */
struct ep_kernels {
    struct ep_run run;
    struct ep_published published;
    int blocks, expanded_blocks; /* of a call; of one whose rows are expanded */
    cudaStream_t stream; /* for copies of the library's own */
    uint64_t *launched;  /* [handles]: the ticket of the last dispatch, graphs apart */
    bool pinned;         /* published.host, by us */
    struct ep_moment first; /* of a trace */
};

enum { EP_PAGE = 4096 };

static int ep_cuda_refuse(const char *routine, const char *what, cudaError_t status)
{
    cudaGetLastError();
    return ep_refuse(routine, "%s: %s", what, cudaGetErrorString(status));
}

static bool ep_is_captured(cudaStream_t stream)
{
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;

    return !cudaStreamIsCapturing(stream, &capture) && capture != cudaStreamCaptureStatusNone;
}

#include "ep/device/masks/host.cuh"

static const struct ep_low_kernels *ep_low_kernels(const struct ep_shape *shape)
{
    if (shape->masks)
        return shape->far ? &ep_low_far_masks_kernels : &ep_low_masks_kernels;
    return shape->far ? &ep_low_far_kernels : &ep_low_near_kernels;
}

static const void *ep_dispatch_kernel(const struct ep_shape *shape)
{
    if (!shape->pushes)
        return shape->pulls ? ep_kernel_pull_dispatch : (const void *)ep_kernel_dispatch;
    if (shape->dtype == SHMEMX_EP_NVFP4)
        return ep_kernel_nvfp4_dispatch;
    return ep_low_kernels(shape)->dispatch;
}

/* Whether low latency has kernels of its own for a combine of one half, and for one with signals. */
static bool ep_has_more_kernels(const struct ep_shape *shape)
{
    return shape->pushes && !shape->far && !shape->masks;
}

static const void *ep_combine_kernel(const struct ep_shape *shape, int halves)
{
    if (!shape->pushes)
        return shape->pulls ? ep_kernel_pull_combine : (const void *)ep_kernel_combine;
    if (halves != SHMEMX_EP_BOTH && ep_has_more_kernels(shape))
        return ep_kernel_halves_combine;
    return ep_low_kernels(shape)->combine;
}

static int ep_shared_refuse(size_t bytes)
{
    cudaGetLastError();
    return ep_refuse("shmemx_ep_create",
                     "the routing of a call takes %zu bytes of a multiprocessor's shared memory, more than there are; "
                     "lower tokens or experts",
                     bytes);
}

/* Lets the kernel have so much shared memory. Never less than before: other instances launch it too. */
static cudaError_t ep_shared_allow(const void *kernel, size_t bytes)
{
    struct cudaFuncAttributes has;
    cudaError_t status = cudaFuncGetAttributes(&has, kernel);

    if (status || (size_t)has.maxDynamicSharedSizeBytes >= bytes)
        return status;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

/*
 * As many blocks of either kernel as are resident at once, while other PEs use the GPU too. With far peers an SM is
 * left free: what they have for this PE may be applied by a kernel of the library's.
 */
static int ep_grid_most(const struct shmemx_ep *ep, int *most)
{
    bool pulls = ep->shape.pulls, more = pulls || ep_has_more_kernels(&ep->shape);
    const void *const kernels[] = {ep_dispatch_kernel(&ep->shape), ep_combine_kernel(&ep->shape, SHMEMX_EP_BOTH),
                                   pulls ? ep_kernel_expanded_dispatch : ep_kernel_halves_combine,
                                   pulls ? ep_kernel_expanded_combine : ep_kernel_signals_combine};
    size_t shared = ep->shape.group;
    int fits = 0;

    for (int i = 0; i < (more ? 4 : 2); i++) {
        if (ep->shape.pushes && ep_shared_allow(kernels[i], shared))
            return ep_shared_refuse(shared);
        if (shmemx_collective_launch_query_gridsize(kernels[i], dim3(EP_THREADS), NULL, shared, &fits))
            return 1;
        *most = i && *most < fits ? *most : fits;
    }
    *most -= ep->shape.far && *most > 1;
    return 0;
}

/* One PE says it, once. */
static void ep_say_fewer(const struct shmemx_ep *ep, int asked, int most)
{
    static bool said;

    if (!said && !ep->shape.me)
        ep_warn("calls have %d SMs of the %d that were asked for: the GPU has room for so many blocks of each PE "
                        "that shares it",
                        most, asked);
    said = true;
}

/* Where the caller leaves it to the library, calls have what they need: expanded rows are several times the bytes. */
static int ep_grid_choose(const struct shmemx_ep *ep, struct ep_kernels *kernels)
{
    enum { EP_BLOCKS = 24, EP_LOW_BLOCKS = 128, EP_EXPANDED_BLOCKS = 64 };
    int asked = ep->config.blocks, most = 0, usual = ep->shape.pushes ? EP_LOW_BLOCKS : EP_BLOCKS, sms = 0, gpu = 0;

    if (ep_grid_most(ep, &most))
        return 1;
    if (!cudaGetDevice(&gpu))
        cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, gpu);
    kernels->run.alone = most > sms / 2; /* a block takes an SM, and PEs that share them have equally many */
    most = most < EP_SHARES || ep->shape.pushes ? most : EP_SHARES;
    if (asked > most && most > 0 && ep->config.fewer_blocks) {
        ep_say_fewer(ep, asked, most);
        asked = most;
    }
    if (asked > most || most < 1)
        return ep_refuse("shmemx_ep_create",
                         "blocks is %d, and the GPU has room for %d at once, of each PE that shares it: give that at "
                         "most, or 0; with 0 of them, let fewer PEs share a GPU",
                         asked, most);
    kernels->blocks = asked ? asked : most < usual ? most : usual;
    kernels->expanded_blocks = asked ? asked : most < EP_EXPANDED_BLOCKS ? most : EP_EXPANDED_BLOCKS;
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
static void ep_lay_out_run(const struct shmemx_ep *ep, struct ep_kernels *kernels, struct ep_pieces_of *pieces)
{
    const struct ep_shape *shape = &ep->shape;
    struct ep_run *run = &kernels->run;

    run->state = (struct ep_state *)ep_take(pieces, ep_states_bytes(shape));
    run->near_arena = (char *const *)ep_take(pieces, sizeof(char *) * (size_t)shape->near);
    run->pes = (const int *)ep_take(pieces, sizeof(int) * (size_t)shape->n);
    run->counters = (const shmemx_counter_t *)ep_take(pieces, sizeof(shmemx_counter_t) * (size_t)shape->counters);
}

/* What another instance has left in this memory must not be taken for flags, nor for the ticket of a handle. */
static cudaError_t ep_clear(const struct shmemx_ep *ep, cudaStream_t stream)
{
    const struct ep_shape *shape = &ep->shape;
    cudaError_t status = cudaSuccess;

    if (shape->zeros)
        status = cudaMemsetAsync(ep->arena, 0, shape->zeros, stream);
    return status ? status
                  : cudaMemsetAsync(ep->arena + shape->handle, 0, (size_t)shape->handles * shape->kept, stream);
}

static cudaError_t ep_fill_run(const struct shmemx_ep *ep, const struct ep_kernels *kernels)
{
    const struct ep_shape *shape = &ep->shape;
    const struct ep_run *run = &kernels->run;
    cudaError_t status = ep_clear(ep, kernels->stream);

    if (!status)
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

    ep_lay_out_run(ep, kernels, &pieces);
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
    ep_lay_out_run(ep, kernels, &pieces);
    kernels->run.shape = ep->shape;
    kernels->run.arena = ep->arena;
    kernels->run.phase = ep->phase;
    for (int near = 0; near < ep->shape.near && near < EP_NEAR_FEW; near++)
        kernels->run.near_few[near] = ep->near_arena[near];
    ep->state = kernels->run.state;
    kernels->run.live = ep_live_of(&ep->shape, ep->state);
    return ep_fill_run(ep, kernels);
}

/*
 * Whether blocks wait for other blocks of their kernel, and so are to be resident together. Of a half alone among near
 * PEs none does: a sending half waits for nobody, a receiving half for those of others.
 */
static bool ep_is_together(const struct ep_shape *shape, int halves)
{
    bool half = halves == SHMEMX_EP_SEND || halves == SHMEMX_EP_RECEIVE;

    return !half || !shape->pushes || shape->far || shape->masks;
}

static cudaError_t ep_start(const void *kernel, int blocks, const struct ep_kernels *kernels, int halves,
                            cudaStream_t stream, void **args)
{
    cudaLaunchAttribute together = {};
    cudaLaunchConfig_t config = {};

    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    config.gridDim = dim3((unsigned)blocks);
    config.dynamicSmemBytes = kernels->run.shape.group;
    config.blockDim = dim3(EP_THREADS);
    config.stream = stream;
    config.attrs = &together;
    config.numAttrs = ep_is_together(&kernels->run.shape, halves);
    return cudaLaunchKernelExC(&config, kernel, args);
}

/* A dispatch whose rows are expanded, or without halves. */
static cudaError_t ep_start_expanded(struct ep_kernels *kernels, const shmemx_ep_dispatch_t *call, cudaStream_t stream)
{
    struct ep_run_expanded run = {kernels->run, {}};
    void *args[] = {&run, (void *)call};

    if (call->expanded)
        run.expanded = *call->expanded;
    return ep_start(ep_kernel_expanded_dispatch, kernels->expanded_blocks, kernels, call->halves, stream, args);
}

static cudaError_t ep_start_dispatch(struct ep_kernels *kernels, const shmemx_ep_dispatch_t *call, cudaStream_t stream)
{
    struct ep_published published = kernels->published;
    struct ep_run *run = &kernels->run;
    void *args[] = {run, &published, (void *)call}, *two[] = {run, (void *)call};

    run->ticket = 0;
    if ((call->halves & SHMEMX_EP_RECEIVE) && !ep_is_captured(stream))
        run->ticket = published.ticket = ++kernels->launched[call->handle];
    run->published = published;
    if (call->expanded)
        return ep_start_expanded(kernels, call, stream);
    return ep_start(ep_dispatch_kernel(&run->shape), kernels->blocks, kernels, call->halves, stream,
                    run->shape.pushes || run->shape.pulls ? two : args);
}

/*
 * Of a combine whose rows wait for other kernels: these need SMs, too, so that by default all PEs that share the GPU
 * have half of what they may.
 */
static int ep_signal_blocks(const struct ep_kernels *kernels, int64_t asked)
{
    int half = (kernels->blocks + 1) / 2;

    if (asked)
        return asked < kernels->blocks ? (int)asked : kernels->blocks;
    return half;
}

static cudaError_t ep_start_combine(struct ep_kernels *kernels, const shmemx_ep_combine_t *call, cudaStream_t stream)
{
    void *args[] = {&kernels->run, (void *)call};

    if (call->signals && call->halves & SHMEMX_EP_SEND)
        return ep_start(ep_kernel_signals_combine, ep_signal_blocks(kernels, call->signal_blocks), kernels,
                        call->halves, stream, args);
    if (call->places)
        return ep_start(ep_kernel_expanded_combine, kernels->expanded_blocks, kernels, call->halves, stream, args);
    return ep_start(ep_combine_kernel(&kernels->run.shape, call->halves), kernels->blocks, kernels, call->halves,
                    stream, args);
}

/* Nothing is loaded, nor memory for a stack found, when kernels may be waiting. */
static cudaError_t ep_start_first(struct ep_kernels *kernels)
{
    const struct ep_shape *shape = &kernels->run.shape;
    const void *const combines[] = {ep_combine_kernel(shape, SHMEMX_EP_BOTH),
                                    shape->pulls ? ep_kernel_expanded_combine : ep_kernel_halves_combine,
                                    ep_kernel_signals_combine};
    shmemx_ep_dispatch_t dispatch = {};
    shmemx_ep_combine_t combine = {};
    void *args[] = {&kernels->run, &combine};
    cudaError_t status = ep_start_dispatch(kernels, &dispatch, kernels->stream);

    if (!status && shape->pulls)
        status = ep_start_expanded(kernels, &dispatch, kernels->stream);
    for (int i = 0; !status && i < (shape->pulls ? 2 : ep_has_more_kernels(shape) ? 3 : 1); i++)
        status = ep_start(combines[i], kernels->blocks, kernels, 0, kernels->stream, args);
    return status ? status : cudaStreamSynchronize(kernels->stream);
}

static void ep_device_close(struct shmemx_ep *ep)
{
    struct ep_kernels *kernels = ep->kernels;

    if (!kernels)
        return;
    cudaDeviceSynchronize(); /* calls on whatever stream */
    ep_print_clocks(ep);
    ep_marks_close(kernels->run.marks, kernels->stream, &kernels->first,
                   ep->shape.pushes ? ep_low_phases : ep_high_phases);
    if (kernels->stream)
        cudaStreamDestroy(kernels->stream);
    cudaFree(kernels->run.state);
    cudaFreeHost(ep->phase);
    if (kernels->pinned)
        cudaHostUnregister(kernels->published.host);
    if (kernels->published.host)
        shmemx_team_free(ep->team, kernels->published.host);
    free(kernels->launched);
    free(kernels);
    ep->kernels = NULL;
    ep->state = NULL;
    ep->phase = NULL;
}

/* The library lets kernels reach the heap as far as all PEs have memory of it; not that of teams. */
static int ep_make_published(const struct shmemx_ep *ep, struct ep_kernels *kernels)
{
    size_t words = ep_align((size_t)ep->shape.handles * sizeof(uint64_t), EP_ALIGN);
    size_t bytes = ep_align(words + (size_t)ep->shape.handles * ep_published_bytes(&ep->shape), EP_PAGE);
    cudaError_t status = cudaSuccess;

    kernels->published.host = (uint64_t *)shmemx_team_malloc(ep->team, bytes);
    if (!kernels->published.host)
        return ep_refuse("shmemx_ep_create", "no room in the host's heap: raise SHMEM_SYMMETRIC_SIZE");
    memset(kernels->published.host, 0, bytes);
    kernels->published.kept = (char *)kernels->published.host + words;
    if (ep->shape.n < shmem_n_pes())
        status = cudaHostRegister(kernels->published.host, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable);
    kernels->pinned = !status && ep->shape.n < shmem_n_pes();
    if (status == cudaErrorHostMemoryAlreadyRegistered)
        status = cudaSuccess;
    return status ? ep_cuda_refuse("shmemx_ep_create", "host memory that kernels write", status) : 0;
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
    if (!ep->shape.pushes && ep_make_published(ep, kernels))
        return 1;
    if (ep_grid_choose(ep, kernels))
        return 1;
    status = ep_make_run(ep, kernels);
    if (!status)
        status = ep_masks_first(ep);
    if (!status)
        status = ep_start_first(kernels);
    if (!status)
        status = ep_marks_open(&kernels->run.marks, kernels->stream, &kernels->first);
    return status ? ep_cuda_refuse("shmemx_ep_create", "the GPU's memory or kernels for an instance", status) : 0;
}

static int ep_device_dispatch(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    cudaError_t status;

    ep_masks_before(ep, call->halves, (cudaStream_t)call->stream);
    status = ep_start_dispatch(ep->kernels, call, (cudaStream_t)call->stream);
    return status ? ep_cuda_refuse("shmemx_ep_dispatch", "the kernel does not start", status) : 0;
}

static int ep_device_combine(struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    cudaError_t status;

    ep_masks_before(ep, call->halves, (cudaStream_t)call->stream);
    status = ep_start_combine(ep->kernels, call, (cudaStream_t)call->stream);
    return status ? ep_cuda_refuse("shmemx_ep_combine", "the kernel does not start", status) : 0;
}

/* Low latency among near PEs: the numbers lie in the GPU's memory, where the host polls until they are there. */
static int ep_low_counts(struct shmemx_ep *ep, int handle, int32_t *counts, int32_t *rows)
{
    const struct ep_kernels *kernels = ep->kernels;
    const struct ep_shape *shape = &ep->shape;
    const char *from = ep->arena + shape->handle + (size_t)handle * shape->kept;
    const int32_t *sums = (const int32_t *)(ep->arena + ep_kept_first(shape, handle)) + shape->n * shape->counted;
    cudaError_t status;
    struct ep_kept kept;

    do {
        status = cudaMemcpyAsync(&kept, from, sizeof kept, cudaMemcpyDeviceToHost, kernels->stream);
        if (!status)
            status = cudaStreamSynchronize(kernels->stream);
    } while (!status && kept.ticket < kernels->launched[handle]);
    if (!status && counts)
        status = cudaMemcpyAsync(counts, sums, (size_t)shape->mine * sizeof *counts, cudaMemcpyDeviceToHost,
                                 kernels->stream);
    if (!status)
        status = cudaStreamSynchronize(kernels->stream);
    *rows = kept.rows;
    return status ? ep_cuda_refuse("shmemx_ep_counts", "no copy from the GPU", status) : 0;
}

/* Of replays of graphs the host knows nothing: their numbers are there once their streams have been waited for. */
static int ep_device_counts(struct shmemx_ep *ep, int handle, int32_t *counts, int32_t *rows)
{
    const struct ep_kernels *kernels = ep->kernels;
    const struct ep_shape *shape = &ep->shape;
    const char *published;
    const struct ep_kept *kept;
    const int32_t *sums;

    if (shape->pushes)
        return ep_low_counts(ep, handle, counts, rows);
    published = kernels->published.kept + (size_t)handle * ep_published_bytes(shape);
    kept = (const struct ep_kept *)published;
    sums = (const int32_t *)(published + sizeof *kept) + shape->n * shape->counted;
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

static void *ep_device_take(size_t bytes)
{
    void *memory = NULL;

    if (!cudaMalloc(&memory, bytes))
        return memory;
    cudaGetLastError();
    return NULL;
}

static void ep_device_give(void *memory)
{
    cudaFree(memory);
}

static const struct ep_device_calls ep_device_table = {ep_device_open,    ep_device_close,  ep_device_dispatch,
                                                       ep_device_combine, ep_device_counts, ep_device_statistics,
                                                       ep_device_masks,   ep_device_reaches, ep_device_take,
                                                       ep_device_give};
extern "C" const struct ep_device_calls *const ep_device_calls = &ep_device_table;

#endif
