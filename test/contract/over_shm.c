/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract over the efa transport with libfabric's provider shm. */
#include "test/contract/group.h"

const struct group_path group_path = {.name = "shm", .transport = "efa", .provider = "shm"};
