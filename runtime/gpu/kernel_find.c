/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the kernel that a program passes by address. The address is that of a function of the host, by which only the
 * CUDA runtime of the module that has the kernel knows it: modules ask the runtime that they are linked with.
 */
#define _GNU_SOURCE
#include "base/log.h"
#include "runtime/gpu/image.h"
#include "runtime/gpu/view/registered_modules.h"

#include <dlfcn.h>
#include <string.h>

enum { NOT_FOUND = 98 }; /* cudaErrorInvalidDeviceFunction */

/* By a runtime that is a shared library of the process. */
static int query_shared_runtime(const void *kernel, void **function, bool *there)
{
    int (*find)(void **function, const void *kernel);
    void *symbol = dlsym(RTLD_DEFAULT, "cudaGetFuncBySymbol");

    *there = symbol;
    if (!symbol)
        return NOT_FOUND;
    memcpy(&find, &symbol, sizeof find);
    return find(function, kernel);
}

int wsh_kernel_find(const void *kernel, void **function)
{
    Dl_info info;
    bool there = false;
    int status;

    /* What is no function of the process is a handle of the driver. */
    if (!dladdr(kernel, &info)) {
        *function = (void *)(uintptr_t)kernel;
        return kernel ? 0 : NOT_FOUND;
    }
    status = wsh_registered_modules_find(kernel, function);
    if (status)
        status = query_shared_runtime(kernel, function, &there);
    if (!status || there)
        return status;
    wsh_error(
        "no unit that includes nvshmem.h or shmemx.h has the kernel at %p of %s, and the process has no "
        "libcudart.so to ask: include the header where the kernel is, or link with -cudart shared",
        kernel, info.dli_fname);
    return -1;
}
