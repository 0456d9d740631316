/* SPDX-License-Identifier: BSD-3-Clause */
/* Producers that are CPU threads. */
#define WSH_DEVICE_PTX "test/device/cpu_ring.cuh"
#include "perftest/proxy/push.cuh"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <sched.h>
#include <thread>
#include <vector>

thread_local struct cpu_dim threadIdx;
struct cpu_dim blockDim;

void wsh_dev_ring_idle(struct wsh_dev_wait *wait)
{
    if (++wait->since % 256 == 0)
        sched_yield();
}

uint64_t queue_clock()
{
    auto now = std::chrono::steady_clock::now().time_since_epoch();

    return (uint64_t)std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

const char *queue_producers(const char **)
{
    return "CPU threads";
}

static void *zeroed(size_t len)
{
    void *memory = aligned_alloc(4096, (len + 4095) / 4096 * 4096);

    return memory ? memset(memory, 0, len) : nullptr;
}

const char *queue_lacks(enum queue_where where)
{
    return where == QUEUE_PINNED ? nullptr : "CPU threads have no such memory; queue_gpu has";
}

int queue_memory_open(struct queue_memory *memory, uint32_t n, enum queue_where where)
{
    *memory = queue_memory{(struct wsh_ring *)zeroed(n * sizeof(struct wsh_ring)),
                           (struct wsh_ring_heads *)zeroed(sizeof(struct wsh_ring_heads)),
                           n,
                           n,
                           (struct queue_flag *)zeroed(sizeof(struct queue_flag)),
                           where,
                           nullptr,
                           nullptr};
    if (memory->ring && memory->heads && memory->flag)
        return 0;
    queue_memory_close(memory);
    return -1;
}

void queue_memory_close(struct queue_memory *memory)
{
    free(memory->ring);
    free(memory->heads);
    free(memory->flag);
}

double queue_run(const struct queue_memory *memory, const struct queue_work *work)
{
    std::vector<std::thread> threads;
    std::atomic<uint64_t> longest{0};

    for (uint32_t p = 0; p < work->producers; p++)
        threads.emplace_back([=, &longest] {
            uint64_t ns = queue_work(*memory, *work, p), seen = longest;

            while (seen < ns && !longest.compare_exchange_weak(seen, ns))
                ;
        });
    for (std::thread &thread : threads)
        thread.join();
    return (double)longest / work->each;
}
