/* SPDX-License-Identifier: BSD-3-Clause */
/* The PTX behind send queues that kernels write themselves (gda.h); a part of ptx.cuh. */
#ifndef WSH_DEVICE_PTX_NIC_CUH
#define WSH_DEVICE_PTX_NIC_CUH

#include "ptx.cuh"

/*
 * A word of a NIC's, or of the memory that stands for it: each store is made, whole and once, and none is merged with
 * another. Orders nothing. Older GPUs, which no NIC serves so, only have the relaxed store.
 */
#if __CUDA_ARCH__ >= 900
#define WSH_PTX_NIC_STORE "st.mmio.relaxed.sys.global"
#else
#define WSH_PTX_NIC_STORE "st.relaxed.sys.global"
#endif

static WSH_DEV void wsh_ptx_nic_put(uint64_t *g_to, uint64_t value)
{
    asm volatile(WSH_PTX_NIC_STORE ".u64 [%0], %1;" ::"l"(g_to), "l"(value) : "memory");
}

static WSH_DEV void wsh_ptx_nic_put(uint32_t *g_to, uint32_t value)
{
    asm volatile(WSH_PTX_NIC_STORE ".u32 [%0], %1;" ::"l"(g_to), "r"(value) : "memory");
}

/* The same of two words, of which the second lies behind the first, where the memory is not a NIC's. */
static WSH_DEV void wsh_ptx_nic_put_pair(uint64_t *g_to, uint64_t first, uint64_t second)
{
    asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1, %2};" ::"l"(g_to), "l"(first), "l"(second) : "memory");
}

/*
 * What this lane knows of a word: no older than what it has synchronized with, where a poll asks the GPU's memory.
 * Most often the L1 has it.
 */
static WSH_DEV uint64_t wsh_ptx_known(const uint64_t *g_word)
{
    uint64_t value;

    asm volatile("ld.relaxed.cta.global.u64 %0, [%1];" : "=l"(value) : "l"(g_word) : "memory");
    return value;
}

/* For lanes of this GPU: what came before is before the value, for those that have seen it. */
static WSH_DEV void wsh_ptx_pass_on(uint64_t *g_word, uint64_t value)
{
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(g_word), "l"(value) : "memory");
}

static WSH_DEV void wsh_ptx_pass_on_add(uint64_t *g_word, uint64_t value)
{
    asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(g_word), "l"(value) : "memory");
}

/* No less than `value` from now on; relaxed. */
static WSH_DEV void wsh_ptx_raise(uint64_t *g_word, uint64_t value)
{
    asm volatile("red.relaxed.sys.global.max.u64 [%0], %1;" ::"l"(g_word), "l"(value) : "memory");
}

#endif
