/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sending half of a combine of low latency that is watched, on one host: rows of y are read when the program's
 * signals say that they are there, in whatever order these come; and what it waits for others' weights is counted.
 */
#include "ep/low/calls.h"

#include <stdlib.h>

/* The words that say which rows are there. */
struct signals {
    uint32_t *words; /* the program's */
    uint32_t value;
    int rows, each, count; /* rows of y that a word is for; words of an expert; of all */
    int *come;             /* [count] */
};

/* What is left to send. */
struct sending {
    const struct ep_run *run;
    const struct ep_low_call *call;
    struct ep_low_numbers numbers;
    struct signals signals;
    struct ep_low_result result;
    enum ep_low_form form;
    int items;
    uint32_t *left;           /* [items] bit k: the row of choice k; EP_TOPK_MAX: the sum */
    struct ep_low_meta *meta; /* of an item, with the choices that are sent now */
};

enum { SUM = 1 << EP_TOPK_MAX };

static int words_of(const struct ep_shape *shape, const shmemx_ep_combine_t *args)
{
    return args->signal_rows ? (shape->capacity + args->signal_rows - 1) / args->signal_rows : 1;
}

static size_t meta_bytes(const struct ep_run *run)
{
    return sizeof(struct ep_low_meta) + (size_t)run->shape.topk * sizeof(struct ep_low_entry);
}

/* Whether a row of y is there; rows that are none are. */
static bool is_there(const struct sending *sending, int32_t row)
{
    const struct signals *signals = &sending->signals;
    int capacity = sending->run->shape.capacity;

    if (row < 0 || row >= sending->run->shape.y_rows)
        return true;
    return signals->come[row / capacity * signals->each + row % capacity / signals->rows];
}

/* Acquires: pairs with what the program's thread does after it has written rows. */
static void look(struct signals *signals)
{
    for (int i = 0; i < signals->count; i++)
        if (!signals->come[i])
            signals->come[i] = __atomic_load_n(&signals->words[i], __ATOMIC_ACQUIRE) >= signals->value;
}

/* Which of the choices that are left are there. */
static uint32_t ready(const struct sending *sending, const struct ep_low_meta *meta, uint32_t left)
{
    uint32_t found = 0;

    for (int k = 0; k < sending->run->shape.topk; k++)
        if (left & 1u << k && is_there(sending, meta->entry[k].at))
            found |= 1u << k;
    return found;
}

/* Pushes the rows of these choices alone. */
static void push(struct sending *sending, const struct ep_low_meta *meta, uint32_t choices, int first,
                 int columns)
{
    struct ep_low_result one = sending->result;

    memcpy(sending->meta, meta, meta_bytes(sending->run));
    for (int k = 0; k < sending->run->shape.topk; k++)
        if (!(choices & 1u << k))
            sending->meta->entry[k].at = -1;
    one.meta = sending->meta;
    ep_low_push_piece(sending->run, &one, first, columns);
}

/* Sends of a piece what is there: rows one by one, or the sum when all of them are. */
static void send_item(struct sending *sending, int item)
{
    const struct ep_run *run = sending->run;
    struct ep_low_result *result = &sending->result;
    uint32_t left = sending->left[item], now;
    int first, columns, patience = 0;

    ep_low_find(&sending->numbers, item, 0, &result->source, &result->slot, &result->piece);
    columns = ep_low_columns(run, result->piece, sending->numbers.each[result->source], &first);
    result->meta = ep_low_in(run, sending->call->handle, result->source, result->slot);
    now = ready(sending, result->meta, left & ~(uint32_t)SUM);
    if (columns <= 0) {
        sending->left[item] = 0;
        return;
    }
    ep_low_address(run, result);
    if (sending->form == EP_LOW_PUSHED || sending->form == EP_LOW_EITHER) {
        push(sending, result->meta, now, first, columns);
        sending->left[item] &= ~(now | SUM);
    } else if (now == (left & ~(uint32_t)SUM)) {
        ep_low_sums(run, result, sending->form, &patience);
        ep_low_reduce_piece(run, result, first, columns);
        sending->left[item] = 0;
    }
}

/* One pass over what is left; returns whether anything is left. */
static bool pass(struct sending *sending)
{
    bool any = false;

    look(&sending->signals);
    for (int i = 0; i < sending->items; i++) {
        if (sending->left[i])
            send_item(sending, i);
        any |= sending->left[i] != 0;
    }
    return any;
}

static void send_as_signalled(struct sending *sending)
{
    struct signals *signals = &sending->signals;
    uint32_t all = SUM | ((1u << sending->run->shape.topk) - 1);

    for (int i = 0; i < sending->items; i++)
        sending->left[i] = all;
    while (pass(sending))
        shmem_uint32_wait_until_any(signals->words, (size_t)signals->count, signals->come, SHMEM_CMP_GE,
                                    signals->value);
}

/* Ends the job where there is no memory for it: others wait for these rows. */
static void *taken(size_t n, size_t bytes)
{
    void *memory = calloc(n, bytes);

    if (!memory) {
        ep_refuse("shmemx_ep_combine", "no memory for %zu bytes, which signals take; combine without them",
                  n * bytes);
        shmem_global_exit(1);
    }
    return memory;
}

static void send_by_signals(const struct ep_run *run, const struct ep_low_call *call,
                            const shmemx_ep_combine_t *args, enum ep_low_form form)
{
    int each = words_of(&run->shape, args), count = run->shape.mine * each;
    struct sending sending = {.run = run,
                              .call = call,
                              .numbers = ep_low_numbers_of(run),
                              .signals = {(uint32_t *)(uintptr_t)args->signals, args->signal_value,
                                          args->signal_rows ? args->signal_rows : run->shape.capacity, each,
                                          count, NULL},
                              .result = ep_low_result_of(call, args, form),
                              .form = form};

    sending.items = ep_low_items(&sending.numbers, 0, run->shape.near);
    sending.signals.come = taken((size_t)count, sizeof(int));
    sending.left = taken((size_t)sending.items + 1, sizeof *sending.left);
    sending.meta = taken(1, meta_bytes(run));
    send_as_signalled(&sending);
    free(sending.signals.come);
    free(sending.left);
    free(sending.meta);
}

void ep_host_send_watched(const struct ep_run *run, const shmemx_ep_combine_t *args)
{
    enum ep_low_form form = ep_low_form(run, args);
    int tokens = ep_low_kept(run, args->handle)->tokens;
    struct ep_low_call call = ep_low_call(run, run->state->combines, args->handle,
                                          tokens < 0 ? 0 : ep_low_least(tokens, run->shape.tokens));

    ep_low_begin(run, &call);
    if (form == EP_LOW_WEIGHED || form == EP_LOW_EITHER)
        ep_low_give_weights(run, &call, args);
    if (form == EP_LOW_WEIGHED)
        ep_low_await_begun(run, &call, args->waits); /* whoever is there gives its weights next */
    ep_low_recall(run, &call);
    if (args->signals)
        send_by_signals(run, &call, args, form);
    else
        ep_low_send_results(run, &call, args, form, 0, run->shape.near);
    run->state->combines = call.number;
}
