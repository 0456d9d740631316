/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ends of calls that go on without PEs: the last group, which sees what all others have stored, makes zeros of the
 * rows of a PE that was masked after its words, and adds up again what was added while one became masked. Its first
 * worker alone does so: that is rare, and the others of a group end sooner where they need not wait to be told.
 */
#ifndef WSH_EP_DEVICE_MASKS_ENDS_CUH
#define WSH_EP_DEVICE_MASKS_ENDS_CUH

#include "ep/low/calls.h"

EP_STEP bool ep_low_gives_up(const struct ep_run *run, const shmemx_ep_combine_t *args, int far)
{
    if (!args->weights)
        return false;
    ep_low_await_weights(run, far, NULL);
    return ep_masked(run, ep_far_pe(&run->shape, far));
}

/* Longer than any store of a group that has ended is on its way. */
#define EP_DRAINED_NS 50000

/*
 * By one thread, of the last group, where `seen` groups have seen a mask. Those order what they have stored before they
 * end; others, which pay nothing for it, may have ended just now.
 */
EP_LOOP void ep_low_drain(unsigned seen)
{
    for (uint64_t from = (uint64_t)ep_nanoseconds();
         seen < gridDim.x && (uint64_t)ep_nanoseconds() - from < EP_DRAINED_NS;)
        __nanosleep(1000);
    __threadfence();
}

/* An addition by one thread of its warp; atomicAdd would ask first which others of the warp add, too. */
EP_STEP unsigned ep_arrive(unsigned *arrived, unsigned add)
{
#ifdef __CUDA_ARCH__
    unsigned before;

    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(arrived), "r"(add) : "memory");
    return before;
#else
    return atomicAdd(arrived, add);
#endif
}

enum ep_low_end { EP_LOW_NOT_LAST, EP_LOW_LAST, EP_LOW_LAST_MASKED };

/*
 * All threads. LAST in one thread of the last group; LAST_MASKED in all lanes of its first worker, where a group has
 * seen a mask. What is rare is out of line, here and below: a kernel's last warps would wait for the instructions
 * behind it, to end.
 */
EP_STEP enum ep_low_end ep_low_ends(const struct ep_run *run)
{
    unsigned *arrived = run->state->arrived + EP_ARRIVED_LAST, seen = 0;
    bool last = false;

    __syncthreads();
    if (threadIdx.x >= EP_LANES)
        return EP_LOW_NOT_LAST;
    if (threadIdx.x == 0) {
        unsigned add = 1, before;

        if (ep_any_masked(run)) {
            __threadfence();
            add += EP_ARRIVED_SEEN;
        }
        before = ep_arrive(arrived, add);
        last = before % EP_ARRIVED_SEEN == gridDim.x - 1;
        if (last) {
            *(volatile unsigned *)arrived = 0;
            seen = (before + add) / EP_ARRIVED_SEEN;
            if (seen)
                ep_low_drain(seen);
        }
    }
    if (__ballot_sync(EP_ALL_LANES, seen != 0))
        return EP_LOW_LAST_MASKED;
    return last ? EP_LOW_LAST : EP_LOW_NOT_LAST;
}

/* Here and below by one worker. */
EP_STEP void ep_low_zero_words(void *to, size_t bytes)
{
    for (size_t i = ep_lane(); i < bytes / 4; i += EP_LANES)
        ((uint32_t *)to)[i] = 0;
}

/* The scales of rows `first` to `end` - 1 of local expert `kind`. */
EP_STEP void ep_low_blank_scales(const struct ep_run *run, const shmemx_ep_dispatch_t *args, int kind, int first,
                                 int end)
{
    const struct ep_shape *shape = &run->shape;
    int columns = shape->hidden / EP_GROUP / (args->scales_packed ? 4 : 1);
    float *scales = args->row_scales + (size_t)kind * shape->capacity * columns;

    if (!args->scales_row_step) {
        ep_low_zero_words(scales + (size_t)first * columns, (size_t)(end - first) * columns * sizeof *scales);
        return;
    }
    for (int i = first * columns + (int)ep_lane(); i < end * columns; i += EP_LANES)
        scales[i / columns * args->scales_row_step + i % columns * args->scales_column_step] = 0;
}

EP_STEP void ep_low_blank_rows(const struct ep_run *run, const shmemx_ep_dispatch_t *args, int kind, int first, int end)
{
    const struct ep_shape *shape = &run->shape;
    size_t at = (size_t)kind * shape->capacity + (size_t)first;

    ep_low_zero_words((char *)args->rows + at * shape->row, (size_t)(end - first) * shape->row);
    if (shape->scales)
        ep_low_blank_scales(run, args, kind, first, end);
    for (int i = first + (int)ep_lane(); i < end && args->row_sources; i += EP_LANES)
        args->row_sources[at + (size_t)(i - first)] = -1;
}

/* The handle forgets them: nothing is given back. */
EP_STEP void ep_low_blank_source(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                                 const struct ep_low_call *call, int source)
{
    const struct ep_shape *shape = &run->shape;
    const struct ep_low_numbers numbers = ep_low_numbers_of(run);
    const int32_t *first = numbers.first + source * shape->mine;

    for (int kind = 0; kind < shape->mine; kind++) {
        int end = ep_low_least(first[kind + shape->mine], shape->capacity);

        if (first[kind] < end)
            ep_low_blank_rows(run, args, kind, first[kind], end);
    }
    for (int i = (int)ep_lane(); i < numbers.rows[source] * shape->topk; i += EP_LANES) {
        struct ep_low_meta *kept = ep_low_in(run, call->handle, source, i / shape->topk);

        kept->token = 0;
        kept->entry[i % shape->topk].at = -1;
    }
}

EP_STEP void ep_low_blank_all(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                              const struct ep_low_call *call)
{
    if (!*(volatile uint32_t *)&ep_live(run)->blanks)
        return;
    for (int source = 0; source < run->shape.near; source++) {
        volatile int32_t *blank = ep_live_at(run, EP_LIVE_BLANK, ep_live_near(run, source));

        if (!*blank)
            continue;
        ep_low_blank_source(run, args, call, source);
        ep_meet(run);
        *blank = 0;
    }
    *(volatile uint32_t *)&ep_live(run)->blanks = 0;
}

/* All tokens. */
EP_STEP void ep_low_sum_again(const struct ep_run *run, const shmemx_ep_combine_t *args,
                              const struct ep_low_call *call)
{
    int shift = ep_low_shift(&run->shape, call->tokens), each = ep_low_each(&run->shape, shift);
    struct ep_low_home home = {call, args, {NULL, NULL, NULL, NULL},
                               0,    0,    ep_low_form(run, args) >= EP_LOW_PUSHED,
                               0};

    if (ep_lane() == 0)
        ep_seen()[EP_SEEN_ANY] = 1;
    ep_meet(run);
    for (int i = 0; i < call->tokens << shift; i++) {
        home.token = i >> shift;
        home.piece = i - (home.token << shift);
        home.own = ep_low_own(run, call->handle, home.token);
        ep_low_sum_piece(run, &home, each);
    }
}

/* What the next kernel begins with. */
EP_STEP void ep_low_masks_end(const struct ep_run *run)
{
    struct ep_live *live = ep_live(run);

    for (int pe = (int)ep_lane(); pe < run->shape.n; pe += EP_LANES)
        *ep_live_at(run, EP_LIVE_KNOWN, pe) = *ep_live_at(run, EP_LIVE_MASKED, pe);
    if (ep_lane())
        return;
    live->known_any = *(volatile uint32_t *)&live->any;
    live->met = 0;
}

/* By the last group's first worker. A call is passed by value: else it would lie in local memory all the way. */
EP_LOOP void ep_low_dispatched_masked(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                                      struct ep_low_call call, int receives)
{
    if (receives)
        ep_low_blank_all(run, args, &call);
    ep_low_masks_end(run);
}

EP_LOOP void ep_low_combined_masked(const struct ep_run *run, const shmemx_ep_combine_t *args, struct ep_low_call call,
                                    int receives)
{
    /* All lanes see the same: the first one to end writes what others compare. */
    if (!__ballot_sync(EP_ALL_LANES, *(volatile uint32_t *)&ep_live(run)->any !=
                                         *(volatile uint32_t *)&ep_live(run)->known_any))
        return;
    if (receives)
        ep_low_sum_again(run, args, &call);
    ep_low_masks_end(run);
}

/* True in one thread, when the call is over. */
EP_STEP bool ep_low_dispatched(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                               const struct ep_low_call *call, int receives)
{
    enum ep_low_end end = ep_low_ends(run);

#ifdef EP_LOW_FAR
    if (end != EP_LOW_NOT_LAST && threadIdx.x == 0)
        ep_live(run)->passed = 0;
#endif
    if (end == EP_LOW_LAST_MASKED)
        ep_low_dispatched_masked(run, args, *call, receives);
    return end != EP_LOW_NOT_LAST && threadIdx.x == 0;
}

EP_STEP bool ep_low_combined_by_last(const struct ep_run *run, const shmemx_ep_combine_t *args,
                                     const struct ep_low_call *call, int receives)
{
    enum ep_low_end end = ep_low_ends(run);

    if (end == EP_LOW_LAST_MASKED)
        ep_low_combined_masked(run, args, *call, receives);
    return end != EP_LOW_NOT_LAST && threadIdx.x == 0;
}

#endif
