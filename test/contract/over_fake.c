/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract over the fake transport, which delays and reorders everything. */
#include "test/common/fake_transport.h"
#include "test/contract/group.h"

static void new_world(int n)
{
    fake_reset(&(struct fake_settings){.n_pes = n, .seed = 20, .delay = 2, .room = 300});
}

const struct group_path group_path = {
    .name = "fake", .transport = "fake", .ops = &fake_tp_ops, .in_process = true, .before = new_world};
