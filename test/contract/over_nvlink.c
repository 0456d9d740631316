/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract over the nvlink transport with this machine's GPUs; the heaps are host memory that they reach. */
#include "test/contract/group_gpu.h"

#include "transports/nvlink/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Without loading the driver: the PEs are forked, and a driver does not survive that. */
__attribute__((constructor)) static void need_gpu(void)
{
    bool gpu = !access("/dev/nvidiactl", F_OK);

    if (gpu && nvlink_agent_size)
        return;
    puts(gpu ? "skip: built without nvcc: no atomics on device memory"
             : "skip: no NVIDIA GPU on this machine");
    exit(77);
}

const struct group_path group_path = {.name = "nvlink", .transport = "nvlink", .gpu = GROUP_REAL_GPU};
