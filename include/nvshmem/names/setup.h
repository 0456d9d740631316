/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up, queries, memory, buffers, modules and launches. */
#ifndef WSH_NV_SETUP_H
#define WSH_NV_SETUP_H

#include "shell.h"

#ifndef __CUDACC_RTC__

/* Kernels may call NVSHMEM from its start on, where a GPU is current. */
static inline int wsh_nv_init(int thread_level)
{
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;

    attr.thread_level = thread_level;
    return shmemx_init_attr(SHMEMX_INIT_ATTACH_GPU, &attr);
}

WSH_NV_HOST int nvshmem_init_thread(int requested, int *provided)
{
    int status = wsh_nv_init(requested);

    if (!status && provided)
        shmem_query_thread(provided);
    return status;
}

WSH_NV_HOST void nvshmem_init(void)
{
    if (wsh_nv_init(SHMEM_THREAD_SERIALIZED))
        exit(-1);
}

WSH_NV_HOST void nvshmem_query_thread(int *provided)
{
    shmem_query_thread(provided);
}

WSH_NV_HOST int nvshmemx_init_status(void)
{
    int initialized;

    shmem_query_initialized(&initialized);
    return initialized ? NVSHMEM_STATUS_IS_INITIALIZED : NVSHMEM_STATUS_NOT_INITIALIZED;
}

WSH_NV_HOST void nvshmem_finalize(void)
{
    shmem_finalize();
}

WSH_NV_HOST void nvshmemx_hostlib_finalize(void)
{
    shmem_finalize();
}

/* NVSHMEM's symmetric heap is device memory. */
WSH_NV_HOST void *nvshmem_malloc(size_t size)
{
    return shmemx_malloc_device(size);
}

WSH_NV_HOST void *nvshmem_calloc(size_t count, size_t size)
{
    return shmemx_calloc_device(count, size);
}

WSH_NV_HOST void *nvshmem_align(size_t alignment, size_t size)
{
    return shmemx_align_device(alignment, size);
}

WSH_NV_HOST void nvshmem_free(void *ptr)
{
    shmemx_free_device(ptr);
}

WSH_NV_HOST int nvshmemx_buffer_register(void *addr, size_t length)
{
    return shmemx_buffer_register(addr, length);
}

WSH_NV_HOST int nvshmemx_buffer_unregister(void *addr)
{
    return shmemx_buffer_unregister(addr);
}

WSH_NV_HOST void nvshmemx_buffer_unregister_all(void)
{
    shmemx_buffer_unregister_all();
}

WSH_NV_HOST void *nvshmemx_buffer_register_symmetric(void *addr, size_t length, int flags)
{
    return shmemx_buffer_register_symmetric(addr, length, flags);
}

/* It stays at addr, whatever is preferred: its pages are mapped there. */
WSH_NV_HOST void *nvshmemx_buffer_register_symmetric_at_preferred_address(void *addr, size_t length,
                                                                          void *preferred, int flags)
{
    (void)preferred;
    return shmemx_buffer_register_symmetric(addr, length, flags);
}

WSH_NV_HOST int nvshmemx_buffer_unregister_symmetric(void *addr, size_t length)
{
    return shmemx_buffer_unregister_symmetric(addr, length);
}

/* *out_qp_array is for free(). */
WSH_NV_HOST int nvshmemx_qp_create(int num_qps, nvshmemx_qp_handle_t **out_qp_array)
{
    if (num_qps < 0 || !out_qp_array)
        return wsh_nv_refuse("nvshmemx_qp_create: num_qps is negative, or out_qp_array is NULL");
    *out_qp_array = (nvshmemx_qp_handle_t *)calloc((size_t)num_qps + 1, sizeof **out_qp_array);
    if (!*out_qp_array)
        return NVSHMEMX_ERROR_OUT_OF_MEMORY;
    return shmemx_queue_create(num_qps, *out_qp_array) ? NVSHMEMX_ERROR_INTERNAL : NVSHMEMX_SUCCESS;
}

/* A region says that puts may be given to the network together. */
WSH_NV_HOST int nvshmemx_region_start(nvshmemx_region_handle_t *handle, const nvshmemx_region_attrs_t *attrs)
{
    if (!handle)
        return wsh_nv_refuse(
            "nvshmemx_region_start: handle is NULL; pass the address of a nvshmemx_region_handle_t");
    *handle = attrs && attrs->hints & NVSHMEMX_REGION_HINT_BATCH_RMA;
    if (*handle)
        shmemx_batch_begin();
    return NVSHMEMX_SUCCESS;
}

WSH_NV_HOST int nvshmemx_region_stop(nvshmemx_region_handle_t handle)
{
    if (handle)
        shmemx_batch_end();
    return NVSHMEMX_SUCCESS;
}

#ifdef WSH_NV_HAS_CUDA

WSH_NV_HOST int nvshmemx_cumodule_init(CUmodule module)
{
    return shmemx_module_init(module) ? NVSHMEMX_ERROR_INTERNAL : NVSHMEMX_SUCCESS;
}

WSH_NV_HOST int nvshmemx_cumodule_finalize(CUmodule module)
{
    return shmemx_module_finalize(module) ? NVSHMEMX_ERROR_INTERNAL : NVSHMEMX_SUCCESS;
}

/* Programs that load libraries link with the driver's library. */
WSH_NV_HOST int nvshmemx_culibrary_init(CUlibrary library)
{
    CUmodule module;

    if (cuLibraryGetModule(&module, library) != CUDA_SUCCESS)
        return NVSHMEMX_ERROR_INVALID_VALUE;
    return nvshmemx_cumodule_init(module);
}

WSH_NV_HOST int nvshmemx_culibrary_finalize(CUlibrary library)
{
    CUmodule module;

    return cuLibraryGetModule(&module, library) == CUDA_SUCCESS ? nvshmemx_cumodule_finalize(module)
                                                                : NVSHMEMX_ERROR_INVALID_VALUE;
}

typedef struct nvshmemx_collective_launch_attr {
    cudaLaunchConfig_t cuda_config;
} nvshmemx_collective_launch_attr_t;

#ifdef WSH_NV_HAS_STREAMS

WSH_NV_HOST int nvshmemx_collective_launch(const void *func, dim3 gridDims, dim3 blockDims, void **args,
                                           size_t sharedMem, cudaStream_t stream)
{
    return shmemx_collective_launch(func, gridDims, blockDims, args, sharedMem, stream)
               ? NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED
               : NVSHMEMX_SUCCESS;
}

WSH_NV_HOST int nvshmemx_collective_launch_attr(const nvshmemx_collective_launch_attr_t *attr,
                                                const void *func, void **args)
{
    if (!attr)
        return wsh_nv_refuse(
            "nvshmemx_collective_launch_attr: attr is NULL; pass the launch's configuration");
    return shmemx_collective_launch_config(&attr->cuda_config, func, args)
               ? NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED
               : NVSHMEMX_SUCCESS;
}

WSH_NV_HOST int nvshmemx_collective_launch_query_gridsize(const void *func, dim3 blockDims, void **args,
                                                          size_t sharedMem, int *gridsize)
{
    return shmemx_collective_launch_query_gridsize(func, blockDims, args, sharedMem, gridsize)
               ? NVSHMEMX_ERROR_INTERNAL
               : NVSHMEMX_SUCCESS;
}

#else

#ifdef __cplusplus
extern "C" {
#endif
int nvshmemx_collective_launch(const void *func, dim3 gridDims, dim3 blockDims, void **args, size_t sharedMem,
                               cudaStream_t stream);
int nvshmemx_collective_launch_attr(const nvshmemx_collective_launch_attr_t *attr, const void *func,
                                    void **args);
int nvshmemx_collective_launch_query_gridsize(const void *func, dim3 blockDims, void **args, size_t sharedMem,
                                              int *gridsize);
#ifdef __cplusplus
}
#endif

#endif
#endif
#endif

WSH_NV_BOTH int nvshmem_my_pe(void)
{
    return shmem_my_pe();
}

WSH_NV_BOTH int nvshmem_n_pes(void)
{
    return shmem_n_pes();
}

WSH_NV_BOTH void nvshmem_info_get_version(int *major, int *minor)
{
    WSH_NV_WRITES(major && minor, "nvshmem_info_get_version: major or minor");
    *major = NVSHMEM_MAJOR_VERSION;
    *minor = NVSHMEM_MINOR_VERSION;
}

WSH_NV_BOTH void nvshmem_info_get_name(char *name)
{
    const char text[] = NVSHMEM_VENDOR_STRING;

    WSH_NV_WRITES(name, "nvshmem_info_get_name: name");
    for (unsigned i = 0; i < sizeof text; i++)
        name[i] = text[i];
}

WSH_NV_BOTH void nvshmemx_vendor_get_version_info(int *major, int *minor, int *patch)
{
    WSH_NV_WRITES(major && minor && patch, "nvshmemx_vendor_get_version_info: major, minor or patch");
    *major = NVSHMEM_VENDOR_MAJOR_VERSION;
    *minor = NVSHMEM_VENDOR_MINOR_VERSION;
    *patch = NVSHMEM_VENDOR_PATCH_VERSION;
}

WSH_NV_BOTH void *nvshmem_ptr(const void *dest, int pe)
{
    return shmem_ptr(dest, pe);
}

/* Memory that a multicast writes: there is none. */
WSH_NV_BOTH void *nvshmemx_mc_ptr(nvshmem_team_t team, const void *ptr)
{
    (void)team;
    (void)ptr;
    return 0;
}

/* In a kernel it also stops the kernel with an error. */
WSH_NV_BOTH void nvshmem_global_exit(int status)
{
    shmem_global_exit(status);
}

WSH_NV_BOTH void nvshmem_fence(void)
{
    shmem_fence();
}

WSH_NV_BOTH void nvshmem_quiet(void)
{
    shmem_quiet();
}

WSH_NV_BOTH void nvshmemx_flush(void)
{
    shmemx_flush();
}

WSH_NV_BOTH int nvshmemx_region_is_active(uint32_t hints, int *active)
{
    (void)hints;
    WSH_NV_WRITES(active, "nvshmemx_region_is_active: active");
    *active = 0;
    return NVSHMEMX_SUCCESS;
}

/* Copies take no shared memory of the program here. */
WSH_NV_BOTH int nvshmemx_ask_smem(nvshmemx_smem_amount_t amount)
{
    (void)amount;
    return 0;
}

#ifdef WSH_NV_KERNELS

WSH_NV_KERNEL void nvshmemx_give_smem(void *smem, size_t size)
{
    (void)smem;
    (void)size;
}

WSH_NV_KERNEL void nvshmemx_release_smem(void)
{
}

WSH_NV_KERNEL int nvshmemx_region_start_block(nvshmemx_region_handle_t *handle,
                                              const nvshmemx_region_attrs_t *attrs)
{
    (void)attrs;
    *handle = 0;
    return NVSHMEMX_SUCCESS;
}

WSH_NV_KERNEL int nvshmemx_region_stop_block(nvshmemx_region_handle_t handle)
{
    (void)handle;
    return NVSHMEMX_SUCCESS;
}

WSH_NV_KERNEL void nvshmemx_flush_warp(void)
{
    shmemx_flush_warp<N>();
}

WSH_NV_KERNEL void nvshmemx_flush_block(void)
{
    shmemx_flush_block<N>();
}

/* Of the queues with all PEs. */
#define WSH_NV_ORDER(NAME, SUFFIX)                                                                      \
    WSH_NV_KERNEL void nvshmemx_qp_##NAME##SUFFIX(int pe, nvshmemx_qp_handle_t *qp_handle, int num_qps) \
    {                                                                                                   \
        (void)pe;                                                                                       \
        shmemx_queue_##NAME##SUFFIX<N>(qp_handle, num_qps);                                             \
    }
WSH_NV_ORDER(quiet, )
WSH_NV_ORDER(quiet, _warp)
WSH_NV_ORDER(quiet, _block)
WSH_NV_ORDER(fence, )
WSH_NV_ORDER(fence, _warp)
WSH_NV_ORDER(fence, _block)
#undef WSH_NV_ORDER

#endif

#ifdef WSH_NV_HAS_STREAMS

WSH_NV_STREAM void nvshmemx_quiet_on_stream(cudaStream_t stream)
{
    shmemx_quiet_on_stream<N>(stream);
}

WSH_NV_STREAM void nvshmemx_flush_on_stream(cudaStream_t stream)
{
    shmemx_quiet_on_stream<N>(stream);
}

#elif defined WSH_NV_HAS_CUDA

WSH_NV_EXTERN void nvshmemx_quiet_on_stream(cudaStream_t stream);
WSH_NV_EXTERN void nvshmemx_flush_on_stream(cudaStream_t stream);

#endif
#endif
