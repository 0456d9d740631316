/* SPDX-License-Identifier: BSD-3-Clause */
/* Producers that are lanes of a kernel, with rings in pinned memory. */
#include "perftest/proxy/push.cuh"

#include "perftest/proxy/gpu_memory.cuh"

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__device__ void wsh_dev_ring_idle(struct wsh_dev_wait *)
{
}

WSH_DEV uint64_t queue_clock()
{
    uint64_t ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

__global__ void queue_kernel(struct queue_memory memory, struct queue_work work, unsigned long long *longest)
{
    uint32_t producer = blockIdx.x * blockDim.x + threadIdx.x;

    if (producer < work.producers)
        atomicMax(longest, (unsigned long long)queue_work(memory, work, producer));
}

static char name[300];

const char *queue_producers(const char **why)
{
    struct cudaDeviceProp prop;
    cudaError_t status = cudaGetDeviceProperties(&prop, 0);

    *why = status ? cudaGetErrorString(status) : nullptr;
    snprintf(name, sizeof name, "lanes of a kernel on %s", prop.name);
    return status ? nullptr : name;
}

int queue_memory_open(struct queue_memory *memory, uint32_t n, enum queue_where where)
{
    *memory = queue_memory{nullptr, nullptr, n, n, nullptr, where, nullptr, nullptr};
    if (!queue_rings_alloc(memory) && !cudaMalloc(&memory->heads, sizeof *memory->heads) &&
        !cudaMemset(memory->heads, 0, sizeof *memory->heads) && !cudaDeviceSynchronize())
        return 0;
    queue_memory_close(memory);
    return -1;
}

void queue_memory_close(struct queue_memory *memory)
{
    cudaFree(memory->heads);
    queue_rings_free(memory);
}

double queue_run(const struct queue_memory *memory, const struct queue_work *work)
{
    unsigned blocks = (work->producers + work->block - 1) / work->block;
    struct queue_memory theirs = *memory;
    unsigned long long *longest = nullptr, ns = 0;
    cudaError_t status = cudaMalloc(&longest, sizeof *longest);

    if (!status)
        status = cudaMemset(longest, 0, sizeof *longest);
    theirs.ring = (struct wsh_ring *)memory->theirs;
    theirs.flag = (struct queue_flag *)(memory->theirs + memory->n * sizeof *memory->ring);
    if (!status) {
        queue_kernel<<<blocks, work->block>>>(theirs, *work, longest);
        status = cudaMemcpy(&ns, longest, sizeof ns, cudaMemcpyDeviceToHost);
    }
    cudaFree(longest);
    if (status)
        fprintf(stderr, "queue_gpu: %s\n", cudaGetErrorString(status));
    return status ? -1 : (double)ns / work->each;
}
