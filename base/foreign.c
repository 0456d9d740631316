/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "base/foreign.h"

#include "base/log.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Ours has a symbol that says so. */
static bool is_ours(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    bool found = library && dlsym(library, "nvshmemx_is_warpshmem");

    if (library)
        dlclose(library);
    return found;
}

/* The one that comes after `skip` others. */
struct look {
    int skip;
    char path[4096];
};

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
    const char *name = strrchr(info->dlpi_name, '/');
    struct look *look = arg;

    (void)size;
    if (!name || strncmp(name, "/libnvshmem_host.so", strlen("/libnvshmem_host.so")) || look->skip-- > 0)
        return 0;
    snprintf(look->path, sizeof look->path, "%s", info->dlpi_name);
    return 1;
}

/* The loader's lock is held in look_at, where dlopen so could wait for a thread that waits for it. */
void wsh_foreign_note(void)
{
    for (int i = 0;; i++) {
        struct look look = {i, ""};

        if (!dl_iterate_phdr(look_at, &look))
            return;
        if (!is_ours(look.path))
            wsh_warn(
                "NVIDIA's %s is loaded in this process: what asks for a library of that name gets it, and "
                "routines called there know nothing of this job; load warpshmem's before it "
                "(LD_LIBRARY_PATH, "
                "or dlopen by its path)",
                look.path);
    }
}
