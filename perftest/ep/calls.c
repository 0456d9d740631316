/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that are measured. */
#include "perftest/ep/moe.h"

/* The library's buffers for x come in turn: when each is first given, the rows are written to it, and stay there. */
static const void *x_of(struct moe_run *run, int halves)
{
    if (!run->x_host || !(halves & SHMEMX_EP_SEND))
        return run->x;
    run->x = shmemx_ep_buffer(run->ep, SHMEMX_EP_BUFFER_X);
    if (run->x_given++ < 2)
        run->backend->write(run->x, run->x_host, moe_x_bytes(run));
    return run->x;
}

/* Whether combine brings the weights. */
static bool is_late(const struct moe_run *run)
{
    return run->options->weights == MOE_LATE && run->mode == REF_LOW_LATENCY;
}

int moe_dispatch(struct moe_run *run, int halves)
{
    shmemx_ep_dispatch_t call = {.version = SHMEMX_EP_CALL_VERSION,
                                 .halves = halves,
                                 .tokens = ref_tokens(&run->job, run->me),
                                 .x = x_of(run, halves),
                                 .x_scales = run->x_scales,
                                 .topk = run->topk,
                                 .weights = is_late(run) ? NULL : run->weights,
                                 .stream = run->backend->stream()};

    call.expanded = run->wide.rows ? &run->wide : NULL;
    if (run->mode == REF_HIGH_THROUGHPUT)
        call.by_source = (shmemx_ep_rows_by_source_t){.rows = run->wide.rows ? NULL : run->rows_at,
                                                      .row_scales = run->wide.rows ? NULL : run->row_scales,
                                                      .counts = run->counts,
                                                      .row_topk = run->row_topk,
                                                      .row_weights = run->row_weights};
    else
        call.by_expert = (shmemx_ep_rows_by_expert_t){
            .rows = run->rows_at, .row_scales = run->row_scales, .counts = run->counts};
    return shmemx_ep_dispatch(run->ep, &call);
}

int moe_combine(struct moe_run *run, int halves)
{
    shmemx_ep_combine_t call = {.version = SHMEMX_EP_CALL_VERSION,
                                .halves = halves,
                                .out = run->out,
                                .stream = run->backend->stream()};

    if (run->options->in_place && halves & SHMEMX_EP_SEND)
        run->y = shmemx_ep_buffer(run->ep, SHMEMX_EP_BUFFER_Y);
    call.y = run->y;
    call.weights = is_late(run) ? run->weights : NULL;
    call.places = run->wide.places;
    return shmemx_ep_combine(run->ep, &call);
}
