/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads libfabric, only when the network is needed: programs on one host never pay for it. */
#define _GNU_SOURCE
#include "transports/efa/nic/libfabric_load.h"

#include "base/process/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WSH_EFA_LIBRARY "libfabric.so.1"
#define WSH_EFA_OLDEST FI_VERSION(1, 17)
/* NODELETE below: providers leave threads and exit handlers behind, whose code must stay mapped. */
/* Asking the efa provider for less than this turns the device's RDMA off. */
#define WSH_EFA_API FI_VERSION(1, 18)
/* From this one on device memory can be registered by a descriptor. */
#define WSH_EFA_API_DMABUF FI_VERSION(1, 20)

static int load_symbols(struct wsh_efa_lib *lib, const char **missing)
{
    const struct {
        const char *name;
        void **to;
    } symbols[] = {
        {"fi_version", (void **)&lib->get_version}, {"fi_getinfo", (void **)&lib->getinfo},
        {"fi_freeinfo", (void **)&lib->freeinfo},   {"fi_dupinfo", (void **)&lib->dupinfo},
        {"fi_fabric", (void **)&lib->fabric},       {"fi_strerror", (void **)&lib->strerror},
    };

    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        *symbols[i].to = dlsym(lib->handle, symbols[i].name);
        if (!*symbols[i].to) {
            *missing = symbols[i].name;
            return -ENODEV;
        }
    }
    return 0;
}

int wsh_efa_lib_open(struct wsh_efa_lib *lib, char *why, size_t size)
{
    const char *missing = NULL, *error;

    memset(lib, 0, sizeof *lib);
    lib->handle = dlopen(WSH_EFA_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!lib->handle) {
        error = dlerror();
        snprintf(why, size, "cannot load libfabric (%s); %s", error,
                 wsh_library_cure(error, "install it (Debian: libfabric1)"));
        return -ENODEV;
    }
    if (load_symbols(lib, &missing)) {
        snprintf(why, size, "%s lacks %s; install libfabric 1.17 or newer", WSH_EFA_LIBRARY, missing);
        goto err_handle;
    }
    lib->version = lib->get_version();
    if (FI_VERSION_LT(lib->version, WSH_EFA_OLDEST)) {
        snprintf(why, size, "libfabric %u.%u is too old; install 1.17 or newer", FI_MAJOR(lib->version),
                 FI_MINOR(lib->version));
        goto err_handle;
    }
    lib->api = FI_VERSION_LT(lib->version, WSH_EFA_API) ? lib->version : WSH_EFA_API;
    lib->api_hmem = FI_VERSION_LT(lib->version, WSH_EFA_API_DMABUF) ? lib->api : WSH_EFA_API_DMABUF;
    return 0;
err_handle:
    wsh_efa_lib_close(lib);
    return -ENODEV;
}

void wsh_efa_lib_close(struct wsh_efa_lib *lib)
{
    if (lib->handle)
        dlclose(lib->handle);
    lib->handle = NULL;
}
