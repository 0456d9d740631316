/* SPDX-License-Identifier: BSD-3-Clause */
/* The PTX behind bulk copies; a part of ptx.cuh. */
#ifndef WSH_DEVICE_PTX_BULK_CUH
#define WSH_DEVICE_PTX_BULK_CUH

#include "ptx.cuh"

#if __CUDA_ARCH__ >= 900

/* Bulk copies. Addresses of barriers and buffers are those of shared memory; sizes are multiples of 16. */
static WSH_DEV void wsh_ptx_barrier_init(uint32_t barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

static WSH_DEV void wsh_ptx_barrier_inval(uint32_t barrier)
{
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

/* This lane arrives; the phase ends when `bytes` bytes have come too. */
static WSH_DEV void wsh_ptx_barrier_expect(uint32_t barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/* True once the phase of parity `parity` is over; may sleep a little before it says false. */
static WSH_DEV bool wsh_ptx_barrier_passed(uint32_t barrier, uint32_t parity)
{
    uint32_t passed;

    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(passed)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return passed;
}

/* What ordinary accesses of this lane did, in shared and global memory, comes before its later bulk copies. */
static WSH_DEV void wsh_ptx_proxy_fence()
{
    asm volatile("fence.proxy.async;" ::: "memory");
}

static WSH_DEV void wsh_ptx_bulk_load(uint32_t buffer, uint64_t g_from, uint32_t bytes, uint32_t barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :
                 : "r"(buffer), "l"(g_from), "r"(bytes), "r"(barrier)
                 : "memory");
}

/* A group of its own. */
static WSH_DEV void wsh_ptx_bulk_store(uint64_t g_to, uint32_t buffer, uint32_t bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(g_to), "r"(buffer), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* All of this lane's stores but the last LAST have read their buffers. */
template <int LAST> static WSH_DEV void wsh_ptx_bulk_wait_read_but()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LAST) : "memory");
}

/* All of this lane's stores are complete: written, not only read. */
static WSH_DEV void wsh_ptx_bulk_wait()
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#endif

#endif
