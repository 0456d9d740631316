/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a PE takes for low latency: 128 tokens of 7,168 columns among 8 PEs of a host at most 100 MB. Prints it for 128
 * and 1,024 tokens, and for more PEs on hosts of 8.
 * paths: single
 */
#include "test/common/mp.h"

#include <shmemx_ep.h>

static size_t bytes_of(int dtype, int tokens, int pes)
{
    shmemx_ep_config_t config = SHMEMX_EP_CONFIG_INITIALIZER;
    shmemx_ep_bytes_t bytes;

    config.mode = SHMEMX_EP_LOW_LATENCY;
    config.dtype = dtype;
    config.hidden = 7168;
    config.experts = 256;
    config.topk = 8;
    config.tokens = tokens;
    mp_check(!shmemx_ep_bytes(&config, pes, 8, &bytes), "no bytes");
    mp_note("%s, %d tokens, %d PEs: %.1f MB of symmetric memory, %.1f KB beside it",
            dtype == SHMEMX_EP_BF16 ? "bf16" : "fp8", tokens, pes, (double)bytes.symmetric / 1e6,
            (double)bytes.local / 1e3);
    return bytes.symmetric;
}

int main(void)
{
    mp_begin();
    for (int dtype = SHMEMX_EP_BF16; dtype <= SHMEMX_EP_FP8; dtype++) {
        mp_check(bytes_of(dtype, 128, 8) <= 100000000, "more than 100 MB");
        bytes_of(dtype, 1024, 8);
        for (int pes = 64; pes <= 256; pes *= 2)
            bytes_of(dtype, 128, pes);
    }
    return mp_end();
}
