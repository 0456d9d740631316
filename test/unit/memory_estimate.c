/* SPDX-License-Identifier: BSD-3-Clause */
/* What a PE takes for tables in a large job: at most 64 MB; and it grows with each of the numbers. */
#include "runtime/gpu/memory_estimate.h"

#include "test/common/unit.h"

#include <stdio.h>

static void are_small(void)
{
    struct wsh_tables_shape shape = WSH_TABLES_LARGE;
    size_t host = wsh_tables_host(&shape), device = wsh_tables_device(&shape);

    printf("# %zu PEs, %zu buffers, %zu NICs: %.1f MB of host memory, %.1f MB of device memory a PE\n",
           shape.n_pes, shape.n_buffers, shape.n_rails, (double)host / 1e6, (double)device / 1e6);
    CU_ASSERT(host + device <= 64000000);
    CU_ASSERT(host >
              shape.n_pes * shape.n_buffers * (64 + 8 * shape.n_rails)); /* an entry and the keys, once */
    shape.n_pes *= 2;
    CU_ASSERT(wsh_tables_host(&shape) > host * 3 / 2);
    shape = WSH_TABLES_LARGE;
    shape.n_rails = 1;
    CU_ASSERT(wsh_tables_host(&shape) < host);
    shape.n_buffers = 1;
    CU_ASSERT(wsh_tables_host(&shape) < host / 10);
}

static size_t of_job(size_t n_pes)
{
    const struct wsh_tables_job job = {.n_pes = n_pes, .n_local = 8};

    return wsh_tables_hosts(&job) + wsh_tables_teams(&job) + wsh_tables_routes(&job, 32);
}

/* A PE that is not addressed costs the same few bytes at every size; its flags in the sync area of a team are apart. */
static void peers_are_small(void)
{
    for (size_t n = 64; n <= 100000; n *= 10) {
        const struct wsh_tables_job one = {.n_pes = n, .n_local = 8}, two = {.n_pes = 2 * n, .n_local = 8};
        size_t each = (of_job(2 * n) - of_job(n) + n - 1) / n;
        double area = ((double)wsh_tables_sync_areas(&two) - (double)wsh_tables_sync_areas(&one)) / (double)n;

        printf("# from %zu to %zu PEs: %zu bytes a PE, and %.1f of the sync area\n", n, 2 * n, each, area);
        CU_ASSERT(each <= WSH_TABLES_PEER_MAX && each >= wsh_tables_peer());
        CU_ASSERT(area <= 240); /* at most 64 PEs have cells for each other; more have less than those */
    }
}

const struct unit_test unit_tests[] = {
    {"tables of a large job are small, and grow with each of the numbers", are_small},
    {"a PE that is not addressed costs at most 64 bytes", peers_are_small},
    {NULL, NULL},
};
