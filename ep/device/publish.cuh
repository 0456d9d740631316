/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of a dispatch for the host, by kernels whose handles lie where it does not read. */
#ifndef WSH_EP_DEVICE_PUBLISH_CUH
#define WSH_EP_DEVICE_PUBLISH_CUH

#include "ep/device/run.cuh"

/* What is put to the host of a handle: all up to the sums. */
EP_FN size_t ep_published_bytes(const struct ep_shape *shape)
{
    return ep_kept_far_parts(shape, 0) - shape->handle;
}

/* One warp puts the handle's numbers, which its block has stored, to the host. */
EP_STEP void ep_publish_kept(const struct ep_run *run, const struct ep_published *published, int handle)
{
    const struct ep_shape *shape = &run->shape;
    size_t bytes = ep_published_bytes(shape);
    const char *from = run->arena + shape->handle + handle * shape->kept;
    char *to = published->kept + handle * bytes;

    if (published->ticket)
        shmem_putmem_signal_nbi_warp(to, from, bytes, published->host + handle, published->ticket, SHMEM_SIGNAL_SET,
                                     run->pes[shape->me]);
    else
        shmem_putmem_nbi_warp(to, from, bytes, run->pes[shape->me]);
}

/* Before the end of a call, by one warp. */
EP_STEP void ep_publish_numbers(const struct ep_run *run, int handle)
{
    ep_publish_kept(run, &run->published, handle);
}

/* At the end of a receiving half. */
EP_STEP void ep_publish(const struct ep_run *run, const struct ep_published *published, int handle)
{
    if (ep_grid_last(run->state->arrived + EP_ARRIVED_PUBLISH) && ep_group_worker(run) == 0)
        ep_publish_kept(run, published, handle);
}

#endif
