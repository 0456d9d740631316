/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An init with SHMEMX_INIT_ATTACH_GPU attaches the GPU, and fills kernels' views, before any device memory is asked
 * for, where every PE has one current or has named one; else the first allocation does, as after any other init. A GPU
 * that is current at all PEs of a host, though there are enough for each, is not taken for a choice.
 *
 * paths: fakegpu:1,2,3 fakegpumixed:2
 */
#include "test/common/mp.h"

#include "device/view/view.h"

#include <shmemx.h>

#include <dlfcn.h>
#include <string.h>

static struct wsh_device seen;

static int fill(const struct wsh_device *view)
{
    seen = *view;
    return 0;
}

static const struct wsh_device_module unit = {WSH_DEVICE_ABI, sizeof(struct wsh_device), fill, "init.cu"};

typedef int set_fn(void *), retain_fn(void **, int), count_fn(int *), init_fn(unsigned);

static void *driver(const char *name)
{
    static void *library;

    if (!library)
        library = dlopen("libcuda.so.1", RTLD_NOW);
    return library ? dlsym(library, name) : NULL;
}

static int gpus(void)
{
    init_fn *init = (init_fn *)(intptr_t)driver("cuInit");
    count_fn *count = (count_fn *)(intptr_t)driver("cuDeviceGetCount");
    int n = 0;

    mp_check(init && count && !init(0) && !count(&n) && n > 0, "no driver");
    return n;
}

/* As cudaSetDevice; -1: no GPU is current. */
static void choose(int gpu)
{
    set_fn *set = (set_fn *)(intptr_t)driver("cuCtxSetCurrent");
    retain_fn *retain = (retain_fn *)(intptr_t)driver("cuDevicePrimaryCtxRetain");
    void *ctx = NULL;

    mp_check((gpu < 0 || !retain(&ctx, gpu)) && !set(ctx), "GPU %d cannot be chosen", gpu);
}

/* A life with GPU `current`, or -1, and `named` in the attributes. */
static void life(const char *what, int current, int named, bool attaches)
{
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
    long *word;

    choose(current);
    memset(&seen, 0, sizeof seen);
    wsh_device_register(&unit);
    attr.cuda_device = named;
    mp_check(shmemx_init_attr(SHMEMX_INIT_ATTACH_GPU, &attr) == 0, "%s: no start", what);
    mp_check((seen.n_pes == shmem_n_pes()) == attaches, "%s: kernels know of %d PEs after the init", what,
             seen.n_pes);
    if (named < 0 && current < 0)
        choose(shmem_my_pe() % gpus());
    word = shmemx_calloc_device(1, sizeof *word);
    if (mp_check(word != NULL, "%s: no device memory", what)) {
        shmem_long_atomic_inc(word, (shmem_my_pe() + 1) % shmem_n_pes());
        shmem_barrier_all();
        mp_check(shmem_long_g(word, shmem_my_pe()) == 1, "%s: device memory does not work", what);
    }
    mp_check(seen.n_pes == shmem_n_pes(), "%s: kernels know of %d PEs at last", what, seen.n_pes);
    shmem_finalize();
    wsh_device_unregister(&unit);
}

int main(void)
{
    int n;

    mp_begin();
    n = gpus();
    shmem_finalize();
    life("none is current", -1, -1, false);
    life("one each", mp_me % n, -1, true);
    life("one each, by name", -1, mp_me % n, true);
    if (mp_npes > 1)
        life("at PE 0 alone", mp_me ? -1 : 0, -1, false);
    if (mp_npes == 2 && n >= 2 && mp_path_is("fakegpu"))
        life("GPU 0 at all", 0, -1, false);
    choose(-1);
    shmem_init();
    return mp_end();
}
