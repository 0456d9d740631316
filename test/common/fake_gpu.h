/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the CUDA driver without a GPU (test/fake_cuda) instead of this machine's. */
#ifndef WSH_TEST_FAKE_GPU_H
#define WSH_TEST_FAKE_GPU_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Before the library looks for a driver: it then finds this one, which bears its name. False: it was not built. */
static inline bool fake_gpu_load(void)
{
    const char *folder = getenv("top_builddir");
    char path[1024];

    snprintf(path, sizeof path, "%s/test/fake_cuda/libcuda.so.1", folder ? folder : ".");
    return dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL;
}

#endif
