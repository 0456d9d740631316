/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the CUDA driver, and finds the GPU and context that this PE uses. */
#include "base/cuda/cuda.h"

#include "base/cuda/call.h"
#include "base/err.h"
#include "base/log.h"
#include "base/process/signals.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static struct wsh_cuda driver;
static int n_gpus, opened = -ENODEV;

static const struct {
    const char *name;
    size_t offset;
} entries[] = {
#define WSH_CUDA(field, name, args) {name, offsetof(struct wsh_cuda, field)},
#include "base/cuda/cuda_defs.h"
#undef WSH_CUDA
};

/* Routines that a driver which is new enough may lack. */
static bool may_lack(const char *name)
{
    static const char *const names[] = {"cuModuleGetFunctionCount", "cuModuleEnumerateFunctions",
                                        "cuFuncGetName", "cuLaunchKernelEx", "cuDriverGetVersion"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!strcmp(name, names[i]))
            return true;
    }
    return false;
}

static int load_driver(void)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (!lib)
        return -ENODEV;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        void *entry = dlsym(lib, entries[i].name);

        if (!entry && !may_lack(entries[i].name)) {
            wsh_info(WSH_SUB_INIT, "the CUDA driver is too old: it has no %s; CUDA 11.7 or newer is needed",
                     entries[i].name);
            dlclose(lib);
            return -EIO;
        }
        memcpy((char *)&driver + entries[i].offset, &entry, sizeof entry);
    }
    return 0;
}

static void open_once(void)
{
    int status;

    opened = load_driver();
    if (opened)
        return;
    status = driver.init(0);
    if (status || driver.device_count(&n_gpus)) {
        wsh_info(WSH_SUB_INIT, "the CUDA driver is here but does not start (status %d)", status);
        n_gpus = 0;
        opened = -EIO;
    } else if (!n_gpus) {
        opened = -ENODEV;
    }
}

bool wsh_cuda_is_likely(void)
{
    return !access("/dev/nvidiactl", F_OK);
}

int wsh_cuda_open(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    sigset_t before;

    wsh_signals_block(&before);
    pthread_once(&once, open_once);
    wsh_signals_restore(&before);
    return opened;
}

int wsh_cuda_current(void)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD),
         *entry = lib ? dlsym(lib, "cuCtxGetDevice") : NULL;
    int (*ctx_device)(int *), ordinal = -1;

    memcpy(&ctx_device, &entry, sizeof entry);
    if (ctx_device && ctx_device(&ordinal))
        ordinal = -1;
    if (lib)
        dlclose(lib);
    return ordinal;
}

const struct wsh_cuda *wsh_cuda(void)
{
    return n_gpus ? &driver : NULL;
}

int wsh_cuda_count(void)
{
    return n_gpus;
}

int wsh_cuda_describe(int i, char *name, size_t name_size, char *pci, size_t pci_size)
{
    return driver.device_name(name, (int)name_size, i) || driver.device_pci(pci, (int)pci_size, i) ? -EIO : 0;
}

const char *wsh_cuda_strerror(int status)
{
    const char *text = NULL;

    return driver.error_string && !driver.error_string(status, &text) && text ? text : "unknown CUDA error";
}

static bool has_least(int ordinal, int attribute, int least)
{
    int value = 0;

    return !driver.device_attribute(&value, attribute, ordinal) && value >= least;
}

static bool device_has(int ordinal, int attribute)
{
    return has_least(ordinal, attribute, 1);
}

/* GPUs of sm_90 on; captured, with CUDA 12.3 on. */
static bool has_overlap(int ordinal)
{
    int version = 0;

    return driver.launch_ex && driver.driver_version && !driver.driver_version(&version) &&
           version >= 12030 && has_least(ordinal, WSH_CU_ATTR_MAJOR, 9);
}

/* No context is current: makes the GPU's primary context current, which the CUDA runtime then uses too. */
static int primary_choose(struct wsh_gpu *gpu, int otherwise)
{
    gpu->ordinal = otherwise;
    if (driver.primary_retain(&gpu->ctx, otherwise))
        return -EIO;
    gpu->retained = true;
    return driver.ctx_set(gpu->ctx) ? -EIO : 0;
}

/* The context that the program has made current; held where it is the primary one, so that it outlives a reset. */
static int take_current(struct wsh_gpu *gpu)
{
    wsh_cu_ctx primary;

    if (driver.ctx_device(&gpu->ordinal) || driver.primary_retain(&primary, gpu->ordinal))
        return -EIO;
    gpu->retained = primary == gpu->ctx;
    if (!gpu->retained)
        driver.primary_release(gpu->ordinal);
    return 0;
}

static bool is_on(int wanted)
{
    int ordinal;

    return wanted < 0 || (!driver.ctx_device(&ordinal) && ordinal == wanted);
}

int wsh_gpu_open(struct wsh_gpu *gpu, int wanted, int otherwise)
{
    int rc;

    *gpu = (struct wsh_gpu){0};
    if (driver.ctx_get(&gpu->ctx))
        rc = -EIO;
    else if (gpu->ctx && is_on(wanted))
        rc = take_current(gpu);
    else
        rc = primary_choose(gpu, wanted >= 0 ? wanted : otherwise);
    if (rc) {
        wsh_error(
            "no CUDA context on GPU %d; see nvidia-smi: is the GPU free for this user, and in its default "
            "compute mode?",
            gpu->ordinal);
        return rc;
    }
    wsh_cuda_describe(gpu->ordinal, gpu->name, sizeof gpu->name, gpu->pci, sizeof gpu->pci);
    gpu->vmm =
        device_has(gpu->ordinal, WSH_CU_ATTR_VMM) && device_has(gpu->ordinal, WSH_CU_ATTR_POSIX_HANDLES);
    gpu->rdma = device_has(gpu->ordinal, WSH_CU_ATTR_RDMA_VMM);
    gpu->sees = has_least(gpu->ordinal, WSH_CU_ATTR_RDMA_WRITES_ORDERING, WSH_CU_WRITES_ORDERING_OWNER);
    gpu->overlaps = has_overlap(gpu->ordinal);
    gpu->mps = device_has(gpu->ordinal, WSH_CU_ATTR_MPS);
    return 0;
}

void wsh_gpu_close(struct wsh_gpu *gpu)
{
    if (gpu->retained)
        driver.primary_release(gpu->ordinal);
    *gpu = (struct wsh_gpu){0};
}

int wsh_gpu_enter(const struct wsh_gpu *gpu)
{
    return wsh_cuda_call(ctx_push, gpu->ctx) ? -EIO : 0;
}

void wsh_gpu_leave(const struct wsh_gpu *gpu)
{
    wsh_cu_ctx was;

    (void)gpu;
    wsh_cuda_call(ctx_pop, &was);
}

int wsh_gpu_other(const struct wsh_gpu *gpu)
{
    wsh_cu_ctx now;
    int ordinal;

    if (driver.ctx_get(&now) || !now || now == gpu->ctx || driver.ctx_device(&ordinal))
        return -1;
    return ordinal == gpu->ordinal ? -1 : ordinal;
}
