/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the steps of the protocol run on, on a CPU: one worker, the thread that makes the call. Rows are loops over
 * their columns; waits, puts and the order that they give are the library's.
 */
#ifndef WSH_EP_HOST_RUN_H
#define WSH_EP_HOST_RUN_H

#include "ep/ep.h"
#include "ep/number.h"

#include <string.h>
#include <time.h>

#define EP_STEP static inline
#define EP_LOOP static inline

struct ep_run {
    struct ep_shape shape;
    char *arena;
    char *const *near_arena;
    const int *pes;
    const shmemx_counter_t *counters;
    struct ep_state *state;
    struct ep_phase *phase;
    shmem_ctx_t ctx;
    char *group;
    struct ep_masks *masks; /* or NULL */
    const shmemx_ep_rows_expanded_t *expanded;
};

/* As kernels that expand rows, which have the code in EP_EXPANDING, and others not. */
#define EP_EXPANDS 1
#define EP_EXPANDING(...) __VA_ARGS__
#define ep_expanded(run) ((run)->expanded)
#define ep_places(args) ((args)->places)
#define ep_alone(run) ((void)(run), 1)

/* A BF16 row of a sum, or NULL: none. */
struct ep_term {
    const void *row;
    float weight;
};

typedef uint64_t ep_value_fn(const struct ep_run *run, const void *arg, int i);
typedef void *ep_to_fn(const struct ep_run *run, const void *arg, int k);
typedef uint64_t *ep_raised_fn(const struct ep_run *run, const void *arg, int k);
typedef const uint64_t *ep_flag_fn(const struct ep_run *run, const void *arg, int k, int *near);
typedef const uint64_t *ep_word_fn(const struct ep_run *run, const void *arg, int k);
typedef uint64_t *ep_counted_fn(const struct ep_run *run, const void *arg, int k, uint64_t *total);
typedef int ep_group_fn(const struct ep_run *run, const void *arg, int k);
typedef struct ep_term ep_term_fn(const struct ep_run *run, const void *arg, int k);

/* Loops whose rounds are apart: over lanes of one worker, of a group, of all. */
enum { EP_LANES = 1 };
#define ep_lane() 0
#define EP_BY_LANES(run, i, count) for (int i = 0; i < (count); i++)
#define EP_BY_GROUP(run, i, count) for (int i = 0; i < (count); i++)
#define EP_BY_ALL(run, i, count) for (int i = 0; i < (count); i++)
#define EP_BY_LAST(run, i, count) for (int i = 0; i < (count); i++)

/* The one worker is a group, and the last. Its stores are seen in order: there is nothing to meet for. */
#define ep_worker(run) 0
#define ep_workers(run) 1
#define ep_group_worker(run) 0
#define ep_group_workers(run) 1
#define ep_last(run) 1
#define ep_met(run) 1
#define ep_leads(run) 1
#define ep_sync(run) ((void)0)
#define ep_sync_group(run) ((void)0)
#define ep_pieces(run, rows) 1

/* Of low latency among near PEs. */
#define ep_group_memory(run) ((run)->group)
#define ep_is_first_group(run) 1
#define ep_low_far(run) ((run)->shape.far)
#define ep_pulls_far(run) ((run)->shape.far)
#define ep_low_sides(run) 1
#define ep_groups(run) 1
#define ep_group_of(run) 0
#define ep_watching_group(run) 0
#define ep_low_watches(run) 1
#define ep_low_watch(run, phase, first, offset, step, value, waits) ((void)0)
#define EP_LOW_EACH_WAITS 1
#define ep_acquire(run) ((void)0)
#define ep_meet(run) ((void)0)
#define ep_lowest(bits) __builtin_ctzll(bits)
#define ep_tally(run, number, more) (void)(*(number) += (uint64_t)(more))
#define ep_near_base(run, near) ((run)->near_arena[near])
#define ep_low_words_again(run, number, sources) 0
#define ep_low_gives_up(run, args, far) 0 /* who is masked has been left out */
#define ep_low_dispatched(run, args, call, receives) 1
#define ep_low_combined_by_last(run, args, call, receives) 1
#define ep_low_publish(run, handle) ((void)(run), (void)(handle))
#define ep_popc(word) __builtin_popcount(word)
#define ep_group_or(word, bits) (void)(*(word) |= (bits))

/*
 * PEs that calls go on without (absent.c). Whether one is masked, and whether any is; whether words of a dispatch are
 * dropped, `renew` from now on, and a PE's are; whether rows that a home adds up lie apart by PE.
 */
#define ep_masked(run, pe) ((run)->masks && (run)->masks->masked[pe])
#define ep_known_any(run) 0 /* nothing asks: ep_masked says it */
#define ep_masked_before(run, call, pe) ep_masked(run, pe)
#define ep_low_masks_begin(run, call, halves) ((void)0)
#define ep_lacks(run, call, expert) 0 /* ep_absent_choices has taken it out */
#define ep_any_masked(run) ((run)->masks && (run)->masks->any)
#define ep_drops(run, renew) ((run)->masks ? ep_absent_drops(run, renew) : 0)
#define ep_dropped(run, pe) ((run)->masks->dropped[pe])
#define ep_lie_apart(run) ((run)->masks != NULL)
/* `call` without choices of masked PEs: *copy, or itself where none is masked. */
const shmemx_ep_dispatch_t *ep_absent_choices(const struct ep_run *run, const shmemx_ep_dispatch_t *call,
                                              shmemx_ep_dispatch_t *copy);
int ep_absent_drops(const struct ep_run *run, int renew);
/* Zeros for the rows of a source that has announced them and was masked. */
struct ep_low_come;
void ep_absent_blank(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                     const struct ep_low_come *come);
/* After a put to a far peer. */
#define ep_note_put(run, counter, pe) ((run)->masks ? ep_absent_count(run, counter, pe) : (void)0)
void ep_absent_count(const struct ep_run *run, int counter, int pe);
/* Waits for what number `pe` does; look: as shmemx_uint64_wait_until_timeout. False: it is masked. */
typedef int ep_look_fn(const void *arg, double seconds);
bool ep_absent_wait(const struct ep_run *run, int phase, int pe, ep_look_fn *look, const void *arg);

uint32_t ep_word_await(const struct ep_run *run, int phase, int near, const uint64_t *word, uint32_t call);
void ep_flags_await(const struct ep_run *run, int phase, int n, ep_flag_fn *flag, const void *arg,
                    uint64_t number);
/* The same where flags may have the bit `mark` beside: returns a bit of each k that has. */
uint32_t ep_flags_await_marked(const struct ep_run *run, int phase, int n, ep_flag_fn *flag, const void *arg,
                               uint64_t number, uint64_t mark);
/* Signals are signals.c's. */
#define ep_low_signalled(args) 0

#define ep_low_sums_early(run) 1
#define ep_low_send_signalled(run, call, args, form) ((void)0)
/* Rows are of SHMEMX_EP_NVFP4. */
#define ep_low_nvfp4(run) ((run)->shape.dtype == SHMEMX_EP_NVFP4)
void ep_nvfp4_to_each(const struct ep_run *run, const uint16_t *x, int columns, float whole, int n,
                      ep_to_fn *to, const void *arg, ptrdiff_t scales);
void ep_quantize_to_each(const struct ep_run *run, const uint16_t *x, int columns, int n, ep_to_fn *to,
                         const void *arg, ptrdiff_t scales);
/* A row's bytes to each `to` that is not NULL, and `scales`, unless NULL, to each `scales_to`. */
void ep_copy_to_each(const struct ep_run *run, const void *from, int bytes, const float *scales, int n_scales,
                     int n, ep_to_fn *to, ep_to_fn *scales_to, const void *arg);
/* Elements `first` to `first` + n - 1 of a row's scales, each `step` words after the one before, to each `to`. */
void ep_step_to_each(const struct ep_run *run, const float *scales, int first, int n, int packed,
                     int64_t step, int choices, ep_to_fn *to, const void *arg);
void ep_low_add(const struct ep_run *run, void *out, int first, int columns, int n, ep_term_fn *term,
                const void *arg);
void ep_sum_grouped(const struct ep_run *run, void *out, int first, int columns, int n, ep_term_fn *term,
                    ep_group_fn *group, const void *arg);

EP_STEP int64_t ep_nanoseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* After ep_word_await: what was stored before a word is there. */
EP_STEP void ep_words_seen(const struct ep_run *run)
{
    (void)run;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* Data and flag in one: who polls the word (ep_word_await) needs nothing that was stored before. */
EP_STEP void ep_word_store(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/* The flags of k from 0 to n - 1 that there are; after what this worker has stored: pairs with ep_flags_await. */
EP_STEP void ep_raise(const struct ep_run *run, int n, ep_raised_fn *flag, const void *arg, uint64_t number)
{
    for (int k = 0; k < n; k++) {
        uint64_t *at = flag(run, arg, k);

        if (at)
            __atomic_store_n(at, number, __ATOMIC_RELEASE);
    }
}

/* A thread that waited would keep others from storing. */
enum { EP_LOW_PATIENCE = 0 };

/* Whether all words of k from 0 to n - 1 that there are have come. */
EP_STEP int ep_words_soon(const struct ep_run *run, int n, ep_word_fn *word, const void *arg, uint32_t call,
                          int *patience)
{
    (void)patience;
    for (int k = 0; k < n; k++) {
        const uint64_t *at = word(run, arg, k);

        if (at && (uint32_t)__atomic_load_n(at, __ATOMIC_RELAXED) != call)
            return 0;
    }
    return 1;
}

/* One more of what each k has; a bit for each whose number is total by that: it begins with 0 again. */
EP_STEP uint32_t ep_count_up(const struct ep_run *run, int n, ep_counted_fn *counted, const void *arg)
{
    uint32_t whole = 0;

    for (int k = 0; k < n; k++) {
        uint64_t total, *number = counted(run, arg, k, &total);

        if (!number || ++*number < total)
            continue;
        *number = 0;
        whole |= 1u << k;
    }
    return whole;
}

/* Of a dispatch: the host reads them in the arena. */
EP_STEP void ep_publish_numbers(const struct ep_run *run, int handle)
{
    (void)run;
    (void)handle;
}

void ep_await(const struct ep_run *run, int phase, int first, int count, ep_value_fn *value, const void *arg);
/* The same of counter `first` + i alone, of a family that begins at `first`. */
void ep_await_one(const struct ep_run *run, int phase, int first, int i, uint64_t value);
void ep_fault(const struct ep_run *run, int pe, int64_t call, int part, int64_t found, int found_part);
void ep_rank(const struct ep_run *run, const int32_t *topk, int tokens, void *metas, int32_t *counts,
             int32_t *rows);
void ep_sum(const struct ep_run *run, void *out, int piece, int pieces, int n, ep_term_fn *term,
            const void *arg);
void ep_scatter(const struct ep_run *run, const void *from, size_t bytes, int n, ep_to_fn *to,
                const void *arg);

EP_STEP int64_t ep_total(const int32_t *numbers, int rows, int each, int stride)
{
    int64_t total = 0;

    for (int i = 0; i < rows * each; i++)
        total += numbers[(size_t)(i / each) * stride + i % each];
    return total;
}

/* bytes: a multiple of 4. */
EP_STEP void ep_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

EP_STEP void ep_zero(void *to, size_t bytes)
{
    memset(to, 0, bytes);
}

/* columns: a multiple of 128. */
void ep_quantize(void *to, float *scales, const void *x, int hidden, int dtype);

/* A row, and numbers beside it where they go somewhere. */
EP_STEP void ep_copy_row(void *to, const void *from, size_t bytes, void *beside_to, const void *beside,
                         size_t beside_bytes)
{
    memcpy(to, from, bytes);
    if (beside_to)
        memcpy(beside_to, beside, beside_bytes);
}

EP_STEP void ep_put(const struct ep_run *run, void *dest, const void *source, size_t bytes, int counter,
                    int pe)
{
    shmemx_ctx_putmem_counted_nbi(run->ctx, dest, source, bytes, run->counters[counter], run->pes[pe]);
}

EP_STEP void ep_flush(const struct ep_run *run)
{
    shmemx_ctx_flush(run->ctx);
}

/* The sending half of a combine with signals, or whose waits for weights are counted (signals.c). */
void ep_host_send_watched(const struct ep_run *run, const shmemx_ep_combine_t *args);

#endif
