/* SPDX-License-Identifier: BSD-3-Clause */
/* Broken on purpose: nothing is released before the record of a zero-copy put. */
#define wsh_ptx_add_together wsh_ptx_add_together_kept
#include "device/ptx/ptx.cuh"
#undef wsh_ptx_add_together

template <bool RELEASES> static WSH_DEV uint64_t wsh_ptx_add_together(uint64_t *g_word, uint32_t n)
{
    return wsh_ptx_add_together_kept<false>(g_word, n);
}
