/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract over the efa transport with libfabric's provider tcp. */
#include "test/contract/group.h"

const struct group_path group_path = {
    .name = "tcp", .transport = "efa", .provider = "tcp", .dies_loudly = true};
