/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What low latency with far peers runs on, on a GPU, beside low.cuh. A poll of a counter may read a word of the host:
 * so one warp watches all of them, and says in the GPU's memory, to which others look, how far each has come. Waiting,
 * it also executes what other hosts have for this GPU. What is put is counted as it is stored: the warp that stores the
 * last of it puts it, and no warp waits for others.
 */
#ifndef WSH_EP_DEVICE_LOW_FAR_CUH
#define WSH_EP_DEVICE_LOW_FAR_CUH

#include "ep/device/low.cuh"

#ifndef EP_WATCH_POLLS
#define EP_WATCH_POLLS 32 /* in which what has come is told at once; then lanes wait for all of theirs */
#endif

EP_STEP int ep_groups(const struct ep_run *run)
{
    (void)run;
    return (int)gridDim.x;
}

EP_STEP int ep_group_of(const struct ep_run *run)
{
    (void)run;
    return (int)blockIdx.x;
}

/* In the middle of the grid: with few tokens the first blocks send, and the last ones expand. */
EP_STEP int ep_watching_group(const struct ep_run *run)
{
    (void)run;
    return (int)gridDim.x / 2;
}

EP_STEP bool ep_low_watches(const struct ep_run *run)
{
    return ep_group_of(run) == ep_watching_group(run) && ep_group_worker(run) == EP_WARPS - 1;
}

EP_STEP void ep_meet(const struct ep_run *run)
{
    (void)run;
    wsh_ptx_warp_sync();
}

/* By a worker, some of whose lanes have seen words: all of them see what was stored before. */
EP_STEP void ep_acquire(const struct ep_run *run)
{
    (void)run;
    wsh_ptx_acquire();
    wsh_ptx_warp_sync();
}

EP_STEP int ep_lowest(uint64_t bits)
{
    return __ffs((int)bits) ? __ffs((int)bits) - 1 : 31 + __ffs((int)(bits >> 32));
}

EP_STEP void ep_tally(const struct ep_run *run, uint64_t *number, uint64_t more)
{
    if (ep_leads(run))
        atomicAdd((unsigned long long *)number, (unsigned long long)more);
}

/* By a worker, after its stores: the last to count sees what others have stored, and its puts cover that. */
EP_STEP uint32_t ep_count_up(const struct ep_run *run, int n, ep_counted_fn *counted, const void *arg)
{
    int k = (int)ep_lane();
    uint64_t total = 0, *number = k < n ? counted(run, arg, k, &total) : NULL;
    bool whole = false;

    wsh_ptx_warp_sync();
    if (number) {
        __threadfence();
        whole = atomicAdd((unsigned long long *)number, 1ull) + 1 == total;
        __threadfence();
    }
    if (whole)
        *number = 0;
    return __ballot_sync(EP_ALL_LANES, whole);
}

EP_STEP uint64_t *ep_low_seen(const struct ep_run *run, int counter)
{
    return run->state->parts + counter;
}

/* A row of counters, one of each far peer, that are waited to reach a value. */
struct ep_watch {
    int phase, first, offset, step; /* its family's first one; this row's, and how many are of a far peer */
    uint64_t value;
    int64_t *waits; /* of the caller, or NULL */
};

/* For the report of a hang: all that are waited for. */
EP_STEP void ep_low_watched(const struct ep_run *run, const struct ep_watch *watch)
{
    for (int i = (int)ep_lane(); i < run->shape.far * watch->step; i += EP_LANES)
        run->phase->needs[i] = i % watch->step == watch->offset ? watch->value : 0;
    if (ep_lane() == 0)
        ep_phase_set(run, watch->phase);
    __syncwarp();
}

#ifdef EP_LOW_MASKS
#include "ep/device/masks/far.cuh"
#else
#define ep_low_far_gone(run, wait, polls, late) ((void)(wait), (void)(polls), false)
#define ep_low_far_seen(run) ((void)0)

/* Of a counter. Late, until it has come. */
EP_STEP bool ep_low_counted(const struct ep_run *run, int counter, uint64_t value, bool late)
{
    if (!late)
        return shmemx_counter_fetch(run->counters[counter]) >= value;
    shmemx_counter_wait_until(run->counters[counter], value);
    return true;
}
#endif

/* By a lane: whether far peer i's has come, or it is given up, which others are told. Late, it may wait for that. */
EP_STEP bool ep_low_has_come(const struct ep_run *run, const struct ep_watch *watch, int i, bool late,
                             struct ep_low_wait *wait, unsigned polls)
{
    int at = i * watch->step + watch->offset;

    if (!ep_low_counted(run, watch->first + at, watch->value, late) && !ep_low_far_gone(run, wait, polls, late))
        return false;
    wsh_ptx_signal_set(ep_low_seen(run, watch->first + at), watch->value);
    if (late)
        run->phase->needs[at] = 0;
    return true;
}

EP_LOOP void ep_low_watch_all(const struct ep_run *run, struct ep_watch watch)
{
    bool late = false;
    int64_t began = watch.waits ? ep_nanoseconds() : 0;

    for (int from = 0; from < run->shape.far; from += EP_LANES) {
        int i = from + (int)ep_lane();
        bool there = i >= run->shape.far;
        struct ep_low_wait wait = {NULL, watch.value, 0, watch.phase, ep_far_pe(&run->shape, there ? 0 : i)};

        for (unsigned polls = 0; !__all_sync(EP_ALL_LANES, there); polls++) {
            if (!late && polls == EP_WATCH_POLLS) {
                late = true;
                ep_low_watched(run, &watch);
            }
            if (!there) {
                there = ep_low_has_come(run, &watch, i, late, &wait, polls);
                if (there && watch.waits)
                    watch.waits[wait.near] += ep_nanoseconds() - began;
            }
        }
    }
    if (late && ep_lane() == 0)
        run->phase->kind = 0;
}

/* All workers call it; one watches. */
EP_STEP void ep_low_watch(const struct ep_run *run, int phase, int first, int offset, int step, uint64_t value,
                          int64_t *waits)
{
    const struct ep_watch watch = {phase, first, offset, step, value, waits};

    if (ep_low_watches(run))
        ep_low_watch_all(run, watch);
}

/* By any lane; what was stored before is seen after ep_acquire. Counter `first` + i, as the watching worker says. */
EP_STEP void ep_await_one(const struct ep_run *run, int phase, int first, int i, uint64_t value)
{
    const uint64_t *seen = ep_low_seen(run, first + i);

    (void)phase;
    while (wsh_ptx_poll(seen) < value) {
    }
    ep_low_far_seen(run);
}

#endif
