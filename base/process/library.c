/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads libraries when they are first needed. */
#define _GNU_SOURCE
#include "base/process/library.h"

#include "base/err.h"
#include "base/process/signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *wsh_library_file(const struct wsh_library *lib)
{
    void *first = dlsym(lib->handle, lib->symbols[0].name);
    Dl_info info;

    return first && dladdr(first, &info) && info.dli_fname ? info.dli_fname : lib->soname;
}

static int give_up(struct wsh_library *lib)
{
    if (lib->handle)
        dlclose(lib->handle);
    lib->handle = NULL;
    return -ENODEV;
}

static int resolve(struct wsh_library *lib)
{
    for (size_t i = 0; i < lib->n_symbols; i++) {
        void *entry = dlsym(lib->handle, lib->symbols[i].name);

        if (!entry) {
            snprintf(lib->why, sizeof lib->why, "%s lacks %s: %s", lib->soname, lib->symbols[i].name,
                     lib->cure);
            return give_up(lib);
        }
        memcpy((char *)lib->table + lib->symbols[i].offset, &entry, sizeof entry);
    }
    if (!lib->fits || lib->fits())
        return 0;
    snprintf(lib->why, sizeof lib->why, "%s is of another version: %s", wsh_library_file(lib), lib->cure);
    return give_up(lib);
}

const char *wsh_library_cure(const char *error, const char *cure)
{
    return strstr(error, strerror(EMFILE)) ? wsh_err_cure(-EMFILE, cure) : cure;
}

/* RTLD_NODELETE: such libraries leave threads and exit handlers behind, whose code must stay mapped. */
static int load(struct wsh_library *lib)
{
    const char *error;

    lib->handle = dlopen(lib->soname, RTLD_NOW | RTLD_NODELETE | (lib->global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (lib->handle)
        return resolve(lib);
    error = dlerror();
    snprintf(lib->why, sizeof lib->why, "cannot load %s (%s): %s", lib->soname, error,
             wsh_library_cure(error, lib->cure));
    return -ENODEV;
}

int wsh_library_open(struct wsh_library *lib)
{
    sigset_t before;
    int rc;

    pthread_mutex_lock(&lib->mutex);
    wsh_signals_block(&before);
    rc = lib->handle ? 0 : *lib->why ? -ENODEV : load(lib);
    wsh_signals_restore(&before);
    pthread_mutex_unlock(&lib->mutex);
    return rc;
}
