/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The copies of device code, built for the CPU with a thread for each lane: every length, alignment of either side and
 * number of threads moves exactly the bytes asked for, and every load is aligned and inside the source. Needs no GPU.
 */
#define WSH_DEVICE_PTX "test/device/cpu_ptx.cuh"
#include "device/core/copy.cuh"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <thread>
#include <vector>

enum { BYTES = 65536, MARGIN = 64, WARPS = 17 };

thread_local struct cpu_dim threadIdx;
struct cpu_dim blockDim;

static pthread_barrier_t warp_barrier[WARPS];
static uint32_t exchanged[WARPS * 32];
static const char *source_begin, *source_end;
static std::atomic<unsigned> bad_loads;

uint32_t __shfl_down_sync(unsigned, uint32_t value, unsigned by)
{
    unsigned me = threadIdx.x;
    uint32_t got;

    exchanged[me] = value;
    pthread_barrier_wait(&warp_barrier[me / 32]);
    got = me % 32 + by < 32 ? exchanged[me + by] : value;
    pthread_barrier_wait(&warp_barrier[me / 32]);
    return got;
}

void cpu_note_load(const void *at, size_t len)
{
    if ((const char *)at < source_begin || (const char *)at + len > source_end || (uintptr_t)at % len)
        bad_loads.fetch_add(1, std::memory_order_relaxed);
}

alignas(64) static char source[BYTES], dest[BYTES], want[BYTES];

static void begin(unsigned threads, size_t from, size_t to, size_t len)
{
    memset(dest, 0x5a, sizeof dest);
    memset(want, 0x5a, sizeof want);
    memcpy(want + to, source + from, len);
    source_begin = source + from;
    source_end = source_begin + len;
    bad_loads = 0;
    blockDim = cpu_dim{threads, 1, 1};
    for (unsigned w = 0; w * 32 < threads; w++)
        pthread_barrier_init(&warp_barrier[w], NULL, threads - w * 32 < 32 ? threads - w * 32 : 32);
}

/* Prints and returns 1 where the copy is wrong. */
template <int S, class L> static int copy(unsigned threads, size_t from, size_t to, size_t len)
{
    std::vector<std::thread> lanes;

    begin(threads, from, to, len);
    for (unsigned i = 0; i < threads; i++)
        lanes.emplace_back([=] {
            threadIdx = cpu_dim{i, 0, 0};
            wsh_dev_copy<S, L>(dest + to, source + from, len);
        });
    for (std::thread &lane : lanes)
        lane.join();
    for (unsigned w = 0; w * 32 < threads; w++)
        pthread_barrier_destroy(&warp_barrier[w]);
    if (!memcmp(dest, want, sizeof dest) && !bad_loads)
        return 0;
    printf("scope %d, %u threads, %zu bytes from offset %zu to %zu: %u bad loads\n", S, threads, len, from, to,
           bad_loads.load());
    return 1;
}

static size_t below(size_t limit)
{
    return (size_t)rand() % limit;
}

/* Random offsets; one time in four both sides aligned. */
template <int S, class L> static int some(unsigned threads, size_t len)
{
    size_t from = MARGIN + below(32), to = MARGIN + below(32);

    if (below(4) == 0)
        from = to = MARGIN;
    return copy<S, L>(threads, from, to, len);
}

int main(void)
{
    static const unsigned warp[] = {32, 32, 7, 1}, block[] = {32, 33, 64, 100, 128, 7};
    int failed = 0;

    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (char)(i * 131 + (i >> 8) * 7 + 3);
    for (size_t len = 0; len < 200; len++)
        for (int n = 0; n < 10; n++)
            failed += some<WSH_THREAD, wsh_dev_from_peer>(1, len);
    for (int n = 0; n < 500; n++)
        failed += some<WSH_THREAD, wsh_dev_from_global>(1, below(5000));
    for (int n = 0; n < 400; n++)
        failed += some<WSH_WARP, wsh_dev_from_peer>(warp[n % 4], n % 3 ? below(700) : below(20000));
    for (int n = 0; n < 150; n++)
        failed += some<WSH_BLOCK, wsh_dev_from_global>(block[n % 6], n % 3 ? below(3000) : below(60000));
    for (int n = 0; n < 4; n++) /* blocks of more than WSH_COPY_FULL threads */
        failed += copy<WSH_BLOCK, wsh_dev_from_global>(WARPS * 32 - 7 * (n % 2), MARGIN, MARGIN, below(60000));
    return failed != 0;
}
