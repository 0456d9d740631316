/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's side of masks in kernels, a part of kernels.cu. */
#ifndef WSH_EP_DEVICE_MASKS_HOST_CUH
#define WSH_EP_DEVICE_MASKS_HOST_CUH

static cudaError_t ep_masks_copy(struct shmemx_ep *ep, bool write, cudaStream_t stream)
{
    struct ep_masks *masks = ep->masks;
    struct ep_live *live = ep_live_of(&ep->shape, ep->state);
    size_t bytes = ep_live_bytes(&ep->shape);
    cudaMemcpyKind way = write ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    cudaError_t status = cudaMemcpyAsync(write ? live : masks->live, write ? masks->live : live, bytes, way, stream);

    if (!status)
        status = cudaMemcpyAsync(write ? ep->state : masks->state, write ? masks->state : ep->state, sizeof *ep->state,
                                 way, stream);
    return status ? status : cudaStreamSynchronize(stream);
}

static __global__ void ep_masks_quiet()
{
    shmem_quiet();
}

/*
 * Calls on whatever stream are over where something is to change: what they have counted stays, and what they have put
 * to far peers is there.
 */
static cudaError_t ep_masks_settle(const struct shmemx_ep *ep)
{
    if (ep->shape.far)
        ep_masks_quiet<<<1, 1, 0, ep->kernels->stream>>>();
    return cudaDeviceSynchronize();
}

static int ep_device_masks(struct shmemx_ep *ep, enum ep_masks_how how)
{
    cudaError_t status = how == EP_MASKS_LOOK ? cudaSuccess : ep_masks_settle(ep);

    if (!status)
        status = ep_masks_copy(ep, how == EP_MASKS_WRITE, ep->kernels->stream);
    return status ? ep_cuda_refuse("shmemx_ep_mask_query", "no copy of masks from or to the GPU", status) : 0;
}

/* At the beginning of an instance. */
static cudaError_t ep_masks_first(struct shmemx_ep *ep)
{
    cudaError_t status;

    if (!ep->masks)
        return cudaSuccess;
    status = ep_masks_copy(ep, false, ep->kernels->stream);
    ep->masks->live->limit = (uint64_t)(ep->masks->limit * 1e9);
    return status ? status : ep_masks_copy(ep, true, ep->kernels->stream);
}

/* Before a launch. What others tell is taken where the host may wait: a graph takes nobody back. */
static void ep_masks_before(struct shmemx_ep *ep, int halves, cudaStream_t stream)
{
    if (ep->masks && (halves & SHMEMX_EP_SEND) && !ep_is_captured(stream))
        ep_masks_look(ep);
}

#endif
