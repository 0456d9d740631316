/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract over staging with a staging context of the test's own (stage_context.c); what is below it is stack.c. */
#include "test/contract/stage_context.h"
#include "test/contract/group_gpu.h"
#include "test/contract/stack.h"

const bool stack_hmem = false;
const struct wsh_tp_ops *const stack_context = &stage_context_ops;

__attribute__((constructor)) static void find_parts(void)
{
    stack_find_parts();
    stack_alone();
}

const struct group_path group_path = {.name = "stage",
                                      .transport = "stage",
                                      .ops = &stack_ops,
                                      .before = stage_context_reset,
                                      .gpu = GROUP_FAKE_GPU};
