/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads libfabric, only when the network is needed: programs on one host never pay for it. */
#ifndef WSH_EFA_FABRIC_H
#define WSH_EFA_FABRIC_H

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <stdbool.h>
#include <stdint.h>

/* The entry points of libfabric that its headers do not inline. */
struct wsh_efa_lib {
    void *handle;
    uint32_t version;  /* of the library that was loaded */
    uint32_t api;      /* the API version to ask it for */
    uint32_t api_hmem; /* the same where device memory is asked for */
    __typeof__(fi_version) *get_version;
    __typeof__(fi_getinfo) *getinfo;
    __typeof__(fi_freeinfo) *freeinfo;
    __typeof__(fi_dupinfo) *dupinfo;
    __typeof__(fi_fabric) *fabric;
    __typeof__(fi_strerror) *strerror;
};

/* 0; -ENODEV: no libfabric here, `why` (of `size` bytes) then says so in words. */
int wsh_efa_lib_open(struct wsh_efa_lib *lib, char *why, size_t size);
void wsh_efa_lib_close(struct wsh_efa_lib *lib);

/* Device memory can be registered by a descriptor. */
static inline bool wsh_efa_lib_knows_dmabuf(const struct wsh_efa_lib *lib)
{
    return FI_VERSION_GE(lib->api_hmem, FI_VERSION(1, 20));
}

#endif
