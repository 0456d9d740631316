/* SPDX-License-Identifier: BSD-3-Clause */
/* Broken on purpose: a wait does not acquire. */
#define wsh_ptx_acquire wsh_ptx_acquire_kept
#include "device/ptx/ptx.cuh"
#undef wsh_ptx_acquire

static WSH_DEV void wsh_ptx_acquire()
{
}
