/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract over the nvlink transport with a CUDA driver without a GPU. */
#include "test/contract/group_gpu.h"

#include "transports/nvlink/agent.h"

#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void need_atomics(void)
{
    if (nvlink_agent_size)
        return;
    puts("skip: built without nvcc: no atomics on device memory");
    exit(77);
}

const struct group_path group_path = {.name = "fakegpu", .transport = "nvlink", .gpu = GROUP_FAKE_GPU};
