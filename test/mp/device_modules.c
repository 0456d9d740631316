/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modules of the driver API get the view: under the common name, and of each of several linked units; before the GPU is
 * attached too, unless they go before, or the job that knew of them does. One without device routines is taken quietly.
 *
 * paths: fakegpu:1,2
 */
#include "test/common/mp.h"
#include "test/fake_cuda/fake.h"

#include "device/view/view.h"

#include <shmemx.h>

#include <dlfcn.h>

static struct {
    int (*init)(unsigned flags);
    int (*retain)(wsh_cu_ctx *ctx, int device);
    int (*set)(wsh_cu_ctx ctx);
    int (*load)(wsh_cu_module *module, const void *image);
    int (*global)(wsh_cu_ptr *ptr, size_t *len, wsh_cu_module module, const char *name);
    int (*stream)(wsh_cu_stream *stream, unsigned flags, int priority);
    int (*read)(void *to, wsh_cu_ptr from, size_t len, wsh_cu_stream stream);
    int (*wait)(wsh_cu_stream stream);
} driver;

static wsh_cu_stream stream;

/* With GPU 0's context current. */
static void driver_open(void)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    wsh_cu_ctx ctx = NULL;

    mp_check(lib != NULL, "no driver");
    *(void **)&driver.init = dlsym(lib, "cuInit");
    *(void **)&driver.retain = dlsym(lib, "cuDevicePrimaryCtxRetain");
    *(void **)&driver.set = dlsym(lib, "cuCtxSetCurrent");
    *(void **)&driver.load = dlsym(lib, "cuModuleLoadData");
    *(void **)&driver.global = dlsym(lib, "cuModuleGetGlobal_v2");
    *(void **)&driver.stream = dlsym(lib, "cuStreamCreateWithPriority");
    *(void **)&driver.read = dlsym(lib, "cuMemcpyAsync");
    *(void **)&driver.wait = dlsym(lib, "cuStreamSynchronize");
    mp_check(!driver.init(0) && !driver.retain(&ctx, 0) && !driver.set(ctx) &&
                 !driver.stream(&stream, WSH_CU_STREAM_NON_BLOCKING, 0),
             "no context or stream");
}

static void *load(const char *image)
{
    wsh_cu_module module = NULL;

    mp_check(!driver.load(&module, image), "no module");
    return module;
}

/* PEs that the view under that name knows; 0: it was not filled. */
static int pes_of(void *module, const char *name)
{
    struct wsh_device view = {0};
    wsh_cu_ptr at = 0;
    size_t len = 0;

    mp_check(!driver.global(&at, &len, module, name) && len == sizeof view, "no %s", name);
    mp_check(!driver.read(&view, at, sizeof view, stream) && !driver.wait(stream), "%s cannot be read", name);
    return view.n_pes;
}

static void expect(const char *what, void *module, const char *name, int pes)
{
    int got = pes_of(module, name);

    mp_check(got == pes, "%s: %s is of %d PEs, not %d", what, name, got, pes);
}

int main(void)
{
    void *early, *gone, *plain, *linked, *none, *last;

    mp_begin();
    driver_open();
    last = load("any");
    mp_check(!shmemx_module_init(last), "last");
    shmem_finalize();
    shmem_init();
    early = load(FAKE_UNITS "first_ second_");
    gone = load("any");
    mp_check(!shmemx_module_init(early) && !shmemx_module_init(early), "early");
    mp_check(!shmemx_module_init(gone) && !shmemx_module_finalize(gone), "gone");
    mp_check(shmemx_malloc_device(64) != NULL, "no memory");
    expect("before the GPU was attached", early, "first_" WSH_DEVICE_SYMBOL, mp_npes);
    expect("before the GPU was attached", early, "second_" WSH_DEVICE_SYMBOL, mp_npes);
    expect("of a job that has ended", last, WSH_DEVICE_SYMBOL, 0);
    expect("finalized before", gone, WSH_DEVICE_SYMBOL, 0);
    plain = load("any");
    linked = load(FAKE_UNITS "a_ b_ c_");
    none = load(FAKE_UNITS);
    mp_check(!shmemx_module_init(plain) && !shmemx_module_init(linked), "later");
    mp_check(!shmemx_module_init(none) && !shmemx_module_finalize(none), "without device routines");
    expect("later", plain, WSH_DEVICE_SYMBOL, mp_npes);
    expect("later", linked, "a_" WSH_DEVICE_SYMBOL, mp_npes);
    expect("later", linked, "b_" WSH_DEVICE_SYMBOL, mp_npes);
    expect("later", linked, "c_" WSH_DEVICE_SYMBOL, mp_npes);
    return mp_end();
}
