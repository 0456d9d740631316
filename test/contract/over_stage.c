/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract over staging with a carrier of the test's own (carrier.c); what is below it is stack.c. */
#include "test/contract/carrier.h"
#include "test/contract/group_gpu.h"
#include "test/contract/stack.h"

const bool stack_hmem = false;
const struct wsh_tp_ops *const stack_carrier = &carrier_ops;

__attribute__((constructor)) static void find_parts(void)
{
    stack_find_parts();
    stack_alone();
}

const struct group_path group_path = {
    .name = "stage", .transport = "stage", .ops = &stack_ops, .before = carrier_reset, .gpu = GROUP_FAKE_GPU};
