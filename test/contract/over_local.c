/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract over the local transport. */
#include "test/contract/group.h"

const struct group_path group_path = {.name = "local", .transport = "local"};
