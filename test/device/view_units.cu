/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every translation unit with device code has the view: two of the program, and one of a shared object loaded before
 * shmem_init, after the GPU was attached, closed and loaded again. All go on after finalize and a new init, with a
 * graph captured before among them.
 * Built plain, with -rdc=true, and with a shared CUDA runtime (view_units, _rdc, _cudart).
 * paths: gpu:2,4 gpuipc:2 gpu1:2
 */
#include "test/device/dev.cuh"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

extern "C" int unit_second(int *words, int add);

typedef int unit_fn(int *words, int add);

static __global__ void put_number(int *words, int add)
{
    for (int pe = 0; pe < shmem_n_pes(); pe++)
        shmem_int_p(words + shmem_my_pe(), shmem_my_pe() + add, pe);
    shmem_quiet();
}

static int *words;

static void check_words(int add, const char *what)
{
    int got[64];

    dev_wait();
    shmem_barrier_all();
    dev_download(got, words, sizeof got);
    for (int pe = 0; pe < mp_npes; pe++)
        mp_check(got[pe] == pe + add, "%s: word of PE %d is %d, not %d", what, pe, got[pe], pe + add);
    shmem_barrier_all();
}

/* The shared object beside this program. */
static void *load(unit_fn **unit)
{
    static const char name[] = "view_units_plug.so";
    char path[4096];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - sizeof name);
    void *handle;

    while (len > 0 && path[len - 1] != '/')
        len--;
    memcpy(path + (len > 0 ? len : 0), name, sizeof name);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *unit = handle ? (unit_fn *)dlsym(handle, "unit_plug") : NULL;
    if (!*unit) {
        fprintf(stderr, "%s: %s\n", path, dlerror());
        _exit(MP_FAILED);
    }
    return handle;
}

static void all_units(unit_fn *plug, int add, const char *when)
{
    dev_case("%s", when);
    put_number<<<1, 1>>>(words, add);
    check_words(add, "first unit");
    mp_check(!unit_second(words, add + 100), "launch of the second unit");
    check_words(add + 100, "second unit");
    if (plug) {
        mp_check(!plug(words, add + 200), "launch of the loaded unit");
        check_words(add + 200, "loaded unit");
    }
}

static cudaGraphExec_t capture(cudaStream_t stream)
{
    cudaGraphExec_t exec = NULL;
    cudaGraph_t graph = NULL;

    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    put_number<<<1, 1, 0, stream>>>(words, 5000);
    mp_check(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "capture");
    mp_check(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess, "instantiate");
    cudaGraphDestroy(graph);
    return exec;
}

static void replay(cudaGraphExec_t exec, cudaStream_t stream)
{
    mp_check(cudaGraphLaunch(exec, stream) == cudaSuccess, "launch of the graph");
    check_words(5000, "graph");
}

int main(void)
{
    cudaStream_t stream;
    cudaGraphExec_t exec;
    unit_fn *early, *late;
    void *early_handle = load(&early), *late_handle;
    int *before;

    dev_begin();
    words = (int *)dev_alloc(64 * sizeof *words);
    all_units(early, 10, "shared object loaded before shmem_init");
    cudaStreamCreate(&stream);
    exec = capture(stream);
    replay(exec, stream);
    dlclose(early_handle);
    all_units(NULL, 20, "shared object closed");
    late_handle = load(&late);
    all_units(late, 30, "shared object loaded after the GPU was attached");
    before = words;
    shmem_finalize();
    shmem_init();
    words = (int *)dev_alloc(64 * sizeof *words);
    all_units(late, 40, "after finalize and init");
    if (words == before)
        replay(exec, stream);
    else
        mp_note("the heap lies elsewhere now: the graph, which holds its address, is not replayed");
    dlclose(late_handle);
    return dev_end();
}
