/* SPDX-License-Identifier: BSD-3-Clause */
/* The devices, contexts and modules of the driver without a GPU. */
#define _GNU_SOURCE
#include "test/fake_cuda/fake.h"

#include "device/view/view.h"
#include "transports/nvlink/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GPUS_MAX = 8, STACK = 16 };

struct CUctx_st {
    int device;
    int primary;
};

static struct CUctx_st primaries[GPUS_MAX];
static _Thread_local wsh_cu_ctx stack[STACK];
static _Thread_local int depth;

long fake_setting(const char *name, long otherwise)
{
    const char *text = getenv(name);

    return text && *text ? atol(text) : otherwise;
}

static void block(const char *routine)
{
    const char *asked = getenv("FAKE_CUDA_BLOCK");
    size_t len = strlen(routine);

    if (asked && !strncmp(asked, routine, len) && asked[len] == '=')
        while (!access(asked + len + 1, F_OK))
            usleep(10000);
}

int fake_check(const char *routine, bool needs_context)
{
    const char *fail = getenv("FAKE_CUDA_FAIL");
    size_t len = strlen(routine);

    block(routine);
    if (fail && !strncmp(fail, routine, len) && fail[len] == '=')
        return atoi(fail + len + 1);
    return needs_context && (!depth || !stack[depth - 1]) ? FAKE_NO_CONTEXT : 0;
}

int fake_device(void)
{
    return depth && stack[depth - 1] ? stack[depth - 1]->device : -1;
}

int cuInit(unsigned flags)
{
    FAKE_ENTER(false);
    return flags ? FAKE_INVALID : 0;
}

int cuGetErrorString(int status, const char **text)
{
    static _Thread_local char words[32];

    snprintf(words, sizeof words, status == WSH_CU_OUT_OF_MEMORY ? "out of memory" : "fake error %d", status);
    *text = words;
    return 0;
}

int cuDeviceGetCount(int *n)
{
    FAKE_ENTER(false);
    *n = (int)fake_setting("FAKE_CUDA_GPUS", 2);
    return 0;
}

int cuDeviceGetName(char *name, int len, int device)
{
    FAKE_ENTER(false);
    snprintf(name, (size_t)len, "Fake GPU %d", device);
    return 0;
}

int cuDeviceGetPCIBusId(char *pci, int len, int device)
{
    FAKE_ENTER(false);
    snprintf(pci, (size_t)len, "0000:%02x:00.0", device + 1);
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    FAKE_ENTER(false);
    *value = attribute == WSH_CU_ATTR_VMM   ? fake_setting("FAKE_CUDA_VMM", 1)
             : attribute == WSH_CU_ATTR_MPS ? fake_setting("FAKE_CUDA_MPS", 0)
             : attribute == WSH_CU_ATTR_RDMA_WRITES_ORDERING
                 ? fake_setting("FAKE_CUDA_WRITES", WSH_CU_WRITES_ORDERING_OWNER)
             : attribute == WSH_CU_ATTR_PROCESSORS ? FAKE_PROCESSORS
                                                   : 1;
    return 0;
}

int cuDevicePrimaryCtxRetain(wsh_cu_ctx *ctx, int device)
{
    FAKE_ENTER(false);
    if (device < 0 || device >= GPUS_MAX)
        return 101;
    primaries[device].device = device;
    primaries[device].primary++;
    *ctx = &primaries[device];
    return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    FAKE_ENTER(false);
    return --primaries[device].primary < 0 ? FAKE_INVALID : 0;
}

int cuCtxGetCurrent(wsh_cu_ctx *ctx)
{
    FAKE_ENTER(false);
    *ctx = depth ? stack[depth - 1] : NULL;
    return 0;
}

int cuCtxSetCurrent(wsh_cu_ctx ctx)
{
    FAKE_ENTER(false);
    depth = depth ? depth : 1;
    stack[depth - 1] = ctx;
    return 0;
}

int cuCtxPushCurrent_v2(wsh_cu_ctx ctx)
{
    FAKE_ENTER(false);
    if (depth == STACK)
        return FAKE_INVALID;
    stack[depth++] = ctx;
    return 0;
}

int cuCtxPopCurrent_v2(wsh_cu_ctx *ctx)
{
    FAKE_ENTER(false);
    if (!depth)
        return FAKE_INVALID;
    *ctx = stack[--depth];
    return 0;
}

int cuCtxGetDevice(int *device)
{
    FAKE_ENTER(true);
    *device = fake_device();
    return 0;
}

int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    FAKE_ENTER(true);
    *least = 0;
    *greatest = -5;
    return 0;
}

static void units_read(wsh_cu_module module, const char *words)
{
    for (int used; module->n < UNITS_MAX && sscanf(words, " %15s%n", module->mark[module->n], &used) == 1;) {
        strcat(module->mark[module->n++], WSH_DEVICE_MARK);
        words += used;
    }
}

int cuModuleLoadData(wsh_cu_module *module, const void *image)
{
    FAKE_ENTER(true);
    *module = calloc(1, sizeof **module);
    if (!image)
        return FAKE_INVALID;
    (*module)->nothing = !strncmp(image, FAKE_UNITS, strlen(FAKE_UNITS));
    if ((*module)->nothing)
        units_read(*module, (const char *)image + strlen(FAKE_UNITS));
    return 0;
}

int cuModuleUnload(wsh_cu_module module)
{
    FAKE_ENTER(true);
    while (module->functions) {
        struct CUfunc_st *function = module->functions;

        module->functions = function->next;
        free(function->name);
        free(function);
    }
    free(module);
    return 0;
}

int cuModuleGetFunction(wsh_cu_function *function, wsh_cu_module module, const char *name)
{
    FAKE_ENTER(true);
    if (strcmp(name, NVLINK_AGENT) && strncmp(name, FAKE_IMAGE, strlen(FAKE_IMAGE)))
        return FAKE_NOT_FOUND;
    *function = calloc(1, sizeof **function);
    **function = (struct CUfunc_st){module, module->functions, strdup(name)};
    module->functions = *function;
    return 0;
}

int cuMemAlloc_v2(wsh_cu_ptr *ptr, size_t len);

/* Which of the module's views has that name, or -1. */
static int view_find(wsh_cu_module module, const char *name)
{
    for (int i = 0; i < (int)module->n; i++) {
        size_t prefix = strlen(module->mark[i]) - strlen(WSH_DEVICE_MARK);

        if (!strncmp(name, module->mark[i], prefix) && !strcmp(name + prefix, WSH_DEVICE_SYMBOL))
            return i;
    }
    return module->nothing || strcmp(name, WSH_DEVICE_SYMBOL) ? -1 : UNITS_MAX;
}

int cuModuleGetGlobal_v2(wsh_cu_ptr *ptr, size_t *len, wsh_cu_module module, const char *name)
{
    int status = 0, i;

    FAKE_ENTER(true);
    i = view_find(module, name);
    if (i < 0)
        return FAKE_NOT_FOUND;
    if (!module->symbol[i])
        status = cuMemAlloc_v2(&module->symbol[i], sizeof(struct wsh_device));
    *ptr = module->symbol[i];
    *len = sizeof(struct wsh_device);
    return status;
}

int cuModuleGetFunctionCount(unsigned *n, wsh_cu_module module)
{
    FAKE_ENTER(true);
    *n = module->n;
    return 0;
}

int cuModuleEnumerateFunctions(wsh_cu_function *functions, unsigned n, wsh_cu_module module)
{
    FAKE_ENTER(true);
    for (unsigned i = 0; i < n && i < module->n; i++)
        functions[i] = (wsh_cu_function)(void *)module->mark[i];
    return 0;
}

int cuFuncGetName(const char **name, wsh_cu_function function)
{
    FAKE_ENTER(false);
    *name = (const char *)function;
    return 0;
}
