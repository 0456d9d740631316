/* SPDX-License-Identifier: BSD-3-Clause */
/* What NICs have added to a counter (struct wsh_device_nic_counter in view.h), as a GPU reads it. */
#ifndef WSH_DEVICE_NIC_COUNT_CUH
#define WSH_DEVICE_NIC_COUNT_CUH

#include "nic_word.h"
#include "../core/scope.cuh"
#include "../view/view.h"

/* 64 bits of one word: those of the count that this very lane has seen there, so that its acquire covers the data. */
static WSH_DEV uint64_t wsh_dev_nic_word_count(struct wsh_device_nic_word *word, const uint64_t *at)
{
    uint64_t *kept_at = (uint64_t *)wsh_ptx_poll(&word->kept_at);
    uint64_t base = wsh_ptx_poll(&word->base), raw = wsh_ptx_poll(at), kept = wsh_ptx_poll(kept_at);
    uint64_t now = WSH_NIC_WORD_EXTEND(kept, raw);

    if (kept_at == &word->kept && (int64_t)(now - kept) >= (int64_t)WSH_NIC_WORD_STALE)
        wsh_ptx_raise(kept_at, now);
    return now - base;
}

/* Without order. */
static WSH_DEV uint64_t wsh_dev_nic_count(struct wsh_device_nic_counter *counter)
{
    uint64_t sum = 0;

#pragma unroll 1
    for (uint32_t i = 0; i < WSH_DEVICE_NIC_WORDS; i++) {
        const uint64_t *at = (const uint64_t *)wsh_ptx_poll(&counter->word[i].at);

        if (!at)
            break;
        sum += wsh_dev_nic_word_count(&counter->word[i], at);
    }
    return sum;
}

#endif
