/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of by_expert.h, and their launches. */
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "ep/device/by_expert.cuh"

enum { BLOCKS = 1024 }; /* at most, of kernels whose warps take rows in turn */

static __global__ void __launch_bounds__(COUNTERS) layout(const __grid_constant__ ep_layout of)
{
    layout_all(of);
}

static __global__ void __launch_bounds__(THREADS) sums(const __grid_constant__ ep_sums of)
{
    sums_all(of);
}

static __global__ void __launch_bounds__(PLACERS) place(const __grid_constant__ ep_places of)
{
    place_all(of);
}

static __global__ void __launch_bounds__(THREADS) expand(const __grid_constant__ ep_expand of)
{
    expand_all(of);
}

static __global__ void __launch_bounds__(THREADS) fold(const __grid_constant__ ep_fold of)
{
    fold_all(of);
}

/* Of rows expert by expert: a lane has a choice. */
static bool choices_fit(int64_t topk)
{
    return topk <= LANES;
}

static bool layout_fits(const struct ep_layout *what)
{
    return what->topk <= LAYOUT_TOPK && what->tokens * what->ranks <= INT32_MAX;
}

static int blocks_for(int64_t rows)
{
    int64_t blocks = (rows + (THREADS / LANES) - 1) / (THREADS / LANES), most = BLOCKS;

    return (int)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

int wsh_ep_layout(const struct ep_layout *what, void *stream)
{
    int64_t blocks = (what->tokens + COUNTERS / 8 - 1) / (COUNTERS / 8); /* few tokens need few */

    if (!layout_fits(what))
        return -1;
    layout<<<(unsigned)(blocks < 1 ? 1 : blocks < LAYOUT_BLOCKS ? blocks : LAYOUT_BLOCKS), COUNTERS, 0,
             (cudaStream_t)stream>>>(*what);
    return cudaGetLastError();
}

int wsh_ep_sums(const struct ep_sums *what, void *stream)
{
    sums<<<1, THREADS, 0, (cudaStream_t)stream>>>(*what);
    return cudaGetLastError();
}

int wsh_ep_places(const struct ep_places *what, void *stream)
{
    int threads = what->received < PLACERS ? (int)((what->received + LANES - 1) / LANES * LANES) : PLACERS;

    if (!choices_fit(what->topk))
        return -1;
    place<<<(unsigned)what->local, threads < LANES ? LANES : threads, 0, (cudaStream_t)stream>>>(*what);
    return cudaGetLastError();
}

int wsh_ep_expand(const struct ep_expand *what, void *stream)
{
    int64_t most = what->received > what->expanded ? what->received : what->expanded;

    if (!choices_fit(what->topk))
        return -1;
    expand<<<blocks_for(most), THREADS, 0, (cudaStream_t)stream>>>(*what);
    return cudaGetLastError();
}

int wsh_ep_fold(const struct ep_fold *what, void *stream)
{
    if (!choices_fit(what->topk))
        return -1;
    fold<<<blocks_for(what->received), THREADS, 0, (cudaStream_t)stream>>>(*what);
    return cudaGetLastError();
}
