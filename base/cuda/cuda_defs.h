/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * THE table of driver routines: one row each, resolved together when the driver is loaded.
 *   WSH_CUDA(field, "exported name", (arguments))
 * Types are those of base/cuda/cuda.h; every routine returns a status, 0 = success. The names are those that
 * the driver has exported since CUDA 11.7; a newer driver keeps them.
 */
WSH_CUDA(init, "cuInit", (unsigned flags))
WSH_CUDA(error_string, "cuGetErrorString", (int status, const char **text))
WSH_CUDA(device_count, "cuDeviceGetCount", (int *n))
WSH_CUDA(device_name, "cuDeviceGetName", (char *name, int len, int device))
WSH_CUDA(device_pci, "cuDeviceGetPCIBusId", (char *pci, int len, int device))
WSH_CUDA(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))
WSH_CUDA(primary_retain, "cuDevicePrimaryCtxRetain", (wsh_cu_ctx * ctx, int device))
WSH_CUDA(primary_release, "cuDevicePrimaryCtxRelease_v2", (int device))
WSH_CUDA(ctx_get, "cuCtxGetCurrent", (wsh_cu_ctx * ctx))
WSH_CUDA(ctx_set, "cuCtxSetCurrent", (wsh_cu_ctx ctx))
WSH_CUDA(ctx_push, "cuCtxPushCurrent_v2", (wsh_cu_ctx ctx))
WSH_CUDA(ctx_pop, "cuCtxPopCurrent_v2", (wsh_cu_ctx * ctx))
WSH_CUDA(ctx_device, "cuCtxGetDevice", (int *device))
WSH_CUDA(ctx_priorities, "cuCtxGetStreamPriorityRange", (int *least, int *greatest))
WSH_CUDA(mem_info, "cuMemGetInfo_v2", (size_t * unused, size_t *total))
WSH_CUDA(mem_alloc, "cuMemAlloc_v2", (wsh_cu_ptr * ptr, size_t len))
WSH_CUDA(mem_free, "cuMemFree_v2", (wsh_cu_ptr ptr))
WSH_CUDA(mem_range, "cuMemGetAddressRange_v2", (wsh_cu_ptr * base, size_t *len, wsh_cu_ptr ptr))
WSH_CUDA(mem_granularity, "cuMemGetAllocationGranularity",
         (size_t * granularity, const struct wsh_cu_prop *prop, int option))
WSH_CUDA(mem_create, "cuMemCreate",
         (wsh_cu_mem * mem, size_t len, const struct wsh_cu_prop *prop, unsigned long long flags))
WSH_CUDA(mem_release, "cuMemRelease", (wsh_cu_mem mem))
WSH_CUDA(mem_export, "cuMemExportToShareableHandle",
         (void *handle, wsh_cu_mem mem, int type, unsigned long long flags))
WSH_CUDA(mem_import, "cuMemImportFromShareableHandle", (wsh_cu_mem * mem, void *handle, int type))
WSH_CUDA(mem_retain, "cuMemRetainAllocationHandle", (wsh_cu_mem * mem, void *ptr))
WSH_CUDA(mem_reserve, "cuMemAddressReserve",
         (wsh_cu_ptr * ptr, size_t len, size_t align, wsh_cu_ptr hint, unsigned long long flags))
WSH_CUDA(mem_unreserve, "cuMemAddressFree", (wsh_cu_ptr ptr, size_t len))
WSH_CUDA(mem_map, "cuMemMap",
         (wsh_cu_ptr ptr, size_t len, size_t off, wsh_cu_mem mem, unsigned long long flags))
WSH_CUDA(mem_unmap, "cuMemUnmap", (wsh_cu_ptr ptr, size_t len))
WSH_CUDA(mem_access, "cuMemSetAccess",
         (wsh_cu_ptr ptr, size_t len, const struct wsh_cu_access *access, size_t n))
WSH_CUDA(mem_dmabuf, "cuMemGetHandleForAddressRange",
         (void *handle, wsh_cu_ptr ptr, size_t len, int type, unsigned long long flags))
WSH_CUDA(ipc_get, "cuIpcGetMemHandle", (struct wsh_cu_ipc * ipc, wsh_cu_ptr ptr))
WSH_CUDA(ipc_open, "cuIpcOpenMemHandle_v2", (wsh_cu_ptr * ptr, struct wsh_cu_ipc ipc, unsigned flags))
WSH_CUDA(ipc_close, "cuIpcCloseMemHandle", (wsh_cu_ptr ptr))
WSH_CUDA(pointer_get, "cuPointerGetAttribute", (void *value, int attribute, wsh_cu_ptr ptr))
WSH_CUDA(pointer_set, "cuPointerSetAttribute", (const void *value, int attribute, wsh_cu_ptr ptr))
WSH_CUDA(host_alloc, "cuMemHostAlloc", (void **ptr, size_t len, unsigned flags))
WSH_CUDA(host_free, "cuMemFreeHost", (void *ptr))
WSH_CUDA(host_register, "cuMemHostRegister_v2", (void *ptr, size_t len, unsigned flags))
WSH_CUDA(host_unregister, "cuMemHostUnregister", (void *ptr))
WSH_CUDA(host_pointer, "cuMemHostGetDevicePointer_v2", (wsh_cu_ptr * ptr, void *host, unsigned flags))
WSH_CUDA(stream_create, "cuStreamCreateWithPriority", (wsh_cu_stream * stream, unsigned flags, int priority))
WSH_CUDA(stream_destroy, "cuStreamDestroy_v2", (wsh_cu_stream stream))
WSH_CUDA(stream_query, "cuStreamQuery", (wsh_cu_stream stream))
WSH_CUDA(stream_sync, "cuStreamSynchronize", (wsh_cu_stream stream))
WSH_CUDA(stream_write32, "cuStreamWriteValue32_v2",
         (wsh_cu_stream stream, wsh_cu_ptr at, uint32_t value, unsigned flags))
WSH_CUDA(stream_write64, "cuStreamWriteValue64_v2",
         (wsh_cu_stream stream, wsh_cu_ptr at, uint64_t value, unsigned flags))
WSH_CUDA(copy, "cuMemcpyAsync", (wsh_cu_ptr dst, wsh_cu_ptr src, size_t len, wsh_cu_stream stream))
WSH_CUDA(fill, "cuMemsetD8Async", (wsh_cu_ptr dst, unsigned char byte, size_t len, wsh_cu_stream stream))
WSH_CUDA(module_load, "cuModuleLoadData", (wsh_cu_module * module, const void *image))
WSH_CUDA(module_unload, "cuModuleUnload", (wsh_cu_module module))
WSH_CUDA(module_function, "cuModuleGetFunction",
         (wsh_cu_function * function, wsh_cu_module module, const char *name))
WSH_CUDA(module_global, "cuModuleGetGlobal_v2",
         (wsh_cu_ptr * ptr, size_t *len, wsh_cu_module module, const char *name))
/* Of CUDA 12.4; NULL where the driver is older. */
WSH_CUDA(module_count, "cuModuleGetFunctionCount", (unsigned *n, wsh_cu_module module))
WSH_CUDA(module_functions, "cuModuleEnumerateFunctions",
         (wsh_cu_function * functions, unsigned n, wsh_cu_module module))
WSH_CUDA(function_name, "cuFuncGetName", (const char **name, wsh_cu_function function))
WSH_CUDA(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor",
         (int *blocks, wsh_cu_function function, int threads, size_t shared))
WSH_CUDA(launch_cooperative, "cuLaunchCooperativeKernel",
         (wsh_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
          unsigned block_y, unsigned block_z, unsigned shared, wsh_cu_stream stream, void **args))
WSH_CUDA(launch, "cuLaunchKernel",
         (wsh_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
          unsigned block_y, unsigned block_z, unsigned shared, wsh_cu_stream stream, void **args,
          void **extra))
/* Of CUDA 11.8; NULL where the driver is older. */
WSH_CUDA(launch_ex, "cuLaunchKernelEx",
         (const struct wsh_cu_launch *launch, wsh_cu_function function, void **args, void **extra))
WSH_CUDA(driver_version, "cuDriverGetVersion", (int *version))
