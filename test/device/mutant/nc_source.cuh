/* SPDX-License-Identifier: BSD-3-Clause */
/* Broken on purpose: sources are read as if nobody wrote them during the kernel. */
#define wsh_ptx_source wsh_ptx_source_kept
#include "device/ptx/ptx.cuh"
#undef wsh_ptx_source

static WSH_DEV uint4 wsh_ptx_source(const uint4 *g_from)
{
    return __ldg(g_from);
}
