/* SPDX-License-Identifier: BSD-3-Clause */
/* Broken on purpose: a bulk copy counts as complete once its buffers are read. */
#define wsh_ptx_bulk_wait wsh_ptx_bulk_wait_kept
#include "device/ptx/ptx.cuh"
#undef wsh_ptx_bulk_wait

static WSH_DEV void wsh_ptx_bulk_wait()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}
