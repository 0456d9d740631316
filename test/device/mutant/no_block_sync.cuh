/* SPDX-License-Identifier: BSD-3-Clause */
/* Broken on purpose: the threads of a block do not wait for each other. */
#define wsh_ptx_block_sync wsh_ptx_block_sync_kept
#include "device/ptx/ptx.cuh"
#undef wsh_ptx_block_sync

static WSH_DEV void wsh_ptx_block_sync()
{
}
