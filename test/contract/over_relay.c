/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract over the relay transport; what is below it is stack.c. */
#include "test/contract/group_gpu.h"
#include "test/contract/stack.h"

const bool stack_hmem = false;

static int stack_ctx_open(struct wsh_tp *tp, struct wsh_tctx **tctx)
{
    return stack_part[RELAY]->ctx_open(((struct stack *)tp)->tp[RELAY], tctx);
}

/* What contexts do is the relay's own. */
__attribute__((constructor)) static void find_parts(void)
{
    const struct wsh_tp_ops *relay;

    stack_find_parts();
    relay = stack_part[RELAY];
    stack_ops.ctx_open = stack_ctx_open;
    stack_ops.ctx_close = relay->ctx_close;
    stack_ops.put = relay->put;
    stack_ops.get = relay->get;
    stack_ops.amo = relay->amo;
    stack_ops.put_signal = relay->put_signal;
    stack_ops.put_strided = relay->put_strided;
    stack_ops.fence = relay->fence;
    stack_ops.pending = relay->pending;
    stack_ops.describe = relay->describe;
}

const struct group_road group_road = {.name = "relay",
                                      .transport = "relay",
                                      .ops = &stack_ops,
                                      .provider = "tcp",
                                      .dies_loudly = true,
                                      .gpu = GROUP_FAKE_GPU};
