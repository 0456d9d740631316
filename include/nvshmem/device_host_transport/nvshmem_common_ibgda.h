/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls by queue that programs for expert parallelism make above NVSHMEM's own queue pairs, under the names that
 * they have given them. A queue is a number from 0 on, which the library takes modulo the queues that there are
 * (SHMEM_QUEUES, nvshmemx_qp_create); without any, all of them are the default one. As on a queue pair, an addition and
 * a store of a word come behind what the same queue was asked for before, to the same PE.
 */
#ifndef WSH_NV_DEVICE_HOST_TRANSPORT_NVSHMEM_COMMON_IBGDA_H
#define WSH_NV_DEVICE_HOST_TRANSPORT_NVSHMEM_COMMON_IBGDA_H

#include "../names/all.h"

#ifdef WSH_NV_KERNELS

/* In place of the transport's state: how many queues there are. A pointer to it is never needed. */
struct wsh_nv_queues {
    int num_rc_per_pe, num_devices_initialized;

    __device__ const struct wsh_nv_queues *operator->() const
    {
        return this;
    }
};

WSH_NV_KERNEL struct wsh_nv_queues ibgda_get_state(void)
{
    int n = shmemx_queue_count<N>();

    return {n ? n : 1, 1};
}

WSH_NV_KERNEL int wsh_nv_queue_of(int qp_id)
{
    return shmemx_queue_number<N>(qp_id);
}

/* By all lanes of a warp. `message_idx` is not looked at. */
template <bool kAlwaysDoPostSend = false>
static __device__ __forceinline__ void nvshmemi_ibgda_put_nbi_warp(uint64_t req_rptr, uint64_t req_lptr,
                                                                   size_t bytes, int dst_pe, int qp_id,
                                                                   int lane_id, int message_idx)
{
    (void)lane_id, (void)message_idx;
    shmemx_queue_putmem_nbi_warp<0>((void *)req_rptr, (const void *)req_lptr, bytes, dst_pe,
                                    wsh_nv_queue_of(qp_id));
}

/* is_local_copy: `pe` is this one. */
WSH_NV_KERNEL void nvshmemi_ibgda_amo_nonfetch_add(void *rptr, const int &value, int pe, int qp_id,
                                                   bool is_local_copy = false)
{
    (void)is_local_copy;
    shmemx_queue_atomic_add_behind<int>((int *)rptr, value, pe, wsh_nv_queue_of<N>(qp_id));
}

/* `imm` is not looked at. */
WSH_NV_KERNEL void nvshmemi_ibgda_rma_p(int *rptr, const int value, int dst_pe, int qp_id,
                                        uint32_t imm = 0xffffffffu)
{
    (void)imm;
    shmemx_queue_p_behind<int>(rptr, value, dst_pe, wsh_nv_queue_of<N>(qp_id));
}

/* Of the queue with all PEs. */
WSH_NV_KERNEL void nvshmemi_ibgda_quiet(int dst_pe, int qp_id)
{
    int queue = wsh_nv_queue_of<N>(qp_id);

    (void)dst_pe;
    shmemx_queue_quiet<N>(&queue, 1);
}

/* Where this GPU reaches the copy at `dst_rank` of what lies at `ptr` here; 0: it does not. */
WSH_NV_KERNEL uint64_t nvshmemi_get_p2p_ptr(const uint64_t &ptr, const int &rank, const int &dst_rank)
{
    uint64_t base = (uint64_t)shmemx_device_heap_peer_bases()[dst_rank];

    if (rank == dst_rank)
        return ptr;
    return base ? base + (ptr - (uint64_t)shmemx_device_heap_base()) : 0;
}

#endif
#endif
