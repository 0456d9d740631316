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
 * Allocate and free symmetric device memory. Collective over all PEs, with equal arguments: the counterparts of
 * shmem_malloc, shmem_calloc, shmem_align and shmem_free. `size`, `count * size` and `alignment` are in bytes;
 * `alignment` is a power of two and a multiple of sizeof(void *).
 *
 * Returns a device address: for kernels, for cudaMemcpy, and for all routines of shmem.h that take symmetric
 * addresses but those that wait for a word, since waiting on device memory is for kernels. NULL for zero bytes;
 * NULL on all PEs where the request does not fit (SHMEM_DEVICE_SYMMETRIC_SIZE).
 *
 * The first such call, or shmemx_buffer_register_symmetric, attaches the GPU: the one that is current in the
 * calling thread (cudaSetDevice), else one by the PE's number on its host, which becomes current. A PE uses one
 * GPU. The call must not run while other threads of the PE communicate, nor while a kernel of this PE waits for
 * another PE; nor may shmem_malloc from then on, because kernels reach host memory too, and the driver cannot add
 * to it meanwhile. Where any PE has no usable GPU, each of these says why in a line and all PEs get NULL.
 */
void *shmemx_malloc_device(size_t size);
void *shmemx_calloc_device(size_t count, size_t size);
void *shmemx_align_device(size_t alignment, size_t size);
void shmemx_free_device(void *ptr);

/*
 * Make device memory of the program symmetric, or end that. Collective over all PEs. [addr, addr + length) lies
 * inside one allocation of cudaMalloc; the addresses may differ between PEs, the length in bytes may not. `flags`
 * is 0. At most eight such buffers exist at a time.
 *
 * register returns addr, or NULL on all PEs after a line of cause and cure. unregister takes the same addr and
 * length, and returns 0, or nonzero after a line.
 */
void *shmemx_buffer_register_symmetric(void *addr, size_t length, int flags);
int shmemx_buffer_unregister_symmetric(void *addr, size_t length);

/*
 * Name device memory that is source or target here of transfers with host memory of other PEs. Local. For device
 * memory outside the symmetric heap, after the GPU is attached; `length` is in bytes. Transfers with device memory of
 * other PEs do not need it. 0, or nonzero after a line.
 */
int shmemx_buffer_register(void *addr, size_t length);
int shmemx_buffer_unregister(void *addr);
void shmemx_buffer_unregister_all(void);

/*
 * Let the device routines work in a module that was loaded by the driver API. Local. `module` is the CUmodule (NVRTC,
 * cubin files). To be called after the GPU is attached, and again after each shmem_init. 0, or nonzero after a line.
 */
int shmemx_module_init(void *module);

/*
 * Count how often kernels and the proxy have waited for other hosts. Local. *kernels: how often, since the GPU was
 * attached, kernels of this PE that have ended waited until something was complete at a PE of another host (quiets,
 * gets, atomics that fetch). *threads: how often the threads of the proxy did so for them. Zeros where there is no
 * proxy.
 */
void shmemx_proxy_waits(uint64_t *kernels, uint64_t *threads);

/*
 * Count what the proxy has moved for kernels. Local. *moved: bytes of puts, gets and atomics that it has started since
 * the GPU was attached. *copied: those of them that went through the rings, in host memory, since their source or
 * destination here is no memory that the transports use themselves, or they were short. Zeros where there is no proxy.
 */
void shmemx_proxy_bytes(uint64_t *moved, uint64_t *copied);

#ifdef __cplusplus
}
#endif
#endif

/* In device code: the routines of shmem.h that kernels can call. */
#ifdef __CUDACC__
#include <shmem/device.cuh>
#endif

#endif
