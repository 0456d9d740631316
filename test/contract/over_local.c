/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract over the local transport. */
#include "test/contract/group.h"

const struct group_road group_road = {.name = "local", .transport = "local"};
