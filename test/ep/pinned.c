/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the host that kernels reach, by CUDA's driver, found when it is asked for: no test is linked with it. */
#include "test/ep/calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int (*host_alloc)(void **memory, size_t bytes, unsigned flags);
static int (*host_free)(void *memory);
static int (*synchronize)(void);

static void *pinned_take(size_t bytes)
{
    void *memory = NULL;

    return host_alloc(&memory, bytes, 3 /* of all contexts, mapped */) ? NULL : memset(memory, 0, bytes);
}

static void pinned_give(void *memory)
{
    host_free(memory);
}

static void pinned_wait(void)
{
    mp_check(!synchronize(), "the GPU says that a kernel went wrong");
}

static const struct calls_memory pinned = {pinned_take, pinned_give, pinned_wait};

/* GPU 0, as the library takes it. */
bool calls_use_gpu(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*init)(unsigned) = NULL, (*retain)(void **, int) = NULL, (*set)(void *) = NULL;
    void *context;

    if (!driver)
        return false;
    *(void **)&init = dlsym(driver, "cuInit");
    *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&set = dlsym(driver, "cuCtxSetCurrent");
    *(void **)&host_alloc = dlsym(driver, "cuMemHostAlloc");
    *(void **)&host_free = dlsym(driver, "cuMemFreeHost");
    *(void **)&synchronize = dlsym(driver, "cuCtxSynchronize");
    if (!init || !retain || !set || !host_alloc || !host_free || !synchronize)
        return false;
    if (init(0) || retain(&context, 0) || set(context))
        return false;
    calls_memory = &pinned;
    return true;
}
