/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks that wait for other PEs have room beside those of other jobs: a GPU is divided among SHMEM_GPU_PES, and all
 * PEs get the same part of it, whoever uses it meanwhile.
 *
 * paths: fakegpu1:2
 */
#include "test/common/mp.h"
#include "test/fake_cuda/fake.h"

#include "device/view/launch.h"

#include <stdint.h>
#include <stdlib.h>

static int find(const void *kernel, void **function)
{
    *function = (void *)(uintptr_t)kernel;
    return 0;
}

int main(void)
{
    struct wsh_device_launch it = {
        "gpu_of_two_jobs", "kernel", find, {0, 0, 0}, {128, 1, 1}, 0, NULL, NULL, NULL, NULL};
    int most = FAKE_PROCESSORS * FAKE_THREADS / 128, blocks = -1;

    setenv("FAKE_CUDA_MPS", "1", 1);
    setenv("SHMEM_GPU_PES", "5", 1);
    mp_begin();
    mp_check(wsh_device_launch_fits(&it, &blocks) == 0 && blocks == most / 5, "room for %d blocks, not %d",
             blocks, most / 5);
    return mp_end();
}
