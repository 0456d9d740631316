// SPDX-License-Identifier: BSD-3-Clause
// What a fence costs one lane: with nothing to wait for, after one store, after 64 KiB of stores by its block, and
// while 32 other blocks store. The stores go to own memory, to pinned host memory, or to a peer's memory.
#include "device.cuh"
#include "probe.cuh"

#include <algorithm>
#include <vector>

static const int rounds = 200;
static const int threads = 256;
static const size_t area =
    1 << 20; // bytes that one block stores into; the flag lies behind its first 512 KiB
static const int busy_blocks = 32;

struct costs {
    uint32_t fence[rounds], whole[rounds]; // clock cycles
    uint64_t cycles, ns;                   // of all rounds: the clock's rate
};

static __device__ void store_all(char *at, int bytes, uint64_t value)
{
    for (int i = threadIdx.x * 16; i < bytes; i += blockDim.x * 16)
        store_piece<PIECE_V4>(at + i, value, value);
}

// The other blocks store until block 0 has finished, or for a second.
static __device__ void store_until(char *at, uint64_t *done)
{
    uint64_t end = clock_ns() + 1000000000;

    for (uint64_t n = 0; n % 8 || (load_relaxed(done) == 0 && clock_ns() < end); n++)
        store_all(at, 65536, n);
}

template <int K> static __global__ void measure(char *target, int bytes, uint64_t *done, costs *out)
{
    __shared__ uint32_t cost[2][rounds];
    uint64_t *flag = (uint64_t *)(target + area / 2), got = 0, ns = clock_ns();
    long long begin = clock64(), first, before, after;

    if (blockIdx.x) {
        store_until(target + blockIdx.x * area, done);
        return;
    }
    for (int r = 0; r < rounds; r++) {
        __syncthreads();
        first = clock64();
        store_all(target, bytes, r);
        __syncthreads();
        if (threadIdx.x)
            continue;
        before = clock64();
        got += fence<K>(flag);
        asm volatile("" ::"l"(got) : "memory");
        after = clock64();
        cost[0][r] = (uint32_t)(after - before);
        cost[1][r] = (uint32_t)(after - first);
    }
    if (threadIdx.x)
        return;
    out->cycles = (uint64_t)(clock64() - begin);
    out->ns = clock_ns() - ns;
    store_relaxed(done, 1 + (got >> 63));
    for (int r = 0; r < rounds; r++) {
        out->fence[r] = cost[0][r];
        out->whole[r] = cost[1][r];
    }
}

static double median(const uint32_t *all, double ns_per_cycle)
{
    std::vector<uint32_t> sorted(all, all + rounds);

    std::sort(sorted.begin(), sorted.end());
    return sorted[rounds / 2] * ns_per_cycle;
}

struct place {
    const char *name;
    char *target;
    costs *out;
    uint64_t *done; // device memory
};

// One case: ns of the fence, and of stores and fence together; false and an answer if it failed.
template <int K> static bool run(place *p, int blocks, int bytes, double *fence_ns, double *whole_ns)
{
    CHECK(cudaMemset(p->done, 0, sizeof *p->done));
    CHECK(cudaDeviceSynchronize());
    measure<K><<<blocks, threads>>>(p->target, bytes, p->done, p->out);
    if (!CHECK(cudaGetLastError()) || !CHECK(cudaDeviceSynchronize()))
        return false;
    double rate = (double)p->out->ns / (double)p->out->cycles;

    *fence_ns = median(p->out->fence, rate);
    *whole_ns = median(p->out->whole, rate);
    return true;
}

template <int K> static void ask_kind(place *p, const char *name)
{
    double idle, one, many, busy, whole_one, whole_many, whole;

    if (!run<K>(p, 1, 0, &idle, &whole) || !run<K>(p, 1, 0, &idle, &whole) ||
        !run<K>(p, 1, 16, &one, &whole_one) || !run<K>(p, 1, 65536, &many, &whole_many) ||
        !run<K>(p, 1 + busy_blocks, 0, &busy, &whole))
        return;
    say(text("%s: %s", p->name, name), "ns",
        text("idle %.0f, after 16 B %.0f (with the store %.0f), after 64 KiB %.0f (with the stores %.0f), "
             "beside %d storing blocks %.0f",
             idle, one, whole_one, many, whole_many, busy_blocks, busy));
}

static void ask_place(const char *name, char *target)
{
    place p = {name, target, (costs *)pinned(sizeof(costs)), NULL};

    if (!p.out || !CHECK(cudaMalloc(&p.done, 64)))
        return;
    ask_kind<FENCE_NONE>(&p, "nothing (the clock itself)");
    ask_kind<FENCE_ACQ_REL_SYS>(&p, "fence.acq_rel.sys");
    ask_kind<FENCE_RELEASE_SYS>(&p, "fence.release.sys");
    ask_kind<FENCE_ACQUIRE_SYS>(&p, "fence.acquire.sys");
    ask_kind<FENCE_SC_SYS>(&p, "fence.sc.sys");
    ask_kind<FENCE_MEMBAR_SYS>(&p, "membar.sys");
    ask_kind<FENCE_ACQ_REL_GPU>(&p, "fence.acq_rel.gpu");
    ask_kind<FENCE_STORE_RELEASE>(&p, "st.release.sys of a flag there");
    ask_kind<FENCE_LOAD_RELAXED>(&p, "ld.relaxed.sys of a flag there");
    ask_kind<FENCE_LOAD_ACQUIRE>(&p, "ld.acquire.sys of a flag there");
    ask_kind<FENCE_LOAD_THEN_ACQUIRE>(&p, "ld.relaxed.sys, then fence.acquire.sys");
}

void ask_fence()
{
    size_t len = area * (1 + busy_blocks);
    char *own, *host;

    if (!CHECK(cudaSetDevice(0)) || !CHECK(cudaMalloc(&own, len)) || !(host = (char *)pinned(len)))
        return;
    CHECK(cudaMemset(own, 0, len));
    ask_place("own memory", own);
    ask_place("pinned host memory", host);
}

void ask_fence_peer()
{
    size_t len = area * (1 + busy_blocks);
    char *peer;

    if (!CHECK(cudaSetDevice(1)) || !CHECK(cudaMalloc(&peer, len)) || !CHECK(cudaMemset(peer, 0, len)))
        return;
    CHECK(cudaDeviceSynchronize());
    if (CHECK(cudaSetDevice(0)) && CHECK(cudaDeviceEnablePeerAccess(1, 0)))
        ask_place("peer memory", peer);
}
