/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives modules that a program loads by the driver API the device state: those that have one or several
 * (device/view/view.cuh says under which names), or none. Modules that come before the GPU is attached wait here.
 */
#include "runtime/gpu/host.h"
#include "runtime/gpu/view/state.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/job/job.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct waiting {
    wsh_cu_module module;
    struct waiting *next;
};

/* Behind the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct waiting *waiting;
static bool complete; /* the job's device state */

/* One device state, by its name. *filled counts it. 0, also where there is none, or a logged error. */
static int state_fill(const struct wsh_device_state *state, wsh_cu_module module, const char *name,
                      int *filled)
{
    const struct wsh_cuda *cu = wsh_cuda();
    wsh_cu_ptr symbol;
    size_t len = 0;
    int status;

    if (cu->module_global(&symbol, &len, module, name))
        return 0;
    if (len != sizeof state->device) {
        wsh_error("shmemx_module_init: %s has %zu bytes in this module, and %zu in this library; compile the "
                  "module "
                  "again with this warpshmem's headers",
                  name, len, sizeof state->device);
        return -EPROTO;
    }
    status = cu->copy(symbol, (wsh_cu_ptr)(uintptr_t)&state->device, len, state->stream);
    if (!status)
        status = cu->stream_sync(state->stream);
    if (status) {
        wsh_error("shmemx_module_init: the driver does not write %s: %s (CUDA error %d)", name,
                  wsh_cuda_strerror(status), status);
        return -EIO;
    }
    ++*filled;
    return 0;
}

/* The device state of the module to which kernel `mark` belongs. */
static int marked_fill(const struct wsh_device_state *state, wsh_cu_module module, const char *mark,
                       int *filled)
{
    size_t len = strlen(mark), end = strlen(WSH_DEVICE_MARK);
    char name[1024];

    if (len < end || strcmp(mark + len - end, WSH_DEVICE_MARK) != 0)
        return 0;
    if (len - end + sizeof WSH_DEVICE_SYMBOL > sizeof name) {
        wsh_error("shmemx_module_init: a unit's name of %zu characters is too long: %.60s…", len - end, mark);
        return -EINVAL;
    }
    snprintf(name, sizeof name, "%.*s%s", (int)(len - end), mark, WSH_DEVICE_SYMBOL);
    return state_fill(state, module, name, filled);
}

/* Those of modules with names of their own. */
static int modules_fill(const struct wsh_device_state *state, wsh_cu_module module, int *filled)
{
    const struct wsh_cuda *cu = wsh_cuda();
    wsh_cu_function *functions;
    unsigned n = 0;
    int rc = 0;

    if (!cu->module_count || !cu->module_functions || !cu->function_name)
        return 0; /* before CUDA 12.4: only what has the common name */
    if (cu->module_count(&n, module) || !n)
        return 0;
    functions = calloc(n, sizeof *functions);
    if (!functions)
        return -ENOMEM;
    if (cu->module_functions(functions, n, module))
        n = 0;
    for (unsigned i = 0; i < n && !rc; i++) {
        const char *mark;

        if (!cu->function_name(&mark, functions[i]) && mark)
            rc = marked_fill(state, module, mark, filled);
    }
    free(functions);
    return rc;
}

static int module_fill(const struct wsh_job *job, wsh_cu_module module)
{
    const struct wsh_device_state *state = job->device.state;
    int filled = 0, rc = wsh_gpu_enter(&job->device.gpu);

    if (rc)
        return rc;
    rc = state_fill(state, module, WSH_DEVICE_SYMBOL, &filled);
    if (!rc)
        rc = modules_fill(state, module, &filled);
    wsh_gpu_leave(&job->device.gpu);
    if (!rc && !filled)
        wsh_trace(WSH_SUB_INIT, "a module has no device routines: nothing to do for it");
    return rc;
}

/* The module, where it waits, or the end of the list. */
static struct waiting **waiting_find(wsh_cu_module module)
{
    struct waiting **link = &waiting;

    while (*link && (*link)->module != module)
        link = &(*link)->next;
    return link;
}

static int waiting_add(struct wsh_job *job, wsh_cu_module module)
{
    struct waiting **end = waiting_find(module);

    if (*end)
        return 0;
    *end = calloc(1, sizeof **end);
    if (!*end)
        return -ENOMEM;
    (*end)->module = module;
    job->modules_close = wsh_modules_close; /* the job may end without a GPU */
    return 0;
}

static void waiting_remove(struct waiting **link)
{
    struct waiting *gone = *link;

    *link = gone->next;
    free(gone);
}

int wsh_module_init(struct wsh_job *job, void *module)
{
    int rc;

    if (!module) {
        wsh_error(
            "shmemx_module_init: the module is NULL; pass what cuModuleLoad or cuLibraryGetModule gave");
        return -EINVAL;
    }
    pthread_mutex_lock(&lock);
    rc = complete ? module_fill(job, module) : waiting_add(job, module);
    pthread_mutex_unlock(&lock);
    return rc;
}

void wsh_module_forget(void *module)
{
    struct waiting **link;

    pthread_mutex_lock(&lock);
    link = waiting_find(module);
    if (*link)
        waiting_remove(link);
    pthread_mutex_unlock(&lock);
}

int wsh_modules_fill(const struct wsh_job *job)
{
    int rc = 0;

    pthread_mutex_lock(&lock);
    complete = true;
    while (waiting) {
        int failed = module_fill(job, waiting->module);

        rc = rc ? rc : failed;
        waiting_remove(&waiting);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

void wsh_modules_close(void)
{
    pthread_mutex_lock(&lock);
    complete = false;
    while (waiting)
        waiting_remove(&waiting);
    pthread_mutex_unlock(&lock);
}
