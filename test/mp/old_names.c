/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that use former names of extensions compile and do what they did: each name has the effect of the one that
 * is named in its place.
 *
 * paths: local:2 mixed:2 single
 */
#include "test/common/mp.h"

#include <shmemx.h>
#include <shmemx_ep.h>
#include <stdio.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { PUTS = 3 };

static void lists(void)
{
    static uint64_t here[2 * PUTS], source[PUTS];
    shmemx_put_t puts[PUTS];
    shmem_ctx_t ctx;

    for (int i = 0; i < PUTS; i++) {
        source[i] = (uint64_t)(100 * mp_me + i + 1);
        puts[i] = (shmemx_put_t){&here[i], &source[i], sizeof here[i], SHMEMX_COUNTER_INVALID, mp_right()};
    }
    shmemx_putmem_nbi_list(puts, PUTS);
    mp_check(!shmem_ctx_create(0, &ctx), "no context");
    for (int i = 0; i < PUTS; i++)
        puts[i].dest = &here[PUTS + i];
    shmemx_ctx_putmem_nbi_list(ctx, puts, PUTS);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    for (int i = 0; i < 2 * PUTS; i++)
        mp_check(here[i] == (uint64_t)(100 * mp_left() + i % PUTS + 1), "word %d is %llu", i,
                 (unsigned long long)here[i]);
    shmem_ctx_destroy(ctx);
}

/* By a call that is refused. */
static void errors(void)
{
    char text[256];
    int held = shmemx_hold_errors(1);

    mp_check(held == 0, "errors were held already");
    mp_check(shmemx_report_remove(text), "what was never added is removed");
    snprintf(text, sizeof text, "%s", shmemx_last_error());
    mp_check(strstr(text, "shmemx_report_remove") != NULL, "the last error is '%s'", text);
    mp_check(!*shmemx_error_last(), "it is told twice");
    mp_check(shmemx_hold_errors(held) == 1, "errors were not held");
    mp_check(!*shmemx_ep_last_error(), "libwarpshmem-ep has an error");
}

static void counts(void)
{
    shmemx_stats_t stats;
    uint64_t operations, bytes, kernels, threads, moved, copied;

    shmemx_network_counts(&operations, &bytes);
    shmemx_stats(&stats, sizeof stats);
    mp_check(operations <= stats.network_operations && bytes <= stats.network_bytes,
             "more than shmemx_stats says");
    mp_check(!operations == !mp_path_is("mixed"), "%llu operations", (unsigned long long)operations);
    shmemx_proxy_waits(&kernels, &threads);
    shmemx_proxy_bytes(&moved, &copied);
    mp_check(!kernels && !threads && !moved && !copied, "a proxy without a GPU");
}

MP_MAIN(old_names)
{
    mp_begin();
    lists();
    errors();
    counts();
    mp_check(!shmemx_peer_heap_bases(), "device heaps without a GPU");
    return mp_end();
}
