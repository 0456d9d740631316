/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cubin that the driver API loads gets the view by shmemx_module_init, and again after a new shmem_init; several
 * modules of it at a time.
 * paths: gpu:2,4 gpuipc:2 gpu1:2
 */
#include "test/device/dev.cuh"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

static struct {
    int (*load)(void **module, const char *path);
    int (*unload)(void *module);
    int (*get)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                  unsigned shared, void *stream, void **params, void **extra);
} driver;

static int *words;

static void open_driver(void)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);

    *(void **)&driver.load = dlsym(lib, "cuModuleLoad");
    *(void **)&driver.unload = dlsym(lib, "cuModuleUnload");
    *(void **)&driver.get = dlsym(lib, "cuModuleGetFunction");
    *(void **)&driver.launch = dlsym(lib, "cuLaunchKernel");
}

/* The cubin beside this program. */
static void *load(void)
{
    static const char name[] = "helper/module.cubin";
    char path[4096];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - sizeof name);
    void *module = NULL;

    while (len > 0 && path[len - 1] != '/')
        len--;
    memcpy(path + (len > 0 ? len : 0), name, sizeof name);
    mp_check(!driver.load(&module, path), "cuModuleLoad of %s", path);
    return module;
}

static void use(void *module, int add)
{
    void *function = NULL, *params[] = {&words, &add};
    int got[64];

    mp_check(!driver.get(&function, module, "put_number"), "cuModuleGetFunction");
    mp_check(!driver.launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL), "cuLaunchKernel");
    dev_wait();
    shmem_barrier_all();
    dev_download(got, words, sizeof got);
    for (int pe = 0; pe < mp_npes; pe++)
        mp_check(got[pe] == pe + add, "word of PE %d is %d, not %d", pe, got[pe], pe + add);
    shmem_barrier_all();
}

int main(void)
{
    void *first, *second;

    dev_begin();
    open_driver();
    words = (int *)dev_alloc(64 * sizeof *words);
    dev_case("two modules");
    first = load();
    second = load();
    mp_check(!shmemx_module_init(first) && !shmemx_module_init(second), "shmemx_module_init");
    use(first, 10);
    use(second, 20);
    dev_case("after a new init");
    shmem_finalize();
    shmem_init();
    words = (int *)dev_alloc(64 * sizeof *words);
    mp_check(!shmemx_module_init(first), "shmemx_module_init again");
    use(first, 30);
    driver.unload(first);
    driver.unload(second);
    return dev_end();
}
