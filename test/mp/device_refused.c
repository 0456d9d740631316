/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When one PE cannot attach its GPU, all get NULL, whatever step fails; the job goes on, and a later call attaches.
 *
 * paths: fakegpu:2,3 fakegpuipc:2 fakegpumixed:3
 * long paths: fakegpumixed:2
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <stdlib.h>
#include <string.h>

/* Which step of the last PE fails, where it is one of the path. */
static const struct {
    const char *fail;
    bool ipc, vmm;
} steps[] = {
    {"cuDevicePrimaryCtxRetain=999", true, true},
    {"cuMemCreate=2", false, true},
    {"cuMemExportToShareableHandle=999", false, true},
    {"cuMemAddressReserve=999", false, true},
    {"cuMemSetAccess=999", false, true},
    {"cuMemImportFromShareableHandle=217", false, true},
    {"cuMemAlloc_v2=2", true, true},
    {"cuIpcGetMemHandle=999", true, false},
    {"cuIpcOpenMemHandle_v2=999", true, false},
    {"cuMemHostAlloc=2", true, true},
};

int main(void)
{
    long *host, *device;
    bool ipc = mp_path_is("fakegpuipc"), alone = mp_path_is("fakegpumixed");

    mp_begin();
    host = mp_alloc(sizeof *host);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if ((ipc ? !steps[i].ipc : !steps[i].vmm) || (alone && strstr(steps[i].fail, "Import")))
            continue; /* alone: the last PE is on a host of its own */
        if (mp_me == mp_npes - 1)
            setenv("FAKE_CUDA_FAIL", steps[i].fail, 1);
        device = shmemx_malloc_device(64);
        mp_check(!device, "%s at PE %d, but there is device memory", steps[i].fail, mp_npes - 1);
        unsetenv("FAKE_CUDA_FAIL");
        shmem_long_atomic_add(host, 1, mp_right());
        shmem_barrier_all();
        shmem_long_atomic_add(host, -1, mp_right());
        shmem_barrier_all();
    }
    device = shmemx_calloc_device(1, sizeof *device);
    if (mp_check(device, "no device memory after all faults are gone")) {
        shmem_long_atomic_add(device, 3, mp_right());
        shmem_barrier_all();
        mp_check(shmem_long_g(device, mp_me) == 3, "device memory does not work");
    }
    mp_check(*host == 0, "host memory was disturbed");
    return mp_end();
}
