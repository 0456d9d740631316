/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of many PEs: 8 tokens each, 256 experts. Prints memory of a PE, and what the full shape would take. For
 * test/ep/scale.sh; WSH_TEST_HOSTS says how many emulated hosts there are. Direct only up to 128 PEs: it connects all
 * PEs of all hosts, and 256 are more sockets than this is about.
 */
#include "test/ep/calls.h"

#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 3, DIRECT_MOST = 128 };

static struct ref_job small_job(void)
{
    struct ref_job job = {
        .experts = 256, .topk = 8, .tokens = 8, .hidden = 128, .routing = REF_MIXED, .seed = 17};

    job.pes = mp_npes;
    job.hosts = atoi(getenv("WSH_TEST_HOSTS"));
    return job;
}

/* Of this process, in MiB. */
static long resident(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;

    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return kib / 1024;
}

static void print_full_shape(int mode, int tokens)
{
    shmemx_ep_config_t config = SHMEMX_EP_CONFIG_INITIALIZER;
    shmemx_ep_bytes_t bytes;

    config.mode = mode;
    config.dtype = SHMEMX_EP_FP8;
    config.hidden = 7168;
    config.experts = 256;
    config.topk = 8;
    config.tokens = tokens;
    mp_check(!shmemx_ep_bytes(&config, mp_npes, 8, &bytes), "no bytes");
    mp_note("%s, %d tokens, hidden 7168: %.2f GiB of symmetric memory, %.1f KiB beside it, %d counters",
            mode == SHMEMX_EP_LOW_LATENCY ? "low latency" : "high throughput", tokens,
            (double)bytes.symmetric / (1 << 30), (double)bytes.local / 1024, bytes.counters);
}

int main(void)
{
    mp_begin();
    for (int mode = 0; mode < REF_MODES; mode++)
        for (int route = mp_npes > DIRECT_MOST ? REF_ONE_COPY : REF_DIRECT; route < REF_ROUTES; route++) {
            struct ref_job job = small_job();
            struct calls_options options = {.window = 2};
            struct calls calls;
            double began = mp_now();

            if (!calls_open(&calls, SHMEM_TEAM_WORLD, &job, (enum ref_mode)mode, (enum ref_route)route,
                            &options))
                break;
            for (int64_t call = 0; call < CALLS; call++)
                calls_round(&calls, call);
            calls_close(&calls);
            mp_note("%s, %s: %d calls in %.1f s", mode == REF_LOW_LATENCY ? "low latency" : "high throughput",
                    route == REF_ONE_COPY ? "one copy" : "direct", CALLS, mp_now() - began);
        }
    mp_note("%d PEs: %ld MiB resident in this PE at most", mp_npes, resident());
    print_full_shape(SHMEMX_EP_LOW_LATENCY, 128);
    print_full_shape(SHMEMX_EP_HIGH_THROUGHPUT, 4096);
    return mp_end();
}
