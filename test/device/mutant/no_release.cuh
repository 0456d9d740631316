/* SPDX-License-Identifier: BSD-3-Clause */
/* Broken on purpose: nothing is released. */
#define wsh_ptx_release wsh_ptx_release_kept
#define wsh_ptx_fence wsh_ptx_fence_kept
#define wsh_ptx_signal_set wsh_ptx_signal_set_kept
#define wsh_ptx_signal_add wsh_ptx_signal_add_kept
#include "device/ptx/ptx.cuh"
#undef wsh_ptx_release
#undef wsh_ptx_fence
#undef wsh_ptx_signal_set
#undef wsh_ptx_signal_add

static WSH_DEV void wsh_ptx_release()
{
}

static WSH_DEV void wsh_ptx_fence()
{
    wsh_ptx_acquire();
}

static WSH_DEV void wsh_ptx_signal_set(uint64_t *g_word, uint64_t value)
{
    wsh_ptx_put(g_word, value);
}

static WSH_DEV void wsh_ptx_signal_add(uint64_t *g_word, uint64_t value)
{
    wsh_ptx_add(g_word, value);
}
