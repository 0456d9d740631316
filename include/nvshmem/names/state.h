/* SPDX-License-Identifier: BSD-3-Clause */
/* Where device heaps lie, for kernels, under the names of NVSHMEM's internals; no more of these. */
#ifndef WSH_NV_STATE_H
#define WSH_NV_STATE_H

#include "shell.h"

#ifdef WSH_NV_KERNELS

/* peer_heap_base_p2p[npes]: NULL where this GPU does not reach the heap of a PE by loads and stores. */
struct wsh_nv_state {
    int mype, npes;
    void *heap_base;
    void **peer_heap_base_p2p;
};

WSH_NV_KERNEL struct wsh_nv_state wsh_nv_device_state(void)
{
    return {shmem_my_pe(), shmem_n_pes(), shmemx_device_heap_base(), shmemx_device_heap_peer_bases()};
}

#define nvshmemi_device_state_d (wsh_nv_device_state())

#endif
#endif
