/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the list of translation units with device code: constructors run before the library is started, and libraries
 * come and go.
 */
#include "runtime/gpu/view/registered_modules.h"

#include "base/err.h"
#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>

struct entry {
    const struct wsh_device_module *module;
    struct entry *next;
    bool filled;
};

/* Behind the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *modules;
static const struct wsh_device *current; /* the device state that modules get, or NULL */
static const struct wsh_gpu *current_gpu;

static bool module_fits(const struct wsh_device_module *module)
{
    return module->abi == WSH_DEVICE_ABI && module->size == sizeof(struct wsh_device);
}

/* A failure is not an error yet: the CUDA runtime may not know the module before its constructors end. */
static void module_fill(struct entry *entry, const struct wsh_device *state)
{
    int status;

    if (!module_fits(entry->module) || wsh_gpu_enter(current_gpu))
        return;
    status = entry->module->fill(state);
    wsh_gpu_leave(current_gpu);
    entry->filled = !status && state == current;
    if (status)
        wsh_info(WSH_SUB_INIT,
                 "device code of %s is not ready (CUDA error %d); tried again at the next collective "
                 "device call",
                 entry->module->name, status);
}

void wsh_device_register(const struct wsh_device_module *module)
{
    struct entry *entry = calloc(1, sizeof *entry);

    if (!entry) {
        wsh_error("no memory to note the device code of %s", module->name);
        return;
    }
    entry->module = module;
    pthread_mutex_lock(&lock);
    entry->next = modules;
    modules = entry;
    if (current)
        module_fill(entry, current);
    pthread_mutex_unlock(&lock);
}

void wsh_device_unregister(const struct wsh_device_module *module)
{
    struct entry *gone = NULL;

    pthread_mutex_lock(&lock);
    for (struct entry **link = &modules; *link; link = &(*link)->next)
        if ((*link)->module == module) {
            gone = *link;
            *link = gone->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    free(gone);
}

int wsh_registered_modules_find(const void *kernel, void **function)
{
    int status = -1;

    pthread_mutex_lock(&lock);
    for (const struct entry *entry = modules; entry && status; entry = entry->next)
        if (module_fits(entry->module) && entry->module->find)
            status = entry->module->find(kernel, function);
    pthread_mutex_unlock(&lock);
    return status;
}

int wsh_registered_modules_check(void)
{
    const struct wsh_device_module *bad = NULL;

    pthread_mutex_lock(&lock);
    for (const struct entry *entry = modules; entry && !bad; entry = entry->next)
        bad = module_fits(entry->module) ? NULL : entry->module;
    pthread_mutex_unlock(&lock);
    if (!bad)
        return 0;
    wsh_error(
        "device code of %s was compiled for version %u of the device interface (%u bytes), this library has "
        "version %d (%zu bytes); compile it again with this warpshmem's shmemx.h",
        bad->name, bad->abi, bad->size, WSH_DEVICE_ABI, sizeof(struct wsh_device));
    return -EPROTO;
}

void wsh_registered_modules_fill(const struct wsh_device *state, const struct wsh_gpu *gpu)
{
    static const struct wsh_device none;

    pthread_mutex_lock(&lock);
    current = state;
    current_gpu = gpu ? gpu : current_gpu;
    for (struct entry *entry = modules; entry; entry = entry->next)
        if (state ? !entry->filled : entry->filled)
            module_fill(entry, state ? state : &none);
    current_gpu = gpu;
    pthread_mutex_unlock(&lock);
}
