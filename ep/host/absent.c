/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs that do not answer: a wait for one that has failed, or is late beyond the limit, masks it. */
#include "ep/low/calls.h"

static double now(void)
{
    return (double)ep_nanoseconds() * 1e-9;
}

/* What was there before the news of a failure counts. */
bool ep_absent_wait(const struct ep_run *run, int phase, int pe, ep_look_fn *look, const void *arg)
{
    double until = now() + run->masks->limit;

    while (!run->masks->masked[pe]) {
        bool failed = shmemx_pe_failed(run->pes[pe]);
        int found = look(arg, failed ? 0 : until - now());

        if (found == SHMEMX_WAIT_SATISFIED)
            return true;
        if (failed || found == SHMEMX_WAIT_TIMEOUT) {
            ep_masks_set(run->masks, pe, 1);
            ep_masks_say(run->masks, run->pes, pe, phase, failed, (long long)run->phase->call);
        }
    }
    return false;
}

void ep_absent_count(const struct ep_run *run, int counter, int pe)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_told *sent = &run->masks->sent[pe];

    if (counter < shape->c_result)
        sent->parts[(counter - shape->c_far) % shape->slots]++;
    else if (counter < shape->c_weights)
        sent->results[(counter - shape->c_result) % shape->slots]++;
    else
        sent->weights++;
}

static bool is_absent(const struct ep_run *run, int expert)
{
    return (uint32_t)expert < (uint32_t)run->shape.experts &&
           run->masks->masked[ep_expert_pe(&run->shape, expert)];
}

/* The routing that a handle has is changed there, as a call would leave it. */
static void leave_out_kept(const struct ep_run *run, const shmemx_ep_dispatch_t *call)
{
    for (int i = 0; i < call->tokens * run->shape.topk; i++) {
        int32_t *experts = ep_low_own(run, call->handle, i / run->shape.topk).experts + i % run->shape.topk;

        if (is_absent(run, *experts))
            *experts = -1;
    }
}

const shmemx_ep_dispatch_t *ep_absent_choices(const struct ep_run *run, const shmemx_ep_dispatch_t *call,
                                              shmemx_ep_dispatch_t *copy)
{
    int choices = call->tokens * (call->columns ? call->columns : run->shape.topk);
    int words = 1 << run->shape.topk_shift; /* of a choice */
    int32_t *topk = run->masks->topk;

    if (!run->masks->any)
        return call;
    if (!call->topk) {
        leave_out_kept(run, call);
        return call;
    }
    memcpy(topk, call->topk, (size_t)(choices * words) * sizeof *topk);
    for (int i = 0; i < choices; i++)
        if (is_absent(run, topk[i * words]))
            topk[i * words] = -1;
    *copy = *call;
    copy->topk = topk;
    return copy;
}

int ep_absent_drops(const struct ep_run *run, int renew)
{
    struct ep_masks *masks = run->masks;

    if (renew && (masks->any || masks->drops)) {
        memcpy(masks->dropped, masks->masked, (size_t)run->shape.n * sizeof *masks->masked);
        masks->drops = masks->any;
    }
    return masks->drops;
}

/* The scales of so many rows from `first` on, of local expert `kind`. */
static void blank_scales(const struct ep_run *run, const shmemx_ep_dispatch_t *args, int kind, int first,
                         int end)
{
    const struct ep_shape *shape = &run->shape;
    int columns = (int)(shape->scales / sizeof(float)) / (args->scales_packed ? 4 : 1);
    float *scales = args->row_scales + (size_t)kind * shape->capacity * columns;

    if (!args->scales_row_step)
        memset(scales + (size_t)first * columns, 0, (size_t)(end - first) * columns * sizeof *scales);
    for (int i = first * columns; args->scales_row_step && i < end * columns; i++)
        scales[i / columns * args->scales_row_step + i % columns * args->scales_column_step] = 0;
}

static void blank_rows(const struct ep_run *run, const shmemx_ep_dispatch_t *args, int kind, int first,
                       int end)
{
    const struct ep_shape *shape = &run->shape;
    size_t at = (size_t)kind * shape->capacity + (size_t)first;

    memset((char *)args->rows + at * shape->row, 0, (size_t)(end - first) * shape->row);
    if (shape->scales)
        blank_scales(run, args, kind, first, end);
    if (args->row_sources)
        memset(args->row_sources + at, -1, (size_t)(end - first) * sizeof *args->row_sources);
}

/* All rows of the source, also those that had come: once a call. */
void ep_absent_blank(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                     const struct ep_low_come *come)
{
    const struct ep_shape *shape = &run->shape;
    uint64_t *blanked = &run->masks->blanked[ep_low_source_pe(run, come->source)];
    const int32_t *first = come->numbers->first + come->source * shape->mine;

    if (*blanked == come->call->number)
        return;
    *blanked = come->call->number;
    for (int kind = 0; kind < shape->mine; kind++) {
        int end = ep_low_least(first[kind + shape->mine], shape->capacity);

        if (first[kind] < end)
            blank_rows(run, args, kind, first[kind], end);
    }
    for (int slot = 0; slot < come->numbers->rows[come->source]; slot++) {
        struct ep_low_meta *kept = ep_low_in(run, come->call->handle, come->source, slot);

        kept->token = kept->record = 0;
        for (int k = 0; k < shape->topk; k++)
            kept->entry[k] = (struct ep_low_entry){-1, 0.0f};
    }
}
