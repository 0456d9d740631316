/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands in for libfabric, by its name in LD_LIBRARY_PATH: what the library of this machine has is passed
 * on, but for what hmem.c changes.
 */
#include "test/fake_hmem/hmem.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *find(const char *name)
{
    static void *handle;
    void *found;

    if (!handle)
        handle = dlopen(FAKE_HMEM_LIBDIR "/libfabric.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    found = handle ? dlsym(handle, name) : NULL;
    if (found)
        return found;
    fprintf(stderr, "fake hmem: no %s: %s\n", name, dlerror());
    exit(99);
}

static __attribute__((constructor)) void open_real(void)
{
    struct fake_hmem_lib lib;
    uint32_t (*version)(void);

    *(void **)&version = find("fi_version");
    lib.version = version();
    *(void **)&lib.getinfo = find("fi_getinfo");
    *(void **)&lib.freeinfo = find("fi_freeinfo");
    *(void **)&lib.dupinfo = find("fi_dupinfo");
    *(void **)&lib.fabric = find("fi_fabric");
    fake_hmem_open(&lib);
}

uint32_t fi_version(void)
{
    return fake_hmem_version();
}

const char *fi_strerror(int err)
{
    const char *(*text)(int err);

    *(void **)&text = find("fi_strerror");
    return text(err);
}

void fi_freeinfo(struct fi_info *info)
{
    void (*freeinfo)(struct fi_info * info);

    *(void **)&freeinfo = find("fi_freeinfo");
    freeinfo(info);
}

struct fi_info *fi_dupinfo(const struct fi_info *info)
{
    struct fi_info *(*dupinfo)(const struct fi_info *info);

    *(void **)&dupinfo = find("fi_dupinfo");
    return dupinfo(info);
}

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    return fake_hmem_fabric(attr, fabric, context);
}

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct fi_info *hints, struct fi_info **info)
{
    return fake_hmem_getinfo(version, node, service, flags, hints, info);
}
