/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the few driver routines that are needed, by their exported names, so that no CUDA header is. */
#include "runtime/base/cuda.h"

#include "runtime/base/err.h"
#include "runtime/base/log.h"

#include <dlfcn.h>

static struct {
    int (*init)(unsigned flags);
    int (*count)(int *n);
    int (*name)(char *name, int len, int device);
    int (*pci)(char *pci, int len, int device);
    int n;
} driver;

static int load_driver(void)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (!lib)
        return -ENODEV;
    *(void **)&driver.init = dlsym(lib, "cuInit");
    *(void **)&driver.count = dlsym(lib, "cuDeviceGetCount");
    *(void **)&driver.name = dlsym(lib, "cuDeviceGetName");
    *(void **)&driver.pci = dlsym(lib, "cuDeviceGetPCIBusId");
    return driver.init && driver.count && driver.name && driver.pci ? 0 : -ENODEV;
}

int wsh_cuda_open(void)
{
    int rc = driver.n ? 0 : load_driver(), status;

    if (rc || driver.n)
        return rc;
    status = driver.init(0);
    if (status || driver.count(&driver.n)) {
        wsh_info(WSH_SUB_INIT, "the CUDA driver is here but does not start (status %d)", status);
        return -EIO;
    }
    return driver.n ? 0 : -ENODEV;
}

int wsh_cuda_count(void)
{
    return driver.n;
}

int wsh_cuda_describe(int i, char *name, size_t name_size, char *pci, size_t pci_size)
{
    return driver.name(name, (int)name_size, i) || driver.pci(pci, (int)pci_size, i) ? -EIO : 0;
}
