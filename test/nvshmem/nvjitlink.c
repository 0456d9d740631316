/* SPDX-License-Identifier: BSD-3-Clause */
/* Links LTO-IR as programs do at run time: nvjitlink OUT ARCH FILE…. Exit status 0 or 1. */
#include <nvJitLink.h>

#include <stdio.h>
#include <stdlib.h>

static int fail(nvJitLinkHandle handle)
{
    static char log[65536];
    size_t len = 0;

    if (nvJitLinkGetErrorLogSize(handle, &len) == NVJITLINK_SUCCESS && len <= sizeof log &&
        nvJitLinkGetErrorLog(handle, log) == NVJITLINK_SUCCESS)
        fprintf(stderr, "%s\n", log);
    return 1;
}

int main(int argc, char **argv)
{
    static char arch[32], code[4 << 20];
    const char *options[] = {arch, "-lto"};
    nvJitLinkHandle handle;
    size_t len = 0;
    FILE *out;

    if (argc < 4)
        return 1;
    snprintf(arch, sizeof arch, "-arch=%s", argv[2]);
    if (nvJitLinkCreate(&handle, 2, options) != NVJITLINK_SUCCESS)
        return 1;
    for (int i = 3; i < argc; i++)
        if (nvJitLinkAddFile(handle, NVJITLINK_INPUT_LTOIR, argv[i]) != NVJITLINK_SUCCESS)
            return fail(handle);
    if (nvJitLinkComplete(handle) != NVJITLINK_SUCCESS ||
        nvJitLinkGetLinkedCubinSize(handle, &len) != NVJITLINK_SUCCESS || len > sizeof code ||
        nvJitLinkGetLinkedCubin(handle, code) != NVJITLINK_SUCCESS)
        return fail(handle);
    out = fopen(argv[1], "w");
    return !out || fwrite(code, 1, len, out) != len || fclose(out);
}
