/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract over the efa transport when its provider (tcp behind reorder.c) orders nothing at all. */
#include "test/contract/group.h"

const struct group_road group_road = {.name = "reorder", .transport = "efa", .provider = "tcp"};
