/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scope of a device call, the threads that make it together: one thread, a warp, or a block. It is a template
 * parameter everywhere.
 *
 * All threads of the scope make the call, with equal arguments, converged (warp) or in the same order (block). A
 * warp is the threads of the block in one warp, fewer than 32 in the last one.
 */
#ifndef WSH_DEVICE_SCOPE_CUH
#define WSH_DEVICE_SCOPE_CUH

#ifdef WSH_DEVICE_PTX
#include WSH_DEVICE_PTX /* tests substitute broken primitives, to see that the tests notice */
#else
#include "../ptx/ptx.cuh"
#endif

/* Bodies that are worth being in line, except among the hundreds of typed routines of libnvshmem_device.a. */
#if defined(WSH_NV_SYMBOLS) && !defined(WSH_DEVICE_FREESTANDING_CUH)
#define WSH_DEV_MOVE WSH_DEV_CALL
#else
#define WSH_DEV_MOVE WSH_DEV
#endif

/* A wait, as it is reported when it lasts too long. In memory across calls, where it holds no registers. */
struct wsh_dev_wait {
    const char *what;
    const void *word;
    uint64_t value;
    int cmp;
    uint64_t since; /* 0: it begins */
};

/* A warpgroup, 4 full warps of which the first is a multiple of 4, is a scope of tiles alone (tile.cuh). */
enum wsh_scope { WSH_THREAD, WSH_WARP, WSH_BLOCK, WSH_WARPGROUP };

static WSH_DEV unsigned wsh_dev_thread()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

static WSH_DEV unsigned wsh_dev_threads()
{
    return blockDim.x * blockDim.y * blockDim.z;
}

/* Threads of the block in this thread's warp, and their mask. */
static WSH_DEV unsigned wsh_dev_warp_threads()
{
    unsigned left = wsh_dev_threads() - (wsh_dev_thread() & ~31u);

    return left < 32 ? left : 32;
}

static WSH_DEV unsigned wsh_dev_warp_mask()
{
    return 0xffffffffu >> (32 - wsh_dev_warp_threads());
}

template <int S> static WSH_DEV unsigned wsh_dev_size()
{
    return S == WSH_THREAD      ? 1
           : S == WSH_WARP      ? wsh_dev_warp_threads()
           : S == WSH_WARPGROUP ? 128
                                : wsh_dev_threads();
}

/* 0 … wsh_dev_size - 1; lane 0 leads. */
template <int S> static WSH_DEV unsigned wsh_dev_lane()
{
    return S == WSH_THREAD      ? 0
           : S == WSH_WARP      ? wsh_ptx_lane()
           : S == WSH_WARPGROUP ? wsh_dev_thread() % 128
                                : wsh_dev_thread();
}

/* Every lane waits for all others; what they did before is before what each does afterwards. */
template <int S> static WSH_DEV void wsh_dev_sync()
{
    if (S == WSH_WARP)
        wsh_ptx_warp_sync();
    else if (S == WSH_BLOCK)
        wsh_ptx_block_sync();
    else if (S == WSH_WARPGROUP)
        wsh_ptx_warpgroup_sync(wsh_dev_thread() / 128);
}

/* Whether any lane says so; a barrier. */
template <int S> static WSH_DEV bool wsh_dev_any_lane(bool says)
{
    if (S == WSH_BLOCK)
        return __syncthreads_or(says) != 0;
    if (S == WSH_WARP) {
        wsh_dev_sync<S>();
        says = wsh_ptx_any(says);
    }
    return says;
}

/*
 * What lane 0 holds, at most `most`, for all lanes; a barrier. Uses no shared memory, which is the program's: a block
 * gets the value bit by bit.
 */
template <int S> static WSH_DEV uint32_t wsh_dev_broadcast(uint32_t value, uint32_t most)
{
    uint32_t got = 0;

    if constexpr (S == WSH_THREAD) {
        return value;
    } else if constexpr (S == WSH_WARP) {
        wsh_dev_sync<S>();
        return (uint32_t)wsh_ptx_from_leader(value);
    } else {
#pragma unroll 1
        for (unsigned bit = 0; bit < 32 && most >> bit; bit++)
            got |= (uint32_t)wsh_dev_any_lane<S>(wsh_dev_thread() == 0 && (value >> bit & 1)) << bit;
        return got;
    }
}

#endif
