/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extensions beyond the specification, all named shmemx_: memory of GPUs.
 */
#ifndef WSH_SHMEMX_H
#define WSH_SHMEMX_H

#ifdef __CUDA_ARCH__
#define WSH_DEVICE_FIRST
#endif
#include <shmem.h>

#ifndef __CUDACC_RTC__ /* NVRTC compiles device code alone */
#ifdef __cplusplus
extern "C" {
#endif

/* Hint to shmem_malloc_with_hints: memory of the GPU, as shmemx_malloc_device gives it. */
#define SHMEMX_MALLOC_DEVICE (1L << 16)

/*
 * Symmetric device memory: what shmem_malloc, calloc, align and free are for host memory, collective over all PEs with
 * equal arguments. The address is a device address: for kernels, for cudaMemcpy, and for all routines of shmem.h that
 * take symmetric addresses, but for those that wait for a word (waiting is for kernels). Zero bytes give NULL; a
 * request that does not fit (SHMEM_DEVICE_SYMMETRIC_SIZE) gives NULL on all PEs.
 *
 * The first such call, or shmemx_buffer_register_symmetric, attaches the GPU: the one that is current in the calling
 * thread (cudaSetDevice), else one by the PE's number on its host, which becomes current. A PE uses one GPU. That call
 * must not run while other threads of the PE communicate, nor while a kernel of this PE waits for another PE (the same
 * holds for shmem_malloc afterwards: kernels reach host memory too, and the driver cannot add to it then). Where any PE
 * has no usable GPU, each says why in a line and all get NULL.
 */
void *shmemx_malloc_device(size_t size);
void *shmemx_calloc_device(size_t count, size_t size);
void *shmemx_align_device(size_t alignment, size_t size);
void shmemx_free_device(void *ptr);

/*
 * Collective: makes [addr, addr + length), inside one allocation of cudaMalloc, symmetric; the addresses may differ
 * between PEs, the length may not. flags is 0. Returns addr, or NULL on all PEs after a line of cause and cure. At most
 * eight at a time. unregister: collective, with the same addr; 0 or nonzero after a line.
 */
void *shmemx_buffer_register_symmetric(void *addr, size_t length, int flags);
int shmemx_buffer_unregister_symmetric(void *addr, size_t length);

/*
 * Local: device memory outside the symmetric heap that is to be source or target here of transfers with *host* memory
 * of other PEs; transfers with device memory need it not. After the GPU is attached. 0 or nonzero after a line.
 */
int shmemx_buffer_register(void *addr, size_t length);
int shmemx_buffer_unregister(void *addr);
void shmemx_buffer_unregister_all(void);

/*
 * Local: lets the device routines work in a module that was loaded by the driver API (CUmodule: NVRTC, cubin files).
 * After the GPU is attached, and again after each shmem_init. 0 or nonzero after a line.
 */
int shmemx_module_init(void *module);

/*
 * Local: how often, since the GPU was attached, kernels of this PE have waited until something was complete at a PE of
 * another host (quiets, gets, atomics that fetch), and how often the proxy threads have, whom they ask for it. Of
 * kernels that have ended; zeros where there is no proxy.
 */
void shmemx_proxy_waits(uint64_t *kernels, uint64_t *threads);

#ifdef __cplusplus
}
#endif
#endif

/* In device code: the routines of shmem.h that kernels can call. */
#ifdef __CUDACC__
#include <shmem/device.cuh>
#endif

#endif
