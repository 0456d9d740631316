/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract over staging with efa and libfabric's provider tcp as its staging context; what is below it is stack.c.
 */
#include "test/contract/group_gpu.h"
#include "test/contract/stack.h"

const bool stack_hmem = false;
const struct wsh_tp_ops *const stack_context = NULL;

__attribute__((constructor)) static void find_parts(void)
{
    stack_find_parts();
    stack_alone();
}

const struct group_path group_path = {.name = "stage_tcp",
                                      .transport = "stage",
                                      .ops = &stack_ops,
                                      .provider = "tcp",
                                      .dies_loudly = true,
                                      .gpu = GROUP_FAKE_GPU};
