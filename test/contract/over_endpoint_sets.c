/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract over the efa transport with three endpoint sets, which contexts have in turn. */
#include "test/contract/group.h"

#include <stdlib.h>

static void __attribute__((constructor)) open_three_sets(void)
{
    setenv("SHMEM_ENDPOINT_SETS", "3", 1);
}

const struct group_path group_path = {
    .name = "endpoint_sets", .transport = "efa", .provider = "tcp", .dies_loudly = true};
