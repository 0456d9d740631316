/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract over the efa transport with four NICs a PE, in the short form two (provider efa on the emulated
 * device).
 * timeout: 900
 */
#include "test/contract/group.h"

const struct group_path group_path = {
    .name = "rails", .transport = "efa", .provider = "efa", .nics = 4, .dies_loudly = true};
