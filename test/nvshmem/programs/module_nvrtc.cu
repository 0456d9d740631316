/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel that NVRTC compiles at run time: its module is made known with nvshmemx_cumodule_init. The headers are
 * those of NVSHMEM_HOME, or of the tree that is tested.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

#include <cuda.h>
#include <nvrtc.h>

static const char source[] = "#include <nvshmem.h>\n"
                             "#include <nvshmemx.h>\n"
                             "extern \"C\" __global__ void send(int *box)\n"
                             "{\n"
                             "    int me = nvshmem_my_pe(), peer = (me + 1) % nvshmem_n_pes();\n"
                             "    nvshmemx_int_put_block(box + 1, box, 1, peer);\n"
                             "    nvshmemx_barrier_all_block();\n"
                             "}\n";

#define NVRTC(call) CHECK((call) == NVRTC_SUCCESS)
#define DRIVER(call) CHECK((call) == CUDA_SUCCESS)

static void option(char *text, const char *before, const char *folder, const char *after)
{
    snprintf(text, 600, "%s%s%s", before, folder, after);
}

static char *compile(void)
{
    char folders[3][600];
    const char *home = getenv("NVSHMEM_HOME"), *tree = getenv("top_srcdir"), *options[6];
    nvrtcProgram program;
    size_t len;
    int count = 0;

    if (!home && !tree) {
        printf("skip: NVSHMEM_HOME is not set\n");
        exit(77);
    }
    option(folders[0], "-I", home ? home : tree, home ? "/include" : "/include/nvshmem");
    option(folders[1], "-I", home ? home : tree, "/include");
    option(folders[2], "-I", home ? home : tree, "");
    for (int i = 0; i < 3; i++)
        options[count++] = folders[i];
    options[count++] = "-arch=sm_90";
    options[count++] = "-std=c++17";
    options[count++] = "-DSHMEMX_DEVICE_MODULE";
    NVRTC(nvrtcCreateProgram(&program, source, "send.cu", 0, NULL, NULL));
    if (nvrtcCompileProgram(program, count, options) != NVRTC_SUCCESS) {
        nvrtcGetProgramLogSize(program, &len);
        char *log = (char *)calloc(1, len + 1);
        nvrtcGetProgramLog(program, log);
        fprintf(stderr, "%s\n", log);
        exit(1);
    }
    NVRTC(nvrtcGetCUBINSize(program, &len));
    char *image = (char *)malloc(len);
    NVRTC(nvrtcGetCUBIN(program, image));
    NVRTC(nvrtcDestroyProgram(&program));
    return image;
}

int main(void)
{
    char *image = compile();
    CUmodule module;
    CUfunction send;

    begin();
    int *box = symmetric<int>(2);
    void *args[] = {&box};

    DRIVER(cuModuleLoadData(&module, image));
    CHECK(nvshmemx_cumodule_init(module) == 0);
    DRIVER(cuModuleGetFunction(&send, module, "send"));
    to_device(box, &me, 1);
    nvshmem_barrier_all();
    DRIVER(cuLaunchKernel(send, 1, 1, 1, 64, 1, 1, 0, stream, args, NULL));
    CUDA(cudaStreamSynchronize(stream));
    CHECK(at(box + 1) == left);
    CHECK(nvshmemx_cumodule_finalize(module) == 0);
    nvshmem_barrier_all();
    DRIVER(cuModuleUnload(module));
    nvshmem_free(box);
    free(image);
    return finish();
}
