/* SPDX-License-Identifier: BSD-3-Clause */
/* What a PE takes for tables in a large job: at most 64 MB; and it grows with each of the numbers. */
#include "runtime/tables.h"

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

const struct unit_test unit_tests[] = {
    {"tables of a large job are small, and grow with each of the numbers", are_small},
    {NULL, NULL},
};
