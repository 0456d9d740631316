/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What low latency among near PEs runs on, on a GPU: words and flags; rows are in low_rows.cuh. No barrier of the grid:
 * each warp raises the flags of what it has stored, and waits for those of what it reads.
 */
#ifndef WSH_EP_DEVICE_LOW_CUH
#define WSH_EP_DEVICE_LOW_CUH

#include "ep/device/sum.cuh"

/* The pass for the host knows no device code of the library's: it needs the names alone. */
#if defined __CUDACC__ && !defined __CUDA_ARCH__
static __device__ uint64_t wsh_ptx_poll(const uint64_t *) { return 0; }
static __device__ uint32_t wsh_ptx_poll(const uint32_t *) { return 0; }
static __device__ void wsh_ptx_put(uint64_t *, uint64_t) {}
static __device__ void wsh_ptx_signal_set(uint64_t *, uint64_t) {}
static __device__ void wsh_ptx_acquire() {}
static __device__ void wsh_ptx_warp_sync() {}
static __device__ uint64_t wsh_ptx_nanoseconds() { return 0; }
#endif

typedef uint64_t *ep_raised_fn(const struct ep_run *run, const void *arg, int k);
typedef const uint64_t *ep_flag_fn(const struct ep_run *run, const void *arg, int k, int *near);
typedef const uint64_t *ep_word_fn(const struct ep_run *run, const void *arg, int k);
typedef uint64_t *ep_counted_fn(const struct ep_run *run, const void *arg, int k, uint64_t *total);
typedef int ep_group_fn(const struct ep_run *run, const void *arg, int k);

/* How many far peers the calls have. Kernels without have no code for them: they are compiled apart. */
#ifdef EP_LOW_FAR
EP_STEP int ep_low_far(const struct ep_run *run)
{
    return run->shape.far;
}
#else
EP_STEP int ep_low_far(const struct ep_run *run)
{
    (void)run;
    return 0;
}
#endif

/* The same of high throughput. */
#ifdef EP_PULL_FAR
EP_STEP int ep_pulls_far(const struct ep_run *run)
{
    return run->shape.far;
}
#else
EP_STEP int ep_pulls_far(const struct ep_run *run)
{
    (void)run;
    return 0;
}
#endif

/* Nor rows of SHMEMX_EP_NVFP4, but in low_nvfp4.cu; nor signals, but in low_signals.cu. */
#ifdef EP_LOW_NVFP4
#define ep_low_nvfp4(run) (EP_LOW_NVFP4)
#else
#define ep_low_nvfp4(run) 0
#define ep_nvfp4_to_each(run, x, columns, whole, n, to, arg, delta) ((void)0)
#endif
/* Nor sums that sending halves bring, but in low_halves.cu. */
#ifdef EP_LOW_HALVES
#define ep_low_sums_early(run) (EP_LOW_HALVES)
#else
#define ep_low_sums_early(run) 0
#endif
#ifdef EP_LOW_SIGNALS
#define ep_low_signalled(args) (EP_LOW_SIGNALS)
#else
#define ep_low_signalled(args) 0
#define ep_low_send_signalled(run, call, args, form) ((void)0)
#endif

#define EP_LOW_EACH_WAITS 0 /* for far peers one warp does */

/* Warps send rows to far and near peers at once. */
#define ep_low_sides(run) 0

/* Nor masks, but in low_masks.cu and low_far_masks.cu (masks/waits.cuh). */
#ifndef EP_LOW_MASKS
#define ep_low_masks_begin(run, call, halves) ((void)0)
#define ep_masked(run, pe) ((void)(pe), 0)
#define ep_known_any(run) 0
#define ep_masked_before(run, call, pe) ((void)(pe), 0)
#define ep_lacks(run, call, expert) 0
#define ep_any_masked(run) 0
#define ep_drops(run, renew) 0
#define ep_dropped(run, pe) 0
#define ep_lie_apart(run) 0
#define ep_absent(run, wait, polls) false
#define ep_absent_blank(run, args, come) ((void)0)
#define ep_low_words_again(run, number, sources) (ep_sync_group(run), 0)
#define ep_note_put(run, counter, pe) ((void)(counter), (void)(pe))
#define ep_low_gives_up(run, args, far) 0
#define ep_low_dispatched(run, args, call, receives) ep_low_last(run)
#define ep_low_combined_by_last(run, args, call, receives) ep_low_last(run)
#endif

EP_STEP char *ep_near_base(const struct ep_run *run, int near)
{
    return near < EP_NEAR_FEW ? run->near_few[near] : run->near_arena[near];
}

EP_STEP bool ep_is_first_group(const struct ep_run *run)
{
    (void)run;
    return blockIdx.x == 0;
}

EP_STEP int ep_popc(uint32_t word)
{
    return __popc(word);
}

EP_STEP void ep_group_or(uint32_t *word, uint32_t bits)
{
    atomicOr(word, bits);
}

/* By one thread, of the last block to end: it alone, for it changes what all have read. Orders nothing. */
EP_STEP bool ep_low_last(const struct ep_run *run)
{
    __syncthreads();
    return threadIdx.x == 0 &&
           atomicInc(run->state->arrived + EP_ARRIVED_LAST, gridDim.x - 1) == gridDim.x - 1;
}

/* The first block, after what it has stored of a handle: the host may read it. By a lane that has little else to do. */
EP_STEP void ep_low_publish(const struct ep_run *run, int handle)
{
    struct ep_kept *kept = (struct ep_kept *)(run->arena + run->shape.handle + (size_t)handle * run->shape.kept);

    if (!run->ticket)
        return;
    __syncthreads();
    if (threadIdx.x == EP_THREADS - 1)
        wsh_ptx_signal_set(&kept->ticket, run->ticket);
}

EP_STEP int64_t ep_nanoseconds()
{
    return (int64_t)wsh_ptx_nanoseconds();
}

EP_STEP void ep_word_store(uint64_t *word, uint64_t value)
{
    wsh_ptx_put(word, value);
}

/* Polls of about a millisecond, after which a wait says what it waits for. */
enum { EP_LOW_POLLS = 1 << 11, EP_LOW_FAR_POLLS = 1 << 7 }; /* the second ones read words of the host */

/* A wait of a lane. */
struct ep_low_wait {
    const uint64_t *word;
    uint64_t value, since;
    int phase, near;
};

#ifdef EP_LOW_FAR
/* Whether the worker that watches has said whom it waits for: others wait for what follows from that. */
EP_STEP bool ep_low_awaits_far(const struct ep_phase *at)
{
    int phase = *(const volatile int32_t *)&at->kind - 1;

    return phase == EP_PHASE_PART || phase == EP_PHASE_RESULT || phase == EP_PHASE_WEIGHTS;
}
#endif

/* For the report: of which near PE something is awaited, and after long a record for the host's hang reporter. */
EP_LOOP void ep_low_note(struct ep_phase *at, const struct ep_state *state, struct ep_low_wait *wait)
{
    bool dispatch = wait->phase < EP_PHASE_RESULT;

#ifdef EP_LOW_FAR
    if (ep_low_awaits_far(at))
        return;
#endif
    at->needs[wait->near] = 1;
    at->call = (int64_t)(dispatch ? state->received : state->combined) + 1;
    at->kind = 1 + wait->phase;
#ifdef __CUDA_ARCH__
    struct wsh_dev_wait longer = {dispatch ? "shmemx_ep_dispatch" : "shmemx_ep_combine", wait->word, wait->value,
                                  SHMEM_CMP_EQ, wait->since};

    wsh_dev_report_wait(&longer);
    wait->since = longer.since;
#endif
}

/* After so many polls in vain; the others of a warp go on polling meanwhile. */
EP_STEP void ep_low_poll(const struct ep_run *run, struct ep_low_wait *wait, unsigned polls)
{
    struct ep_low_wait passed = *wait;

    if (polls % EP_LOW_POLLS)
        return;
    ep_low_note(run->phase, run->state, &passed);
    wait->since = passed.since;
}

EP_STEP void ep_low_polled(const struct ep_run *run, const struct ep_low_wait *wait, unsigned polls)
{
#ifdef EP_LOW_FAR
    if (polls >= EP_LOW_POLLS && ep_low_awaits_far(run->phase))
        return;
#endif
    if (polls >= EP_LOW_POLLS)
        run->phase->needs[wait->near] = 0;
}

#ifdef EP_LOW_MASKS
#include "ep/device/masks/waits.cuh"
#endif

/* By any lane alone. The word holds its number and the call's in one. */
EP_STEP uint32_t ep_word_await(const struct ep_run *run, int phase, int near, const uint64_t *word, uint32_t call)
{
    struct ep_low_wait wait = {word, call, 0, phase, near};
    uint64_t value = wsh_ptx_poll(word);
    unsigned polls = 0;

    while ((uint32_t)value != call) {
        if (ep_absent(run, &wait, polls)) {
            value = 0;
            break;
        }
        ep_low_poll(run, &wait, ++polls);
        value = wsh_ptx_poll(word);
    }
    ep_low_polled(run, &wait, polls);
    return (uint32_t)(value >> 32);
}

/* What this lane has polled: before a barrier, what was stored before it is there for all. */
EP_STEP void ep_words_seen(const struct ep_run *run)
{
    (void)run;
    wsh_ptx_acquire();
}

/*
 * A worker waits for the flags k from 0 to n - 1 that there are. All leave together. Acquires: pairs with ep_raise.
 * Flags may have the bit `mark` beside the number: returns this lane's.
 */
EP_STEP uint64_t ep_flags_await_by_lane(const struct ep_run *run, int phase, int n, ep_flag_fn *flag, const void *arg,
                                        uint64_t number, uint64_t mark)
{
    int k = (int)ep_lane(), near = 0;
    const uint64_t *mine = k < n ? flag(run, arg, k, &near) : NULL;
    struct ep_low_wait wait = {mine, number, 0, phase, near};
    bool there = !mine;
    unsigned polls = 0;
    uint64_t value = 0;

    while (!__all_sync(EP_ALL_LANES, there)) {
        if (!there)
            value = wsh_ptx_poll(mine);
        there = there || (value & ~mark) == number;
        polls++;
        if (!there)
            there = ep_absent(run, &wait, polls);
        if (!there)
            ep_low_poll(run, &wait, polls);
    }
    if (mine)
        ep_low_polled(run, &wait, polls);
    wsh_ptx_acquire();
    wsh_ptx_warp_sync();
    return value & mark;
}

EP_STEP void ep_flags_await(const struct ep_run *run, int phase, int n, ep_flag_fn *flag, const void *arg,
                            uint64_t number)
{
    ep_flags_await_by_lane(run, phase, n, flag, arg, number, 0);
}

/* Returns a bit of each k whose flag has the mark. */
EP_STEP uint32_t ep_flags_await_marked(const struct ep_run *run, int phase, int n, ep_flag_fn *flag, const void *arg,
                                       uint64_t number, uint64_t mark)
{
    return __ballot_sync(EP_ALL_LANES, ep_flags_await_by_lane(run, phase, n, flag, arg, number, mark) != 0);
}

/* Looks in vain of a warp in a call, of about half a microsecond: a word of a PE that began with it takes a few. */
enum { EP_LOW_PATIENCE = 8 };

/* Whether all words of k from 0 to n - 1 that there are have come, or come soon. */
EP_STEP bool ep_words_soon(const struct ep_run *run, int n, ep_word_fn *word, const void *arg, uint32_t call,
                           int *patience)
{
    int k = (int)ep_lane();
    const uint64_t *mine = k < n ? word(run, arg, k) : NULL;
    bool there = !mine;

    for (;;) {
        there = there || (uint32_t)wsh_ptx_poll(mine) == call;
        if (__all_sync(EP_ALL_LANES, there))
            return true;
        if (*patience <= 0)
            return false;
        --*patience;
    }
}

/* Flags of k from 0 to n - 1: all lanes' stores come before, for they meet; one release for each lane that has one. */
EP_STEP void ep_raise(const struct ep_run *run, int n, ep_raised_fn *flag, const void *arg, uint64_t number)
{
    int k = (int)ep_lane();
    uint64_t *mine = k < n ? flag(run, arg, k) : NULL;

    wsh_ptx_warp_sync();
    if (mine)
        wsh_ptx_signal_set(mine, number);
}

#include "ep/device/low_far.cuh"
#include "ep/device/low_rows.cuh"
#ifdef EP_LOW_NVFP4
#include "ep/device/nvfp4.cuh"
#endif

#endif
