/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Low latency, combine's sending side where rows of y are there at different times: a worker looks at some of its items
 * in turn, and sends those whose words have come. On the host ep/host/signals.c does so.
 */
#ifndef WSH_EP_DEVICE_SIGNALS_CUH
#define WSH_EP_DEVICE_SIGNALS_CUH

#include "ep/low/results.h"

/* Items of a worker that it looks at in turn; ns before it looks again. */
enum { EP_LOW_LOOKS = 32, EP_LOW_PAUSE = 200 };

/* The word of a row of y; NULL: there is no such row. */
EP_STEP const uint32_t *ep_low_signal(const struct ep_run *run, const shmemx_ep_combine_t *args, int32_t row)
{
    int capacity = run->shape.capacity, rows = args->signal_rows ? args->signal_rows : capacity;
    int each = (capacity + rows - 1) / rows;

    if (row < 0 || row >= run->shape.y_rows)
        return NULL;
    return args->signals + row / capacity * each + row % capacity / rows;
}

/* A worker: whether all rows of a token have come. Acquires: pairs with what writes the words after the rows. */
EP_STEP int ep_low_are_there(const struct ep_run *run, const shmemx_ep_combine_t *args,
                             const struct ep_low_meta *meta)
{
    int k = (int)ep_lane();
    const uint32_t *word = k < run->shape.topk ? ep_low_signal(run, args, meta->entry[k].at) : NULL;

    if (!__all_sync(EP_ALL_LANES, !word || wsh_ptx_poll(word) >= args->signal_value))
        return 0;
    wsh_ptx_acquire();
    wsh_ptx_warp_sync();
    return 1;
}

/* Sends item i, if its rows are there; returns whether it has nothing more to send. */
EP_STEP int ep_low_send_there(const struct ep_run *run, const shmemx_ep_combine_t *args,
                              enum ep_low_form form, const struct ep_low_numbers *numbers,
                              struct ep_low_result *result, int i, int *patience)
{
    int first, columns;

    ep_low_find(numbers, i, 0, &result->source, &result->slot, &result->piece);
    columns = ep_low_columns(run, result->piece, numbers->each[result->source], &first);
    if (columns <= 0)
        return 1;
    result->meta = ep_low_in(run, result->call->handle, result->source, result->slot);
    if (!ep_low_are_there(run, args, result->meta))
        return 0;
    ep_low_address(run, result);
    if (ep_low_sums(run, result, form, patience))
        ep_low_reduce_piece(run, result, first, columns);
    else
        ep_low_push_piece(run, result, first, columns);
    return 1;
}

/* Of so many items, every `step`-th from `first` on, a bit each. */
EP_STEP uint32_t ep_low_some_items(int first, int step, int items)
{
    int n = first < items ? (items - first + step - 1) / step : 0;

    return n >= EP_LOW_LOOKS ? UINT32_MAX : (1u << n) - 1;
}

EP_STEP void ep_low_send_signalled(const struct ep_run *run, const struct ep_low_call *call,
                                   const shmemx_ep_combine_t *args, enum ep_low_form form)
{
    struct ep_low_numbers numbers = ep_low_numbers_of(run);
    int items = ep_low_items(&numbers, 0, run->shape.near), step = ep_workers(run);
    struct ep_low_result result = ep_low_result_of(call, args, form);
    int patience = EP_LOW_PATIENCE;

    for (int first = ep_worker(run); first < items; first += EP_LOW_LOOKS * step) {
        uint32_t left = ep_low_some_items(first, step, items), had;

        while (left) {
            had = left;
            for (uint32_t look = left; look; look &= look - 1) {
                int at = __ffs((int)look) - 1;

                if (ep_low_send_there(run, args, form, &numbers, &result, first + at * step, &patience))
                    left &= ~(1u << at);
            }
            if (left == had)
                __nanosleep(EP_LOW_PAUSE);
        }
    }
}

#endif
