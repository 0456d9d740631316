/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compiles a file for sm_90 with NVRTC, as programs do at run time: nvrtc FILE OPTION…. Exit status 0 or 1. The code
 * goes to the file that NVRTC_CUBIN names.
 */
#include <nvrtc.h>

#include <stdio.h>
#include <stdlib.h>

static int write_cubin(nvrtcProgram program, const char *path)
{
    static char code[4 << 20];
    size_t len = 0;
    FILE *file;

    if (nvrtcGetCUBINSize(program, &len) != NVRTC_SUCCESS || len > sizeof code ||
        nvrtcGetCUBIN(program, code) != NVRTC_SUCCESS)
        return 1;
    file = fopen(path, "w");
    return !file || fwrite(code, 1, len, file) != len || fclose(file);
}

int main(int argc, char **argv)
{
    const char *options[16] = {"-arch=sm_90", "-std=c++17"};
    static char source[65536], log[65536];
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    nvrtcProgram program;
    nvrtcResult rc;
    int n = 2;

    if (!file || !fread(source, 1, sizeof source - 1, file))
        return 1;
    for (int i = 2; i < argc && n < 16; i++)
        options[n++] = argv[i];
    nvrtcCreateProgram(&program, source, argv[1], 0, NULL, NULL);
    rc = nvrtcCompileProgram(program, n, options);
    if (rc != NVRTC_SUCCESS && nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS)
        fprintf(stderr, "%s\n", log);
    if (rc == NVRTC_SUCCESS && getenv("NVRTC_CUBIN") && write_cubin(program, getenv("NVRTC_CUBIN")))
        rc = NVRTC_ERROR_INTERNAL_ERROR;
    nvrtcDestroyProgram(&program);
    return rc != NVRTC_SUCCESS;
}
