/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the time of a post goes, where kernels post to NICs: by clocks between the steps of gda_push.cuh, as one lane
 * and as a warp whose first lanes share a doorbell take them, alone in their queue.
 */
#ifndef PERFTEST_DEVICE_INTER_CLOCKS_CUH
#define PERFTEST_DEVICE_INTER_CLOCKS_CUH

#include "perftest/device/inter_kernels.cuh"
#include "perftest/device/job.cuh"

enum inter_step { INTER_MAKE, INTER_RESERVE, INTER_STORE, INTER_RELEASE, INTER_DOORBELL, INTER_PASS_ON, INTER_STEPS };

static const char *const inter_step_names[INTER_STEPS] = {
    "keys and request", "reservation", "stores", "release", "doorbell", "handed on"};

enum { INTER_CLOCK_LANES = 16, INTER_CLOCK_POSTS = 64 };

/* Sums of cycles by step; posts that found their turn or room taken, whose time is not a post's alone. */
struct inter_clocks {
    unsigned long long cycles[INTER_STEPS];
    unsigned posts, odd;
};

#ifdef __CUDA_ARCH__
/* Behind all that was asked for: what the value needs, too. */
static __device__ unsigned long long inter_cycle(uint64_t needs)
{
    unsigned long long cycle;

    if (needs == ~(uint64_t)0)
        __trap();
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycle)::"memory");
    return cycle;
}

/* One lane: keeps the steps of a post, but not of the first ones, which load code and tables. */
static __device__ void inter_clocks_add(struct inter_clocks *clocks, const unsigned long long *at, int post, bool odd)
{
    if (post < INTER_CLOCK_POSTS / 2)
        return;
    clocks->odd += odd;
    clocks->posts += !odd;
    for (int i = 0; i < INTER_STEPS && !odd; i++)
        clocks->cycles[i] += at[i + 1] - at[i];
}

/* A post of `lanes` requests with one doorbell, by lanes that are here together. */
static __device__ void inter_clocks_post(const struct inter_args &a, unsigned lanes, int post,
                                         struct inter_clocks *clocks)
{
    const unsigned lane = threadIdx.x, mask = lanes == 32 ? ~0u : (1u << lanes) - 1;
    const size_t off = (post * lanes + lane) % a.window * a.len;
    struct wsh_gda_queue *queue = wsh_dev_gda_queue(wsh_dev_gda());
    struct wsh_dev_gda_request request;
    struct wsh_dev_gda_run run = {};
    unsigned long long at[INTER_STEPS + 1];
    bool takes;

    at[INTER_MAKE] = inter_cycle(0);
    takes = wsh_dev_gda_request_of(
        wsh_dev_gda(), queue, wsh_dev_gda_transfer{a.dest + off, a.source + off, a.len, a.peer, 0, false}, &request);
    if (!takes)
        __trap();
    at[INTER_RESERVE] = inter_cycle(request.there | request.key_here);
    if (lane == 0)
        run = wsh_dev_gda_reserve(queue, lanes);
    if (lanes > 1)
        run.first = wsh_ptx_party_from(mask, run.first, 0);
    at[INTER_STORE] = inter_cycle(run.first);
    wsh_dev_gda_store(wsh_dev_gda_entry_of(wsh_dev_gda_ring_of(queue), run.first + lane, request));
    if (lanes > 1)
        wsh_ptx_party_sync(mask);
    if (lane)
        return;
    if (!run.turn) {
        wsh_dev_gda_ring(queue, run, lanes);
        inter_clocks_add(clocks, at, post, true);
        return;
    }
    at[INTER_RELEASE] = inter_cycle(0);
    wsh_ptx_put((uint64_t *)&wsh_dev_gda_marks(queue)->posted, run.first + lanes);
    wsh_ptx_release();
    at[INTER_DOORBELL] = inter_cycle(0);
    wsh_ptx_nic_put((uint32_t *)queue->doorbell, (uint32_t)(run.first + lanes) & 0xffff);
    at[INTER_PASS_ON] = inter_cycle(0);
    wsh_ptx_pass_on(&queue->rung, run.first + lanes);
    at[INTER_STEPS] = inter_cycle(0);
    inter_clocks_add(clocks, at, post, false);
}
#endif

/* One warp. */
static __global__ void __launch_bounds__(32)
    inter_clocks_run(struct inter_args a, unsigned lanes, struct inter_clocks *clocks)
{
#ifdef __CUDA_ARCH__
    if (!wsh_dev_has_gda() || wsh_dev_gda_max_batch(wsh_dev_gda_queue(wsh_dev_gda())) < lanes)
        return;
#pragma unroll 1
    for (int post = 0; post < INTER_CLOCK_POSTS; post++) {
        if (threadIdx.x < lanes)
            inter_clocks_post(a, lanes, post, clocks);
        __syncwarp();
        if (threadIdx.x == 0 && post % 8 == 7)
            PERF_ONE(quiet)();
        __syncwarp();
    }
#endif
}

/* The mean cycles of each step: a line that begins with #. */
static void inter_clocks_print(FILE *to, const struct inter_clocks *clocks, unsigned lanes, int khz)
{
    double all = 0;

    fprintf(to, "# clocks of a post by %s:", lanes == 1 ? "one lane" : "16 lanes with one doorbell");
    for (int i = 0; i < INTER_STEPS; i++) {
        double cycles = (double)clocks->cycles[i] / clocks->posts;

        all += cycles;
        fprintf(to, " %s %.0f,", inter_step_names[i], cycles);
    }
    fprintf(to, " in all %.0f cycles, %.3f us a request at %d MHz; %u posts, %u more not alone\n", all,
            all / khz * 1e3 / lanes, khz / 1000, clocks->posts, clocks->odd);
}

/* PE 0 alone. Nothing where the proxy posts. */
static void inter_clocks_measure(FILE *to, const struct inter_args &a)
{
    struct inter_clocks clocks, *on_gpu;
    int khz = 0, device = 0;

    dev_cuda(cudaGetDevice(&device), "cudaGetDevice");
    dev_cuda(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device), "cudaDeviceGetAttribute");
    dev_cuda(cudaMalloc(&on_gpu, sizeof *on_gpu), "cudaMalloc");
    for (unsigned lanes = 1; lanes <= INTER_CLOCK_LANES; lanes *= INTER_CLOCK_LANES) {
        dev_cuda(cudaMemset(on_gpu, 0, sizeof *on_gpu), "cudaMemset");
        inter_clocks_run<<<1, 32>>>(a, lanes, on_gpu);
        dev_cuda(cudaGetLastError(), "inter_clocks_run");
        dev_cuda(cudaMemcpy(&clocks, on_gpu, sizeof clocks, cudaMemcpyDeviceToHost), "copy from the GPU");
        if (clocks.posts)
            inter_clocks_print(to, &clocks, lanes, khz);
    }
    cudaFree(on_gpu);
}

#endif
