/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's one kernel, which performs atomics for the host: words of device memory belong to GPUs, so that a
 * CPU's update could be lost. Shared by agent.cu and C.
 */
#ifndef WSH_NVLINK_AGENT_H
#define WSH_NVLINK_AGENT_H

#include <stdint.h>

/* The kernel's argument: one atomic, performed by one thread. Values of `op` are those of enum wsh_amo_op. */
struct nvlink_atomic {
    uint64_t word;    /* device address, naturally aligned */
    uint64_t operand; /* bit patterns in the low bytes */
    uint64_t compare;
    uint64_t old; /* where the 8 bytes of the old value go, or 0 */
    uint32_t op;
    uint32_t width; /* 4 or 8 bytes */
};

#define NVLINK_AGENT "wsh_nvlink_agent"

#ifndef __CUDACC__
/* What nvcc made of agent.cu, at least `size` bytes; size 0: built without nvcc. */
extern const unsigned char nvlink_agent_image[];
extern const unsigned long nvlink_agent_size;
#endif

#endif
