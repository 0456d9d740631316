/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the steps of the protocol run on, on a GPU: a worker is a warp, all lanes execute a step with equal scalars, and
 * the primitives of rows (rows.cuh, sum.cuh, rank.cuh) divide their columns over lanes. All blocks of a grid are
 * resident, or barriers would not end. Order: within the GPU by barriers; from and to others by counted puts, whose
 * waits acquire and which release, at system scope. Both are cumulative, so that what one lane has acquired all
 * workers may read after the next barrier, and a put after a barrier covers what all workers have stored before it.
 */
#ifndef WSH_EP_DEVICE_RUN_CUH
#define WSH_EP_DEVICE_RUN_CUH

#include "ep/ep.h"
#include "ep/number.h"

#include "ep/device/marks.h"

#ifdef EP_CLOCKS
#define EP_CLOCK(run, at)                                          \
    do {                                                           \
        if (blockIdx.x == 0 && threadIdx.x == 0)                   \
            (run)->state->clocks[at] = (uint64_t)clock64();        \
    } while (0)
#else
#define EP_CLOCK(run, at) ep_mark(run, at)
#endif

#define EP_STEP static __device__ __forceinline__
/* Out of line: loops over rows and what takes many registers, so that nothing around it takes some of them. */
#define EP_LOOP static __device__ __noinline__

#ifndef EP_BLOCK_WARPS
#define EP_BLOCK_WARPS 16 /* with an SM for each block, each lane has 128 registers */
#define EP_SHARED(type, name, n) __shared__ type name[n]
#define EP_GROUP_MEMORY(name) extern __shared__ __align__(16) char name[]
#endif
enum { EP_LANES = 32, EP_WARPS = EP_BLOCK_WARPS, EP_THREADS = EP_LANES * EP_WARPS };

#define EP_ALL_LANES 0xffffffffu

enum { EP_NEAR_FEW = 16 };

/* What shmemx_ep_counts waits for, in memory of the host. */
struct ep_published {
    uint64_t *host;  /* [handles]: the ticket of the last dispatch whose numbers are there */
    char *kept;      /* [handles] of ep_published_bytes */
    uint64_t ticket; /* of this launch; 0: of a graph, which the host does not wait for */
};

/* A parameter of kernels. Arrays lie in device memory, the phase in pinned memory. */
struct ep_run {
    struct ep_shape shape;
    char *arena;
    char *const *near_arena;
    const int *pes;
    const shmemx_counter_t *counters;
    struct ep_state *state;
    struct ep_live *live; /* of masks, behind the state */
    struct ep_phase *phase;
    char *near_few[EP_NEAR_FEW]; /* the first of near_arena */
    uint64_t ticket;             /* low latency: of this launch, for the host; 0: of a graph */
    struct ep_marks *marks;        /* of a trace; NULL: there is none */
    struct ep_published published; /* high throughput: of numbers that come before rows */
    int alone;                     /* high throughput: no other PE has this GPU */
};

/* The same of kernels of high throughput that expand rows. */
struct ep_run_expanded {
    struct ep_run run;
    shmemx_ep_rows_expanded_t expanded;
};

/* EP_EXPANDING has code of such kernels, which others do not have: theirs stays as it is. */
#ifdef EP_EXPANDS
#define EP_EXPANDING(...) __VA_ARGS__
#ifndef EP_EXPANDED_OF
#define EP_EXPANDED_OF(run) (&((const struct ep_run_expanded *)(run))->expanded)
#endif

EP_STEP const shmemx_ep_rows_expanded_t *ep_expanded(const struct ep_run *run)
{
    (void)run;
    return EP_EXPANDED_OF(run);
}

EP_STEP const int32_t *ep_places(const shmemx_ep_combine_t *args)
{
    return args->places;
}
#else
#define EP_EXPANDING(...)
#endif

EP_STEP int ep_alone(const struct ep_run *run)
{
    return run->alone;
}

/* Of the GPU, in ns. */
EP_STEP uint64_t ep_gpu_time()
{
#ifdef __CUDA_ARCH__
    uint64_t ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
#else
    return 0;
#endif
}

/* Out of line, so that a call that is not traced has one branch. Calls of an instance come one after another. */
EP_LOOP void ep_mark_note(struct ep_marks *marks, int at)
{
    struct ep_mark_row *row;

    if (at % EP_MARK_COMBINE == 0) {
        row = &marks->row[marks->n++ % EP_MARK_ROWS];
        for (int i = 0; i < EP_MARKS; i++)
            row->at[i] = 0;
    }
    row = &marks->row[(marks->n - 1) % EP_MARK_ROWS];
    row->at[at] = ep_gpu_time();
}

EP_STEP void ep_mark(const struct ep_run *run, int at)
{
    if (run->marks && blockIdx.x == 0 && threadIdx.x == 0)
        ep_mark_note(run->marks, at);
}

EP_STEP unsigned ep_lane()
{
    return threadIdx.x % EP_LANES;
}

EP_STEP int ep_of_lane(int value, int lane)
{
    return __shfl_sync(EP_ALL_LANES, value, lane);
}

/* Successive workers are on different SMs: few rows are spread over all of them. */
EP_STEP int ep_worker(const struct ep_run *run)
{
    (void)run;
    return (int)(threadIdx.x / EP_LANES * gridDim.x + blockIdx.x);
}

EP_STEP int ep_workers(const struct ep_run *run)
{
    (void)run;
    return (int)(gridDim.x * EP_WARPS);
}

/* A group of workers is a block. */
EP_STEP int ep_group_worker(const struct ep_run *run)
{
    (void)run;
    return (int)(threadIdx.x / EP_LANES);
}

EP_STEP int ep_group_workers(const struct ep_run *run)
{
    (void)run;
    return EP_WARPS;
}

#define EP_BY_LANES(run, i, count) for (int i = (int)ep_lane(); i < (count); i += EP_LANES)
#define EP_BY_GROUP(run, i, count) for (int i = (int)threadIdx.x; i < (count); i += EP_THREADS)
#define EP_BY_ALL(run, i, count) \
    for (int i = ep_worker(run) * EP_LANES + (int)ep_lane(); i < (count); i += ep_workers(run) * EP_LANES)

/* The same, from the last worker on. */
#define EP_BY_LAST(run, i, count)                                                                             \
    for (int i = (ep_workers(run) - 1 - ep_worker(run)) * EP_LANES + (int)ep_lane(); i < (count);             \
         i += ep_workers(run) * EP_LANES)

EP_STEP bool ep_leads(const struct ep_run *run)
{
    (void)run;
    return ep_lane() == 0;
}

EP_STEP void ep_sync_group(const struct ep_run *run)
{
    (void)run;
    __syncthreads();
}

/* What the workers of a block share, as much as the launch gives. */
EP_STEP char *ep_group_memory(const struct ep_run *run)
{
    EP_GROUP_MEMORY(ep_group_bytes);

    (void)run;
    return ep_group_bytes;
}

/* Words of ep_state.arrived. */
enum { EP_ARRIVED_SYNC, EP_ARRIVED_LAST, EP_ARRIVED_PUBLISH, EP_ARRIVED_WRONG, EP_ARRIVED_MET };

/* The word goes back to 0 with the last block. A barrier lies between two uses of a word. */
EP_LOOP int ep_grid_last(unsigned *arrived)
{
    bool last = false;

    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    return __syncthreads_or(last);
}

EP_STEP int ep_last(const struct ep_run *run)
{
    return ep_grid_last(run->state->arrived + EP_ARRIVED_LAST);
}

/*
 * All blocks add up to half of the word's range, which flips its top bit and leaves the rest 0: the word is ready for
 * the next barrier, of this or another kernel with whatever grid.
 */
EP_LOOP void ep_grid_sync(unsigned *arrived)
{
    const unsigned half = 0x80000000u;
    unsigned before;

    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        before = atomicAdd(arrived, blockIdx.x == 0 ? half - (gridDim.x - 1) : 1);
        while (!((before ^ atomicAdd(arrived, 0)) & half)) {
        }
        __threadfence();
    }
    __syncthreads();
}

EP_STEP void ep_sync(const struct ep_run *run)
{
    ep_grid_sync(run->state->arrived + EP_ARRIVED_SYNC);
}

typedef uint64_t ep_value_fn(const struct ep_run *run, const void *arg, int i);

/* For the report of a hang; by one lane of the grid. */
EP_STEP void ep_phase_set(const struct ep_run *run, int phase)
{
    const struct ep_state *state = run->state;

    run->phase->call = (int64_t)(phase < EP_PHASE_RESULT ? state->received : state->combined) + 1;
    run->phase->kind = 1 + phase;
}

/* Of a block: 1 when its first warp's wait is over, until the second warp has seen it. */
EP_STEP unsigned *ep_await_over()
{
    EP_SHARED(unsigned, over, 1);

    return over;
}

/* At the beginning of a kernel. */
EP_STEP void ep_begin()
{
    if (threadIdx.x == 0)
        *ep_await_over() = 0;
    __syncthreads();
}

/*
 * By the second warp: takes out of the report those whose counters have come, about each millisecond. The lanes that
 * wait cannot, for they leave their wait together.
 */
EP_LOOP void ep_await_watch(const struct ep_run *run, int first, int count)
{
    enum { EVERY = 1 << 14 };
    unsigned over = 0;

    for (unsigned polls = 1; !over; polls++) {
        if (ep_lane() == 0)
            over = atomicExch(ep_await_over(), 0u);
        over = __shfl_sync(EP_ALL_LANES, over, 0);
        for (int i = (int)ep_lane(); i < count && !over && polls % EVERY == 0; i += EP_LANES) {
            uint64_t need = run->phase->needs[i];

            if (need && shmemx_counter_fetch(run->counters[first + i]) >= need)
                run->phase->needs[i] = 0;
        }
    }
}

/*
 * A poll may read a word of the host: so only the first warp of the grid polls, each lane another counter. Waiting, it
 * also executes what other hosts have for this GPU.
 */
EP_STEP void ep_await(const struct ep_run *run, int phase, int first, int count, ep_value_fn *value, const void *arg)
{
    if (blockIdx.x == 0 && threadIdx.x < EP_LANES && count) {
        for (int i = (int)threadIdx.x; i < count; i += EP_LANES)
            run->phase->needs[i] = value(run, arg, i);
        if (threadIdx.x == 0)
            ep_phase_set(run, phase);
        for (int i = (int)threadIdx.x; i < count; i += EP_LANES) {
            shmemx_counter_wait_until(run->counters[first + i], value(run, arg, i));
            run->phase->needs[i] = 0;
        }
        __syncwarp(); /* none leaves, and says so, while another waits */
        if (threadIdx.x == 0) {
            run->phase->kind = 0;
            atomicExch(ep_await_over(), 1u);
        }
    } else if (blockIdx.x == 0 && threadIdx.x < 2 * EP_LANES && count) {
        ep_await_watch(run, first, count);
    }
    ep_sync(run);
}

/* The exit's record is released after what this lane has stored. Others leave the job's end to the first. */
EP_LOOP void ep_fault(const struct ep_run *run, int pe, int64_t call, int part, int64_t found, int found_part)
{
    struct ep_wrong_part *wrong = &run->phase->wrong;

    while (atomicExch(&run->state->arrived[EP_ARRIVED_WRONG], 1u))
        __nanosleep(1000);
    wrong->pe = run->pes[pe];
    wrong->part = part;
    wrong->found_part = found_part;
    wrong->call = call;
    wrong->found_call = found;
    wrong->there = 1;
    shmem_global_exit(1);
}

EP_LOOP void ep_put_by_warp(void *dest, const void *source, size_t bytes, shmemx_counter_t counter, int pe)
{
    shmemx_putmem_counted_nbi_warp(dest, source, bytes, counter, pe);
}

EP_STEP void ep_put(const struct ep_run *run, void *dest, const void *source, size_t bytes, int counter, int pe)
{
    ep_put_by_warp(dest, source, bytes, run->counters[counter], run->pes[pe]);
}

EP_STEP void ep_flush(const struct ep_run *run)
{
    (void)run;
    shmemx_flush_warp();
}

#include "ep/device/rows.cuh"
#include "ep/device/sum.cuh"
#include "ep/device/rank.cuh"
#include "ep/device/low.cuh"

#endif
