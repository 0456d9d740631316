/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the routines of libwarpshmem by name. */
#define _GNU_SOURCE
#include "trace/trace.h"

#include "base/log.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WSH_TRACE_ROUTINE(name, kind) #name,
static const char *const names[] = {
#include "trace/names.h"
};
#undef WSH_TRACE_ROUTINE

void *wsh_trace_next[WSH_TRACE_ROUTINES];

const char *wsh_trace_name(enum wsh_trace_routine routine)
{
    return names[routine];
}

/* What the process has loaded for one of its own libraries alone, as ctypes does; it stays loaded. */
static void *loaded(const char *name)
{
    static const char *const libraries[] = {"libwarpshmem.so.0", "libwarpshmem-ep.so.0"};
    void *found = NULL;

    for (size_t i = 0; !found && i < sizeof libraries / sizeof libraries[0]; i++) {
        void *library = dlopen(libraries[i], RTLD_NOLOAD | RTLD_LAZY);

        if (!library)
            continue;
        found = dlsym(library, name);
        dlclose(library);
    }
    return found;
}

void wsh_trace_missing(const char *name)
{
    wsh_error("SHMEM_TRACE: libwarpshmem is not loaded, or linked statically, and has no %s here; link the "
              "program with "
              "libwarpshmem.so",
              name);
    abort();
}

void *wsh_trace_library(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    if (!found)
        found = loaded(name);
    if (!found)
        wsh_trace_missing(name);
    return found;
}

/* Where this library was not preloaded but loaded, the library's is the first. */
void *wsh_trace_extension(const char *name)
{
    void *next = dlsym(RTLD_NEXT, name), *first = dlsym(RTLD_DEFAULT, name);
    Dl_info own, other;

    if (next)
        return next;
    if (first && dladdr(first, &other) && dladdr(names, &own) && own.dli_fbase != other.dli_fbase)
        return first;
    return loaded(name);
}

void *wsh_trace_look_up(enum wsh_trace_routine routine)
{
    const char *name = names[routine];
    char profiling[96];
    void *found = strncmp(name, "shmemx_", 7) ? NULL : wsh_trace_extension(name);

    snprintf(profiling, sizeof profiling, "p%s", name);
    if (!found)
        found = wsh_trace_library(profiling);
    __atomic_store_n(&wsh_trace_next[routine], found, __ATOMIC_RELAXED);
    return found;
}
