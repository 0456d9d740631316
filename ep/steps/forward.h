/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatch with one copy a host: parts that far peers have put here are forwarded to the near PEs. */
#ifndef WSH_EP_STEPS_FORWARD_H
#define WSH_EP_STEPS_FORWARD_H

#include "ep/steps/send.h"

/* Part `part` of a call from all far peers. */
struct ep_part {
    const struct ep_call *call;
    int part;
};

/* The number, since create, of that part of origin `pe`. */
EP_STEP uint64_t ep_part_number(const struct ep_run *run, int pe, int part)
{
    return run->state->parts[pe] + (uint64_t)part;
}

/* Whether origin `pe` has that part in this call: part 0 always, and how many there are stands in that. */
EP_STEP int ep_has_part(const struct ep_run *run, int pe, int part)
{
    return part == 0 || part < ep_ints(run, run->shape.in_parts)[pe];
}

EP_STEP char *ep_window(const struct ep_run *run, int far, int part)
{
    uint64_t number = ep_part_number(run, ep_far_pe(&run->shape, far), part);

    return run->arena + ep_slot_image(&run->shape, run->shape.window_in, far, number);
}

/* By counter [far][slots]: every slots-th part comes to a slot. */
EP_STEP uint64_t ep_value_part(const struct ep_run *run, const void *arg, int i)
{
    const struct ep_part *part = (const struct ep_part *)arg;
    int slots = run->shape.slots, pe = ep_far_pe(&run->shape, i / slots);
    uint64_t number = ep_part_number(run, pe, part->part);

    if (number % slots != (uint64_t)(i % slots) || !ep_has_part(run, pe, part->part))
        return 0;
    return number / slots + 1;
}

/* By counter [far][near]: what near PEs must have taken before a forward image is overwritten. */
EP_STEP uint64_t ep_value_taken(const struct ep_run *run, const void *arg, int i)
{
    const struct ep_part *part = (const struct ep_part *)arg;
    int pe = ep_far_pe(&run->shape, i / run->shape.near);
    uint64_t number = ep_part_number(run, pe, part->part), slots = (uint64_t)run->shape.slots;

    return ep_has_part(run, pe, part->part) && number >= slots ? number - slots + 1 : 0;
}

/* Ends the job where a part is not the one that its counter has announced, or has more rows than it can have. */
EP_STEP int ep_rows_of(const struct ep_run *run, const struct ep_part *part, const char *image, int pe)
{
    const struct ep_header *header = (const struct ep_header *)image;
    int rows = header->rows,
        most = ep_least(run->shape.window, run->shape.tokens - part->part * run->shape.window);

    if (header->call != part->call->number || header->part != part->part)
        ep_fault(run, pe, part->call->number, part->part, header->call, header->part);
    if (rows < 0 || rows > most)
        ep_fault_numbers(run, pe, part->call, part->part);
    return rows;
}

/* The same where an origin says more parts than a call can have. */
EP_STEP int ep_parts_of(const struct ep_run *run, const struct ep_call *call, const struct ep_header *header,
                        int pe)
{
    int parts = header->parts;

    if (parts < 1 || parts > ep_parts(&run->shape, run->shape.tokens))
        ep_fault_numbers(run, pe, call, 0);
    return parts;
}

/* Metas of far peers' records are kept for the combine, all parts' in one row. */
EP_STEP void ep_keep_meta(const struct ep_run *run, const struct ep_part *part, int far, int record,
                          const char *meta)
{
    const struct ep_shape *shape = &run->shape;
    const int32_t *before = ep_ints(run, ep_kept_far_rows(shape, part->call->handle)) +
                            far * (ep_parts(shape, shape->tokens) + 1);
    int at = record + (part->part ? before[part->part] : 0);

    ep_copy(run->arena + ep_kept_far_metas(shape, part->call->handle, far) + at * shape->meta, meta,
            shape->meta);
}

/* Keeps for the combine how many records each far peer's part had. */
EP_STEP void ep_keep_rows(const struct ep_run *run, const struct ep_part *part)
{
    const struct ep_shape *shape = &run->shape;
    int most = ep_parts(shape, shape->tokens) + 1;

    EP_BY_ALL(run, f, shape->far)
    {
        int32_t *before = ep_ints(run, ep_kept_far_rows(shape, part->call->handle)) + f * most;
        const char *window = ep_window(run, f, part->part);
        int pe = ep_far_pe(shape, f);

        if (!ep_has_part(run, pe, part->part))
            continue;
        if (part->part == 0) {
            before[0] = 0;
            ep_ints(run, ep_kept_far_parts(shape, part->call->handle))[f] =
                ep_parts_of(run, part->call, (const struct ep_header *)window, pe);
        }
        before[part->part + 1] = before[part->part] + ep_rows_of(run, part, window, pe);
    }
}

/* Image by image, in units of records: the head is unit 0. */
EP_LOOP void ep_copy_windows(const struct ep_run *run, const struct ep_part *part)
{
    const struct ep_shape *shape = &run->shape;
    int units = shape->far * (1 + shape->window);

    for (int i = ep_worker(run); i < units; i += ep_workers(run)) {
        int f = i % shape->far, pe = ep_far_pe(shape, f), record = i / shape->far - 1;
        const char *window = ep_window(run, f, part->part);
        char *forward =
            run->arena + ep_slot_image(shape, shape->forward, f, ep_part_number(run, pe, part->part));
        size_t at = shape->head + record * shape->record;
        int rows = ep_has_part(run, pe, part->part) ? ep_rows_of(run, part, window, pe) : -1;

        if (record >= rows)
            continue;
        if (record < 0) {
            ep_copy(forward, window, shape->head);
            at = ep_records_end(run, rows);
            if (ep_tells_sent(part->call, part->part))
                ep_copy(forward + at, window + at, ep_sent_bytes(shape));
            continue;
        }
        ep_copy(forward + at, window + at, shape->record);
        ep_keep_meta(run, part, f, record, window + at);
    }
}

/* Windows are free again: a counted put of 0 bytes to each far peer, by all workers after a barrier. */
EP_STEP void ep_give_back(const struct ep_run *run, int part)
{
    const struct ep_shape *shape = &run->shape;

    for (int i = ep_worker(run); i < shape->far; i += ep_workers(run)) {
        int pe = ep_far_pe(shape, ep_far_turn(shape, i));

        if (ep_has_part(run, pe, part))
            ep_put(run, run->arena, run->arena, 0, shape->c_credit + ep_far_me(shape, pe), pe);
    }
    if (ep_worker(run) != 0 || !ep_leads(run))
        return;
    for (int f = 0; f < shape->far; f++)
        run->state->network_puts += ep_has_part(run, ep_far_pe(shape, f), part);
}

/* A part of all far peers: awaited, copied, the near PEs signalled. */
EP_STEP void ep_forward(const struct ep_run *run, const struct ep_call *call, int number)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_part part = {call, number};

    ep_await(run, EP_PHASE_PART, shape->c_far, shape->far * shape->slots, ep_value_part, &part);
    ep_await(run, EP_PHASE_TAKEN, shape->c_taken, shape->far * shape->near, ep_value_taken, &part);
    ep_copy_windows(run, &part);
    ep_keep_rows(run, &part);
    ep_sync(run);
    for (int i = ep_worker(run); i < shape->far * shape->near; i += ep_workers(run))
        if (ep_has_part(run, ep_far_pe(shape, i / shape->near), number))
            ep_put(run, run->arena, run->arena, 0,
                   shape->c_forward + shape->local * shape->far + i / shape->near,
                   shape->host * shape->near + i % shape->near);
    ep_give_back(run, number);
}

#endif
