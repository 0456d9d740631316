/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel that leaves no room on the GPU waits for what a PE of another host does to its memory by the host's
 * routines: puts, gets, atomics with and without result, signals that add. No other kernel can start: the waiting one
 * applies them. Then the same for one thread, for a warp, and for a thread in each warp's middle.
 * paths: gpumixed:2 gpumixedefa:2 gpuhmemefa:2
 * timeout: 120
 */
#include "test/device/dev.cuh"

enum { WORDS = 1100, STEPS = 200, FULL = 1024, ODD = 3 };

struct place {
    uint64_t *flag, *counter, *data; /* device memory */
    uint64_t *running;               /* host memory */
    struct dev_report *report;
};

static __device__ uint64_t value(uint64_t step, size_t i)
{
    return step * 1000003 + i;
}

/* The data as the last step left it, with the flag. */
static __device__ void check(const struct place &p, uint64_t round)
{
    for (size_t i = threadIdx.x; i < WORDS - ODD; i += blockDim.x)
        dev_expect(p.report, i, value(round * STEPS, i), p.data[i]);
    if (threadIdx.x == 0)
        dev_expect(p.report, WORDS, round * STEPS, *p.counter);
}

static __device__ void say_running(const struct place &p, uint64_t round)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        shmem_uint64_p(p.running, round, 1);
}

__global__ void __launch_bounds__(FULL, 2) wait_full(struct place p, uint64_t round)
{
    say_running(p, round);
    if (threadIdx.x == 0)
        shmem_signal_wait_until(p.flag, SHMEM_CMP_GE, round * STEPS);
    __syncthreads();
    check(p, round);
}

__global__ void wait_warp(struct place p, uint64_t round)
{
    say_running(p, round);
    shmem_signal_wait_until_warp(p.flag, SHMEM_CMP_GE, round * STEPS);
    check(p, round);
}

__global__ void wait_some_lanes(struct place p, uint64_t round)
{
    say_running(p, round);
    if (threadIdx.x % 32 > 6 && threadIdx.x % 4)
        shmem_uint64_wait_until(p.flag, SHMEM_CMP_GE, round * STEPS);
    __syncthreads();
    check(p, round);
}

/* As many blocks as are resident at once. */
static unsigned full_grid(void)
{
    int blocks = 0, processors = 0;

    mp_check(!cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, wait_full, FULL, 0) &&
                 !cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0) && blocks == 2,
             "two blocks of %d threads fit: %d", FULL, blocks);
    return (unsigned)(blocks * processors);
}

/* One step at PE 0: everything, the signal last. Sizes and places change, so that copies are of every kind. */
static void step_at_peer(const struct place &p, uint64_t step, uint64_t *buffer)
{
    size_t n = step % 50 ? 1 + step % 40 : WORDS - ODD, odd = step % 3;
    uint64_t got[16] = {0};

    for (size_t i = 0; i < n; i++)
        buffer[i] = step * 1000003 + i;
    shmem_putmem(p.data, buffer, n * sizeof *buffer, 0);
    mp_check(shmem_uint64_atomic_fetch_add(p.counter, 1, 0) == step - 1, "step %d: fetch_add", (int)step);
    shmem_fence();
    shmem_getmem((char *)got, (char *)p.data + odd, n < 16 ? n * 8 - odd : 127 - odd, 0);
    mp_check(!memcmp(got, (char *)buffer + odd, n < 16 ? n * 8 - odd : 127 - odd), "step %d: get", (int)step);
    shmem_uint64_atomic_xor(p.counter, 0, 0);
    shmem_putmem_signal(p.data + WORDS - 1, buffer, step % 2 * 8, p.flag, 1, SHMEM_SIGNAL_ADD, 0);
}

static void round_of(const struct place &p, uint64_t round, uint64_t *buffer,
                     void (*launch)(const struct place &, uint64_t))
{
    if (mp_me == 0) {
        launch(p, round);
        mp_check(dev_wait(), "the kernel ends");
    } else {
        shmem_uint64_wait_until(p.running, SHMEM_CMP_GE, round);
        for (uint64_t step = (round - 1) * STEPS + 1; step <= round * STEPS; step++)
            step_at_peer(p, step, buffer);
        shmem_quiet();
    }
    shmem_barrier_all();
    dev_check_report(p.report, "what a step has left");
}

int main(void)
{
    struct place p;
    uint64_t *buffer, round = 0;

    dev_begin();
    dev_case("memory");
    p.report = (struct dev_report *)dev_share(sizeof *p.report);
    p.flag = (uint64_t *)dev_alloc(sizeof *p.flag);
    p.counter = (uint64_t *)dev_alloc(sizeof *p.counter);
    p.data = (uint64_t *)dev_alloc(WORDS * sizeof *p.data);
    p.running = (uint64_t *)shmem_calloc(1, sizeof *p.running);
    buffer = (uint64_t *)malloc(WORDS * sizeof *buffer);
    dev_case("a full GPU");
    round_of(p, ++round, buffer, [](const struct place &at, uint64_t n) { wait_full<<<full_grid(), FULL>>>(at, n); });
    dev_case("a warp");
    round_of(p, ++round, buffer, [](const struct place &at, uint64_t n) { wait_warp<<<1, 32>>>(at, n); });
    dev_case("some lanes of warps");
    round_of(p, ++round, buffer, [](const struct place &at, uint64_t n) { wait_some_lanes<<<2, 96>>>(at, n); });
    free(buffer);
    return dev_end();
}
