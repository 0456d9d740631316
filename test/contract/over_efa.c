/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract over the efa transport with libfabric's provider efa on the emulated device (emulator).
 * timeout: 900
 */
#include "test/contract/group.h"

const struct group_path group_path = {
    .name = "efa", .transport = "efa", .provider = "efa", .nics = 1, .dies_loudly = true};
