/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a PE takes. Low latency: 128 tokens of 7,168 columns among 8 PEs of a host at most 100 MB; prints it for 128
 * and 1,024 tokens, and for more PEs on hosts of 8. High throughput in one host, with the same rows: with up to 16 PEs
 * at most 2 % more than with 2.
 * paths: single
 */
#include "test/common/mp.h"

#include <shmemx_ep.h>

static shmemx_ep_config_t config_of(int mode, int dtype, int tokens)
{
    shmemx_ep_config_t config = SHMEMX_EP_CONFIG_INITIALIZER;

    config.mode = mode;
    config.dtype = dtype;
    config.hidden = 7168;
    config.experts = 256;
    config.topk = 8;
    config.tokens = tokens;
    return config;
}

static size_t bytes_of(shmemx_ep_config_t config, int pes, int pes_per_host)
{
    shmemx_ep_bytes_t bytes;

    mp_check(!shmemx_ep_bytes(&config, pes, pes_per_host, &bytes), "no bytes");
    mp_note("%s, %s, %d tokens, %d PEs: %.1f MB of symmetric memory, %.1f KB beside it",
            config.mode == SHMEMX_EP_LOW_LATENCY ? "low latency" : "high throughput",
            config.dtype == SHMEMX_EP_BF16 ? "bf16" : "fp8", config.tokens, pes,
            (double)bytes.symmetric / 1e6, (double)bytes.local / 1e3);
    return bytes.symmetric;
}

static void low_latency(int dtype)
{
    mp_check(bytes_of(config_of(SHMEMX_EP_LOW_LATENCY, dtype, 128), 8, 8) <= 100000000, "more than 100 MB");
    bytes_of(config_of(SHMEMX_EP_LOW_LATENCY, dtype, 1024), 8, 8);
    for (int pes = 64; pes <= 256; pes *= 2)
        bytes_of(config_of(SHMEMX_EP_LOW_LATENCY, dtype, 128), pes, 8);
}

static void high_throughput(int dtype, int tokens)
{
    shmemx_ep_config_t config = config_of(SHMEMX_EP_HIGH_THROUGHPUT, dtype, tokens);
    size_t two;

    config.pe_capacity = 2 * tokens;
    two = bytes_of(config, 2, 2);
    for (int pes = 4; pes <= 16; pes *= 2)
        mp_check(bytes_of(config, pes, pes) <= two + two / 50, "more with more PEs");
}

int main(void)
{
    mp_begin();
    for (int dtype = SHMEMX_EP_BF16; dtype <= SHMEMX_EP_FP8; dtype++) {
        low_latency(dtype);
        for (int tokens = 4096; tokens <= 16384; tokens *= 2)
            high_throughput(dtype, tokens);
    }
    return mp_end();
}
