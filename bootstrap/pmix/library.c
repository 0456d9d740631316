/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads PMIx where a launcher that offers it has started this process. */
#define _GNU_SOURCE
#include "bootstrap/pmix/library.h"

#include "base/process/library.h"
#include "bootstrap/boot.h"

#include <stdio.h>

struct wsh_pmix wsh_pmix;

static const struct wsh_symbol symbols[] = {
#define SYMBOL(name) {"PMIx_" #name, offsetof(struct wsh_pmix, name)},
    WSH_PMIX_ROUTINES(SYMBOL)
#undef SYMBOL
};

static struct wsh_library library = {
    .soname = WSH_PMIX_SONAME,
    .cure = "install PMIx 4.2 or newer (Debian, Ubuntu: libpmix2)",
    .symbols = symbols,
    .n_symbols = sizeof symbols / sizeof symbols[0],
    .table = &wsh_pmix,
    .mutex = PTHREAD_MUTEX_INITIALIZER,
};

const char *wsh_pmix_library_open(void)
{
    return wsh_library_open(&library) ? library.why : NULL;
}

/* "OpenPMIx 4.2.2 (PMIx Standard: …" or "PMIx 5.0.1, repo rev …". */
static const char *version_find(int *len)
{
    const char *all = wsh_pmix.Get_version(), *number = strpbrk(all, "0123456789");

    *len = (int)strcspn(number ? number : all, " ,");
    return number ? number : all;
}

int wsh_boot_pmix_library(char *text, size_t size)
{
    const char *why = wsh_pmix_library_open(), *version;
    int len;

    if (why) {
        snprintf(text, size, "%s", why);
        return -1;
    }
    version = version_find(&len);
    snprintf(text, size, "version %.*s, %s", len, version, wsh_library_file(&library));
    return 0;
}
