/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the list of translation units with device code: constructors run before the library is started, and libraries
 * come and go.
 */
#include "runtime/gpu/view/units.h"

#include "base/err.h"
#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>

struct entry {
    const struct wsh_device_unit *unit;
    struct entry *next;
    bool filled;
};

/* Behind the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *units;
static const struct wsh_device *current; /* the view that units get, or NULL */
static const struct wsh_gpu *current_gpu;

static bool unit_fits(const struct wsh_device_unit *unit)
{
    return unit->abi == WSH_DEVICE_ABI && unit->size == sizeof(struct wsh_device);
}

/* A failure is not an error yet: the unit's module may not be known to the CUDA runtime before its constructors end. */
static void unit_fill(struct entry *entry, const struct wsh_device *view)
{
    int status;

    if (!unit_fits(entry->unit) || wsh_gpu_enter(current_gpu))
        return;
    status = entry->unit->fill(view);
    wsh_gpu_leave(current_gpu);
    entry->filled = !status && view == current;
    if (status)
        wsh_info(WSH_SUB_INIT,
                 "device code of %s is not ready (CUDA error %d); tried again at the next collective "
                 "device call",
                 entry->unit->name, status);
}

void wsh_device_register(const struct wsh_device_unit *unit)
{
    struct entry *entry = calloc(1, sizeof *entry);

    if (!entry) {
        wsh_error("no memory to note the device code of %s", unit->name);
        return;
    }
    entry->unit = unit;
    pthread_mutex_lock(&lock);
    entry->next = units;
    units = entry;
    if (current)
        unit_fill(entry, current);
    pthread_mutex_unlock(&lock);
}

void wsh_device_unregister(const struct wsh_device_unit *unit)
{
    struct entry *gone = NULL;

    pthread_mutex_lock(&lock);
    for (struct entry **link = &units; *link; link = &(*link)->next)
        if ((*link)->unit == unit) {
            gone = *link;
            *link = gone->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    free(gone);
}

int wsh_units_find(const void *kernel, void **function)
{
    int status = -1;

    pthread_mutex_lock(&lock);
    for (const struct entry *entry = units; entry && status; entry = entry->next)
        if (unit_fits(entry->unit) && entry->unit->find)
            status = entry->unit->find(kernel, function);
    pthread_mutex_unlock(&lock);
    return status;
}

int wsh_units_check(void)
{
    const struct wsh_device_unit *bad = NULL;

    pthread_mutex_lock(&lock);
    for (const struct entry *entry = units; entry && !bad; entry = entry->next)
        bad = unit_fits(entry->unit) ? NULL : entry->unit;
    pthread_mutex_unlock(&lock);
    if (!bad)
        return 0;
    wsh_error(
        "device code of %s was compiled for version %u of the device interface (%u bytes), this library has "
        "version %d (%zu bytes); compile it again with this warpshmem's shmemx.h",
        bad->name, bad->abi, bad->size, WSH_DEVICE_ABI, sizeof(struct wsh_device));
    return -EPROTO;
}

void wsh_units_fill(const struct wsh_device *view, const struct wsh_gpu *gpu)
{
    static const struct wsh_device none;

    pthread_mutex_lock(&lock);
    current = view;
    current_gpu = gpu ? gpu : current_gpu;
    for (struct entry *entry = units; entry; entry = entry->next)
        if (view ? !entry->filled : entry->filled)
            unit_fill(entry, view ? view : &none);
    current_gpu = gpu;
    pthread_mutex_unlock(&lock);
}
