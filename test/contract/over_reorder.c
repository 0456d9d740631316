/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract over the efa transport when its provider (tcp behind reorder.c) orders nothing at all. */
#include "test/contract/group.h"

void reorder_corrupt(size_t offset, unsigned char bits);
void reorder_fail(int times, bool event);
int reorder_keys(const uint64_t **keys);

const struct group_path group_path = {.name = "reorder",
                                      .transport = "efa",
                                      .provider = "tcp",
                                      .corrupt = reorder_corrupt,
                                      .fail = reorder_fail,
                                      .keys = reorder_keys};
