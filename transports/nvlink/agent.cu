/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel by which a GPU performs one atomic for its host. Values of `op`: enum wsh_amo_op. */
#include "transports/nvlink/agent.h"

#include "base/amo_op.h"

/* Relaxed and for the whole system: peers' GPUs take part. The kernel's fences order it. */
template <typename T> __device__ T apply(T *word, unsigned op, T operand, T compare)
{
    switch (op) {
    case WSH_AMO_FETCH: return atomicAdd_system(word, (T)0);
    case WSH_AMO_SET:
    case WSH_AMO_SWAP: return atomicExch_system(word, operand);
    case WSH_AMO_CSWAP: return atomicCAS_system(word, compare, operand);
    case WSH_AMO_ADD: return atomicAdd_system(word, operand);
    case WSH_AMO_AND: return atomicAnd_system(word, operand);
    case WSH_AMO_OR: return atomicOr_system(word, operand);
    case WSH_AMO_XOR: return atomicXor_system(word, operand);
    default: return 0;
    }
}

/*
 * The first fence: what the stream has copied before is visible to who sees the new value. The second: the old value
 * is in the host's memory before the stream goes on to say that this operation is complete.
 */
extern "C" __global__ void wsh_nvlink_agent(struct nvlink_atomic atomic)
{
    unsigned long long old;

    asm volatile("fence.acq_rel.sys;" ::: "memory");
    if (atomic.width == 4)
        old = apply((unsigned *)atomic.word, atomic.op, (unsigned)atomic.operand, (unsigned)atomic.compare);
    else
        old = apply((unsigned long long *)atomic.word, atomic.op, (unsigned long long)atomic.operand,
                    (unsigned long long)atomic.compare);
    if (atomic.old)
        asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(atomic.old), "l"(old) : "memory");
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}
