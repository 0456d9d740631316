/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel in modules of every make computes what it should: of two units, of the archive of device code, of bitcode,
 * of LTO-IR, by NVRTC. Each is initialised as a module before the first allocation, then as a library after it. A
 * module without NVSHMEM is taken. Modules that were not made are named and left out.
 * paths: gpu:2 gpu1:2
 * timeout: 120
 */
#include <nvshmem.h>
#include <nvshmemx.h>

#include <unistd.h>

#include "check.h"

static const char *const makes[] = {"units", "archive", "bitcode", "ltoir", "nvrtc"};
enum { MAKES = sizeof makes / sizeof makes[0] };

static int *words;
static unsigned long *flag;

/* The file beside this program. */
static const char *path_of(const char *make)
{
    static char path[4200];
    ssize_t len = readlink("/proc/self/exe", path, 4096);

    CHECK(len > 0);
    while (path[len - 1] != '/')
        len--;
    snprintf(path + len, sizeof path - (size_t)len, "module_%s.cubin", make);
    return path;
}

static void run(CUmodule module, const char *make, const char *as)
{
    int me = nvshmem_my_pe(), n = nvshmem_n_pes(), got[3] = {me + 1, 0, 0};
    void *args[] = {&words, &flag};
    CUfunction function;

    CHECK_CUDA(cudaMemcpy(words, got, sizeof got, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemset(flag, 0, sizeof *flag));
    nvshmem_barrier_all();
    CHECK(cuModuleGetFunction(&function, module, "step") == CUDA_SUCCESS);
    CHECK(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, cudaStreamPerThread, args, NULL) == CUDA_SUCCESS);
    CHECK_CUDA(cudaStreamSynchronize(cudaStreamPerThread));
    CHECK_CUDA(cudaMemcpy(got, words, sizeof got, cudaMemcpyDeviceToHost));
    if (got[1] != (me + n - 1) % n + 1 || got[2] != n * (n + 1) / 2) {
        fprintf(stderr, "%s as a %s: %d from the PE before, sum %d\n", make, as, got[1], got[2]);
        exit(1);
    }
}

int main(void)
{
    CUmodule modules[MAKES] = {}, none;
    int devices;

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    nvshmem_init();
    CHECK_CUDA(cudaGetDeviceCount(&devices));
    CHECK_CUDA(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
    CHECK_CUDA(cudaFree(NULL)); /* the context */
    for (int i = 0; i < MAKES; i++)
        if (access(path_of(makes[i]), R_OK))
            printf("# %s: not made, left out\n", path_of(makes[i]));
        else
            CHECK(cuModuleLoad(&modules[i], path_of(makes[i])) == CUDA_SUCCESS && !nvshmemx_cumodule_init(modules[i]));
    CHECK(cuModuleLoad(&none, path_of("none")) == CUDA_SUCCESS && !nvshmemx_cumodule_init(none));
    words = (int *)nvshmem_calloc(3, sizeof *words);
    flag = (unsigned long *)nvshmem_calloc(1, sizeof *flag);
    CHECK(words && flag && !nvshmemx_cumodule_init(none) && !nvshmemx_cumodule_finalize(none));
    for (int i = 0; i < MAKES; i++) {
        CUlibrary library;
        CUmodule module;

        if (!modules[i])
            continue;
        run(modules[i], makes[i], "module");
        CHECK(!nvshmemx_cumodule_finalize(modules[i]) && cuModuleUnload(modules[i]) == CUDA_SUCCESS);
        CHECK(cuLibraryLoadFromFile(&library, path_of(makes[i]), NULL, NULL, 0, NULL, NULL, 0) == CUDA_SUCCESS);
        CHECK(!nvshmemx_culibrary_init(library) && cuLibraryGetModule(&module, library) == CUDA_SUCCESS);
        run(module, makes[i], "library");
        CHECK(!nvshmemx_culibrary_finalize(library) && cuLibraryUnload(library) == CUDA_SUCCESS);
    }
    nvshmem_free(flag);
    nvshmem_free(words);
    nvshmem_finalize();
    return 0;
}
