/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract over the efa transport with three lanes, which contexts have in turn. */
#include "test/contract/group.h"

#include <stdlib.h>

static void __attribute__((constructor)) three_lanes(void)
{
    setenv("SHMEM_LANES", "3", 1);
}

const struct group_path group_path = {
    .name = "lanes", .transport = "efa", .provider = "tcp", .dies_loudly = true};
