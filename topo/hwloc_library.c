/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads hwloc when a topology is first read. */
#include "topo/hwloc_library.h"

#include "base/process/library.h"
#include "topo/topo.h"

#include <stdio.h>

#define OLDEST 0x00020500

struct wsh_hwloc wsh_hwloc;

static const struct wsh_symbol symbols[] = {
#define SYMBOL(name) {"hwloc_" #name, offsetof(struct wsh_hwloc, name)},
    WSH_HWLOC_ROUTINES(SYMBOL)
#undef SYMBOL
};

/* Its structs are those of the headers as long as the first number is the same. */
static bool fits(void)
{
    unsigned version = wsh_hwloc.get_api_version();

    return version >= OLDEST && version >> 16 == HWLOC_API_VERSION >> 16;
}

static struct wsh_library library = {
    .soname = WSH_HWLOC_SONAME,
    .cure = "install hwloc 2.5 or newer (Debian, Ubuntu: libhwloc15)",
    .symbols = symbols,
    .n_symbols = sizeof symbols / sizeof symbols[0],
    .table = &wsh_hwloc,
    .fits = fits,
    .global = true,
    .mutex = PTHREAD_MUTEX_INITIALIZER,
};

const char *wsh_hwloc_open(void)
{
    return wsh_library_open(&library) ? library.why : NULL;
}

const char *wsh_topo_lacks(void)
{
    return wsh_hwloc_open();
}

int wsh_topo_library(char *text, size_t size)
{
    const char *why = wsh_hwloc_open();
    unsigned version = why ? 0 : wsh_hwloc.get_api_version();

    if (why)
        snprintf(text, size, "%s", why);
    else
        snprintf(text, size, "version %u.%u, %s", version >> 16, version >> 8 & 0xff,
                 wsh_library_file(&library));
    return why ? -1 : 0;
}
