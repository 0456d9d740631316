// SPDX-License-Identifier: BSD-3-Clause
// A kernel that spins on a stream of its own until the host says so, or until its time limit.
#pragma once
#include "device.cuh"
#include "probe.cuh"

static const uint64_t spin_limit_ns = 500000000;

struct spin {
    uint64_t *words;           // pinned: [0] = host says stop, [8] = the kernel runs
    cudaStream_t mine, others; // the spinning kernel's stream, and one for everything else; both non-blocking
    char *device, *host;       // 4 MiB each, device and pinned
    int blocks, threads;       // of the spinning kernel
};

static __global__ void spin_kernel(uint64_t *words, uint64_t limit)
{
    uint64_t end = clock_ns() + limit;

    if (threadIdx.x == 0) {
        if (blockIdx.x == 0)
            store_relaxed(words + 8, 1);
        wait_for(words, 1, end);
    }
    __syncthreads(); // the others wait here, and so keep their place on the multiprocessor
}

// Starts it and waits until it runs; false and an answer if it does not.
static inline bool spin_begin(spin *s)
{
    double end = now_us() + 2e6;

    s->words[0] = s->words[8] = 0;
    spin_kernel<<<s->blocks, s->threads, 0, s->mine>>>(s->words, spin_limit_ns);
    if (!CHECK(cudaGetLastError()))
        return false;
    while (!*(volatile uint64_t *)(s->words + 8))
        if (now_us() > end) {
            say("error", "failed: the spinning kernel does not start");
            return false;
        }
    return true;
}

static inline bool spin_end(spin *s)
{
    *(volatile uint64_t *)s->words = 1;
    return CHECK(cudaStreamSynchronize(s->mine));
}

static inline bool spin_init(spin *s, int blocks, int threads)
{
    *s = {};
    s->blocks = blocks;
    s->threads = threads;
    if (!CHECK(cudaSetDevice(0)) || !(s->words = (uint64_t *)pinned(4096)) ||
        !(s->host = (char *)pinned(4 << 20)))
        return false;
    if (!CHECK(cudaMalloc(&s->device, 4 << 20)) ||
        !CHECK(cudaStreamCreateWithFlags(&s->mine, cudaStreamNonBlocking)))
        return false;
    if (!CHECK(cudaStreamCreateWithPriority(&s->others, cudaStreamNonBlocking, -5)) || !spin_begin(s))
        return false;
    return spin_end(s);
}
